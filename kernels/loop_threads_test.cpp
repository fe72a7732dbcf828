// Variants that hand work to threads in the operations around the kernels, on problems that keep every thread
// busy and with numbers of threads that divide nothing evenly. Runs of thread sanitizers select them by name.

#include "assay/registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace assay::loop_threads_test {
namespace {

void expect_agreement(const std::string& operation, const std::string& variant, const std::string& problem,
                      const std::vector<int>& numbers_of_threads) {
  const Registry registry = Registry::linked();
  const Operation& op = registry.at(operation);
  const auto named = std::ranges::find(op.variants(), variant, &VariantInfo::name);
  ASSERT_NE(named, op.variants().end()) << operation << "/" << variant;
  const auto workload = op.open(problem, {.fill = Fill::uniform, .rng = Rng(42)});
  for (const int threads : numbers_of_threads) {
    const Agreement agreement =
        workload->check(static_cast<std::size_t>(named - op.variants().begin()), {.threads = threads});
    EXPECT_TRUE(agreement.agrees) << variant << "/" << problem << "#" << threads << ": " << agreement.detail;
  }
}

TEST(ChunksThreads, TakeEachTaskOnce) {
  for (const std::string skew : {"none", "linear", "tail"}) {
    const std::string problem = "n=257,grain=50,skew=" + skew;
    expect_agreement("chunks", "stealing", problem, {1, 2, 3, 7});
    expect_agreement("chunks", "static_chunks", problem, {1, 2, 3, 7});
  }
  // Fewer tasks than threads.
  expect_agreement("chunks", "stealing", "n=2,grain=50", {7});
}

TEST(StagedCopyThreads, CopyAheadOfTheBatchInUse) {
  expect_agreement("staged_copy", "double_buffered", "batches=33,n=4099,rounds=4", {1, 2, 3});
}

TEST(LossReadbackThreads, ReadWhatTheQueueHasWritten) {
  for (const std::string variant : {"naive", "one_read", "every_k"}) {
    expect_agreement("loss_readback", variant, "steps=50,every=7,grain=100,host=30", {1});
  }
}

// More lines than the writer takes at once, with and without a tail.
TEST(LoggingThreads, WriteEveryLineThatIsWanted) {
  for (const std::string problem :
       {"batches=300,every=1", "batches=1000,every=3,fails=500", "batches=64,every=1"}) {
    expect_agreement("logging", "every_nth", problem, {1});
  }
}

}  // namespace
}  // namespace assay::loop_threads_test
