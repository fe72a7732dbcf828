// The threaded product where corner cases are too small to be cut: odd extents,
// more threads than rows or tiles.

#include "threaded_test.hpp"

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

}  // namespace
}  // namespace assay
