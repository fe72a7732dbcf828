// Tests the heights of the variants' plans: variants that know every path agree, and cuts pay if there are
// any.

#include "assay/ops/task_graph.hpp"
#include "assay/registry.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace assay {
namespace {

/// Returns the height of a variant's plan, its first figure; NaN if there is none.
double height(const std::string& variant, const std::string& problem) {
  const Registry registry = Registry::linked();
  const Operation& operation = registry.at("task_graph_memory");
  for (std::size_t v = 0; v < operation.variants().size(); ++v) {
    if (operation.variants()[v].name != variant) continue;
    const Agreement found = operation.open(problem, {})->check(v, {}, Workload::no_rehearsal);
    if (!found.figures.empty()) return found.figures.front().value;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

TEST(AncestorBits, PlanAsHighAsTheWalkPerPair) {
  for (const std::string shape : {"layered_random", "wavefront", "inception", "residual"}) {
    const std::string problem = "tasks=130,ids=shuffled,shape=" + shape;
    EXPECT_EQ(height("ancestor_bits", problem), height("naive", problem)) << problem;
  }
}

TEST(Cuts, ShareNothingWithinAModuleAndEverythingAcrossTwo) {
  // A chain is cut at every task: two buffers in turn.
  EXPECT_EQ(height("cuts", "tasks=10,shape=chain,sizes=equal"), 8192);
  // Eight buffers of a module and the concatenation before it.
  EXPECT_EQ(height("cuts", "tasks=27,shape=inception,sizes=equal"), 36864);
  // Independent tasks, no cut at all.
  EXPECT_EQ(height("cuts", "tasks=3,sizes=equal"), height("naive", "tasks=3,sizes=equal"));
}

}  // namespace
}  // namespace assay
