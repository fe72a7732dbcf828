/// The contract `loss_readback`: losses of steps that run on another thread, and how often the loop waits for
/// them.
#pragma once

#include "assay/registry.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace assay {

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
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// Forgets all steps and starts from zero with the steps of these seeds, which have to live as long.
  void restart(const std::uint64_t* seeds, Index grain);
  /// Lets the next `steps` steps run after those before.
  void begin(Index steps);
  /// Waits until all that was begun is done, and returns whether there was anything left to wait for.
  bool drain();
  /// The state after the steps so far. To be called when drained.
  State state() const { return state_; }

 private:
  void serve();

  mutable std::mutex mutex_;
  std::condition_variable begun_, finished_;
  const std::uint64_t* seeds_ = nullptr;
  Index grain_ = 0, wanted_ = 0, done_ = 0;
  bool stopping_ = false;
  State state_;
  std::thread thread_;
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
    static constexpr auto fields() {
      return std::tuple{field("steps", &Problem::steps), field("every", &Problem::every),
                        option("grain", &Problem::grain, 1, 1, 1 << 24),
                        option("host", &Problem::host, 1, 1, 1 << 24)};
    }
    Index lines() const { return (steps + every - 1) / every; }
  };
  struct Input {
    Buffer<std::uint64_t> seed;
    static constexpr auto parts() { return std::tuple{part("seed", &Input::seed, &Problem::steps)}; }
  };
  struct Output {
    Buffer<std::uint64_t> loss, correct, batch;
    static constexpr auto parts() {
      return std::tuple{part("loss", &Output::loss, &Problem::lines),
                        part("correct", &Output::correct, &Problem::lines), part("batch", &Output::batch, 1)};
    }
  };
  struct Expected {
    std::vector<std::uint64_t> loss, correct, batch;
  };
  static constexpr std::array fills{Fill::uniform};

  static std::vector<Problem> corner_cases();
  static Expected expect(const Problem&, const Input&, Setting&);
  static Cost cost(const Problem&);
  static bool has_helpers(const Problem&) { return true; }
  /// As Variant::helpers: the thread of a Queue.
  static Index one_queue(const Problem&) { return 1; }
};

extern template class detail::TypedOperation<LossReadback>;

}  // namespace assay
