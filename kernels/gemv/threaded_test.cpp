// The threaded product with a vector, above the size from which it divides its work.

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

TEST(ThreadedGemv, AgreesWhereItsPartsAreOfUnlikeSize) {
  for (const std::string problem : {"m=521,n=1031", "m=521,n=1031,trans=t", "m=3,n=100003", "m=100003,n=3",
                                    "m=3,n=100003,trans=t", "m=100003,n=3,trans=t"}) {
    expect_agreement("gemv", problem);
  }
}

}  // namespace
}  // namespace assay
