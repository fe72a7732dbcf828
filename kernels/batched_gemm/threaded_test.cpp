// The threaded batch: more threads than pairs, shares of unlike size, and pairs too large to be small.

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

TEST(ThreadedBatchedGemm, AgreesForBatchesThatDoNotDivideEvenly) {
  for (const std::string trans : {"nn", "nt", "tn", "tt"}) {
    for (const std::string shape : {"batch=11,m=33,n=47,k=65", "batch=2,m=129,n=131,k=130"}) {
      expect_agreement("batched_gemm", shape + ",trans=" + trans);
    }
  }
}

}  // namespace
}  // namespace assay
