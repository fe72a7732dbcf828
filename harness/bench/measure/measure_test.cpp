// Tests what is stored, skipped and said, with a sampler whose times are scripted.

#include "assay/measure.hpp"

#include "bench/measure/measure.hpp"
#include "bench/measure/sampler.hpp"
#include "core/check/doubling_test.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using testing::doubled;
using testing::Doubling;
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TrialResult trial(const std::string& variant) {
  return {.key = "doubling/" + variant + "/rows=1,columns=2#1",
          .operation = "doubling",
          .variant = variant,
          .problem = "rows=1,columns=2"};
}

/// One slice of the given length for every trial that is asked for.
Sample scripted(double seconds, std::vector<LaunchRequest>& asked) {
  return [seconds, &asked](const LaunchRequest& request, const Hooks&) {
    asked.push_back(request);
    std::vector<TrialSample> out;
    for (const TrialRequest& t : request.trials)
      out.push_back({.key = t.key, .slices = {{.seconds = seconds}}});
    return out;
  };
}

TEST(Measure, NeverTimesWhatDisagreedOrWasSkipped) {
  Results results;
  results.trials = {trial("naive"), trial("wrong"), trial("exotic")};
  results.trials[1].agreement.agrees = false;
  results.trials[2].skipped = "needs a unicorn";
  std::vector<LaunchRequest> asked;
  measure(results, {.launches = 2}, scripted(1e-3, asked), {});
  ASSERT_THAT(asked, SizeIs(2));
  ASSERT_THAT(asked[0].trials, SizeIs(1));
  EXPECT_EQ(asked[0].trials[0].variant, "naive");
  EXPECT_THAT(results.trials[0].launches, SizeIs(2));
  EXPECT_THAT(results.trials[1].launches, IsEmpty());
  EXPECT_THAT(results.trials[2].launches, IsEmpty());
}

TEST(Measure, DropsATrialThatFailsInAnyLaunchAndKeepsTheOthers) {
  Results results;
  results.trials = {trial("naive"), trial("bad"), trial("right")};
  std::vector<LaunchRequest> asked;
  const Sample sample = [&](const LaunchRequest& request, const Hooks& hooks) {
    auto out = scripted(1e-3, asked)(request, hooks);
    for (TrialSample& one : out) {
      if (request.index == 1 && one.key == results.trials[1].key)
        one = {.key = one.key, .failure = Failure{Failure::Kind::timed_out, "did not end within 10 s"}};
    }
    return out;
  };
  measure(results, {.launches = 3}, sample, {});
  EXPECT_THAT(results.trials[0].launches, SizeIs(3));
  EXPECT_THAT(results.trials[2].launches, SizeIs(3));
  EXPECT_THAT(results.trials[1].launches, IsEmpty());
  ASSERT_TRUE(results.trials[1].failure.has_value());
  EXPECT_EQ(results.trials[1].failure->reason, "did not end within 10 s");
  EXPECT_FALSE(results.trials[1].agreement.agrees);
  EXPECT_THAT(asked[2].trials, SizeIs(2)) << "it is not asked for again";
}

TEST(Measure, SaysWhenACallWasTooLongForMoreThanThreeSlices) {
  Results results;
  results.trials = {trial("naive")};
  std::vector<LaunchRequest> asked;
  measure(results, {.launches = 3}, scripted(2.5, asked), {});
  EXPECT_THAT(results.trials[0].remark, HasSubstr("timed 3 times and no more"));
}

TEST(Measure, MarksAnInterruptedRunPartialAndKeepsWhatItHas) {
  Results results;
  results.trials = {trial("naive")};
  std::vector<LaunchRequest> asked;
  bool stop = false;
  const Sample sample = [&](const LaunchRequest& request, const Hooks& hooks) {
    stop = true;  // the user interrupts during the first launch
    return scripted(1e-3, asked)(request, hooks);
  };
  measure(results, {.launches = 5}, sample, {.stop = [&] { return stop; }});
  EXPECT_TRUE(results.partial);
  EXPECT_THAT(results.trials[0].launches, SizeIs(1));
}

LaunchRequest request_of(const Registry& registry, int slices) {
  LaunchRequest request{.policy = {.slices = slices, .slice_seconds = 1e-5}};
  for (const VariantInfo& v : registry.at("doubling").variants()) {
    request.trials.push_back({trial(v.name).key, "doubling", v.name, "rows=1,columns=2", 1});
  }
  return request;
}

TEST(SampleHere, GivesEveryTrialItsSlicesWithPositiveTimes) {
  Registry registry = testing::doubling_registry();
  registry.add<Doubling>({.name = "flat", .run = doubled});
  const auto samples = sample_here(registry, request_of(registry, 7), {});
  ASSERT_THAT(samples, SizeIs(2));
  for (const TrialSample& sample : samples) {
    EXPECT_THAT(sample.slices, SizeIs(7));
    EXPECT_THAT(sample.slices, Each(Field(&Slice::seconds, ::testing::Gt(0.0))));
    EXPECT_EQ(sample.figures.at("allocations_per_call"), 0);
    EXPECT_GE(sample.figures.at("involuntary_switches_per_call"), 0);
  }
}

TEST(SampleHere, CountsTheAllocationsOfOneCall) {
  Registry registry = testing::doubling_registry();
  registry.add<Doubling>(
      {.name = "wasteful",
       .run = [](const Doubling::Problem& p, const Doubling::Input& in, Doubling::Output& out) {
         const std::vector<float> copy(in.x.begin(), in.x.end());
         const auto other = std::make_unique<float>(copy.front());
         float* volatile const kept = other.get();  // else an optimizer may do without the allocation
         doubled(p, in, out);
         out.y[0] = 2 * *kept;
       }});
  const auto samples = sample_here(registry, request_of(registry, 3), {});
  EXPECT_EQ(samples[1].figures.at("allocations_per_call"), 2);
  EXPECT_EQ(samples[1].figures.at("allocated_bytes_per_call"), 12);  // two floats, and one
}

TEST(SampleHere, CountsTheWorkspaceThatAPlanKeepsAndNothingElse) {
  Registry registry = testing::doubling_registry();
  registry.add<Doubling>(
      {.name = "planned", .prepare = [](const Doubling::Problem& p, const Doubling::Input&, const Context&) {
         const std::vector<char> given_back(1 << 20);
         std::vector<char> kept(10000 + given_back.size() - given_back.size());
         return [p, kept = std::move(kept)](const Doubling::Input& in, Doubling::Output& out) {
           doubled(p, in, out);
         };
       }});
  const auto samples = sample_here(registry, request_of(registry, 3), {});
  EXPECT_EQ(samples[0].figures.at("workspace_bytes"), 0);
  EXPECT_GE(samples[1].figures.at("workspace_bytes"), 10000);
  EXPECT_LT(samples[1].figures.at("workspace_bytes"), 12000);
}

TEST(Figures, OfSeveralLaunchesAreJoinedAsTheySay) {
  FigureValues all;
  join(all, {{"allocations_per_call", 1}, {"prepare_seconds", 3}, {"unknown", 1}}, 0);
  join(all, {{"allocations_per_call", 5}, {"prepare_seconds", 2}, {"unknown", 2}}, 1);
  join(all, {{"allocations_per_call", 3}, {"prepare_seconds", 4}}, 2);
  EXPECT_EQ(all, (FigureValues{{"allocations_per_call", 5}, {"prepare_seconds", 2}, {"unknown", 1}}));
  EXPECT_EQ(joined(Figure::Join::mean, 2, 5, 2), 3);
  EXPECT_EQ(joined(Figure::Join::sum, 2, 5, 2), 7);
}

TEST(SampleHere, LeavesOutWhatAnInterruptPrevented) {
  Registry registry = testing::doubling_registry();
  const auto samples = sample_here(registry, request_of(registry, 7), {.stop = [] { return true; }});
  EXPECT_THAT(samples, Each(Field(&TrialSample::slices, IsEmpty())));
}

class Counter : public Timed {
 public:
  void repeat(Index calls) override { total += calls; }
  Index total = 0;
};

TEST(Sampler, MakesTheCallsItReports) {
  Counter first, second;
  const Surroundings before = Surroundings::now();
  AuditedSlices of_first(first, 1, before), of_second(second, 1, before);
  const auto launches = sample_mixed({{.trial = &of_first, .calls = 10, .slices = 4, .warm_up = false},
                                      {.trial = &of_second, .calls = 3, .slices = 5}},
                                     {});
  ASSERT_THAT(launches, SizeIs(2));
  EXPECT_THAT(launches[0], SizeIs(4));
  EXPECT_THAT(launches[0], Each(Field(&Slice::calls, 10)));
  EXPECT_GE(first.total, 4 * 10);        // and others that are judged and not timed
  EXPECT_GE(second.total, 5 * (3 + 1));  // with one warm-up call before each slice
}

TEST(Sampler, ReturnsNothingForNothing) { EXPECT_THAT(sample_mixed({}, {}), IsEmpty()); }

}  // namespace
}  // namespace assay
