// The threaded product of bf16 where corner cases are too small to be cut.

#include "threaded_test.hpp"

#include <gtest/gtest.h>

#include <string>

namespace assay {
namespace {

TEST(ThreadedGemmBf16, AgreesForEveryNumberOfThreadsAndShapeOfGrid) {
  for (const std::string trans : {"nn", "nt", "tn", "tt"}) {
    for (const std::string shape :
         {"m=1,n=2053,k=1201", "m=2053,n=1,k=1201", "m=3,n=17,k=16411", "m=131,n=129,k=127"}) {
      expect_threaded_agreement("gemm_bf16", shape + ",trans=" + trans);
    }
  }
}

}  // namespace
}  // namespace assay
