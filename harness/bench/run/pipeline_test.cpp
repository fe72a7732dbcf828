// A run from its request to its results, with launches from a script and roofs that are measured.
#include "assay/pipeline.hpp"

#include "core/check/doubling_test.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string naive = "doubling/naive/rows=64,columns=64#1", idle = "doubling/idle/rows=64,columns=64#1";

Registry registry() {
  Registry out = testing::doubling_registry();
  out.add<testing::Doubling>({.name = "idle", .run = testing::doubled});
  return out;
}

RunRequest request(double roof_seconds) {
  return {.suite = {.name = "s", .cases = {{"doubling", "rows=64,columns=64"}}},
          .measuring = {.launches = 3},
          .roof_seconds = roof_seconds};
}

/// Launches in which `idle` takes that many seconds, and all others an hour.
Sample scripted(double seconds) {
  return [seconds](const LaunchRequest& launch, const Hooks&) {
    std::vector<TrialSample> out;
    for (const TrialRequest& trial : launch.trials) {
      out.push_back({.key = trial.key, .slices = {{.seconds = trial.key == idle ? seconds : 3600.0}}});
    }
    return out;
  };
}

const TrialResult& trial(const Results& results, const std::string& key) {
  return *std::ranges::find(results.trials, key, &TrialResult::key);
}

TEST(Run, FindsATrialThatIsFasterThanAnyKernelCanBe) {
  const Results found = run(registry(), request(0.02), scripted(1e-15), {});
  EXPECT_THAT(trial(found, idle).impossible, HasSubstr(" a call, and its "));
  EXPECT_EQ(trial(found, idle).launches.size(), 3U) << "samples are kept";
  EXPECT_FALSE(is_measured(trial(found, idle)));
  EXPECT_THAT(trial(found, naive).impossible, IsEmpty());
  EXPECT_EQ(found.roofs.at(0).measurements, 4);
}

TEST(Run, HasNoVerdictOnTimesWhereItMeasuredNoRoof) {
  EXPECT_THAT(trial(run(registry(), request(0), scripted(1e-15), {}), idle).impossible, IsEmpty());
}

// Checks count as one launch, and there are three: a quarter each.
TEST(Run, SaysWhichShareOfTheWholeIsDone) {
  std::vector<double> shares;
  const Hooks hooks{.progress = [&](std::string_view, std::optional<double> done) {
    if (done) shares.push_back(*done);
  }};
  const Sample launches = [&](const LaunchRequest& launch, const Hooks& of_launch) {
    of_launch.say("launch", static_cast<double>(launch.index) / launch.policy.launches);
    return scripted(1)(launch, of_launch);
  };
  run(registry(), request(0), launches, hooks);
  ASSERT_GT(shares.size(), 3U);
  EXPECT_EQ(shares.front(), 0);
  EXPECT_TRUE(std::ranges::is_sorted(shares));
  EXPECT_LT(shares[shares.size() - 4], 0.25) << "the last check";
  EXPECT_DOUBLE_EQ(shares[shares.size() - 3], 0.25);
  EXPECT_DOUBLE_EQ(shares[shares.size() - 2], 0.5);
  EXPECT_DOUBLE_EQ(shares.back(), 0.75);
}

/// Has the sum of what was written as its figure.
struct Summed : testing::Doubling {
  static constexpr std::string_view name = "summed";
  static std::vector<Figure> figures(const Problem&, const Input&, const Expected&, const Output& out) {
    return {{.name = "sum", .value = std::accumulate(out.y.begin(), out.y.end(), 0.0)}};
  }
};

TEST(Run, StoresTheFiguresOfTheInputThatIsTimed) {
  Registry operations;
  operations.add<Summed>({.name = "naive", .run = testing::doubled});
  RunRequest wanted = request(0);
  wanted.suite.cases = {{"summed", "rows=3,columns=5"}};
  const Results found = run(operations, wanted, scripted(1), {});
  const std::vector<Figure>& figures = found.trials.at(0).agreement.figures;
  ASSERT_EQ(figures.size(), 1U);
  const auto of_fill = [&](Fill fill) {
    return operations.at("summed")
        .open("rows=3,columns=5", {.fill = fill, .rng = Rng(wanted.selection.seed)})
        ->check(0, {}, Workload::no_rehearsal)
        .figures.at(0)
        .value;
  };
  EXPECT_EQ(figures[0].value, of_fill(Fill::uniform));
  EXPECT_NE(figures[0].value, of_fill(Fill::exact));
  EXPECT_EQ(results_from_json(to_json(found), "x").trials.at(0).agreement.figures.at(0).value,
            figures[0].value)
      << "to the last bit";
}

TEST(Run, TimesNoKernelThatFailsACornerCase) {
  Registry operations = registry();
  operations.add<testing::Doubling>(
      {.name = "tailless",
       .run = [](const testing::Doubling::Problem& p, const testing::Doubling::Input& in,
                 testing::Doubling::Output& out) {
         testing::doubled(p, in, out);
         if (p.columns == 17) out.y[16] = 0;
       }});
  std::vector<std::string> timed;
  const Sample noted = [&](const LaunchRequest& launch, const Hooks& hooks) {
    for (const TrialRequest& one : launch.trials) timed.push_back(one.variant);
    return scripted(1)(launch, hooks);
  };
  const Results found = run(operations, request(0), noted, {});
  const TrialResult& tailless = trial(found, "doubling/tailless/rows=64,columns=64#1");
  EXPECT_FALSE(tailless.agreement.agrees);
  EXPECT_THAT(tailless.agreement.detail, HasSubstr("at the corner case rows=1,columns=17, exact fill"));
  EXPECT_THAT(tailless.launches, IsEmpty());
  EXPECT_TRUE(is_measured(trial(found, idle)));
  EXPECT_THAT(timed, ::testing::Not(::testing::Contains("tailless")));
}

TEST(MeasureAfresh, JudgesTimesAnew) {
  const Registry operations = registry();
  const Results first = run(operations, request(0.02), scripted(1e-15), {});
  const Results better = measure_afresh(first, {idle}, request(0.02), scripted(1), {});
  EXPECT_THAT(trial(better, idle).impossible, IsEmpty());
  const Results worse = measure_afresh(better, {idle}, request(0.02), scripted(1e-15), {});
  EXPECT_THAT(trial(worse, idle).impossible, HasSubstr(" a call, and its "));
}

}  // namespace
}  // namespace assay
