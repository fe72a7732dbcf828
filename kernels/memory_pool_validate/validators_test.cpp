// The exact validators beyond their corner cases: long lists, wide numbers, and many mutants.

#include "memory_pool/trace_file_test.hpp"

#include "assay/ops/memory_pool.hpp"

#include <gtest/gtest.h>

#include <string>

namespace assay::memory_pool {
namespace {

const Operation& validate() {
  static const Registry registry = Registry::linked();
  return registry.at("memory_pool_validate");
}

std::size_t variant(std::string_view name) {
  std::size_t v = 0;
  while (validate().variants().at(v).name != name) ++v;
  return v;
}

class Validators : public ::testing::TestWithParam<const char*> {};

// More blocks than two levels of 64 hold, and keys of more than one digit.
TEST_P(Validators, AnswerRightOnLongLists) {
  for (const char* pattern : {"nested", "short", "clipped"}) {
    const auto workload =
        validate().open("blocks=5000,pattern=" + std::string(pattern), {.rng = Rng(fnv1a(pattern))});
    const Agreement outcome = workload->check(variant(GetParam()), {});
    EXPECT_TRUE(outcome.agrees) << pattern << ": " << outcome.detail;
  }
}

TEST_P(Validators, KillEveryMutantOfManyPlans) {
  for (std::uint64_t seed = 100; seed < 130; ++seed) {
    for (const char* problem : {"blocks=5", "blocks=40,pattern=short", "blocks=70,pattern=clipped"}) {
      const Agreement outcome = validate().open(problem, {.rng = Rng(seed)})->check(variant(GetParam()), {});
      EXPECT_TRUE(outcome.agrees) << problem << " seed " << seed << ": " << outcome.detail;
    }
  }
}

TEST_P(Validators, AnswerRightWhereNumbersDoNotFitIn32Bits) {
  const auto expect_agreement = [](const TraceFile& trace) {
    const auto checks = trace.checks("memory_pool_validate/" + std::string(GetParam()));
    ASSERT_EQ(checks.size(), 1U);
    EXPECT_TRUE(checks[0].agreement.agrees) << checks[0].agreement.detail;
  };
  // Lives of 2^61 steps, of which the low 32 bits are equal.
  expect_agreement(
      TraceFile("a,0,2305843009213693952,64\nb,2305843009213693952,2305843009213693953,64\n"
                "c,4294967296,8589934592,128\nd,0,4294967296,64\n"));
  // A pool of more than 2^60 bytes, with small blocks in between.
  expect_agreement(TraceFile("a,0,9,1152921504606846976\nb,0,9,64\nc,1,9,1152921504606846976\nd,8,9,1\n"));
}

INSTANTIATE_TEST_SUITE_P(MemoryPool, Validators, ::testing::Values("sorted_break", "time_sweep"),
                         [](const auto& named) { return std::string(named.param); });

}  // namespace
}  // namespace assay::memory_pool
