// Threads that wait for work: started once, used many times, asleep in between.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace assay::task_graph {

/// The distance between data that different threads write: two cache lines, since processors fetch them in
/// pairs.
inline constexpr std::size_t apart = 128;

/// Tells the processor that this thread waits for another thread.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

/// The number of polls before a thread sleeps: 2,000 pauses take some 20 to 70 us. The kernel takes about as
/// long to wake a thread that sleeps; spinning longer would disturb the next work.
inline constexpr int patience = 2000;

/// A word that threads wait on: they poll for a while, then sleep. No thread yields: a yield gives the
/// processor to other work of the machine until that is done.
class Signal {
 public:
  std::uint32_t load() const { return word_.load(std::memory_order_seq_cst); }

  /// Wakes all threads that wait for a new value. Takes a system call only if a thread sleeps.
  void raise() {
    word_.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) > 0) word_.notify_all();
  }
  /// Whether raise() would have to wake a thread; frequent producers call raise() only then.
  bool has_sleepers() const { return sleepers_.load(std::memory_order_seq_cst) > 0; }

  /// Returns once the word is not `old`, or earlier if `ready()` holds. Announces itself as a sleeper, then
  /// tests both again before it sleeps.
  template <class Ready>
  void wait(std::uint32_t old, const Ready& ready) {
    for (int look = 0; look < patience; ++look) {
      if (load() != old || ready()) return;
      relax();
    }
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    if (!ready()) word_.wait(old, std::memory_order_seq_cst);
    sleepers_.fetch_sub(1, std::memory_order_seq_cst);
  }

 private:
  std::atomic<std::uint32_t> word_{0};
  std::atomic<std::uint32_t> sleepers_{0};
};

/// `threads` threads, including the caller.
///
/// A run is open to all threads that arrive in time. Its begin wakes sleeping threads, which take part if the
/// run is not over by then; the caller waits only for threads that have entered. So a short run does not wait
/// for the operating system, and the work must not be divided by the number of threads beforehand.
class Crew {
 public:
  explicit Crew(int threads);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew();

  int members() const { return static_cast<int>(threads_.size()) + 1; }

  /// Calls work(member), with member 0 on this thread and other members on the other threads. Returns when
  /// work(0) and every other call that was begun have returned. `work` must not throw, and must end on every
  /// thread once the work is done.
  template <class Work>
  void run(const Work& work) {
    if (threads_.empty()) {
      work(0);
      return;
    }
    work_ = [](const void* context, int member) { (*static_cast<const Work*>(context))(member); };
    context_ = &work;
    open();
    work(0);
    close();
  }

 private:
  void open();
  void close();
  void step_aside();
  void serve(int member);

  // The door of a run: how many threads are inside, and whether it is open. Entering is one atomic step, so
  // no thread enters a run that is over.
  static constexpr std::uint32_t opened = 1U << 31;
  alignas(apart) std::atomic<std::uint32_t> door_{0};
  alignas(apart) Signal called_;
  alignas(apart) Signal left_;
  std::atomic<bool> stopping_{false};
  int kept_off_ = -1;  ///< the processor that step_aside() has kept the threads off
  void (*work_)(const void* context, int member) = nullptr;
  const void* context_ = nullptr;
  std::vector<std::thread> threads_;
};

}  // namespace assay::task_graph
