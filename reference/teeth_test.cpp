// Whether every judge bites: corrupt a right output of each linked operation and demand that it objects.

#include "assay/ops/gemm.hpp"
#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

namespace assay {
namespace {

/// Corruptions of each kind per part and corner. A judge looks at a whole output for each, so that corners
/// of much memory get one and stay affordable under sanitizers.
int tries(const Operation& operation, const std::string& problem) {
  return operation.footprint(problem) > 100e3 ? 1 : 6;
}

std::vector<std::string> operation_names() {
  const Registry registry = Registry::linked();
  std::vector<std::string> out;
  for (const Operation* operation : registry.operations()) out.emplace_back(operation->name());
  return out;
}

class Teeth : public ::testing::TestWithParam<std::tuple<std::string, Fill>> {};

TEST_P(Teeth, NoCorruptionSurvives) {
  const auto& [name, fill] = GetParam();
  const Registry registry = Registry::linked();
  const Operation& operation = registry.at(name);
  const auto fills = operation.fills();
  if (std::ranges::find(fills, fill) == fills.end()) GTEST_SKIP() << name << " has no such fill";
  ASSERT_FALSE(operation.corner_cases().empty());
  for (const std::string& problem : operation.corner_cases()) {
    const std::uint64_t seed = fnv1a(problem);
    const auto workload = operation.open(problem, {.fill = fill, .rng = Rng(seed)});
    const Agreement right = workload->check(0, {}, true);
    ASSERT_TRUE(right.agrees) << problem << ": " << right.detail;
    EXPECT_THAT(workload->surviving_corruptions(seed, tries(operation, problem)), ::testing::IsEmpty())
        << problem << " seed " << seed;
  }
}

/// What was right for an input must be wrong for another one: it is how answers from before are found out.
TEST_P(Teeth, NoChangeOfTheInputGoesUnnoticed) {
  const auto& [name, fill] = GetParam();
  const Registry registry = Registry::linked();
  const Operation& operation = registry.at(name);
  const auto fills = operation.fills();
  if (std::ranges::find(fills, fill) == fills.end()) GTEST_SKIP() << name << " has no such fill";
  if (name == "batch_retrieval") GTEST_SKIP() << "each call takes the next of many windows, changed or not";
  double shown = 0, problems = 0;
  for (const std::string& problem : operation.corner_cases()) {
    if (operation.footprint(problem) > 1e6) continue;
    const auto workload = operation.open(problem, {.fill = fill, .rng = Rng(fnv1a(problem))});
    const double share = workload->changes_that_show(8);
    shown += share;
    ++problems;
  }
  // A half of them changes the sign of what relu looks at, or does not.
  EXPECT_GT(shown / problems, 0.4) << name;
}

/// A contract whose judge lets everything pass.
struct Toothless : Gemm {
  static Agreement judge(const Problem&, const Input&, const Expected&, const Output&) { return {}; }
};

TEST(TeethOfAJudge, AreMissedWhereItNeverObjects) {
  detail::TypedOperation<Toothless> operation;
  operation.add({.name = "naive", .run = [](const Gemm::Problem&, const Gemm::Input& in, Gemm::Output& out) {
                   out.c[0] = in.a[0] * in.b[0];
                 }});
  const auto workload = operation.open("m=1,n=1,k=1", {});
  // One element has no neighbour to be swapped with: zeroed, negated and unwritten remain.
  EXPECT_EQ(workload->surviving_corruptions(1, 1).size(), 3U);
}

INSTANTIATE_TEST_SUITE_P(EveryOperation, Teeth,
                         ::testing::Combine(::testing::ValuesIn(operation_names()),
                                            ::testing::Values(Fill::exact, Fill::uniform, Fill::offset)),
                         [](const auto& instance) {
                           return std::get<0>(instance.param) + "_" +
                                  std::string(to_string(std::get<1>(instance.param)));
                         });

}  // namespace
}  // namespace assay
