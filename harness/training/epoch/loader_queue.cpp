#include "training/epoch/loader_queue.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

namespace assay {
namespace {

/// Keeps the clock of the training loop, and its waits.
class Loop {
 public:
  explicit Loop(std::span<double> waits) : waits_(waits) {}
  /// The batch of step `step` is ready at `ready`; returns when it is handed over.
  double take(Index step, double ready, double compute) {
    const double handed = std::max(now_, ready);
    const double wait = handed - now_;
    if (!waits_.empty()) waits_[static_cast<std::size_t>(step)] = wait;
    if (step == 0) run_.first_fill = wait;
    run_.waited += wait;
    now_ = handed + compute;
    return handed;
  }
  double now() const { return now_; }
  QueueRun finish() {
    run_.seconds = now_;
    return run_;
  }

 private:
  std::span<double> waits_;
  double now_ = 0;
  QueueRun run_;
};

/// The times that batches take to make, in the order in which they are begun.
class Loads {
 public:
  Loads(Times& times, double factor, const Fading& cold) : times_(times), factor_(factor), cold_(cold) {}
  double next() {
    const double cold =
        cold_.first > 0 ? cold_.first * std::exp(-cold_.rate * static_cast<double>(begun_)) : 0;
    ++begun_;
    return factor_ * times_.next() + cold;
  }

 private:
  Times& times_;
  double factor_;
  Fading cold_;
  Index begun_ = 0;
};

QueueRun without_workers(Index steps, Loads& load, Times& compute, Loop& loop) {
  for (Index i = 0; i < steps; ++i) loop.take(i, loop.now() + load.next(), compute.next());
  return loop.finish();
}

QueueRun in_order(const LoaderQueue& queue, Index steps, Loads& load, Times& compute, Loop& loop) {
  // The times r(i - W) and h(i - W P) of the formula; both are 0 for the first batches.
  std::vector<double> ready(static_cast<std::size_t>(queue.workers), 0.0);
  std::vector<double> handed(static_cast<std::size_t>(queue.workers * queue.prefetch), 0.0);
  std::size_t worker = 0, slot = 0;
  for (Index i = 0; i < steps; ++i) {
    ready[worker] = std::max(handed[slot], ready[worker]) + load.next();
    handed[slot] = loop.take(i, ready[worker], queue.compute_contention * compute.next());
    worker = worker + 1 == ready.size() ? 0 : worker + 1;
    slot = slot + 1 == handed.size() ? 0 : slot + 1;
  }
  return loop.finish();
}

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

QueueRun out_of_order(const LoaderQueue& queue, Index steps, Loads& load, Times& compute, Loop& loop) {
  std::vector<Worker> workers(static_cast<std::size_t>(queue.workers), Worker(queue.prefetch));
  const Index first = std::min(steps, queue.workers * queue.prefetch);
  for (Index i = 0; i < first; ++i) {
    workers[static_cast<std::size_t>(i % queue.workers)].send(0, load.next());
  }
  Index sent = first;
  for (Index i = 0; i < steps; ++i) {
    Worker* next = nullptr;
    for (Worker& worker : workers) {
      if (worker.has_batch() && (next == nullptr || worker.first_ready() < next->first_ready()))
        next = &worker;
    }
    const double handed = loop.take(i, next->first_ready(), queue.compute_contention * compute.next());
    next->take();
    if (sent++ < steps) next->send(handed, load.next());
  }
  return loop.finish();
}

}  // namespace

QueueRun play(const LoaderQueue& queue, Index steps, Times load, Times compute, std::span<double> waits) {
  assert(queue.workers >= 0 && queue.prefetch >= 1);
  assert(waits.empty() || static_cast<Index>(waits.size()) == steps);
  Loop loop(waits);
  Loads loads(load, queue.workers == 0 ? 1 : queue.load_contention, queue.cold);
  if (queue.workers == 0) return without_workers(steps, loads, compute, loop);
  return queue.in_order ? in_order(queue, steps, loads, compute, loop)
                        : out_of_order(queue, steps, loads, compute, loop);
}

}  // namespace assay
