/// Places the threads of a trial on cores, and finds the core that other processes use least.
#pragma once

#include <functional>
#include <vector>

namespace assay {

/// Places the calling thread, and those that help it, among the processors that it was allowed at the start.
class Placing {
 public:
  /// The calling thread will run on `processor`, its helpers on other cores before its siblings.
  explicit Placing(int processor);

  /// Calls `work`, which makes and calls a trial of so many threads, and leaves them where they are to run.
  /// One thread has its core for itself, whose caches are then as the trial before left them. With several,
  /// `work` sees all of them; then the threads that had the largest part in it get one each. Their clocks of
  /// processor time tell which ones they are, whoever made them: a run-time's pool or a variant itself. None
  /// is pinned when fewer than `threads` remain after the call, since those that a later call makes would all
  /// inherit one core. Returns the number of processors that threads are pinned to, 0 for none.
  int place(int threads, const std::function<void()>& work) const;

  /// Lets the calling thread run on all of them again.
  void lift() const;

 private:
  std::vector<int> processors_;  ///< those allowed, its own first
};

/// Returns the processor, one of each fast core that this process may use, that took least of a short probe's
/// time for something else. Takes about two milliseconds each, for at most sixteen of them.
int freest_core();

}  // namespace assay
