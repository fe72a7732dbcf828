/// A record file whose content is also known by other means than its mapping, so that reads of it can be
/// judged; and the contracts `batch_retrieval`, records at random indices copied from it into a dense batch,
/// and `data_loader`, one epoch's pass over it, in shuffled order, in batches.
#pragma once

#include "assay/ops/record_file.hpp"
#include "assay/ops/task_graph.hpp"
#include "assay/problem.hpp"
#include "assay/random.hpp"
#include "assay/registry.hpp"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace assay {

/// The state of a workload's file. `hot`: in memory, every page mapped and read once. `cold`: on a disk, and
/// each call starts and ends with none of its pages in memory.
enum class FileState : Index { hot, cold };
inline constexpr std::array<std::string_view, 2> file_states{"hot", "cold"};

/// Record i of a generated file: numbers of splitmix64 (Steele, Lea and Flood 2014) counted from key and i.
void generate_record(std::uint64_t key, Index i, std::span<std::byte> into);

struct KnownRecords {
  RecordFile file;
  FileState state = FileState::hot;

  /// The user's file of the setting if there is one, else a scratch file of `shape`. Throws Error when the
  /// records of a user's file are not those that were written.
  static KnownRecords open(RecordShape shape, FileState state, Setting& setting);
  /// Ends every call: throws Error when the file changed, and makes a cold file cold again through `used`,
  /// the mapping that was read. Its time is part of the call, the same work for every variant, and more for
  /// those that made more pages resident.
  void end_call(const RecordFile& used) const;
  void end_call() const { end_call(file); }

 private:
  // What kernels are to read from the file, contracts know without it.
  friend struct BatchRetrieval;
  friend struct DataLoader;
  KnownRecords(RecordFile its_file, FileState its_state, std::uint64_t key, bool from_user)
      : file(std::move(its_file)), state(its_state), key_(key), from_user_(from_user) {}
  /// Writes the expected bytes of record i. Throws Error where a user's file cannot be read.
  void expected(Index i, std::span<std::byte> into) const;
  /// Says that calls left much of a cold file in memory; empty where they did not.
  std::string fault_of_pages() const;
  std::uint64_t key_;
  bool from_user_;  ///< what is expected is read by system calls
};

/// A reason why a file of this state cannot be had here, or nothing: cold needs $TMPDIR on a disk.
std::optional<std::string> no_such_file_state(FileState state);
/// Variant::unfit of those for whose problem this machine may have no such file.
inline constexpr auto without_such_file = [](const auto& p, const Context&) {
  return no_such_file_state(p.state());
};

/// batch[b, :] = file[indices[w, b], :] for b in [0, batch)
/// with file[records, bytes] and indices[windows, batch]. w is drawn anew for each call, so that it seldom
/// finds in a cache what the call before it has read, and no kernel chooses it.
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
    static constexpr Listed fields{field("records", &Problem::records), field("bytes", &Problem::bytes),
                                   field("batch", &Problem::batch),
                                   choice("cache", &Problem::cache, file_states),
                                   of_content(option("repeats", &Problem::repeats, 0, 0, 100))};
    FileState state() const { return static_cast<FileState>(cache); }
  };
  struct Input {
    KnownRecords records;
    Buffer<Index> indices;       ///< [windows, batch]
    Buffer<std::uint64_t> turn;  ///< [1], another one for each call
    Index batch = 1;
    static constexpr Listed parts{part("indices", &Input::indices), part("turn", &Input::turn)};
    /// The indices of this call.
    std::span<const Index> window() const {
      const auto size = static_cast<std::size_t>(batch);
      const std::span<const Index> all(indices);
      return all.subspan(turn[0] % (all.size() / size) * size, size);
    }
  };
  struct Output {
    Buffer<std::byte> batch;
    static constexpr Listed parts{part("batch", &Output::batch, &Problem::batch, &Problem::bytes)};
  };
  /// The judge makes what it expects record by record: only the window of this call counts.
  struct Expected {};

  static const Corners corners;
  static double footprint(const Problem&);
  static Input make_input(const Problem&, Setting&);
  static Expected expect(const Problem&, const Input&, Setting&) { return {}; }
  static Agreement judge(const Problem&, const Input&, const Expected&, const Output&);
  /// A record that is asked for again need not be read again.
  static Cost cost(const Problem& p) {
    const double bytes = static_cast<double>(p.batch) * static_cast<double>(p.bytes);
    return {.bytes_read = bytes + 8 * static_cast<double>(p.batch),
            .bytes_written = bytes,
            .avoidable_bytes = bytes - static_cast<double>(p.bytes)};
  }
  /// Threads of the operating system may read for requests, and count as those of the process.
  static bool has_helpers(const Problem&) { return true; }
  /// The problem of a user's record file: batches of 256, or of all records where there are fewer.
  static Problem problem_of(const std::filesystem::path&);
};

extern template class detail::TypedOperation<BatchRetrieval>;

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
/// and then computes its step, the work() of `task_graph` for `step` nanoseconds of a processor at 4 GHz:
///   state[j] = work(state[j - 1] xor digest of the last row so far),  state[-1] = key[0],
/// for the j-th batch that it was handed, so that no step begins before its batch is there and the step
/// before is over. sample and digest have one element for each sample that is delivered: all `samples` with
/// last=keep, the whole batches alone with last=drop. A pass without a batch is an error. order[samples] is a
/// permutation, another one for each call: see Shuffle.
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
/// of about 2^-64; the same bits of state. Source: torch.utils.data.DataLoader of PyTorch 2 (num_workers,
/// prefetch_factor, in_order, persistent_workers, drop_last), Paszke et al., NeurIPS 2019.
struct DataLoader : FromParts<DataLoader> {
  static constexpr std::string_view name = "data_loader";
  static constexpr std::string_view about =
      "one epoch over a record file: shuffled batches, loaded ahead by workers, each sample exactly once";
  static constexpr int version = 3;

  struct Problem {
    Index samples = 1, bytes = 1, batch = 1, workers = 0, prefetch = 2, delivery = 0, life = 0, last = 0,
          hold = 0, step = 0, cache = 0, shuffle = 0, block = 16;
    static constexpr std::array<std::string_view, 2> deliveries{"in", "out"};
    static constexpr std::array<std::string_view, 2> lives{"persistent", "respawned"};
    static constexpr std::array<std::string_view, 2> lasts{"keep", "drop"};
    static constexpr std::array<std::string_view, 2> holds{"none", "memory"};
    static constexpr Listed fields{field("samples", &Problem::samples),
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
                                   of_content(choice("shuffle", &Problem::shuffle, shuffles)),
                                   of_content(option("block", &Problem::block, 16, 1, largest_extent))};
    EpochShape shape() const {
      return {.samples = samples, .bytes = bytes, .batch = batch, .drop_last = last == 1};
    }
    Index delivered() const { return shape().delivered(); }
    Index batches() const { return shape().batches(); }
    FileState state() const { return static_cast<FileState>(cache); }
    bool in_order() const { return delivery == 0; }
    bool persistent() const { return life == 0; }
    bool holds_memory() const { return hold == 1; }
  };
  struct Input {
    KnownRecords records;
    Buffer<Index> order;        ///< [samples]
    Buffer<std::uint64_t> key;  ///< [1], another one for each call: no digest outlives its call
    static constexpr Listed parts{permuted("order", &Input::order), part("key", &Input::key)};
    std::span<const Index> batch(const EpochShape& shape, Index k) const {
      return std::span<const Index>(order).subspan(static_cast<std::size_t>(k * shape.batch),
                                                   static_cast<std::size_t>(shape.size(k)));
    }
  };
  struct Output {
    Buffer<Index> sample;
    Buffer<std::uint64_t> digest, state;
    static constexpr Listed parts{part("sample", &Output::sample, &Problem::delivered),
                                  part("digest", &Output::digest, &Problem::delivered),
                                  part("state", &Output::state, &Problem::batches)};
  };
  struct Expected {
    std::vector<std::uint64_t> digest;  ///< [samples], by sample
    std::vector<Index> place;           ///< [samples]: order[place[i]] = i
  };

  static const Corners corners;
  static double footprint(const Problem&);
  static Input make_input(const Problem&, Setting&);
  static Expected expect(const Problem&, const Input&, Setting&);
  static Agreement judge(const Problem&, const Input&, const Expected&, const Output&);
  static Cost cost(const Problem& p) {
    const auto delivered = static_cast<double>(p.delivered());
    return {.bytes_read = delivered * static_cast<double>(p.bytes + 8),
            .bytes_written = 16 * delivered + 8 * static_cast<double>(p.batches())};
  }
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
      : shape_(problem.shape()),
        rounds_(TaskGraph::rounds_of(static_cast<double>(problem.step))),
        input_(input),
        output_(output),
        state_(input.key[0]) {}
  /// Takes batch k, whose rows lie dense at `rows`.
  void take(Index k, const std::byte* rows);

 private:
  EpochShape shape_;
  std::uint32_t rounds_;  ///< of a step
  const DataLoader::Input& input_;
  DataLoader::Output& output_;
  std::uint64_t state_;
  Index next_ = 0, batches_ = 0;
};

extern template class detail::TypedOperation<DataLoader>;

}  // namespace assay
