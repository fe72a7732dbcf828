// Every cheat must be rejected by checks, and every honest kernel that looks like one must pass them, and be
// timed as the harness times it. That cheats are rejected by `run` and `gate` is for the program's tests.

#include "assay/check.hpp"
#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

// A namespace of its own: builds join test files, and these names are short.
namespace assay::known_cheats_test {
namespace {

using ::testing::IsEmpty;

constexpr std::uint64_t seed = 42;

/// Cheats that may pass checks here, by name, and what shows them elsewhere.
const std::map<std::string, std::string> not_rejected_here{
    {"gemm/calls_the_peer", "this program has no table of what its kernels call"},
    {"gemm/incremental", "sanitized, to compare small operands takes nearly as long as their product"},
    {"gemm/replaces_clock", "sanitizers define these functions themselves; `check --known-cheats` has it"},
    {"gemv/keeps_mapping", "sanitizers map memory and give it back, which hides what a kernel keeps"},
    {"gemv/leaves_upper_halves",
     "sanitizers call functions of the C library, which clear upper halves on processors without AVX-512"}};

std::vector<std::string> names_of(Kin kin) {
  const Registry registry = Registry::linked();
  std::vector<std::string> names;
  for (const Operation* operation : registry.operations()) {
    for (const VariantInfo& variant : operation->variants()) {
      if (variant.kin() == kin) names.push_back(std::string(operation->name()) + "/" + variant.name);
    }
  }
  return names;
}

/// Everything about a variant that is looked up by its name.
struct Named {
  const Operation& operation;
  std::size_t variant;
};
Named named(const Registry& registry, const std::string& name) {
  const std::size_t slash = name.find('/');
  const Operation& operation = registry.at(name.substr(0, slash));
  const auto& variants = operation.variants();
  const auto found = std::ranges::find(variants, name.substr(slash + 1), &VariantInfo::name);
  if (found == variants.end()) throw std::logic_error("there is no variant " + name);
  return {operation, static_cast<std::size_t>(found - variants.begin())};
}

/// Returns the fault found in slices of calls as they are timed, each judged; empty when all are right.
std::string fault_when_timed(const Named& one, const std::string& problem) {
  const int threads = one.operation.variants()[one.variant].threaded ? 2 : 1;
  const auto workload = one.operation.open(problem, {.fill = one.operation.fills().back(), .rng = Rng(seed)});
  const auto timed = workload->timed(one.variant, {.threads = threads});
  constexpr int slices = 20;
  for (int slice = 0; slice < slices; ++slice) {
    const Index calls = Rng(secret()).integer(1, 9);
    timed->arm(secret());
    for (Index call = 0; call < calls; ++call) {
      timed->renew(secret(), Renewal::timed);
      timed->repeat(1);
    }
    Agreement found = timed->judge(secret());
    found = timed->settle(true) & found;
    if (!found.agrees) return found.detail;
  }
  return "";
}

std::vector<CornerCheck> checks_of(const std::string& name, Kin kin, bool own_process) {
  const Registry registry = Registry::linked();
  constexpr double seconds = 5;
  return check_corners(registry, "^" + name + "$", 2, seed, {}, kin,
                       {.own_process = own_process, .time_limit = seconds});
}

std::vector<std::string> rejections(const std::vector<CornerCheck>& checks) {
  std::vector<std::string> out;
  for (const CornerCheck& c : checks) {
    if (c.skipped.empty() && !c.agreement.agrees) out.push_back(in_words(c) + ": " + c.agreement.detail);
  }
  return out;
}

class KnownCheat : public ::testing::TestWithParam<std::string> {};

TEST_P(KnownCheat, IsRejectedWithAReason) {
  const std::string& name = GetParam();
  const auto elsewhere = not_rejected_here.find(name);
  const auto found = rejections(checks_of(name, Kin::known_cheat, /*own_process=*/true));
  if (elsewhere != not_rejected_here.end() && found.empty()) GTEST_SKIP() << elsewhere->second;
  EXPECT_FALSE(found.empty()) << name << " agreed in all checks";
}

class KnownHonest : public ::testing::TestWithParam<std::string> {};

TEST_P(KnownHonest, Passes) {
  const std::string& name = GetParam();
  const auto checks = checks_of(name, Kin::known_honest, /*own_process=*/false);
  EXPECT_THAT(rejections(checks), IsEmpty());
  const Registry registry = Registry::linked();
  const Named one = named(registry, name);
  int timed = 0;
  const auto problems = one.operation.corner_cases();
  for (std::size_t i = problems.size() / 2; i < problems.size() && timed < 2; ++i) {
    if (one.operation.unfit(one.variant, problems[i], Context{})) continue;
    ++timed;
    EXPECT_EQ(fault_when_timed(one, problems[i]), "") << problems[i];
  }
  EXPECT_GT(timed, 0) << "no corner case among the later ones suits it";
}

TEST(KnownCheats, AreThereAndSoAreHonestOnesThatLookLikeThem) {
  EXPECT_GE(names_of(Kin::known_cheat).size(), 20U);
  EXPECT_GE(names_of(Kin::known_honest).size(), 8U);
}

TEST(KnownCheats, AreTheOnlyNamesOnLists) {
  const Registry registry = Registry::linked();
  const auto is_cheat = [&](const std::string& name) {
    const Named one = named(registry, name);
    return one.operation.variants()[one.variant].kin() == Kin::known_cheat;
  };
  for (const auto& [name, why] : not_rejected_here) EXPECT_TRUE(is_cheat(name)) << name;
}

/// Test names may hold letters, digits and '_' only.
std::string without_slash(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace(name, '/', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Kernels, KnownCheat, ::testing::ValuesIn(names_of(Kin::known_cheat)), without_slash);
INSTANTIATE_TEST_SUITE_P(Kernels, KnownHonest, ::testing::ValuesIn(names_of(Kin::known_honest)),
                         without_slash);

}  // namespace
}  // namespace assay::known_cheats_test
