/// The contract `batch_retrieval`: records at random indices copied from a mapped file into a dense batch.
#pragma once

#include "assay/ops/known_records.hpp"
#include "assay/registry.hpp"

namespace assay {

/// batch[b, :] = file[indices[w, b], :] for b in [0, batch)
/// with file[records, bytes], indices[windows, batch] and batch[batch, bytes], all dense and row-major; file
/// and batch hold bytes. w is drawn anew for each call, so that it seldom finds in a cache what the call
/// before it has read, and no kernel chooses it.
///
/// Units and ranges: indices are i64 in [0, records), in any order, and repeat: by chance, since they are
/// drawn with replacement, and on purpose in `repeats` percent of the places. `cache` is the state of the
/// file before a call: hot, every page mapped, or cold, no page in memory. A cold call ends by dropping the
/// pages that it made resident; that time is part of it. Undefined: indices outside the file, and batch
/// overlapping the file.
///
/// A file that is truncated or written to during a call makes the call throw assay::Error.
///
/// Bound: the same bytes. Source: Dataset.__getitems__ and the default collation of PyTorch 2,
/// torch.utils.data (Paszke et al., NeurIPS 2019).
struct BatchRetrieval : FromParts<BatchRetrieval> {
  static constexpr std::string_view name = "batch_retrieval";
  static constexpr std::string_view about =
      "batch[b] = file[indices[b]]: records at random, repeating indices, from a mapped file";
  static constexpr int version = 2;

  struct Problem {
    Index records = 1, bytes = 1, batch = 1, cache = 0, repeats = 0;
    static constexpr auto fields() {
      return std::tuple{field("records", &Problem::records), field("bytes", &Problem::bytes),
                        field("batch", &Problem::batch), choice("cache", &Problem::cache, file_states),
                        option("repeats", &Problem::repeats, 0, 0, 100)};
    }
    FileState state() const { return static_cast<FileState>(cache); }
  };
  struct Input {
    KnownRecords records;
    Buffer<Index> indices;       ///< [windows, batch]
    Buffer<std::uint64_t> turn;  ///< [1], another one for each call
    Index batch = 1;
    static constexpr auto parts() {
      return std::tuple{part("indices", &Input::indices), part("turn", &Input::turn)};
    }
    /// The indices of this call.
    std::span<const Index> window() const {
      const auto size = static_cast<std::size_t>(batch);
      const std::span<const Index> all(indices);
      return all.subspan(turn[0] % (all.size() / size) * size, size);
    }
  };
  struct Output {
    Buffer<std::byte> batch;
    static constexpr auto parts() {
      return std::tuple{part("batch", &Output::batch, &Problem::batch, &Problem::bytes)};
    }
  };
  /// The judge makes what it expects record by record: only the window of this call counts.
  struct Expected {};
  // Bytes have no rounding, and any will do.
  static constexpr std::array fills{Fill::uniform};

  static std::vector<Problem> corner_cases();
  static double footprint(const Problem&);
  static Input make_input(const Problem&, Setting&);
  static Expected expect(const Problem&, const Input&, Setting&);
  static Agreement judge(const Problem&, const Input&, const Expected&, const Output&);
  static Cost cost(const Problem&);
  /// Threads of the operating system may read for requests, and count as those of the process.
  static bool has_helpers(const Problem&) { return true; }
  /// The problem of a user's record file: batches of 256, or of all records where there are fewer.
  static Problem problem_of(const std::filesystem::path&);
};

extern template class detail::TypedOperation<BatchRetrieval>;

}  // namespace assay
