// Tests workers that throw, are late or cannot be started: the error reaches the caller, nothing hangs, and
// no sample is lost or comes twice. Doors arrange the order of events, never time.

#include "assay/error.hpp"
#include "assay/ops/data_loader.hpp"
#include "data_loader/no_more_threads_test.hpp"
#include "data_loader/pipeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace assay {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// Opened once. Earlier threads wait.
class Door {
 public:
  void open() {
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
    }
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

/// Gives threads numbers in the order in which they come, and opens a door with the last.
class Roster {
 public:
  explicit Roster(Index threads) : threads_(threads) {}
  /// Returns the number of this thread once all threads have come: each then has work.
  Index number() {
    const Index mine = enter();
    complete_.pass();
    return mine;
  }

 private:
  Index enter() {
    const std::lock_guard lock(mutex_);
    const auto at = std::ranges::find(known_, std::this_thread::get_id());
    if (at != known_.end()) return at - known_.begin();
    known_.push_back(std::this_thread::get_id());
    const auto count = static_cast<Index>(known_.size());
    if (count == threads_) complete_.open();
    return count - 1;
  }
  Index threads_;
  std::mutex mutex_;
  std::vector<std::thread::id> known_;
  Door complete_;
};

/// An epoch of 61 shuffled samples in 16 batches, the last of one sample.
struct Epoch {
  static constexpr Index samples = 61, batch = 4, batches = 16;
  std::vector<Index> order;
  std::vector<int> seen = std::vector<int>(static_cast<std::size_t>(samples));
  std::vector<Index> batches_taken;

  Epoch() : order(static_cast<std::size_t>(samples)) {
    Rng rng(3);
    shuffle_into(order, Shuffle::full, 1, rng);
  }
  std::span<const Index> of(Index k) const {
    const Index size = std::min(batch, samples - k * batch);
    return std::span(order).subspan(static_cast<std::size_t>(k * batch), static_cast<std::size_t>(size));
  }
  /// Acts as a loader: writes the samples of batch k, one after the other.
  void write(Index k, std::byte* rows) const { std::memcpy(rows, of(k).data(), of(k).size_bytes()); }
  /// Acts as a consumer: counts the samples that were handed over.
  void take(Index k, const std::byte* rows) {
    for (std::size_t i = 0; i < of(k).size(); ++i) {
      Index sample = -1;
      std::memcpy(&sample, rows + i * sizeof sample, sizeof sample);
      ASSERT_EQ(sample, of(k)[i]);
      ++seen[static_cast<std::size_t>(sample)];
    }
    batches_taken.push_back(k);
  }
  /// No sample twice, and none of `lost`.
  void expect_none_twice(Index lost) const {
    EXPECT_LE(std::ranges::max(seen), 1);
    for (const Index sample : of(lost)) EXPECT_EQ(seen[static_cast<std::size_t>(sample)], 0) << sample;
  }
};

std::vector<Index> counted(Index count) {
  std::vector<Index> out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), Index{0});
  return out;
}

/// Workers, batches ahead for each, and whether they are handed over in order.
class WorkerThreadsAtFault : public ::testing::TestWithParam<std::tuple<Index, Index, bool>> {
 protected:
  static Index workers() { return std::get<0>(GetParam()); }
  static bool in_order() { return std::get<2>(GetParam()); }
  /// Batches that may be loaded or wait at the same time.
  static Index ahead() { return std::get<0>(GetParam()) * std::get<1>(GetParam()); }
  Pipeline pipeline_{Pipeline::Plan{.batches = Epoch::batches,
                                    .workers = std::get<0>(GetParam()),
                                    .prefetch = std::get<1>(GetParam()),
                                    .slot_bytes = Epoch::batch * static_cast<Index>(sizeof(Index)),
                                    .in_order = std::get<2>(GetParam()),
                                    .persistent = false}};

  /// The next run of the same pipeline brings every sample once.
  void expect_a_whole_epoch() {
    Epoch epoch;
    pipeline_.run([&](Index k, Index, std::byte* rows) { epoch.write(k, rows); },
                  [&](Index k, const std::byte* rows) { epoch.take(k, rows); });
    EXPECT_THAT(epoch.seen, Each(1));
  }
};

TEST_P(WorkerThreadsAtFault, PassOnAnErrorOfAnyOfThemWhileAllOthersAreLoading) {
  const Index threads = std::max<Index>(1, workers());
  for (Index bad = 0; bad < threads; ++bad) {
    Epoch epoch;
    Roster roster(threads);
    Index lost = -1;
    const auto run = [&] {
      pipeline_.run(
          [&](Index k, Index, std::byte* rows) {
            epoch.write(k, rows);
            if (roster.number() != bad) return;
            lost = k;
            throw Error("worker " + std::to_string(bad), "cannot read batch " + std::to_string(k), "");
          },
          [&](Index k, const std::byte* rows) { epoch.take(k, rows); });
    };
    EXPECT_THAT(run, ThrowsMessage<Error>(HasSubstr("worker " + std::to_string(bad) + ": cannot read")));
    ASSERT_GE(lost, 0);
    epoch.expect_none_twice(lost);
    if (in_order()) {
      EXPECT_EQ(epoch.batches_taken, counted(std::ssize(epoch.batches_taken)));
      EXPECT_LE(std::ssize(epoch.batches_taken), lost);
    }
    expect_a_whole_epoch();
  }
}

TEST_P(WorkerThreadsAtFault, PassOnAnErrorOfAnyBatch) {
  for (Index bad = 0; bad < Epoch::batches; ++bad) {
    Epoch epoch;
    const auto run = [&] {
      pipeline_.run(
          [&](Index k, Index, std::byte* rows) {
            if (k == bad) throw Error("batch " + std::to_string(k), "cannot be read", "");
            epoch.write(k, rows);
          },
          [&](Index k, const std::byte* rows) { epoch.take(k, rows); });
    };
    EXPECT_THAT(run, ThrowsMessage<Error>(HasSubstr("batch " + std::to_string(bad) + ": cannot be read")));
    epoch.expect_none_twice(bad);
  }
  expect_a_whole_epoch();
}

// Batch 1 throws while batch 0 is still being made, which ends only after that: its slot and its buffer are
// used until then.
TEST_P(WorkerThreadsAtFault, WaitForTheOneThatIsLateBeforeTheyPassOnAnError) {
  if (workers() < 2) GTEST_SKIP() << "one thread makes one batch at a time";
  Epoch epoch;
  Door thrown;
  bool late_is_done = false;
  const auto run = [&] {
    pipeline_.run(
        [&](Index k, Index, std::byte* rows) {
          if (k == 1) {
            thrown.open();
            throw Error("batch 1", "cannot be read", "");
          }
          if (k == 0) thrown.pass();
          epoch.write(k, rows);
          if (k == 0) late_is_done = true;
        },
        [&](Index k, const std::byte* rows) { epoch.take(k, rows); });
  };
  EXPECT_THAT(run, ThrowsMessage<Error>(HasSubstr("batch 1: cannot be read")));
  EXPECT_TRUE(late_is_done);
  epoch.expect_none_twice(1);
  expect_a_whole_epoch();
}

// In order, batch 0 ends when all others that may be under way are ready; out of order, when all others of
// the epoch were taken. Either would never end if the others waited for the late one.
TEST_P(WorkerThreadsAtFault, BringEachSampleOnceAlthoughOneOfThemIsLate) {
  if (workers() < 2) GTEST_SKIP() << "one thread makes one batch at a time";
  Epoch epoch;
  Door others_done;
  std::mutex mutex;
  Index made = 0;
  pipeline_.run(
      [&](Index k, Index, std::byte* rows) {
        epoch.write(k, rows);
        if (k == 0) return others_done.pass();
        const std::lock_guard lock(mutex);
        if (++made == std::min(ahead(), Epoch::batches) - 1 && in_order()) others_done.open();
      },
      [&](Index k, const std::byte* rows) {
        epoch.take(k, rows);
        if (!in_order() && std::ssize(epoch.batches_taken) == Epoch::batches - 1) others_done.open();
      });
  EXPECT_THAT(epoch.seen, Each(1));
  if (in_order()) {
    EXPECT_EQ(epoch.batches_taken, counted(Epoch::batches));
  } else {
    EXPECT_EQ(epoch.batches_taken.back(), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(All, WorkerThreadsAtFault,
                         ::testing::Combine(::testing::Values(0, 1, 2, 3), ::testing::Values(1, 4),
                                            ::testing::Bool()),
                         [](const auto& named) {
                           return std::to_string(std::get<0>(named.param)) + "_ahead_" +
                                  std::to_string(std::get<1>(named.param)) +
                                  (std::get<2>(named.param) ? "_in_order" : "_as_they_come");
                         });

TEST(WorkerThreadsThatCannotBeStarted, AreAnErrorThatSaysWhatToDo) {
  const Pipeline::Plan plan{.batches = 3, .workers = 2, .slot_bytes = 8, .persistent = false};
  Pipeline respawned(plan);
  const auto run = [&] { respawned.run([](Index, Index, std::byte*) {}, [](Index, const std::byte*) {}); };
  {
    const NoMoreThreads here;
    EXPECT_THAT(run, ThrowsMessage<Error>(HasSubstr("workers: cannot be started")));
    EXPECT_THAT([] { const Pipeline persistent({.batches = 3, .workers = 2, .slot_bytes = 8}); },
                ThrowsMessage<Error>(HasSubstr("take fewer workers")));
  }
  EXPECT_NO_THROW(run());
}

}  // namespace
}  // namespace assay
