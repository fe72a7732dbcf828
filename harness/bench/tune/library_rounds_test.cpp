// Tests the choice of core types to try, and rounds over sides that a script plays.
#include "bench/tune/library_rounds.hpp"

#include "assay/error.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

const std::vector<std::string> avx2{"sse2", "ssse3", "sse4", "avx", "f16c", "fma", "avx2"};

/// An OpenBLAS that detects Nehalem, and knows all core types but Zen, for which it takes Haswell.
std::string reported(const Variables& environment) {
  const auto& [name, value] = environment.front();
  EXPECT_EQ(name, "OPENBLAS_CORETYPE");
  if (!value) return "Nehalem";
  return *value == "Zen" ? "Haswell" : *value;
}

std::vector<std::string> names(const std::vector<CoreAttempt>& attempts) {
  std::vector<std::string> out;
  for (const CoreAttempt& attempt : attempts) out.push_back(name_of(attempt));
  return out;
}

TEST(CoreTypes, AreTheDefaultAndAllThatCanBeExecuted) {
  const auto attempts = core_attempts({}, avx2, reported);
  EXPECT_THAT(names(attempts),
              ElementsAre("default", "Prescott", "Core2", "Nehalem", "Sandybridge", "Haswell", "Zen"));
  EXPECT_EQ(attempts[0].reported, "Nehalem");
  EXPECT_THAT(names(core_attempts({"haswell", "Core2", "Haswell"}, avx2, reported)),
              ElementsAre("default", "Core2", "Haswell"));
}

TEST(CoreTypes, ThatOpenBlasDoesNotTakeAreSaidAndLeftOut) {
  const auto attempts = core_attempts({"Nehalem", "Haswell", "Zen"}, avx2, reported);
  EXPECT_EQ(attempts[1].left_out, "what the default uses");
  EXPECT_TRUE(attempts[2].measured());
  EXPECT_EQ(attempts[3].left_out, "NOT TAKEN: OpenBLAS uses Haswell instead");
}

TEST(CoreTypes, ThatWouldCrashAreRefusedAndNeverSet) {
  const auto never = [](const Variables& environment) -> std::string {
    EXPECT_FALSE(environment.front().second.has_value()) << "the default alone may be asked for";
    return "Nehalem";
  };
  EXPECT_THAT([&] { core_attempts({"SkylakeX"}, avx2, never); },
              ThrowsMessage<Error>(AllOf(HasSubstr("--core-types SkylakeX"), HasSubstr("lacks avx512f"))));
  EXPECT_THAT([&] { core_attempts({"Hasswell"}, avx2, never); },
              ThrowsMessage<Error>(HasSubstr("near it: Haswell")));
  EXPECT_THAT(names(core_attempts({}, {"sse2"}, never)), ElementsAre("default"));
}

TrialRequest trial(const std::string& key) {
  return {.key = key, .operation = "gemm", .variant = "openblas"};
}

const std::vector<TrialRequest> trials{trial("a"), trial("b")};

/// Sides that take 1 µs, Haswell 0.5 µs; `wrong` disagrees in trial b.
SampleSides scripted(std::vector<PairRequest>& asked, const std::string& wrong) {
  return [&asked, wrong](const PairRequest& request, const Hooks&) {
    asked.push_back(request);
    std::vector<std::vector<TurnSample>> out;
    for (const SideProgram& side : request.sides) {
      const double seconds = side.name == "Haswell" ? 5e-7 : 1e-6;
      auto& samples = out.emplace_back();
      for (const TrialRequest& one : request.trials) {
        const bool agrees = !request.check || side.name != wrong || one.key != "b";
        samples.push_back({.key = one.key,
                           .seconds = {seconds, seconds},
                           .agrees = agrees,
                           .disagreement = agrees ? "" : "c[0, 0] is 2"});
      }
    }
    return out;
  };
}

std::vector<CoreAttempt> three() { return core_attempts({"Haswell", "Sandybridge"}, avx2, reported); }

TEST(CoreTypeRounds, RunEachInAProcessOfItsOwnBesideAControl) {
  auto attempts = three();
  std::vector<PairRequest> asked;
  measure_core_types(attempts, trials, {.rounds = 6, .program = "/bin/assay"}, scripted(asked, ""), {});
  ASSERT_THAT(asked, SizeIs(6));
  const auto& sides = asked[1].sides;
  ASSERT_THAT(sides, SizeIs(4));
  EXPECT_EQ(sides[0].name, "default");
  EXPECT_FALSE(sides[0].environment.front().second.has_value());
  EXPECT_EQ(sides[1].environment.front().second, "Sandybridge");
  EXPECT_EQ(sides[2].environment.front().second, "Haswell");
  EXPECT_EQ(sides[3].name, "control");
  EXPECT_EQ(sides[3].environment, sides[0].environment);
  EXPECT_TRUE(asked[0].check);
  EXPECT_FALSE(asked[1].check);
  EXPECT_NE(asked[0].draw, asked[1].draw);
  const LibraryRuling ruling = ruled(attempts);
  EXPECT_EQ(ruling.attempts[1].decision, Decision::no_change);
  EXPECT_EQ(ruling.attempts[2].decision, Decision::retain);
  EXPECT_NEAR(ruling.attempts[2].ratio.middle, 0.5, 1e-9);
}

TEST(CoreTypeRounds, GoOnWithoutACoreTypeThatDisagrees) {
  auto attempts = three();
  std::vector<PairRequest> asked;
  measure_core_types(attempts, trials, {.rounds = 6}, scripted(asked, "Haswell"), {});
  EXPECT_EQ(attempts[2].wrong, "b: c[0, 0] is 2");
  EXPECT_THAT(attempts[2].trials, IsEmpty());
  EXPECT_THAT(asked[0].sides, SizeIs(4));
  EXPECT_THAT(asked[1].sides, SizeIs(3));
  EXPECT_EQ(ruled(attempts).attempts[2].decision, Decision::wrong);
  EXPECT_EQ(rounds_of(attempts), 6U);
}

TEST(CoreTypeRounds, EndWhenTheDefaultDisagrees) {
  auto attempts = three();
  std::vector<PairRequest> asked;
  measure_core_types(attempts, trials, {.rounds = 6}, scripted(asked, "default"), {});
  EXPECT_THAT(asked, SizeIs(1));
  EXPECT_EQ(attempts[0].wrong, "b: c[0, 0] is 2");
}

TEST(CoreTypeRounds, LeaveOutTheOneInWhichTheyWereInterrupted) {
  auto attempts = three();
  std::vector<PairRequest> asked;
  const Hooks hooks{.stop = [&] { return asked.size() == 3; }};
  measure_core_types(attempts, trials, {.rounds = 6}, scripted(asked, ""), hooks);
  EXPECT_EQ(rounds_of(attempts), 2U);
}

}  // namespace
}  // namespace assay
