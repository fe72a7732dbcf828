// Processes of a launch whose trials do something to each other: only who does it alone is named.
#include "bench/measure/measure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

// A namespace of its own: builds join test files, and these names are short.
namespace assay::launch_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Trials of two cases: a1, a2, a3 and b1, b2.
LaunchRequest request() {
  LaunchRequest out;
  for (const char* key : {"a1", "a2", "a3", "b1", "b2"})
    out.trials.push_back(
        {.key = key, .operation = std::string(1, key[0]), .variant = key, .problem = "", .threads = 1});
  return out;
}

bool has(const LaunchRequest& part, const std::string& key) {
  return std::ranges::find(part.trials, key, &TrialRequest::key) != part.trials.end();
}

/// Samples of a process in which these are accused.
LaunchPart part_of(const LaunchRequest& request, const std::set<std::string>& accused) {
  LaunchPart out;
  for (const TrialRequest& trial : request.trials) {
    TrialSample& sample = out.samples[trial.key];
    sample = {.key = trial.key, .slices = {{.seconds = static_cast<double>(request.trials.size())}}};
    if (accused.contains(trial.key)) sample.audit.fault = "started a process";
  }
  return out;
}

struct Named {
  std::vector<std::string> keys;
  std::vector<double> trials_beside;  ///< in the process that the samples of a trial come from
};
Named named_by(const SamplePart& sample) {
  Named out;
  for (const TrialSample& one : sample_in_parts(request(), sample, {})) {
    if (one.failure || !one.audit.fault.empty()) out.keys.push_back(one.key);
    out.trials_beside.push_back(one.slices.empty() ? 0 : one.slices[0].seconds);
  }
  return out;
}

TEST(SharedLaunch, NamesNobodyWhereNobodyIsAccused) {
  int processes = 0;
  const Named found = named_by([&](const LaunchRequest& part) {
    ++processes;
    return part_of(part, {});
  });
  EXPECT_THAT(found.keys, IsEmpty());
  EXPECT_EQ(processes, 1);
}

TEST(SharedLaunch, NamesWhoDoesItAloneAndNotWhoIsAccusedInItsPlace) {
  const Named found = named_by([](const LaunchRequest& part) {
    // What a2 leaves behind is found in the slices of others.
    if (part.trials.size() == 1) return part_of(part, {"a2"});
    return part_of(part, {"a1", "a3"});
  });
  EXPECT_THAT(found.keys, ElementsAre("a2"));
  EXPECT_THAT(found.trials_beside, ElementsAre(1, 1, 1, 5, 5)) << "the others keep their samples";
}

TEST(SharedLaunch, NamesOneOfAnEarlierCase) {
  const Named found = named_by([](const LaunchRequest& part) {
    if (part.trials.size() == 1) return part_of(part, {"a1"});
    return part_of(part, {"b1"});
  });
  EXPECT_THAT(found.keys, ElementsAre("a1"));
}

TEST(SharedLaunch, NamesNobodyWhereNobodyDoesItAlone) {
  const Named found = named_by([](const LaunchRequest& part) {
    return part_of(part, part.trials.size() == 1 ? std::set<std::string>{} : std::set<std::string>{"a1"});
  });
  EXPECT_THAT(found.keys, IsEmpty());
  EXPECT_EQ(found.trials_beside[0], 1) << "its samples are those that it had alone";
}

TEST(SharedLaunch, NamesWhoDoesItNowAndThen) {
  int alone = 0;
  const Named found = named_by([&](const LaunchRequest& part) {
    const bool does_it = part.trials.size() > 1 || ++alone == 3;
    return part_of(part, does_it ? std::set<std::string>{"a3"} : std::set<std::string>{});
  });
  EXPECT_THAT(found.keys, ElementsAre("a3"));
}

TEST(SharedLaunch, NamesWhoCrashesAnotherAfterItHasPassed) {
  const Named found = named_by([](const LaunchRequest& part) {
    if (has(part, "a1") && has(part, "b1")) {  // a signal that comes late
      LaunchPart out = part_of(part, {});
      std::erase_if(out.samples, [](const auto& one) { return one.first[0] == 'b'; });
      const auto b1 = std::ranges::find(part.trials, "b1", &TrialRequest::key);
      out.failed = {.step = static_cast<std::size_t>(b1 - part.trials.begin()),
                    .failure = {.reason = "was ended"}};
      return out;
    }
    return part_of(part, {"a1"});
  });
  EXPECT_THAT(found.keys, ElementsAre("a1"));
}

}  // namespace
}  // namespace assay::launch_test
