// Executors: functions that run the tasks of a graph, each once and after its predecessors. They do not know
// the contract, so their behaviour can be tested when a task throws.
#pragma once

#include "assay/ops/task_graph.hpp"

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace assay::task_graph {

/// The callable for each task. Refers to a callable that outlives it.
class TaskBody {
 public:
  template <class Body>
  explicit TaskBody(const Body& body)
      : call_([](const void* context, TaskId task) { (*static_cast<const Body*>(context))(task); }),
        context_(&body) {}
  void operator()(TaskId task) const { call_(context_, task); }

 private:
  void (*call_)(const void*, TaskId);
  const void* context_;
};

/// Calls the body once for every task of its graph, after the calls for all predecessors. If a call throws,
/// tasks that have not begun are left out, and the caller gets the first exception once all threads have
/// left. The executor can be used again, by one caller at a time. The graph must outlive it.
using Executor = std::function<void(TaskBody)>;

/// Makes one. Durations are in rounds, one per task.
using Maker = Executor(const Dag& graph, std::span<const double> duration, int threads);
extern Maker* const levels;
extern Maker* const list_scheduling;
extern Maker* const work_stealing;
extern Maker* const openmp_tasks;
extern Maker* const tbb_tasks;  ///< if TBB was found

inline constexpr TaskId none = -1;
inline std::size_t at(TaskId task) { return static_cast<std::size_t>(task); }

/// The first exception of many threads.
class Failure {
 public:
  /// Whether there was an exception. Threads ask before each task, so none begins in vain.
  bool happened() const { return happened_.load(std::memory_order_relaxed); }

  /// Keeps the exception that is being handled, if it is the first.
  void keep() {
    if (claimed_.exchange(true, std::memory_order_acq_rel)) return;
    first_ = std::current_exception();
    happened_.store(true, std::memory_order_release);
  }

  /// Throws the kept exception and forgets it. Call it only after all threads that may call keep() have left.
  void rethrow() {
    if (!happened_.load(std::memory_order_acquire)) return;
    happened_.store(false, std::memory_order_relaxed);
    claimed_.store(false, std::memory_order_relaxed);
    std::rethrow_exception(std::exchange(first_, nullptr));
  }

 private:
  std::atomic<bool> happened_{false};
  std::atomic<bool> claimed_{false};
  std::exception_ptr first_;
};

/// The executor that keeps a Plan.
template <class Plan>
Executor executor_of(const Dag& graph, std::span<const double> duration, int threads) {
  return [plan = std::make_shared<Plan>(graph, duration, threads)](TaskBody body) { plan->run(body); };
}

/// Registers a variant that passes run_task() to an executor.
inline void add_executor(Registry& r, Variant<TaskGraph> words, Maker* made) {
  words.threaded = true;
  words.prepare = [made](const TaskGraph::Problem&, const TaskGraph::Input& prepared,
                         const Context& context) {
    const std::vector<double> duration(prepared.rounds.begin(), prepared.rounds.end());
    return [executor = made(prepared.graph, duration, context.threads)](const TaskGraph::Input& in,
                                                                        TaskGraph::Output& out) {
      const auto body = [&](TaskId task) { TaskGraph::run_task(in, out, task); };
      executor(TaskBody(body));
    };
  };
  r.add<TaskGraph>(std::move(words));
}

}  // namespace assay::task_graph
