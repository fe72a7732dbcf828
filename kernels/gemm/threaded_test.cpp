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
  for (const std::string shape : {"m=1,n=2053,k=401", "m=2053,n=1,k=401", "m=3,n=17,k=16411",
                                  "m=131,n=129,k=127", "m=67,n=257,k=101"}) {
    for (const std::string trans : {"nn", "nt", "tn", "tt"}) {
      const std::string problem = shape + ",trans=" + trans + ",beta=1";
      expect_threaded_agreement(gemm, problem);
    }
  }
}

}  // namespace
}  // namespace assay
