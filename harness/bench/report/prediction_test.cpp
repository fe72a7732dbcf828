#include "assay/epoch.hpp"

#include "bench/report/hand_made_test.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using hand_made::micro;
using hand_made::network;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

double sum_of_shares(const Prediction& prediction) {
  double sum = 0;
  for (const Contribution& part : prediction.contributions) sum += part.share;
  return sum;
}

// Launches: 10 (3 * 100 + 2 * 10) = 3,200 µs; with 102: 3,260; with 104: 3,320.
TEST(Prediction, SumsStepsTimesOccurrencesTimesSecondsInEachLaunch) {
  const Prediction naive = predict(network()).at(0);

  EXPECT_EQ(naive.label, "naive");
  EXPECT_EQ(naive.source, IntervalSource::launches);
  EXPECT_EQ(naive.launches, 3U);
  EXPECT_NEAR(naive.seconds.low, 3200 * micro, 1e-12);
  EXPECT_NEAR(naive.seconds.middle, 3260 * micro, 1e-12);
  EXPECT_NEAR(naive.seconds.high, 3320 * micro, 1e-12);
}

// packed for the product, but naive for the addition, where simd is slower: 10 (3 * 51 + 2 * 10) = 1,730 µs.
TEST(Prediction, TakesTheFastestVariantOfEachCase) {
  const Prediction best = predict(network()).at(1);

  EXPECT_EQ(best.label, "best of each case");
  EXPECT_NEAR(best.seconds.middle, 1730 * micro, 1e-12);
  ASSERT_THAT(best.contributions, SizeIs(2));
  EXPECT_EQ(best.contributions[0].key, "gemm/packed/m=64,n=64,k=64#1");
  EXPECT_EQ(best.contributions[1].key, "elementwise_add/naive/n=1,c=1,h=1,w=1000#1");
}

TEST(Prediction, NeverTakesAVariantThatDisagrees) {
  const Prediction best = predict(hand_made::network_with_a_disagreement()).at(1);
  EXPECT_EQ(best.contributions.at(0).key, "gemm/naive/m=64,n=64,k=64#1");
}

// 3 * 102 = 306 of 326 µs per step.
TEST(Prediction, HasSharesThatSumToOneHundred) {
  for (const Prediction& prediction : predict(network())) {
    EXPECT_NEAR(sum_of_shares(prediction), 100, 1e-9) << prediction.label;
  }
  EXPECT_NEAR(predict(network()).at(0).contributions.at(0).share, 100 * 306.0 / 326, 1e-9);
}

// One launch of three slices each: medians as above, ends summed:
// 10 (3 * 100 + 2 * 10) to 10 (3 * 104 + 2 * 10).
TEST(Prediction, SumsTheIntervalsOfTheCasesWhenThereIsOneLaunch) {
  Results results = network();
  for (TrialResult& trial : results.trials) {
    Launch all;
    for (const Launch& launch : trial.launches) all.push_back(launch.front());
    trial.launches = {all};
  }

  const Prediction naive = predict(results).at(0);

  EXPECT_EQ(naive.source, IntervalSource::cases);
  EXPECT_NEAR(naive.seconds.low, 3200 * micro, 1e-12);
  EXPECT_NEAR(naive.seconds.middle, 3260 * micro, 1e-12);
  EXPECT_NEAR(naive.seconds.high, 3320 * micro, 1e-12);
}

TEST(Prediction, SumsTheIntervalsOfTheCasesWhenOneWasLeftOutOfALaunch) {
  Results results = network();
  results.trials[2].launches[1].clear();

  const Prediction naive = predict(results).at(0);

  EXPECT_EQ(naive.source, IntervalSource::cases);
  EXPECT_EQ(naive.launches, 2U);
}

TEST(Prediction, IsNotMadeFromAPartOfTheCases) {
  Results results = network();
  results.trials[2].launches.clear();
  results.trials[3].launches.clear();

  for (const Prediction& prediction : predict(results)) {
    EXPECT_THAT(prediction.impossible, HasSubstr("elementwise_add/n=1,c=1,h=1,w=1000: "));
    EXPECT_THAT(prediction.contributions, IsEmpty());
    EXPECT_EQ(prediction.seconds.middle, 0);
  }
}

TEST(Prediction, SaysWhyTheNaiveVariantHasNoTime) {
  Results results = network();
  results.trials[0].agreement.agrees = false;
  EXPECT_THAT(predict(results).at(0).impossible, HasSubstr("it disagrees with the oracle"));
}

TEST(Prediction, UsesNoTimeThatCannotBe) {
  Results results = network();
  results.trials[0].impossible = "took 5 ns a call";
  EXPECT_THAT(predict(results).at(0).impossible, HasSubstr("it is faster than any kernel can be"));
}

TEST(Prediction, IsNotMadeForASuiteOutsideAnyNetwork) {
  Results results = network();
  results.steps_per_epoch = 0;
  EXPECT_THAT(predict(results).at(0).impossible, HasSubstr("no network"));
}

TEST(Prediction, IsNotMadeFromAnInterruptedRun) {
  Results results = network();
  results.partial = true;
  EXPECT_THAT(predict(results).at(0).impossible, HasSubstr("interrupted"));
}

TEST(Prediction, IsNotMadeFromAFilteredRun) {
  Results results = network();
  results.cases_left_out = 2;
  EXPECT_THAT(predict(results).at(0).impossible, HasSubstr("2 cases of the suite were not selected"));
}

TEST(Prediction, LeavesOutCasesThatOccurInNoStep) {
  Results results = network();
  for (TrialResult& trial : results.trials) {
    if (trial.operation == "gemm") trial.per_step = 0;
  }
  EXPECT_NEAR(predict(results).at(0).seconds.middle, 200 * micro, 1e-12);
}

// The baseline took 61 µs for packed: 10 (3 * 61 + 2 * 10) = 2,030 µs.
TEST(Prediction, OfTheBaselineUsesItsTimes) {
  Results before = network();
  before.trials[1] = hand_made::trial("gemm", "packed", "m=64,n=64,k=64", {60, 61, 62});
  const Results now = network();

  const auto predictions = predict(now, &before);

  ASSERT_THAT(predictions, SizeIs(3));
  EXPECT_EQ(predictions[2].label, "baseline");
  EXPECT_NEAR(predictions[2].seconds.middle, 2030 * micro, 1e-12);
}

TEST(Prediction, OfTheBaselineRefusesAnotherWorkload) {
  Results before = network();
  before.trials[0].workload = before.trials[1].workload = "another";
  const Results now = network();
  EXPECT_THAT(predict(now, &before).at(2).impossible, HasSubstr("workload"));
}

TEST(Prediction, AdmitsThatTheFastestWasChosenByTheTimesItSums) {
  EXPECT_THAT(predict(network()).at(1).left_out, Contains(HasSubstr("chosen by the same times")));
}

TEST(Prediction, IsNotMadeOfOneShard) {
  Results results = network();
  results.shard = ShardRecord{.shard = {1, 4}, .cases = 9, .positions = {0, 5}};
  EXPECT_THAT(predict(results).at(0).impossible, HasSubstr("one of 4 shards"));
  results.shard->shard = {0, 1};
  EXPECT_THAT(predict(results).at(0).impossible, IsEmpty()) << "the only shard is the whole";
}

TEST(Prediction, IsNotMadeOfSecondsOfDifferentMachines) {
  Results mixed = network();
  mixed.mixed_machines = "the shards ran on machines that differ in cores";
  for (const Prediction& one : predict(mixed)) {
    EXPECT_EQ(one.impossible, mixed.mixed_machines + ": their seconds do not add up");
  }
  EXPECT_THAT(predict(network(), &mixed).at(2).impossible, HasSubstr("do not add up"));
}

// Launches of different shards have only their numbers in common, so the ends of the intervals are added:
// naive 10 (3 * [100, 104] + 2 * 10) = 3,200 to 3,320 µs.
TEST(Prediction, OfMergedShardsAddsTheEndsOfTheIntervals) {
  Results results = network();
  results.merged_shards = 2;
  const Prediction naive = predict(results).at(0);
  EXPECT_EQ(naive.source, IntervalSource::cases);
  EXPECT_NEAR(naive.seconds.low, 3200 * micro, 1e-12);
  EXPECT_NEAR(naive.seconds.high, 3320 * micro, 1e-12);
}

}  // namespace
}  // namespace assay
