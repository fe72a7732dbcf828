// Every registered variant against the oracle: all corner cases and fills, aligned and misaligned buffers,
// one and two threads. Generated from the registry, so that a new variant is tested by being registered.

#include "assay/ops/gemm.hpp"
#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace assay {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t seed = 42;

/// The result of checking variants of one operation.
struct Outcome {
  std::vector<std::string> disagreements;  ///< one per trial, naming it
  std::vector<std::size_t> checked;        ///< by variant, how many trials ran
};

std::vector<Context> contexts(const VariantInfo& variant) {
  return variant.threaded ? std::vector<Context>{{.threads = 1}, {.threads = 2}}
                          : std::vector<Context>{{.threads = 1}};
}

/// Checks all variants that are not set apart with one input and one expected output for all of them.
Outcome check_all(const Operation& operation, Fill fill, const std::vector<std::string>& problems) {
  const std::vector<VariantInfo>& variants = operation.variants();
  Outcome outcome{.checked = std::vector<std::size_t>(variants.size())};
  for (const std::string& problem : problems) {
    for (const Index skew : {0, 1}) {
      const auto workload = operation.open(problem, {fill, Rng(seed), {.skew = skew}});
      for (std::size_t v = 0; v < variants.size(); ++v) {
        if (variants[v].kin() != Kin::sound) continue;  // known_bad_test.cpp, known_cheats_test.cpp
        for (const Context& context : contexts(variants[v])) {
          if (operation.unfit(v, problem, context)) continue;
          ++outcome.checked[v];
          // As it is timed as well, once for each problem: `assay check` does so for every placement.
          const Agreement agreement =
              workload->check(v, context, skew == 0 ? Workload::short_rehearsal : Workload::no_rehearsal);
          if (agreement.agrees) continue;
          outcome.disagreements.push_back(std::string(operation.name()) + "/" + variants[v].name + "/" +
                                          problem + "#" + std::to_string(context.threads) + ", fill " +
                                          std::string(to_string(fill)) + ", skew " + std::to_string(skew) +
                                          ", seed " + std::to_string(seed) + ": " + agreement.detail);
        }
      }
    }
  }
  return outcome;
}

const Registry& linked() {
  static const Registry registry = Registry::linked();
  return registry;
}

struct Sweep {
  std::string operation;
  Fill fill = Fill::exact;
};

std::vector<Sweep> sweeps() {
  std::vector<Sweep> all;
  for (const Operation* operation : linked().operations()) {
    for (const Fill fill : operation->fills()) all.push_back({std::string(operation->name()), fill});
  }
  return all;
}

std::string sweep_name(const ::testing::TestParamInfo<Sweep>& info) {
  return info.param.operation + "_" + std::string(to_string(info.param.fill));
}

class EveryVariant : public ::testing::TestWithParam<Sweep> {};

TEST_P(EveryVariant, AgreesWithTheOracle) {
  const Operation& operation = linked().at(GetParam().operation);
  const Outcome outcome = check_all(operation, GetParam().fill, operation.corner_cases());
  constexpr std::size_t shown = 10;
  for (std::size_t i = 0; i < std::min(shown, outcome.disagreements.size()); ++i) {
    ADD_FAILURE() << outcome.disagreements[i];
  }
  if (outcome.disagreements.size() > shown) {
    ADD_FAILURE() << "and " << outcome.disagreements.size() - shown << " more";
  }
  EXPECT_GT(outcome.checked.front(), 0U) << "naive was not checked";
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryVariant, ::testing::ValuesIn(sweeps()), sweep_name);

std::vector<std::string> operation_names() {
  std::vector<std::string> out;
  for (const Operation* operation : linked().operations()) out.emplace_back(operation->name());
  return out;
}

// Names the variants that this processor lacks, since a sweep does not tell which it left out.
class EveryOperation : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryOperation, HasNoVariantThatCannotRunHere) {
  const Operation& operation = linked().at(GetParam());
  const std::vector<std::string> problems = operation.corner_cases();
  std::string lacking;
  for (std::size_t v = 0; v < operation.variants().size(); ++v) {
    if (operation.variants()[v].kin() != Kin::sound) continue;
    std::optional<std::string> reason;
    const auto unfit = [&](const std::string& problem) {
      return (reason = operation.unfit(v, problem, {})).has_value();
    };
    if (std::ranges::all_of(problems, unfit)) {
      lacking += operation.variants()[v].name + ": " + reason.value_or("has no corner case") + "; ";
    }
  }
  if (!lacking.empty()) GTEST_SKIP() << lacking;
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryOperation, ::testing::ValuesIn(operation_names()));

// The faults below stand for what kernels get wrong. Each is right in some of the trials.

void correct(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  for (Index i = 0; i < p.m; ++i) {
    for (Index j = 0; j < p.n; ++j) {
      float sum = 0;
      for (Index l = 0; l < p.k; ++l) {
        sum += in.a[p.a_transposed() ? l * p.m + i : i * p.k + l] *
               in.b[p.b_transposed() ? j * p.k + l : l * p.n + j];
      }
      float& c = out.c[i * p.n + j];
      c = static_cast<float>(p.alpha) * sum + (p.beta == 0 ? 0 : static_cast<float>(p.beta) * c);
    }
  }
}

void leaves_out_a_column(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  const float before = out.c[p.n - 1];
  correct(p, in, out);
  if (p.n == 15) out.c[p.n - 1] = before;
}

void stores_whole_vectors(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  correct(p, in, out);
  for (Index j = p.m * p.n; j % 4 != 0; ++j) out.c.data()[j] = 0;
}

void rounds_addresses_down(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  correct(p, in, out);
  if (reinterpret_cast<std::uintptr_t>(in.a.data()) % 16 != 0) out.c[0] += 100;
}

void reads_what_beta_zero_hides(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  const float before = out.c[0];
  correct(p, in, out);
  if (p.beta == 0) out.c[0] += 0 * before;
}

const std::vector<std::string> few_problems{"m=6,n=16,k=8", "m=7,n=15,k=9", "m=7,n=15,k=9,beta=3",
                                            "m=13,n=31,k=17,trans=tt"};

/// Under every fill; `checked` is by fill.
Outcome check_planted(Variant<Gemm> fault) {
  Registry registry;
  registry.add<Gemm>({.name = "naive", .summary = "right", .run = correct});
  registry.add<Gemm>(std::move(fault));
  Outcome all;
  for (const Fill fill : Gemm::fills) {
    Outcome one = check_all(registry.at("gemm"), fill, few_problems);
    std::ranges::move(one.disagreements, std::back_inserter(all.disagreements));
    all.checked.push_back(one.checked.at(1));
  }
  return all;
}

// Two placements of each fill of each problem.
TEST(EveryVariantCheck, PassesACorrectVariantInEveryTrial) {
  const Outcome outcome = check_planted({.name = "right", .summary = "", .run = correct});
  EXPECT_THAT(outcome.disagreements, IsEmpty());
  EXPECT_THAT(outcome.checked, Each(few_problems.size() * 2));
}

TEST(EveryVariantCheck, CatchesAMissingColumn) {
  const Outcome outcome = check_planted({.name = "wrong", .summary = "", .run = leaves_out_a_column});
  EXPECT_THAT(outcome.disagreements, Contains(HasSubstr("gemm/wrong/m=7,n=15,k=9")));
}

TEST(EveryVariantCheck, CatchesAStorePastTheEnd) {
  const Outcome outcome = check_planted({.name = "wrong", .summary = "", .run = stores_whole_vectors});
  EXPECT_THAT(outcome.disagreements, Contains(HasSubstr("wrote outside c")));
}

TEST(EveryVariantCheck, CatchesAVariantThatNeedsAlignment) {
  const Outcome outcome = check_planted({.name = "wrong", .summary = "", .run = rounds_addresses_down});
  EXPECT_THAT(outcome.disagreements, Contains(HasSubstr("skew 1")));
  EXPECT_THAT(outcome.disagreements, ::testing::Not(Contains(HasSubstr("skew 0"))));
}

TEST(EveryVariantCheck, CatchesAReadOfAnOutputThatBetaHides) {
  const Outcome outcome = check_planted({.name = "wrong", .summary = "", .run = reads_what_beta_zero_hides});
  EXPECT_THAT(outcome.disagreements, Contains(HasSubstr("nan")));
}

TEST(EveryVariantCheck, CatchesAFaultThatNeedsTwoThreads) {
  const auto prepare = [](const Gemm::Problem& p, const Gemm::Input&, const Context& context) {
    return [p, context](const Gemm::Input& in, Gemm::Output& out) {
      correct(p, in, out);
      if (context.threads == 2) out.c[0] += 100;
    };
  };
  const Outcome outcome =
      check_planted({.name = "wrong", .summary = "", .threaded = true, .prepare = prepare});
  EXPECT_THAT(outcome.disagreements, Contains(HasSubstr("#2")));
  EXPECT_THAT(outcome.disagreements, ::testing::Not(Contains(HasSubstr("#1"))));
}

}  // namespace
}  // namespace assay
