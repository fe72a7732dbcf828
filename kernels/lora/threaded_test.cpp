// The threaded adapter: products of one phase that are cut differently, and more threads than parts.

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

TEST(ThreadedLora, AgreesForEveryNumberOfThreads) {
  for (const std::string operation : {"lora", "lora_backward"}) {
    for (const std::string problem : {"m=16,n=257,k=129,r=8", "m=301,n=65,k=67,r=3,scale=-1",
                                      "m=1,n=1031,k=1033,r=16,scale=4", "m=1031,n=1,k=257,r=2"}) {
      expect_agreement(operation, problem);
    }
  }
}

}  // namespace
}  // namespace assay
