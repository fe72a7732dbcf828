#include "data_loader/pipeline.hpp"

#include "assay/error.hpp"
#include "assay/ops/data_loader.hpp"
#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using Plan = Pipeline::Plan;

std::vector<Index> in_turn(Index batches) {
  std::vector<Index> all(static_cast<std::size_t>(batches));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

void write_number(Index batch, std::byte* bytes) { std::memcpy(bytes, &batch, sizeof batch); }
Index number_in(const std::byte* bytes) {
  Index batch = -1;
  std::memcpy(&batch, bytes, sizeof batch);
  return batch;
}

/// The batches of one run, in the order in which they were taken; each must hold its own number.
std::vector<Index> taken(Pipeline& pipeline) {
  std::vector<Index> out;
  pipeline.run([](Index k, Index, std::byte* bytes) { write_number(k, bytes); },
               [&](Index k, const std::byte* bytes) {
                 EXPECT_EQ(number_in(bytes), k);
                 out.push_back(k);
               });
  return out;
}

/// Every combination of the loader's options, small.
class WorkerThreads : public ::testing::TestWithParam<std::tuple<Index, Index, bool, bool>> {
 protected:
  static Plan plan(Index batches) {
    const auto& [workers, prefetch, in_order, persistent] = GetParam();
    return {.batches = batches,
            .workers = workers,
            .prefetch = prefetch,
            .slot_bytes = sizeof(Index),
            .in_order = in_order,
            .persistent = persistent};
  }
};

TEST_P(WorkerThreads, BringEachBatchOnceInEachRun) {
  for (const Index batches : {0, 1, 2, 3, 50}) {
    Pipeline pipeline(plan(batches));
    for (int run = 0; run < 3; ++run) {
      std::vector<Index> batch = taken(pipeline);
      if (!plan(batches).in_order) std::ranges::sort(batch);
      EXPECT_EQ(batch, in_turn(batches));
    }
  }
}

TEST_P(WorkerThreads, PassOnWhatOneOfThemThrowsAndWorkAgainAfterwards) {
  Pipeline pipeline(plan(20));
  for (const Index bad : {0, 7, 19}) {
    Index taken_before = 0;
    const auto run = [&] {
      pipeline.run(
          [&](Index k, Index, std::byte* bytes) {
            write_number(k, bytes);
            if (k == bad) throw std::runtime_error("batch " + std::to_string(k));
          },
          [&](Index k, const std::byte*) {
            EXPECT_NE(k, bad);
            ++taken_before;
          });
    };
    EXPECT_THAT(run, ThrowsMessage<std::runtime_error>(HasSubstr("batch " + std::to_string(bad))));
    EXPECT_LT(taken_before, 20);
    EXPECT_EQ(taken(pipeline).size(), 20U);
  }
}

TEST_P(WorkerThreads, PassOnOneExceptionWhenAllOfThemThrow) {
  Pipeline pipeline(plan(20));
  const auto run = [&] {
    pipeline.run([](Index, Index, std::byte*) { throw std::runtime_error("all"); },
                 [](Index, const std::byte*) {});
  };
  EXPECT_THAT(run, ThrowsMessage<std::runtime_error>("all"));
}

TEST_P(WorkerThreads, ComeToRestWhenTheConsumerThrows) {
  Pipeline pipeline(plan(20));
  const auto run = [&] {
    pipeline.run([](Index k, Index, std::byte* bytes) { write_number(k, bytes); },
                 [](Index, const std::byte*) { throw std::runtime_error("consumer"); });
  };
  EXPECT_THROW(run(), std::runtime_error);
  EXPECT_EQ(taken(pipeline).size(), 20U);
}

TEST_P(WorkerThreads, KeepWithinWorkersTimesPrefetchBatchesAhead) {
  const auto& [workers, prefetch, in_order, persistent] = GetParam();
  Pipeline pipeline(plan(50));
  std::atomic<Index> loaded = 0, taken_so_far = 0, most = 0;
  pipeline.run(
      [&](Index, Index, std::byte*) {
        const Index ahead = ++loaded - taken_so_far;
        Index before = most;
        while (ahead > before && !most.compare_exchange_weak(before, ahead)) {
        }
      },
      [&](Index, const std::byte*) { ++taken_so_far; });
  // The batch that was handed over and not yet counted is no longer ahead.
  EXPECT_LE(most, workers == 0 ? 1 : workers * prefetch + 1);
}

INSTANTIATE_TEST_SUITE_P(All, WorkerThreads,
                         ::testing::Combine(::testing::Values(0, 1, 2, 7), ::testing::Values(1, 3),
                                            ::testing::Bool(), ::testing::Bool()),
                         [](const auto& named) {
                           return std::to_string(std::get<0>(named.param)) + "_ahead_" +
                                  std::to_string(std::get<1>(named.param)) +
                                  (std::get<2>(named.param) ? "_in_order" : "_as_they_come") +
                                  (std::get<3>(named.param) ? "_persistent" : "_respawned");
                         });

TEST(WorkerThreadsOutOfOrder, DoNotWaitForABatchThatIsLate) {
  Pipeline pipeline({.batches = 4, .workers = 2, .prefetch = 2, .slot_bytes = 8, .in_order = false});
  std::atomic<Index> taken_so_far = 0;
  std::vector<Index> order;
  pipeline.run(
      [&](Index k, Index, std::byte*) {
        // Batch 0 is done only after two others were taken; in order, this would never end.
        while (k == 0 && taken_so_far < 2) std::this_thread::yield();
      },
      [&](Index k, const std::byte*) {
        order.push_back(k);
        ++taken_so_far;
      });
  EXPECT_EQ(order.size(), 4U);
  EXPECT_NE(order[0], 0);
  EXPECT_NE(order[1], 0);
}

TEST(WorkerThreadsAndTheirConsumer, WorkAtTheSameTimeWithASingleBatchAhead) {
  Pipeline pipeline({.batches = 5, .workers = 1, .prefetch = 1, .slot_bytes = 8});
  std::atomic<Index> begun = 0;
  pipeline.run([&](Index k, Index, std::byte*) { begun = k + 1; },
               [&](Index k, const std::byte*) {
                 // The next batch begins while this one is in use; without overlap, this would never end.
                 while (k < 4 && begun < k + 2) std::this_thread::yield();
               });
  EXPECT_EQ(begun, 5);
}

class LoaderOfATruncatedFile : public ::testing::TestWithParam<std::string> {};

TEST_P(LoaderOfATruncatedFile, ThrowsFromItsWorkerThreadsAndDoesNotHang) {
  namespace fs = std::filesystem;
  const fs::path file = fs::path(::testing::TempDir()) / ("data_loader_" + GetParam() + ".rec");
  write_record_file(file, {.records = 40, .bytes = 1000}, [](Index, std::span<std::byte>) {});
  for (const std::string options : {"", ",workers=2", ",workers=3,delivery=out,life=respawned,hold=memory"}) {
    write_record_file(file, {.records = 40, .bytes = 1000}, [](Index, std::span<std::byte>) {});
    const Registry registry = Registry::linked();
    const Operation& operation = registry.at("data_loader");
    const auto variant =
        static_cast<std::size_t>(std::ranges::find(operation.variants(), GetParam(), &VariantInfo::name) -
                                 operation.variants().begin());
    const auto workload =
        operation.open("samples=40,bytes=1000,batch=4" + options, {.fill = Fill::uniform, .file = file});
    const auto timed = workload->timed(variant, {});
    fs::resize_file(file, 4096 + 5000);
    EXPECT_THAT([&] { timed->repeat(1); }, ThrowsMessage<Error>(HasSubstr("was truncated"))) << options;
  }
  fs::remove(file);
}

INSTANTIATE_TEST_SUITE_P(Variants, LoaderOfATruncatedFile,
                         ::testing::Values("naive", "worker_threads", "worker_threads_prefetch"),
                         [](const auto& named) { return named.param; });

}  // namespace
}  // namespace assay
