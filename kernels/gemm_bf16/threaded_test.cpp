// The threaded product of bf16 where corner cases are too small to be cut.

#include "threaded_test.hpp"

#include <gtest/gtest.h>

#include <string>

namespace assay {
namespace {

TEST(ThreadedGemmBf16, AgreesForEveryNumberOfThreadsAndShapeOfGrid) {
  // Just enough work for two threads, each operand either way.
  for (const std::string problem :
       {"m=1,n=2053,k=1201,trans=nn", "m=1,n=2053,k=1201,trans=tt", "m=2053,n=1,k=1201,trans=nt",
        "m=2053,n=1,k=1201,trans=tn", "m=7,n=23,k=16411,trans=nn", "m=7,n=23,k=16411,trans=tt",
        "m=131,n=129,k=127,trans=nt", "m=131,n=129,k=127,trans=tn"}) {
    expect_threaded_agreement("gemm_bf16", problem);
  }
}

}  // namespace
}  // namespace assay
