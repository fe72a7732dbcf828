/// Places the threads of a trial on cores.
#pragma once

#include <functional>
#include <vector>

namespace assay {

/// Places the calling thread, and the threads that help it, among the cores that it was allowed at the start.
class Placing {
 public:
  /// The calling thread will run on `core`, its helpers on those that follow.
  explicit Placing(int core);

  /// Calls `work`, which makes and calls a trial of so many threads, and leaves them where they are to run.
  /// One thread has its core for itself, whose caches are then as the trial before left them. With several,
  /// `work` sees all cores; then the threads that had the largest part in it get a core each. Their clocks of
  /// processor time tell which ones they are, whoever made them: a run-time's pool or a variant itself. None
  /// is pinned when fewer than `threads` remain after the call, since those that a later call makes would all
  /// inherit one core. Returns the number of cores that threads are pinned to, 0 for none.
  int place(int threads, const std::function<void()>& work) const;

  /// Lets the calling thread run on all of its cores again.
  void lift() const;

 private:
  std::vector<int> cores_;  ///< those allowed, its own first
};

}  // namespace assay
