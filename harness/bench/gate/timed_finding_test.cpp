#include "bench/gate/rejected_trials.hpp"

#include "assay/error.hpp"
#include "core/check/doubling_test.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// A namespace of its own: builds join test files, and these names are short.
namespace assay::timed_finding_test {
namespace {

using assay::testing::doubled;
using assay::testing::Doubling;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Registry& registry() {
  static const Registry out = [] {
    Registry made = testing::doubling_registry();
    made.add<Doubling>({.name = "a_cheat", .known_cheat = "here", .run = doubled});
    return made;
  }();
  return out;
}

constexpr std::size_t cheat = 1;

TimedCase one() {
  return {.operation = registry().at("doubling"), .variant = cheat, .problem = "rows=2,columns=3"};
}

/// Samples of both trials, changed by `change`.
Sample scripted(const std::function<void(std::vector<TrialSample>&)>& change) {
  return [change](const LaunchRequest& request, const Hooks&) {
    std::vector<TrialSample> out;
    for (const TrialRequest& trial : request.trials)
      out.push_back({.key = trial.key, .slices = {{.seconds = 1e-3}}});
    change(out);
    return out;
  };
}

TimedFinding by_run(const std::function<void(std::vector<TrialSample>&)>& change) {
  return rejected_by_run(one(), scripted(change), {});
}

TEST(RejectedByRun, IsAFaultOfASliceOrAFailure) {
  EXPECT_FALSE(by_run([](auto&) {}).rejected());
  const TimedFinding wrong = by_run([](auto& samples) { samples[1].audit.fault = "y[0] is 1"; });
  EXPECT_TRUE(wrong.rejected());
  EXPECT_THAT(wrong.reason, HasSubstr("in a slice that was timed: y[0] is 1"));
  EXPECT_TRUE(
      by_run([](auto& samples) { samples[1].failure = Failure{.reason = "called exit(0)"}; }).rejected());
}

TEST(RejectedByRun, IsNotThatAnotherIsBlamedOrNobody) {
  const TimedFinding blamed = by_run([](auto& samples) {
    samples[0].audit.fault = "y[0] is 1";
    samples[1].audit.fault = "y[0] is 1";
  });
  EXPECT_FALSE(blamed.rejected());
  EXPECT_THAT(blamed.astray, HasSubstr("naive is blamed: in a slice that was timed: y[0] is 1"));
  EXPECT_THAT(by_run([](auto& samples) { samples[1].slices.clear(); }).astray, HasSubstr("no times"));
  const TimedFinding ended = by_run([](auto&) { throw std::runtime_error("launch ended with exit code 3"); });
  EXPECT_FALSE(ended.rejected());
  EXPECT_THAT(ended.astray, HasSubstr("nobody is named: launch ended"));
}

TimedFinding by_gate(const std::function<void(std::vector<std::vector<TurnSample>>&)>& change) {
  return rejected_by_gate(one(), "program",
                          [&](const PairRequest& request, const Hooks&) {
                            EXPECT_TRUE(request.check);
                            std::vector<std::vector<TurnSample>> sides(request.sides.size(),
                                                                       std::vector<TurnSample>(2));
                            change(sides);
                            return sides;
                          },
                          {});
}

TEST(RejectedByGate, IsADisagreementOnAnySide) {
  EXPECT_FALSE(by_gate([](auto&) {}).rejected());
  for (const std::size_t side : {0U, 1U, 2U}) {
    const TimedFinding wrong =
        by_gate([&](auto& sides) { sides[side][1] = {.agrees = false, .disagreement = "wrong"}; });
    EXPECT_EQ(wrong.reason, "wrong");
    EXPECT_TRUE(wrong.rejected());
  }
  const TimedFinding blamed =
      by_gate([](auto& sides) { sides[1][0] = {.agrees = false, .disagreement = "wrong"}; });
  EXPECT_FALSE(blamed.rejected());
  EXPECT_THAT(blamed.astray, HasSubstr("naive is blamed: wrong"));
}

TEST(RejectedByGate, IsAFailureThatNamesTheVariant) {
  const auto failing = [](const std::string& key) {
    return by_gate([&](auto&) {
      throw SideFailure(1, key, {Failure::Kind::timed_out, "did not end within 10 s"},
                        ChildCrash("program", "ended", ""));
    });
  };
  EXPECT_EQ(failing("doubling/a_cheat/rows=2,columns=3#1").reason, "it did not end within 10 s");
  const TimedFinding blamed = failing("doubling/naive/rows=2,columns=3#1");
  EXPECT_THAT(blamed.reason, IsEmpty());
  EXPECT_THAT(blamed.astray, HasSubstr("naive is blamed: it did not end"));
  const TimedFinding nobody = by_gate([](auto&) { throw Error("program", "ended", ""); });
  EXPECT_FALSE(nobody.rejected());
  EXPECT_THAT(nobody.astray, HasSubstr("nobody is named"));
}

}  // namespace
}  // namespace assay::timed_finding_test
