// The threaded batch: more threads than pairs, shares of unlike size, and pairs too large to be small.

#include "threaded_test.hpp"

#include <gtest/gtest.h>

#include <string>

namespace assay {
namespace {

TEST(ThreadedBatchedGemm, AgreesForBatchesThatDoNotDivideEvenly) {
  for (const std::string trans : {"nn", "nt", "tn", "tt"}) {
    for (const std::string shape : {"batch=11,m=33,n=47,k=65", "batch=2,m=129,n=131,k=130"}) {
      expect_threaded_agreement("batched_gemm", shape + ",trans=" + trans);
    }
  }
}

}  // namespace
}  // namespace assay
