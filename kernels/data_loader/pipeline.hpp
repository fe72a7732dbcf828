// Threads load batches ahead; the caller takes them, in order or as they come.
#pragma once

#include "assay/error.hpp"
#include "assay/problem.hpp"

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

namespace assay {

/// The error to throw if the system starts no more threads.
Error cannot_start_workers(const std::system_error& failure);

/// Keeps its slots between runs, and its threads if they are persistent. One thread runs it.
///
/// Free workers claim batches in order. One lock with two conditions delivers them: a batch takes
/// microseconds or more, and a queue without locks would spin on processors that the workers and the consumer
/// need.
class Pipeline {
 public:
  struct Plan {
    Index batches = 0;
    Index workers = 0;   ///< 0: the caller loads
    Index prefetch = 1;  ///< at most workers x prefetch batches are being loaded or wait
    Index slot_bytes = 0;
    bool in_order = true;
    bool persistent = true;
  };

  /// Throws Error if threads cannot be started: here if they are persistent, else in run().
  explicit Pipeline(const Plan& plan);
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  ~Pipeline();

  /// Memory for one batch each. The batch in use is not counted in workers x prefetch.
  Index slots() const { return static_cast<Index>(memory_.size()) / stride_; }

  /// Calls load(batch, slot, bytes) once for each batch, in a worker, and take(batch, bytes) with the loaded
  /// bytes, here. If a load throws, no further batch is begun, and its exception leaves this call after all
  /// workers have come to rest. The next run begins afresh.
  template <class Load, class Take>
  void run(const Load& load, const Take& take) {
    if (plan_.workers == 0) {
      for (Index k = 0; k < plan_.batches; ++k) {
        load(k, Index{0}, bytes_of(0));
        take(k, bytes_of(0));
      }
      return;
    }
    // A reference, so that nothing is allocated.
    const Loading loading(std::cref(load));
    start(loading);
    try {
      for (auto filled = next(std::nullopt); filled; filled = next(filled->slot)) {
        take(filled->batch, bytes_of(filled->slot));
      }
    } catch (...) {
      come_to_rest();
      throw;
    }
    if (const std::exception_ptr failure = come_to_rest()) std::rethrow_exception(failure);
  }

 private:
  using Loading = std::function<void(Index, Index, std::byte*)>;
  struct Filled {
    Index batch = 0, slot = 0;
  };

  std::byte* bytes_of(Index slot) { return memory_.data() + slot * stride_; }
  /// Throws Error; no thread then uses `loading` any more.
  void start(const Loading& loading);
  /// Returns when all workers rest, with the exception of one of them, if any.
  std::exception_ptr come_to_rest();
  /// Starts all threads or, if it throws, none.
  void spawn();
  void join();
  void work();
  bool has_more() const { return loading_ != nullptr && failure_ == nullptr && claimed_ < plan_.batches; }
  /// Whether an unclaimed batch has a place.
  bool may_claim() const {
    return has_more() && !free_.empty() && claimed_ - taken_ < plan_.workers * plan_.prefetch;
  }
  /// Sleeps in naps, each as long as the wait so far. Only a consumer that takes the last batch or finds none
  /// wakes a worker: waking a thread whose processor sleeps costs the training loop 80 to 95 us on a virtual
  /// machine. While other batches wait, a worker may come late, as naps often do if both threads share a
  /// processor.
  void wait_for_place(std::unique_lock<std::mutex>& lock);
  void deliver(Filled filled);
  std::optional<Filled>& due();
  /// Takes back the slot of the previous batch. Returns nothing after the last batch and after a failure.
  std::optional<Filled> next(std::optional<Index> done);

  Plan plan_;
  Index stride_;
  std::vector<std::byte> memory_;
  std::vector<std::thread> threads_;

  std::mutex mutex_;
  std::condition_variable claimable_, deliverable_;
  const Loading* loading_ = nullptr;  ///< null between runs
  bool leaving_ = false;
  Index claimed_ = 0, taken_ = 0, busy_ = 0;
  Index idle_ = 0;  ///< sleeping workers
  std::exception_ptr failure_;
  std::vector<Index> free_;
  std::vector<std::optional<Filled>> filled_;  ///< in order: at batch modulo size; else a queue from first_
  Index first_ = 0, queued_ = 0;
};

}  // namespace assay
