// Batches loaded ahead by threads and taken by the caller, in order or as they come.
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

/// The error to throw where the system starts no more threads.
Error cannot_start_workers(const std::system_error& failure);

/// Holds its threads between runs when they are persistent, and its slots always. One thread runs it.
///
/// Batches are claimed in order by whichever worker is free, and delivered under one lock with two
/// conditions, since a batch is loaded in microseconds or more: a queue without locks would spin on
/// processors that the workers and the consumer need.
class Pipeline {
 public:
  struct Plan {
    Index batches = 0;
    Index workers = 0;   ///< 0: the caller loads
    Index prefetch = 1;  ///< workers x prefetch batches at most are being loaded or wait to be taken
    Index slot_bytes = 0;
    bool in_order = true;
    bool persistent = true;
  };

  /// Throws Error when threads cannot be started, here where they are persistent, else in run().
  explicit Pipeline(const Plan& plan);
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  ~Pipeline();

  /// Memory for one batch each; the one that is being taken is not counted in workers x prefetch.
  Index slots() const { return static_cast<Index>(memory_.size()) / stride_; }

  /// Calls load(batch, slot, bytes) once for each batch, in a worker, and take(batch, bytes) with what it
  /// wrote, here. When a load throws, no further batch is begun, and its exception leaves this call after all
  /// workers have come to rest; the next run begins afresh.
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
    Session session(*this, loading);
    for (auto filled = next(std::nullopt); filled; filled = next(filled->slot)) {
      take(filled->batch, bytes_of(filled->slot));
    }
    session.finish();
  }

 private:
  using Loading = std::function<void(Index, Index, std::byte*)>;
  struct Filled {
    Index batch = 0, slot = 0;
  };
  /// Lasts from the start of a run to the rest of its workers, also when the consumer throws.
  class Session {
   public:
    Session(Pipeline& pipeline, const Loading& loading) : pipeline_(pipeline) { pipeline_.start(loading); }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session() { pipeline_.come_to_rest(); }
    /// Throws what a worker threw.
    void finish();

   private:
    Pipeline& pipeline_;
  };

  std::byte* bytes_of(Index slot) { return memory_.data() + slot * stride_; }
  /// Throws Error, with no thread left that knows of `loading`.
  void start(const Loading& loading);
  std::exception_ptr come_to_rest();
  /// All threads or, when it throws, none.
  void spawn();
  void join();
  void work();
  /// Whether there are batches that nobody has claimed.
  bool has_more() const;
  /// Whether one of them has a place.
  bool may_claim() const;
  /// Sleeps in naps, each as long as it has waited so far, and is woken only by a consumer that takes the
  /// last batch there is, or finds none. To wake a thread whose processor sleeps costs the training loop 80
  /// to 95 us on a virtual machine; a worker that has other batches waiting may come late, which naps often
  /// do where both threads share a processor.
  void wait_for_place(std::unique_lock<std::mutex>& lock);
  void deliver(Filled filled);
  std::optional<Filled>& due();
  /// Takes back the slot of the batch before. Nothing after the last batch and after a failure.
  std::optional<Filled> next(std::optional<Index> done);

  Plan plan_;
  Index stride_;
  std::vector<std::byte> memory_;
  std::vector<std::thread> threads_;

  std::mutex mutex_;
  std::condition_variable claimable_, deliverable_;
  const Loading* loading_ = nullptr;  ///< nothing between runs
  bool leaving_ = false;
  Index claimed_ = 0, taken_ = 0, busy_ = 0;
  Index idle_ = 0;  ///< workers that sleep
  std::exception_ptr failure_;
  std::vector<Index> free_;
  std::vector<std::optional<Filled>> filled_;  ///< in order: at batch modulo size; else a queue from first_
  Index first_ = 0, queued_ = 0;
};

}  // namespace assay
