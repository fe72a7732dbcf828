// The idea: among all ready tasks, run the one with the longest path to the end, since a task on the critical
// path delays everything. All threads share one list: no thread takes a task while another thread knows a
// more urgent one. The price is a lock per task.

#include "rank_set.hpp"
#include "task_graph/crew.hpp"
#include "task_graph/executor.hpp"

#include <algorithm>

namespace assay::task_graph {
namespace {

/// A lock whose thread spins for a while before it sleeps. It is held for some dozens of instructions.
class BriefLock {
 public:
  void lock() {
    for (int look = 0; look < patience; ++look) {
      if (state_.load(std::memory_order_relaxed) == free &&
          state_.exchange(held, std::memory_order_acquire) == free) {
        return;
      }
      relax();
    }
    // The thread that holds the lock has lost its processor.
    while (state_.exchange(awaited, std::memory_order_acquire) != free) {
      state_.wait(awaited, std::memory_order_relaxed);
    }
  }
  void unlock() {
    if (state_.exchange(free, std::memory_order_release) == awaited) state_.notify_one();
  }

 private:
  static constexpr int free = 0, held = 1, awaited = 2;
  std::atomic<int> state_{free};
};

class ListScheduling {
 public:
  ListScheduling(const Dag& graph, std::span<const double> duration, int threads)
      : graph_(graph),
        by_rank_(graph.order),
        rank_(graph.order.size()),
        waits_for_(graph.order.size()),
        ready_(graph.tasks()),
        crew_(threads) {
    const std::vector<double> urgency = longest_to_end(graph, duration);
    std::ranges::stable_sort(by_rank_, std::greater{}, [&](TaskId task) { return urgency[at(task)]; });
    for (std::size_t r = 0; r < by_rank_.size(); ++r) rank_[at(by_rank_[r])] = r;
  }

  void run(TaskBody body) {
    ready_.reset(by_rank_.size());
    for (TaskId task = 0; task < graph_.tasks(); ++task) {
      waits_for_[at(task)] = static_cast<TaskId>(graph_.predecessors[task].size());
      if (waits_for_[at(task)] == 0) ready_.insert(rank_[at(task)]);
    }
    left_ = graph_.tasks();
    over_.store(false, std::memory_order_relaxed);
    some_ready_.store(true, std::memory_order_relaxed);
    crew_.run([&](int) { work(body); });
    failure_.rethrow();
  }

 private:
  void work(TaskBody body) {
    TaskId task = none;
    while (!over_.load(std::memory_order_acquire)) {
      task = next(task);
      if (task == none) {
        const std::uint32_t seen = news_.load();
        news_.wait(seen, [&] {
          return some_ready_.load(std::memory_order_seq_cst) || over_.load(std::memory_order_seq_cst);
        });
        continue;
      }
      try {
        body(task);
      } catch (...) {
        failure_.keep();
        end();
        return;
      }
    }
  }

  /// Notes that `done` is done, unless it is none, and takes the most urgent ready task, if any.
  TaskId next(TaskId done) {
    lock_.lock();
    if (done != none) {
      for (const TaskId after : graph_.successors[done]) {
        if (--waits_for_[at(after)] == 0) ready_.insert(rank_[at(after)]);
      }
      --left_;
    }
    const bool last = left_ == 0;
    const TaskId task = ready_.empty() ? none : by_rank_[ready_.take_first()];
    const bool more = !ready_.empty();
    if (more != some_ready_.load(std::memory_order_relaxed))
      some_ready_.store(more, std::memory_order_seq_cst);
    lock_.unlock();
    if (last) end();
    if (more && news_.has_sleepers()) news_.raise();
    return task;
  }

  void end() {
    over_.store(true, std::memory_order_seq_cst);
    news_.raise();
  }

  const Dag& graph_;
  std::vector<TaskId> by_rank_;
  std::vector<std::size_t> rank_;  ///< the most urgent task has rank 0
  std::vector<TaskId> waits_for_;
  RankSet ready_;
  Index left_ = 0;
  alignas(apart) BriefLock lock_;                       ///< guards waits_for_, ready_ and left_
  alignas(apart) std::atomic<bool> some_ready_{false};  ///< ready_ as seen without the lock
  std::atomic<bool> over_{false};
  alignas(apart) Signal news_;
  Failure failure_;
  Crew crew_;
};

const Register registered{[](Registry& r) {
  add_executor(
      r,
      {.name = "list_scheduling", .summary = "one list for all threads, the longest path to the end first"},
      list_scheduling);
}};

}  // namespace

Maker* const list_scheduling = executor_of<ListScheduling>;

}  // namespace assay::task_graph
