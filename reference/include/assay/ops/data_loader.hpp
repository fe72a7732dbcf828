/// The contract `data_loader`: one epoch's pass over a record file, in shuffled order, in batches.
#pragma once

#include "assay/ops/known_records.hpp"
#include "assay/problem.hpp"
#include "assay/random.hpp"
#include "assay/registry.hpp"

#include <span>
#include <string_view>

namespace assay {

/// `full`: every order is as likely (Fisher and Yates). `blocks`: blocks of neighbouring samples are visited
/// in random order, eight at a time, and the samples of these eight are shuffled: the file is read in pieces
/// of a block. After CorgiPile (Xu et al., SIGMOD 2022). `none`: as the samples lie in the file.
enum class Shuffle : Index { full, blocks, none };
inline constexpr std::array<std::string_view, 3> shuffles{"full", "blocks", "none"};
inline constexpr Index blocks_mixed = 8;

/// Writes a permutation of 0 … order.size() - 1.
void shuffle_into(std::span<Index> order, Shuffle shuffle, Index block, Rng& rng);

/// Measures how well the samples of a batch are mixed: the mean over batches of the number of different
/// pieces of the file that a batch draws from, with the file cut into as many equal pieces as a batch has
/// samples, over the expectation of that for a full shuffle. About 1 for a full shuffle, near 0 for none.
/// `order` is whole, batch >= 1.
double mixing(std::span<const Index> order, Index batch);

/// The division of a pass into batches.
struct EpochShape {
  Index samples = 1, bytes = 1, batch = 1;
  bool drop_last = false;
  /// Batches of a pass: the floor of samples / batch when the last partial one is dropped, else the ceiling.
  Index batches() const { return drop_last ? samples / batch : (samples + batch - 1) / batch; }
  /// Samples in batch k.
  Index size(Index k) const { return batch < samples - k * batch ? batch : samples - k * batch; }
  /// Samples of a pass.
  Index delivered() const { return drop_last ? batches() * batch : samples; }
};

/// Batch k of a pass is the samples order[k batch] to order[k batch + size(k) - 1], in this order. A loader
/// copies each batch from the file into memory of its own and hands it over; the consumer writes for the r-th
/// sample that it was handed
///   sample[r] = which one it is,  digest[r] = digest(its bytes, key[0]),
/// and then computes for `step` nanoseconds per batch, spinning. sample and digest have one element for each
/// sample that is delivered: all `samples` with last=keep, the whole batches alone with last=drop. A pass
/// without a batch is an error. order[samples] is a permutation, another one for each call: see Shuffle.
///
/// delivery=in: batches come in order of k. delivery=out: in any order, each whole and with its rows in
/// order. workers=0 loads in the thread that consumes; otherwise `workers` threads load ahead, and at most
/// workers x prefetch batches are loaded or being loaded and not yet handed over. life=persistent keeps the
/// threads from call to call; life=respawned makes and joins them in each. hold=memory keeps the records of
/// the first call in memory and takes those of later calls from there. cache is as in batch_retrieval.
///
/// An exception of a worker is thrown by the call, after all workers have come to rest. Undefined: consumers
/// that throw.
///
/// Bound: the same samples, and the same 64-bit digests: two different records share one with a probability
/// of about 2^-64. Source: torch.utils.data.DataLoader of PyTorch 2 (num_workers, prefetch_factor, in_order,
/// persistent_workers, drop_last), Paszke et al., NeurIPS 2019.
struct DataLoader : FromParts<DataLoader> {
  static constexpr std::string_view name = "data_loader";
  static constexpr std::string_view about =
      "one epoch over a record file: shuffled batches, loaded ahead by workers, each sample exactly once";
  static constexpr int version = 2;

  enum class Delivery : Index { in, out };
  enum class Life : Index { persistent, respawned };

  struct Problem {
    Index samples = 1, bytes = 1, batch = 1, workers = 0, prefetch = 2, delivery = 0, life = 0, last = 0,
          hold = 0, step = 0, cache = 0, shuffle = 0, block = 16;
    static constexpr std::array<std::string_view, 2> deliveries{"in", "out"};
    static constexpr std::array<std::string_view, 2> lives{"persistent", "respawned"};
    static constexpr std::array<std::string_view, 2> lasts{"keep", "drop"};
    static constexpr std::array<std::string_view, 2> holds{"none", "memory"};
    static constexpr auto fields() {
      return std::tuple{field("samples", &Problem::samples),
                        field("bytes", &Problem::bytes),
                        field("batch", &Problem::batch),
                        option("workers", &Problem::workers, 0, 0, 256),
                        option("prefetch", &Problem::prefetch, 2, 1, 1024),
                        choice("delivery", &Problem::delivery, deliveries),
                        choice("life", &Problem::life, lives),
                        choice("last", &Problem::last, lasts),
                        choice("hold", &Problem::hold, holds),
                        option("step", &Problem::step, 0, 0, 1'000'000'000),
                        choice("cache", &Problem::cache, file_states),
                        choice("shuffle", &Problem::shuffle, shuffles),
                        option("block", &Problem::block, 16, 1, largest_extent)};
    }
    EpochShape shape() const {
      return {.samples = samples, .bytes = bytes, .batch = batch, .drop_last = last == 1};
    }
    Index delivered() const { return shape().delivered(); }
    FileState state() const { return static_cast<FileState>(cache); }
    bool in_order() const { return static_cast<Delivery>(delivery) == Delivery::in; }
    bool persistent() const { return static_cast<Life>(life) == Life::persistent; }
    bool holds_memory() const { return hold == 1; }
  };
  struct Input {
    KnownRecords records;
    Buffer<Index> order;        ///< [samples]
    Buffer<std::uint64_t> key;  ///< [1], another one for each call: no digest outlives its call
    static constexpr auto parts() {
      return std::tuple{permuted("order", &Input::order), part("key", &Input::key)};
    }
    /// The indices of batch k.
    std::span<const Index> batch(const EpochShape& shape, Index k) const {
      return std::span<const Index>(order).subspan(static_cast<std::size_t>(k * shape.batch),
                                                   static_cast<std::size_t>(shape.size(k)));
    }
  };
  struct Output {
    Buffer<Index> sample;
    Buffer<std::uint64_t> digest;
    static constexpr auto parts() {
      return std::tuple{part("sample", &Output::sample, &Problem::delivered),
                        part("digest", &Output::digest, &Problem::delivered)};
    }
  };
  struct Expected {
    std::vector<std::uint64_t> digest;  ///< [samples], by sample
    std::vector<Index> place;           ///< [samples]: order[place[i]] = i
  };
  // Bytes have no rounding, and any will do.
  static constexpr std::array fills{Fill::uniform};

  static std::vector<Problem> corner_cases();
  static double footprint(const Problem&);
  static Input make_input(const Problem&, Setting&);
  static Expected expect(const Problem&, const Input&, Setting&);
  static Agreement judge(const Problem&, const Input&, const Expected&, const Output&);
  static Cost cost(const Problem&);
  static bool has_helpers(const Problem& problem) { return problem.workers > 0; }
  /// The problem of a user's record file: one pass in batches of 256, or of all records where there are
  /// fewer.
  static Problem problem_of(const std::filesystem::path&);
  static std::vector<Figure> figures(const Problem&, const Input&, const Expected&, const Output&);
};

/// The consumer of one pass, the same for every variant.
class Consumer {
 public:
  Consumer(const DataLoader::Problem& problem, const DataLoader::Input& input, DataLoader::Output& output)
      : shape_(problem.shape()), step_(problem.step), input_(input), output_(output) {}
  /// Takes batch k, whose rows lie dense at `rows`.
  void take(Index k, const std::byte* rows);

 private:
  EpochShape shape_;
  Index step_;
  const DataLoader::Input& input_;
  DataLoader::Output& output_;
  Index next_ = 0;
};

extern template class detail::TypedOperation<DataLoader>;

}  // namespace assay
