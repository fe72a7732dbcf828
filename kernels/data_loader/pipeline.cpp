#include "data_loader/pipeline.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace assay {
namespace {

/// Slots start on cache lines of their own, so that no two workers write to one line.
constexpr Index line_bytes = 64;

/// The number of yields before a thread sleeps. Chosen by time on 8-byte batches, the smallest
/// (kernels/README.md, Data loading).
constexpr int yields = 40;

template <class Condition>
void yield_until(std::unique_lock<std::mutex>& lock, const Condition& condition) {
  for (int i = 0; i < yields && !condition(); ++i) {
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
  }
}

/// The first and the longest nap of a worker that waits for a place.
constexpr std::chrono::microseconds first_nap{50}, longest_nap{5000};

}  // namespace

Error cannot_start_workers(const std::system_error& failure) {
  return {"workers", "cannot be started: " + failure.code().message(),
          "take fewer workers, or raise the limits on threads and memory (ulimit -u, ulimit -v)"};
}

Pipeline::Pipeline(const Plan& plan)
    : plan_(plan), stride_(std::max<Index>(1, (plan.slot_bytes + line_bytes - 1) / line_bytes) * line_bytes) {
  const Index ahead = plan_.workers * plan_.prefetch;
  memory_.resize(static_cast<std::size_t>((ahead + 1) * stride_));
  filled_.resize(static_cast<std::size_t>(ahead));
  free_.reserve(static_cast<std::size_t>(ahead + 1));
  threads_.reserve(static_cast<std::size_t>(plan_.workers));
  if (plan_.persistent) spawn();
}

Pipeline::~Pipeline() { join(); }

void Pipeline::spawn() {
  try {
    for (Index w = 0; w < plan_.workers; ++w) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error& failure) {
    // Threads that started may be loading already.
    come_to_rest();
    join();
    throw cannot_start_workers(failure);
  }
}

void Pipeline::join() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  claimable_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  leaving_ = false;
}

void Pipeline::start(const Loading& loading) {
  {
    const std::lock_guard lock(mutex_);
    loading_ = &loading;
    claimed_ = taken_ = first_ = queued_ = 0;
    free_.clear();
    for (Index slot = slots(); slot > 0; --slot) free_.push_back(slot - 1);
    std::ranges::fill(filled_, std::nullopt);
  }
  if (plan_.persistent) {
    claimable_.notify_all();
  } else {
    spawn();
  }
}

std::exception_ptr Pipeline::come_to_rest() {
  std::exception_ptr failure;
  {
    std::unique_lock lock(mutex_);
    loading_ = nullptr;
    deliverable_.wait(lock, [this] { return busy_ == 0; });
    failure = std::exchange(failure_, nullptr);
  }
  if (!plan_.persistent) join();
  return failure;
}

void Pipeline::wait_for_place(std::unique_lock<std::mutex>& lock) {
  const auto claimable = [this] { return leaving_ || may_claim(); };
  ++idle_;
  yield_until(lock, claimable);
  for (auto nap = first_nap; !claimable(); nap = std::min(2 * nap, longest_nap)) {
    if (has_more()) {
      claimable_.wait_for(lock, nap);
    } else {
      claimable_.wait(lock, [&] { return claimable() || has_more(); });
    }
  }
  --idle_;
}

void Pipeline::work() {
  std::unique_lock lock(mutex_);
  for (bool unsaid = false;;) {
    if (!leaving_ && !may_claim()) wait_for_place(lock);
    if (leaving_) return;
    const Filled mine{.batch = claimed_++, .slot = free_.back()};
    free_.pop_back();
    ++busy_;
    const Loading& loading = *loading_;
    lock.unlock();
    // Announces the previous batch outside the lock: otherwise the woken thread would wait for the lock.
    if (unsaid) deliverable_.notify_one();
    std::exception_ptr failure;
    try {
      loading(mine.batch, mine.slot, bytes_of(mine.slot));
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    --busy_;
    if (failure == nullptr) {
      deliver(mine);
    } else if (failure_ == nullptr) {
      failure_ = std::move(failure);
    }
    unsaid = may_claim();  // then it is announced once the next batch is claimed
    if (!unsaid) deliverable_.notify_one();
  }
}

void Pipeline::deliver(Filled filled) {
  const auto size = static_cast<Index>(filled_.size());
  const Index at = plan_.in_order ? filled.batch % size : (first_ + queued_++) % size;
  filled_[static_cast<std::size_t>(at)] = filled;
}

auto Pipeline::due() -> std::optional<Filled>& {
  const auto size = static_cast<Index>(filled_.size());
  return filled_[static_cast<std::size_t>(plan_.in_order ? taken_ % size : first_)];
}

auto Pipeline::next(std::optional<Index> done) -> std::optional<Filled> {
  std::unique_lock lock(mutex_);
  if (done) free_.push_back(*done);
  if (taken_ == plan_.batches) return std::nullopt;
  const auto deliverable = [this] { return failure_ != nullptr || due().has_value(); };
  if (!deliverable()) {
    // Waking a worker now costs nothing: there is no batch to take, and a place may have come free.
    if (idle_ > 0 && may_claim()) claimable_.notify_one();
    yield_until(lock, deliverable);
    deliverable_.wait(lock, deliverable);
  }
  if (failure_ != nullptr) return std::nullopt;
  const Filled filled = *std::exchange(due(), std::nullopt);
  if (!plan_.in_order) {
    first_ = (first_ + 1) % static_cast<Index>(filled_.size());
    --queued_;
  }
  ++taken_;
  const bool last = !due().has_value() && idle_ > 0 && may_claim();
  lock.unlock();
  if (last) claimable_.notify_one();
  return filled;
}

}  // namespace assay
