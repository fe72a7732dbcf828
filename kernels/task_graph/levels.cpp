// The idea: tasks at the same distance from the start do not wait for each other, so threads share out one
// level after the other. The price is a meeting of all threads per level: no thread begins the next level
// before the slowest task of this level is done.

#include "task_graph/crew.hpp"
#include "task_graph/executor.hpp"

#include <algorithm>
#include <numeric>

namespace assay::task_graph {
namespace {

class Levels {
 public:
  Levels(const Dag& graph, std::span<const double>, int threads) : order_(graph.order), crew_(threads) {
    const std::vector<TaskId> level = levels_of(graph);
    std::ranges::stable_sort(order_, {}, [&](TaskId task) { return level[at(task)]; });
    const TaskId last = level[at(order_.back())];
    ends_.assign(at(last) + 1, 0);
    for (const TaskId l : level) ++ends_[at(l)];
    std::partial_sum(ends_.begin(), ends_.end(), ends_.begin());
  }

  void run(TaskBody body) {
    claimed_.store(0, std::memory_order_relaxed);
    finished_.store(0, std::memory_order_relaxed);
    crew_.run([&](int) { walk(body); });
    failure_.rethrow();
  }

 private:
  /// All threads walk through all levels. A late thread finds the first levels claimed and finished.
  void walk(TaskBody body) {
    Index begin = 0;
    for (const Index end : ends_) {
      const Index share = std::max(Index{1}, (end - begin) / (4 * crew_.members()));
      for (Index from = claim(end, share); from < end; from = claim(end, share)) {
        const Index to = std::min(from + share, end);
        for (Index i = from; i < to && !failure_.happened(); ++i)
          call(body, order_[static_cast<std::size_t>(i)]);
        // Counted after a failure too, so that no thread waits for ever.
        if (finished_.fetch_add(to - from, std::memory_order_acq_rel) + to - from == end &&
            crew_.members() > 1) {
          next_level_.raise();
        }
      }
      wait_for(end);
      begin = end;
    }
  }

  /// Claims up to `share` tasks before `end` and returns the first, or `end`.
  Index claim(Index end, Index share) {
    Index from = claimed_.load(std::memory_order_relaxed);
    while (from < end &&
           !claimed_.compare_exchange_weak(from, std::min(from + share, end), std::memory_order_relaxed)) {
    }
    return std::min(from, end);
  }

  void wait_for(Index end) {
    while (finished_.load(std::memory_order_acquire) < end) {
      const std::uint32_t seen = next_level_.load();
      next_level_.wait(seen, [&] { return finished_.load(std::memory_order_seq_cst) >= end; });
    }
  }

  void call(TaskBody body, TaskId task) {
    try {
      body(task);
    } catch (...) {
      failure_.keep();
    }
  }

  std::vector<TaskId> order_;  ///< tasks by level
  std::vector<Index> ends_;    ///< end of each level in order_
  alignas(apart) std::atomic<Index> claimed_{0};
  alignas(apart) std::atomic<Index> finished_{0};
  alignas(apart) Signal next_level_;
  Failure failure_;
  Crew crew_;
};

const Register registered{[](Registry& r) {
  add_executor(r, {.name = "levels", .summary = "level by level, each shared out among all threads"}, levels);
}};

}  // namespace

Maker* const levels = executor_of<Levels>;

}  // namespace assay::task_graph
