// The threaded product where corner cases are too small to be cut: odd extents,
// more threads than rows or tiles.

#include "assay/ops/gemm.hpp"
#include "assay/registry.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace assay {
namespace {

std::size_t threaded(const Operation& operation) {
  for (std::size_t v = 0; v < operation.variants().size(); ++v) {
    if (operation.variants()[v].name == "threaded") return v;
  }
  throw std::logic_error("gemm has no variant named threaded");
}

TEST(ThreadedGemm, AgreesForEveryNumberOfThreadsAndShapeOfGrid) {
  const Registry registry = Registry::linked();
  const Operation& gemm = registry.at("gemm");
  for (const std::string shape : {"m=1,n=2053,k=401", "m=2053,n=1,k=401", "m=3,n=17,k=16411",
                                  "m=131,n=129,k=127", "m=67,n=257,k=101"}) {
    for (const std::string trans : {"nn", "nt", "tn", "tt"}) {
      const std::string problem = shape + ",trans=" + trans + ",beta=1";
      for (const Fill fill : {Fill::exact, Fill::uniform}) {
        const auto workload = gemm.open(problem, {fill, Rng(42), {.skew = 1}});
        for (const int threads : {1, 2, 3, 7}) {
          const Agreement agreement = workload->check(threaded(gemm), {threads});
          EXPECT_TRUE(agreement.agrees) << problem << "#" << threads << ", seed 42: " << agreement.detail;
        }
      }
    }
  }
}

}  // namespace
}  // namespace assay
