// Threads that wait for work: made once, used many times, asleep in between.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace assay::task_graph {

/// Two cache lines, since processors fetch them in pairs: what different threads write lies this far apart.
inline constexpr std::size_t apart = 128;

/// Tells the processor that this thread waits for another one.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

/// The number of looks before a thread sleeps: 2,000 pauses are some 20 to 70 us. The kernel takes about as
/// long to wake a thread that sleeps; a thread that spins longer than that disturbs what comes next.
inline constexpr int patience = 2000;

/// A word that threads wait on: looked at for a while, then asleep. Nobody yields: a yield goes to whatever
/// else the machine runs, and comes back when that is done.
class Signal {
 public:
  std::uint32_t load() const { return word_.load(std::memory_order_seq_cst); }

  /// Wakes everybody who waits for another value than before. A system call only if somebody sleeps.
  void raise() {
    word_.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) > 0) word_.notify_all();
  }
  /// Whether raise() would have to wake somebody: those who produce much need to raise only then.
  bool has_sleepers() const { return sleepers_.load(std::memory_order_seq_cst) > 0; }

  /// Returns once the word is not `old`, or earlier when `ready()` holds. Tests both before it sleeps, and
  /// has announced itself as a sleeper by then.
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

/// `threads` threads, the calling one among them.
///
/// A run is open to all threads that arrive in time. A thread that sleeps when it begins is woken, and takes
/// part if the run is not over by then; the caller waits for those only that have entered. So a short run
/// does not wait for the operating system, and the work must not be divided by the number of threads
/// beforehand.
class Crew {
 public:
  explicit Crew(int threads);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew();

  int members() const { return static_cast<int>(threads_.size()) + 1; }

  /// Calls work(member) with member 0 on this thread and with others on theirs. Returns when work(0) has
  /// returned and every other call that was begun. `work` must not throw and must end on every thread once
  /// the work is done.
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

  // The door of a run: who is in, and whether it is open. Entering is one step, so that nobody enters a run
  // that is over.
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
