// The threaded variants of im2col and col2im where corner cases are too small to be shared out: more threads
// than planes, shares that end inside a plane, an image or a slab of rows.

#include "threaded_test.hpp"

#include "assay/ops/im2col.hpp"
#include "assay/registry.hpp"

#include <gtest/gtest.h>

#include <string>

namespace assay {
namespace {

class ThreadedWindows : public ::testing::TestWithParam<std::string> {};

TEST_P(ThreadedWindows, AgreeForEveryNumberOfThreads) {
  const Registry registry = Registry::linked();
  const Operation& operation = registry.at(GetParam());
  for (const std::string shape :
       {"n=1,c=1,h=97,w=83,kernel=3,pad=1", "n=3,c=5,h=41,w=37,kernel=3,pad=1",
        "n=2,c=3,h=67,w=71,kernel=7,stride=2,pad=3", "n=1,c=2,h=61,w=59,kernel=5,dilation=3,pad=6",
        "n=1,c=187,h=7,w=7,kernel=3,pad=1"}) {
    for (const std::string layout : {"channel_major", "patch_major"}) {
      const std::string problem = shape + ",layout=" + layout;
      const auto workload = operation.open(problem, {Fill::exact, Rng(42), {.skew = 1}});
      for (const int threads : {1, 2, 3, 7}) {
        const Agreement agreement = workload->check(threaded_variant(operation), {threads});
        EXPECT_TRUE(agreement.agrees) << problem << "#" << threads << ", seed 42: " << agreement.detail;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, ThreadedWindows, ::testing::Values("im2col", "col2im"),
                         [](const auto& operation) { return operation.param; });

}  // namespace
}  // namespace assay
