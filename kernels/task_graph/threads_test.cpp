// Every threaded variant of task_graph, with more and with fewer threads than cores and than ready tasks.

#include "assay/ops/task_graph.hpp"
#include "assay/registry.hpp"

#include <gtest/gtest.h>

#include <string>

namespace assay {
namespace {

TEST(ThreadedTaskGraph, AgreesForEveryNumberOfThreads) {
  const Registry registry = Registry::linked();
  const Operation& operation = registry.at("task_graph");
  int threaded = 0;
  for (std::size_t v = 0; v < operation.variants().size(); ++v) {
    if (!operation.variants()[v].threaded) continue;
    ++threaded;
    for (const std::string shape : {"layered_random", "chain", "wavefront", "inception", "residual"}) {
      for (const std::string grain : {"0", "500"}) {
        const std::string problem = "tasks=150,shape=" + shape + ",grain=" + grain + ",ids=shuffled";
        const auto workload = operation.open(problem, {.rng = Rng(42)});
        for (const int threads : {1, 2, 3, 7}) {
          const Agreement agreement = workload->check(v, {threads});
          EXPECT_TRUE(agreement.agrees) << operation.variants()[v].name << "/" << problem << "#" << threads
                                        << ", seed 42: " << agreement.detail;
        }
      }
    }
  }
  EXPECT_GE(threaded, 4);
}

}  // namespace
}  // namespace assay
