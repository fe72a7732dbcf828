// The threaded product where corner cases are too small to be cut: odd extents,
// more threads than rows or tiles.

#include "threaded_test.hpp"
#include "gemm/grid.hpp"

#include "assay/ops/gemm.hpp"
#include "assay/registry.hpp"

#include <gtest/gtest.h>

#include <string>

namespace assay {
namespace {

TEST(ThreadedGemm, AgreesForEveryNumberOfThreadsAndShapeOfGrid) {
  const Registry registry = Registry::linked();
  const Operation& gemm = registry.at("gemm");
  // Enough work for three threads or more, each operand either way.
  for (const std::string problem :
       {"m=1,n=2053,k=401,trans=nn", "m=1,n=2053,k=401,trans=tt", "m=2053,n=1,k=401,trans=nt",
        "m=2053,n=1,k=401,trans=tn", "m=3,n=17,k=16411,trans=nn", "m=3,n=17,k=16411,trans=tt",
        "m=131,n=129,k=127,trans=nt", "m=131,n=129,k=127,trans=tn", "m=67,n=257,k=101,trans=nn",
        "m=67,n=257,k=101,trans=tt"}) {
    expect_threaded_agreement(gemm, problem + ",beta=1");
  }
}

TEST(ThreadedGemm, DividesTheSideThatMakesEqualParts) {
  EXPECT_EQ(blocked::choose_grid(48, 48, 5000, 2).rows, 2);     // columns would be 16 and 32
  EXPECT_EQ(blocked::choose_grid(24, 96, 5000, 2).columns, 2);  // rows would be 8 and 16
}

TEST(ThreadedGemm, AgreesWhereStepsAreDividedAndNotC) {
  const Registry registry = Registry::linked();
  const Operation& gemm = registry.at("gemm");
  for (const std::string problem :
       {"m=1,n=901,k=1103", "m=1,n=901,k=1103,trans=tn,alpha=-2", "m=901,n=1,k=1103,trans=tn",
        "m=901,n=1,k=1103,trans=tt,alpha=3", "m=4,n=33,k=8209", "m=3,n=257,k=2053,trans=tn",
        "m=2,n=2053,k=211", "m=30,n=41,k=8209,trans=tn", "m=41,n=30,k=8209,trans=nt"}) {
    expect_threaded_agreement(gemm, problem);
  }
}

}  // namespace
}  // namespace assay
