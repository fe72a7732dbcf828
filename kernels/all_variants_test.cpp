// Every registered variant against the oracle: all corner cases and fills, aligned and misaligned buffers,
// one and two threads. Generated from the registry, so that a new variant is tested by being registered.

#include "assay/ops/gemm.hpp"
#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace assay {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t seed = 42;

/// The result of checking one variant.
struct Outcome {
  std::vector<std::string> disagreements;  ///< one per trial, naming it
  std::vector<std::string> unfit;          ///< reasons, one per trial that could not run
  int agreed = 0;
};

std::vector<Context> contexts(const VariantInfo& variant) {
  return variant.threaded ? std::vector<Context>{{.threads = 1}, {.threads = 2}}
                          : std::vector<Context>{{.threads = 1}};
}

Outcome check_all(const Operation& operation, std::size_t variant, const std::vector<std::string>& problems) {
  const VariantInfo& info = operation.variants().at(variant);
  Outcome outcome;
  for (const std::string& problem : problems) {
    for (const Fill fill : operation.fills()) {
      for (const Index skew : {0, 1}) {
        const auto workload = operation.open(problem, {fill, Rng(seed), {.skew = skew}});
        for (const Context& context : contexts(info)) {
          const std::string trial = std::string(operation.name()) + "/" + info.name + "/" + problem + "#" +
                                    std::to_string(context.threads) + ", fill " +
                                    std::string(to_string(fill)) + ", skew " + std::to_string(skew) +
                                    ", seed " + std::to_string(seed);
          if (const auto reason = operation.unfit(variant, problem, context)) {
            outcome.unfit.push_back(trial + ": " + *reason);
            continue;
          }
          const Agreement agreement = workload->check(variant, context);
          if (agreement.agrees)
            ++outcome.agreed;
          else
            outcome.disagreements.push_back(trial + ": " + agreement.detail);
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

struct Pair {
  std::string operation;
  std::size_t variant = 0;
};

std::vector<Pair> pairs() {
  std::vector<Pair> all;
  for (const Operation* operation : linked().operations()) {
    for (std::size_t v = 0; v < operation->variants().size(); ++v) {
      if (!operation->variants()[v].known_bad.empty()) continue;  // known_bad_test.cpp
      all.push_back({std::string(operation->name()), v});
    }
  }
  return all;
}

/// Test names may hold letters, digits and '_' only.
std::string test_name(const testing::TestParamInfo<Pair>& info) {
  std::string name =
      info.param.operation + "_" + linked().at(info.param.operation).variants().at(info.param.variant).name;
  std::ranges::replace(name, '@', '_');
  return name;
}

class EveryVariant : public testing::TestWithParam<Pair> {};

TEST_P(EveryVariant, AgreesWithTheOracle) {
  const Operation& operation = linked().at(GetParam().operation);
  const Outcome outcome = check_all(operation, GetParam().variant, operation.corner_cases());
  constexpr std::size_t shown = 10;
  for (std::size_t i = 0; i < std::min(shown, outcome.disagreements.size()); ++i) {
    ADD_FAILURE() << outcome.disagreements[i];
  }
  if (outcome.disagreements.size() > shown) {
    ADD_FAILURE() << "and " << outcome.disagreements.size() - shown << " more";
  }
  if (outcome.agreed == 0 && !outcome.unfit.empty()) GTEST_SKIP() << outcome.unfit.front();
  EXPECT_GT(outcome.agreed + static_cast<int>(outcome.disagreements.size()), 0) << "nothing was checked";
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryVariant, testing::ValuesIn(pairs()), test_name);

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

Outcome check_planted(Variant<Gemm> fault) {
  Registry registry;
  registry.add<Gemm>({.name = "naive", .summary = "right", .run = correct});
  registry.add<Gemm>(std::move(fault));
  return check_all(registry.at("gemm"), 1, few_problems);
}

// Two placements of each fill of each problem.
TEST(EveryVariantCheck, PassesACorrectVariantInEveryTrial) {
  const Outcome outcome = check_planted({.name = "right", .summary = "", .run = correct});
  EXPECT_THAT(outcome.disagreements, IsEmpty());
  EXPECT_EQ(outcome.agreed, static_cast<int>(few_problems.size() * Gemm::fills.size() * 2));
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
  EXPECT_THAT(outcome.disagreements, testing::Not(Contains(HasSubstr("skew 0"))));
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
  EXPECT_THAT(outcome.disagreements, testing::Not(Contains(HasSubstr("#1"))));
}

}  // namespace
}  // namespace assay
