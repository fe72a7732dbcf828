// Tests the heights of the variants' plans: those that know every path agree, and cuts pay where there are
// any.

#include "assay/ops/task_graph_memory.hpp"
#include "assay/registry.hpp"

#include <gtest/gtest.h>

#include <string>

namespace assay {
namespace {

/// Returns the height of a variant's plan, which the remark on it says before the first comma.
std::string height(const std::string& variant, const std::string& problem) {
  const Registry registry = Registry::linked();
  const Operation& operation = registry.at("task_graph_memory");
  for (std::size_t v = 0; v < operation.variants().size(); ++v) {
    if (operation.variants()[v].name != variant) continue;
    const std::string remark = operation.open(problem, {})->remark(v, {});
    return remark.substr(0, remark.find(','));
  }
  return "no such variant";
}

TEST(AncestorBits, PlanAsHighAsTheWalkPerPair) {
  for (const std::string shape : {"layered_random", "wavefront", "inception", "residual"}) {
    const std::string problem = "tasks=130,ids=shuffled,shape=" + shape;
    EXPECT_EQ(height("ancestor_bits", problem), height("naive", problem)) << problem;
  }
}

TEST(Cuts, ShareNothingWithinAModuleAndEverythingAcrossTwo) {
  // A chain is cut at every task: two buffers in turn.
  EXPECT_EQ(height("cuts", "tasks=10,shape=chain,sizes=equal"), "height 8 KiB");
  // Eight buffers of a module and the concatenation before it.
  EXPECT_EQ(height("cuts", "tasks=27,shape=inception,sizes=equal"), "height 36 KiB");
  // Independent tasks, no cut at all.
  EXPECT_EQ(height("cuts", "tasks=3,sizes=equal"), height("naive", "tasks=3,sizes=equal"));
}

}  // namespace
}  // namespace assay
