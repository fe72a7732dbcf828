/// The contracts of what a training loop prints: `logging`, whose lines are in the file whichever way the
/// loop ends, and `loss_readback`, how often the loop waits for losses of steps that run on another thread.
#pragma once

#include "assay/ops/record_file.hpp"
#include "assay/registry.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace assay {

namespace logging {

inline constexpr Index line_bytes = 32;

/// Writes "batch  <number> loss <loss>" and a new line, line_bytes in all.
void format(Index batch, float loss, char* to);

/// A file without a name in $TMPDIR, or /tmp. Throws Error where it cannot be made or written.
class LogFile {
 public:
  LogFile();
  void clear();
  /// Hands whole lines to the system, in one call.
  void append(std::string_view lines);
  /// All lines that were handed over.
  std::string text() const;

 private:
  OwnedDescriptor file_;
  Index size_ = 0;
};

/// Thrown to end a loop before its time.
struct Stopped {};

}  // namespace logging

/// Batches 1, 2, … have a line each, of which those of every `every`-th batch are wanted, and that of the
/// last one. text[lines, 32] holds the wanted lines as they are in the file when the call returns; the file
/// may have others.
///
/// The loop ends after `batches`, or in batch `fails` where that is not 0: an exception leaves the loop after
/// this batch had its line. What a crash needs is its last line; a line that was formatted and waits in a
/// buffer at that moment has to reach the file. (A process that is killed leaves what the system was handed,
/// which is all that is asked of a log; a machine that loses its power is another matter.)
///
/// Same bytes.
///
/// Source: the practice of asynchronous logging with a flush at the end: Python,
/// logging.handlers.QueueHandler and MemoryHandler.
struct Logging : FromParts<Logging> {
  static constexpr std::string_view name = "logging";
  static constexpr std::string_view about =
      "the lines of every so many batches and of the last one, in a file even if the loop ends by an "
      "exception";

  struct Problem {
    Index batches = 1;
    Index every = 1;
    Index fails = 0;  ///< the batch in which the loop ends, counted from 1; 0: none
    static constexpr Listed fields{field("batches", &Problem::batches), field("every", &Problem::every),
                                   option("fails", &Problem::fails, 0, 0, largest_extent)};
    bool stops_early() const { return fails > 0 && fails <= batches; }
    /// The number of batches that run.
    Index last() const { return stops_early() ? fails : batches; }
    bool wants(Index batch) const { return batch % every == 0 || batch == last(); }
    Index lines() const { return (last() + every - 1) / every; }
  };
  struct Input {
    Buffer<float> loss;
    std::shared_ptr<logging::LogFile> file;
    static constexpr Listed parts{part("loss", &Input::loss, &Problem::batches)};
  };
  struct Output {
    Buffer<std::uint8_t> text;
    static constexpr Listed parts{part("text", &Output::text, &Problem::lines, logging::line_bytes)};
  };
  struct Expected {
    std::string text;
  };

  static const Corners corners;
  static Input make_input(const Problem&, Setting&);
  static Expected expect(const Problem&, const Input&, Setting&);
  static Agreement judge(const Problem&, const Input&, const Expected&, const Output&);
  static Cost cost(const Problem& p) {
    const auto lines = static_cast<double>(p.lines());
    return {.bytes_read = 4 * lines, .bytes_written = logging::line_bytes * lines, .f32 = false};
  }
  /// A writer of lines may be one.
  static bool has_helpers(const Problem&) { return true; }
};

namespace logging {

/// The loop: calls log(batch, loss) for each batch, and throws Stopped in the one that fails.
template <class Log>
void train(const Logging::Problem& p, const Logging::Input& in, Log& log) {
  for (Index batch = 1; batch <= p.batches; ++batch) {
    log(batch, in.loss[batch - 1]);
    if (batch == p.fails) throw Stopped{};
  }
}

/// Copies the wanted lines of the file to the output; those that are not there stay what they were.
void read_back(const Logging::Problem& problem, const LogFile& file, Logging::Output& output);

}  // namespace logging

extern template class detail::TypedOperation<Logging>;

namespace loss_readback {

/// The numbers that a step leaves: later steps are made of them, and a loop wants to print them.
struct State {
  std::uint64_t loss = 0, correct = 0;
  bool operator==(const State&) const = default;
};

/// One step after another on a thread of its own, as a device has a queue: begin() does not wait, drain()
/// does.
class Queue {
 public:
  Queue();

  /// Forgets all steps and starts from zero with the steps of these seeds, which have to live as long.
  void restart(const std::uint64_t* seeds, Index grain);
  /// Lets the next `steps` steps run after those before.
  void begin(Index steps);
  /// Waits until all that was begun is done, and returns whether there was anything left to wait for.
  bool drain();
  /// The state after the steps so far. To be called when drained.
  State state() const { return state_; }

 private:
  void serve(const std::stop_token& stop);

  mutable std::mutex mutex_;
  std::condition_variable_any begun_;
  std::condition_variable finished_;
  const std::uint64_t* seeds_ = nullptr;
  Index grain_ = 0, wanted_ = 0, done_ = 0;
  State state_;
  std::jthread thread_;  ///< last member: it ends before the others
};

/// The state after a step, whether the device or the loop runs it.
State after(State state, std::uint64_t seed, Index grain);
/// Rounds of work that the loop has to do itself in each step, such as preparing the next batch.
std::uint64_t prepared(std::uint64_t batch, std::uint64_t seed, Index host);

}  // namespace loss_readback

/// state_0 = 0, state_s = the scrambling of (state_{s-1}, seed[s]) after `grain` rounds, for s = 1 … steps,
/// on a queue; and batch_0 = 0, batch_s = the scrambling of (batch_{s-1}, seed[s]) after `host` rounds,
/// in the loop. loss[j],
/// correct[j] are the state after `every` (j + 1) steps, the last one after all; batch[1] is that of the end.
/// The loop may read the state as often as it likes: only the printed numbers are judged.
///
/// A read waits until the queue has run dry. Where two numbers are read in each step, the second finds it
/// dry: to leave it out is no half of the cost, but nearly nothing. What costs is that the loop's own work no
/// longer overlaps with the queue's, and that the queue is idle until the loop begins the next step.
///
/// Same bits. Source: PyTorch, CUDA semantics, asynchronous execution; Tensor.item().
struct LossReadback : FromParts<LossReadback> {
  static constexpr std::string_view name = "loss_readback";
  static constexpr std::string_view about =
      "losses of steps on a queue, printed every so many steps: how often the loop waits for them";
  static constexpr int version = 2;

  struct Problem {
    Index steps = 1;
    Index every = 1;  ///< steps from one line to the next
    Index grain = 1;  ///< rounds of a step, some nanoseconds each
    Index host = 1;   ///< rounds in the loop
    static constexpr Listed fields{field("steps", &Problem::steps), field("every", &Problem::every),
                                   option("grain", &Problem::grain, 1, 1, 1 << 24),
                                   option("host", &Problem::host, 1, 1, 1 << 24)};
    Index lines() const { return (steps + every - 1) / every; }
  };
  struct Input {
    Buffer<std::uint64_t> seed;
    static constexpr Listed parts{part("seed", &Input::seed, &Problem::steps)};
  };
  struct Output {
    Buffer<std::uint64_t> loss, correct, batch;
    static constexpr Listed parts{part("loss", &Output::loss, &Problem::lines),
                                  part("correct", &Output::correct, &Problem::lines),
                                  part("batch", &Output::batch, 1)};
  };
  struct Expected {
    std::vector<std::uint64_t> loss, correct, batch;
  };

  static const Corners corners;
  static Expected expect(const Problem&, const Input&, Setting&);
  static Cost cost(const Problem& p) {
    return {.bytes_read = 8 * static_cast<double>(p.steps),
            .bytes_written = 16 * static_cast<double>(p.lines()),
            .f32 = false};
  }
  static bool has_helpers(const Problem&) { return true; }
  /// As Variant::helpers: the thread of a Queue.
  static Index one_queue(const Problem&) { return 1; }
};

extern template class detail::TypedOperation<LossReadback>;

}  // namespace assay
