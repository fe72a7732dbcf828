// Whether every judge bites: corrupt a right output of each linked operation and demand that it objects.

#include "core/check/teeth_test.hpp"
#include "assay/ops/gemm.hpp"
#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>

namespace assay::teeth_test {
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
    const Agreement right = workload->check(0, {}, Workload::no_rehearsal);
    ASSERT_TRUE(right.agrees) << problem << ": " << right.detail;
    EXPECT_THAT(testing::surviving_corruptions(*workload, seed, tries(operation, problem)),
                ::testing::IsEmpty())
        << problem << " seed " << seed;
  }
}

/// An output that is right for one input must be wrong for another: so answers from before are found out.
TEST_P(Teeth, NoRenewalOfTheInputGoesUnnoticed) {
  const auto& [name, fill] = GetParam();
  const Registry registry = Registry::linked();
  const Operation& operation = registry.at(name);
  const auto fills = operation.fills();
  if (std::ranges::find(fills, fill) == fills.end()) GTEST_SKIP() << name << " has no such fill";
  if (name == "batch_retrieval") GTEST_SKIP() << "a file of one record has one answer";
  double shown = 0, looked_at = 0;
  for (const std::string& problem : operation.corner_cases()) {
    if (operation.footprint(problem) > 1e6) continue;
    const std::uint64_t seed = fnv1a(problem);
    const auto workload = operation.open(problem, {.fill = fill, .rng = Rng(seed)});
    shown += testing::renewals_that_show(*workload, seed, 16);
    ++looked_at;
  }
  // Inputs of an element or two often have the same output.
  EXPECT_GT(shown / looked_at, 0.8) << name;
}

TEST_P(Teeth, BiteInUnitsAsInTheWholeOutput) {
  const auto& [name, fill] = GetParam();
  const Registry registry = Registry::linked();
  const Operation& operation = registry.at(name);
  const auto fills = operation.fills();
  if (std::ranges::find(fills, fill) == fills.end()) GTEST_SKIP() << name << " has no such fill";
  for (const std::string& problem : operation.corner_cases()) {
    const std::uint64_t seed = fnv1a(problem);
    const auto workload = operation.open(problem, {.fill = fill, .rng = Rng(seed)});
    EXPECT_THAT(testing::faults_of_units(*workload, seed, operation.footprint(problem) > 100e3 ? 3 : 8),
                ::testing::IsEmpty())
        << problem << " seed " << seed;
  }
}

/// A contract whose judge lets everything pass.
struct Toothless : Gemm {
  static Agreement judge(const Problem&, const Input&, const Expected&, const Output&) { return {}; }
};

TEST(TeethOfAJudge, AreMissedWhereItNeverObjects) {
  Registry registry;
  registry.add<Toothless>(
      {.name = "naive", .run = [](const Gemm::Problem&, const Gemm::Input& in, Gemm::Output& out) {
         out.c[0] = in.a[0] * in.b[0];
       }});
  const auto workload = registry.at(Toothless::name).open("m=1,n=1,k=1", {});
  // One element has no neighbour to be swapped with: zeroed, negated and unwritten remain.
  EXPECT_EQ(testing::surviving_corruptions(*workload, 1, 1).size(), 3U);
  EXPECT_EQ(testing::renewals_that_show(*workload, 1, 8), 0);
}

/// A contract whose expectation for units is that of their neighbours.
struct Askew : Gemm {
  static Expected expect(const Problem& p, const Input& in, Setting& setting) {
    Expected want = Gemm::expect(p, in, setting);
    if (!want.all) std::rotate(want.value.begin(), want.value.begin() + 1, want.value.end());
    return want;
  }
};

template <class Op>
std::unique_ptr<Workload> workload_of(Registry& registry) {
  registry.add<Op>(
      {.name = "naive", .run = [](const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
         for (Index i = 0; i < p.m; ++i) {
           for (Index j = 0; j < p.n; ++j) {
             float& c = out.c[i * p.n + j] = 0;
             for (Index l = 0; l < p.k; ++l) c += in.a[i * p.k + l] * in.b[l * p.n + j];
           }
         }
       }});
  return registry.at(Op::name).open("m=64,n=64,k=2", {});
}

TEST(TeethInUnits, AreMissedWhereTheyBiteElsewhere) {
  Registry right;
  const auto bites = workload_of<Gemm>(right);
  EXPECT_THAT(testing::faults_of_units(*bites, 1, 8), ::testing::IsEmpty());
  EXPECT_GT(testing::renewals_that_show(*bites, 1, 32), 0.9);

  Registry askew;
  EXPECT_THAT(testing::faults_of_units(*workload_of<Askew>(askew), 1, 8),
              ::testing::Not(::testing::IsEmpty()));
}

/// Variants are handed problems without what an input is said to hold.
TEST(FieldsOfContent, AreNoneThatWorkDependsOn) {
  const Registry registry = Registry::linked();
  for (const Operation* operation : registry.operations()) {
    const std::vector<FieldRule> rules = operation->fields();
    for (const std::string& problem : operation->corner_cases()) {
      const auto values = without_content(parse_fields(operation->name(), problem, rules), rules);
      const std::string shown = format_fields(values, rules);
      const Cost cost = operation->cost(problem), of_shown = operation->cost(shown);
      EXPECT_EQ(cost.flops, of_shown.flops) << problem;
      EXPECT_EQ(cost.bytes_read, of_shown.bytes_read) << problem;
      EXPECT_EQ(cost.bytes_written, of_shown.bytes_written) << problem;
      EXPECT_EQ(operation->footprint(problem), operation->footprint(shown)) << problem;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryOperation, Teeth,
                         ::testing::Combine(::testing::ValuesIn(operation_names()),
                                            ::testing::Values(Fill::exact, Fill::uniform, Fill::offset)),
                         [](const auto& instance) {
                           return std::get<0>(instance.param) + "_" +
                                  std::string(to_string(std::get<1>(instance.param)));
                         });

}  // namespace
}  // namespace assay::teeth_test
