// The rules of `auto` on every corner case and beside their thresholds: each names a variant that runs here.

#include "assay/pick.hpp"
#include "assay/registry.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

namespace assay {
namespace {

using ::testing::Contains;
using ::testing::IsSupersetOf;

const Registry& linked_variants() {
  static const Registry registry = Registry::linked();
  return registry;
}

/// The place of `auto`; past the last where there is none.
std::size_t place_of_auto(const Operation& operation) {
  const auto& all = operation.variants();
  return static_cast<std::size_t>(std::ranges::find(all, "auto", &VariantInfo::name) - all.begin());
}

std::string pick(const std::string& operation, std::string_view problem, int threads) {
  const Operation& at = linked_variants().at(operation);
  const auto choice = picked(at, place_of_auto(at), problem, {.threads = threads});
  return choice ? choice->variant : "none";
}
std::string without_tier(const std::string& variant) { return variant.substr(0, variant.find('@')); }

std::vector<std::string> operations_with_auto() {
  std::vector<std::string> out;
  for (const Operation* operation : linked_variants().operations()) {
    if (place_of_auto(*operation) < operation->variants().size()) out.emplace_back(operation->name());
  }
  return out;
}

class Auto : public ::testing::TestWithParam<std::string> {};

// picked() throws for a variant that does not exist, does not run here, is a library or set apart.
TEST_P(Auto, IsAVariantThatRunsHereForEveryCornerCase) {
  const Operation& operation = linked_variants().at(GetParam());
  const std::size_t at = place_of_auto(operation);
  for (const std::string& problem : operation.corner_cases()) {
    for (const int threads : {1, 2, 3}) {
      const Context context{.threads = threads};
      ASSERT_NO_THROW(static_cast<void>(picked(operation, at, problem, context)))
          << problem << '#' << threads;
      EXPECT_EQ(operation.unfit(at, problem, context), std::nullopt) << problem << '#' << threads;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Auto, ::testing::ValuesIn(operations_with_auto()),
                         [](const auto& tested) { return tested.param; });

TEST(AutoPicks, ForEveryHotPathWhoseBestVariantDepends) {
  const std::vector<std::string> with = operations_with_auto();
  EXPECT_THAT(with, IsSupersetOf({"gemm", "batched_gemm", "conv2d", "conv2d_data_gradient",
                                  "conv2d_weight_gradient", "layernorm", "rmsnorm", "layernorm_backward",
                                  "rmsnorm_backward", "adamw", "elementwise_add", "elementwise_gelu",
                                  "im2col", "col2im", "memory_pool_validate", "task_graph", "attention"}));
  // Whoever has several tiers and a way to divide them has it as well.
  for (const Operation* operation : linked_variants().operations()) {
    if (operation->name() == "gemm_bf16") continue;  // its `threaded` picks among kinds of products, too
    const auto named = [&](const std::string& name) {
      return std::ranges::any_of(operation->variants(),
                                 [&](const VariantInfo& one) { return one.name == name; });
    };
    if (!named("simd@portable") || !named("threaded")) continue;
    EXPECT_THAT(with, Contains(std::string(operation->name())));
  }
}

TEST(AutoPicks, ByShapeAndThreads) {
  EXPECT_EQ(without_tier(pick("gemm", "m=64,n=64,k=64", 1)), "small");
  EXPECT_EQ(without_tier(pick("gemm", "m=64,n=64,k=64", 2)), "small");
  EXPECT_EQ(without_tier(pick("gemm", "m=512,n=512,k=512", 1)), "simd");
  EXPECT_EQ(pick("gemm", "m=512,n=512,k=512", 2), "threaded");
  EXPECT_EQ(without_tier(pick("adamw", "n=4096,t=100", 2)), "simd");
  EXPECT_EQ(pick("adamw", "n=65536,t=100", 2), "threaded");
  EXPECT_EQ(pick("memory_pool_validate", "blocks=1000,pattern=short,plans=one", 1), "sorted_break");
  EXPECT_EQ(pick("memory_pool_validate", "blocks=100000,plans=one", 1), "sorted_break");
  EXPECT_EQ(pick("memory_pool_validate", "blocks=100000,pattern=short,plans=one", 1), "time_sweep");
  EXPECT_EQ(pick("task_graph", "tasks=10000", 1), "naive");
  EXPECT_EQ(pick("task_graph", "tasks=10000", 2), "work_stealing");
  EXPECT_EQ(pick("task_graph", "tasks=10000,grain=0", 2), "naive");
  EXPECT_EQ(pick("task_graph", "tasks=1000,shape=chain", 2), "naive");
}

}  // namespace
}  // namespace assay
