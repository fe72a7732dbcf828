// The threaded product of bf16 where corner cases are too small to be cut.

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
  throw std::logic_error("no variant is named threaded");
}

void expect_agreement(const std::string& name, const std::string& problem) {
  const Registry registry = Registry::linked();
  const Operation& operation = registry.at(name);
  for (const Fill fill : {Fill::exact, Fill::uniform}) {
    const auto workload = operation.open(problem, {fill, Rng(42), {.skew = 1}});
    for (const int threads : {1, 2, 3, 7}) {
      const Agreement agreement = workload->check(threaded(operation), {threads});
      EXPECT_TRUE(agreement.agrees) << problem << "#" << threads << ", seed 42: " << agreement.detail;
    }
  }
}

TEST(ThreadedGemmBf16, AgreesForEveryNumberOfThreadsAndShapeOfGrid) {
  for (const std::string trans : {"nn", "nt", "tn", "tt"}) {
    for (const std::string shape :
         {"m=1,n=2053,k=1201", "m=2053,n=1,k=1201", "m=3,n=17,k=16411", "m=131,n=129,k=127"}) {
      expect_agreement("gemm_bf16", shape + ",trans=" + trans);
    }
  }
}

}  // namespace
}  // namespace assay
