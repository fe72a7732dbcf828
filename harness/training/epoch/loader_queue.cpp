#include "training/epoch/loader_queue.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <vector>

namespace assay {
namespace {

/// The batches that were sent to one worker and not yet taken, as the times at which they are ready.
class Worker {
 public:
  explicit Worker(Index prefetch) : ready_(static_cast<std::size_t>(prefetch)) {}
  bool has_batch() const { return count_ > 0; }
  double first_ready() const { return ready_[first_]; }
  void send(double now, double load) {
    last_ = std::max(now, last_) + load;
    ready_[(first_ + count_++) % ready_.size()] = last_;
  }
  void take() {
    first_ = (first_ + 1) % ready_.size();
    --count_;
  }

 private:
  std::vector<double> ready_;
  std::size_t first_ = 0, count_ = 0;
  double last_ = 0;
};

Worker& first_to_be_ready(std::vector<Worker>& workers) {
  return *std::ranges::min_element(workers, {}, [](const Worker& worker) {
    return worker.has_batch() ? worker.first_ready() : std::numeric_limits<double>::infinity();
  });
}

}  // namespace

QueueRun play(const LoaderQueue& queue, Index steps, const std::function<double()>& load,
              const std::function<double()>& compute, std::span<double> waits) {
  assert(queue.workers >= 0 && queue.prefetch >= 1);
  assert(waits.empty() || static_cast<Index>(waits.size()) == steps);
  const bool alone = queue.workers == 0;
  const double load_factor = alone ? 1 : queue.load_contention,
               compute_factor = alone ? 1 : queue.compute_contention;
  Index begun = 0;  // batches
  const auto next_load = [&] {
    const Fading& cold = queue.cold;
    const double missing =
        cold.first > 0 ? cold.first * std::exp(-cold.rate * static_cast<double>(begun)) : 0;
    ++begun;
    return load_factor * load() + missing;
  };
  std::vector<Worker> workers(static_cast<std::size_t>(queue.workers), Worker(queue.prefetch));
  const auto worker_of = [&](Index batch) -> Worker& {
    return workers[static_cast<std::size_t>(batch % queue.workers)];
  };
  const auto send = [&](Worker& worker, double now) {
    if (begun < steps) worker.send(now, next_load());
  };
  for (Index i = 0; i < queue.workers * queue.prefetch; ++i) send(worker_of(i), 0);

  QueueRun out;
  double& now = out.seconds;
  for (Index i = 0; i < steps; ++i) {
    Worker* const from = alone ? nullptr : queue.in_order ? &worker_of(i) : &first_to_be_ready(workers);
    const double handed = std::max(now, alone ? now + next_load() : from->first_ready());
    const double wait = handed - now;
    if (!waits.empty()) waits[static_cast<std::size_t>(i)] = wait;
    if (i == 0) out.first_fill = wait;
    out.waited += wait;
    now = handed + compute_factor * compute();
    if (alone) continue;
    from->take();
    send(*from, handed);
  }
  return out;
}

}  // namespace assay
