#include "bench/compare/roofs.hpp"

#include "bench/report/hand_made_test.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using hand_made::network;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Arithmetic of the roof is half of what gemm/packed reaches: 524,288 operations in 51 µs are 10.28 GFLOP/s.
Results with_a_low_roof() {
  Results out = network();
  out.roofs[0].flops_per_second = 5e9;
  return out;
}

Roof roof_of(double flops_per_second) {
  Roof out = network().roofs[0];
  out.flops_per_second = flops_per_second;
  out.weather = Weather{.seconds = 1, .other_busy_share = 0.25};
  return out;
}

/// gemm/packed as if it returned at once: at four times 100 GFLOP/s its operations take 1.31 µs.
Results with_an_idle_kernel() {
  Results out = network();
  out.trials[1].launches = {{Slice{.seconds = 4e-9}}, {Slice{.seconds = 5e-9}}, {Slice{.seconds = 6e-9}}};
  return out;
}

TEST(Roofs, ThatNoTrialBeatsAreBelieved) { EXPECT_THAT(beaten_roofs(network()), IsEmpty()); }

TEST(Roofs, ThatTrialsBeatAreNamedWithTheFastest) {
  const auto beaten = beaten_roofs(with_a_low_roof());
  ASSERT_THAT(beaten, SizeIs(1));
  EXPECT_EQ(beaten[0].by, "arithmetic");
  EXPECT_EQ(beaten[0].key, "gemm/packed/m=64,n=64,k=64#1");
  EXPECT_EQ(beaten[0].trials, 1U) << "naive reaches 5.14 GFLOP/s, less than 5 % above";
  EXPECT_NEAR(beaten[0].times, 524288 / 51e-6 / 5e9, 1e-9);
}

TEST(Roofs, AreBelievedWhereOneTrialAloneIsAboveThem) {
  Results results = network();
  for (Launch& launch : results.trials[1].launches) launch[0].seconds = 3e-6;  // 175 GFLOP/s of 100
  const auto above = trials_above_roof(results);
  ASSERT_THAT(above, SizeIs(1));
  EXPECT_EQ(above[0].key, "gemm/packed/m=64,n=64,k=64#1");
  EXPECT_EQ(above[0].by, "arithmetic");
  EXPECT_NEAR(above[0].times, 524288 / 3e-6 / 1e11, 1e-9);
  EXPECT_THAT(beaten_roofs(results), IsEmpty()) << "it is suspect, not the roof";
  for (Launch& launch : results.trials[0].launches) launch[0].seconds = 7e-6;  // 75 GFLOP/s
  EXPECT_THAT(beaten_roofs(results), SizeIs(1)) << "another variant comes near";
  results.trials[0].operation = "gemm";
  results.trials[0].variant = "packed";
  EXPECT_THAT(beaten_roofs(results), IsEmpty()) << "the same on another problem is no other";
}

TEST(Roofs, AreBeatenByWholeIntervalsOnly) {
  Results results = with_a_low_roof();
  results.trials[1].launches.push_back({Slice{.seconds = 200e-6}});
  EXPECT_THAT(beaten_roofs(results), IsEmpty());
}

TEST(Roofs, AreToldApartByFigure) {
  Results results = with_a_low_roof();
  results.roofs[0].bandwidth[0].bytes_per_second = 1e8;  // 12,000 bytes would take 120 µs
  const auto beaten = beaten_roofs(results);
  ASSERT_THAT(beaten, SizeIs(2));
  EXPECT_EQ(beaten[0].by, "L1");
  EXPECT_EQ(beaten[0].trials, 2U);
  EXPECT_EQ(beaten[1].by, "arithmetic");
}

TEST(Roofs, OfMixedMachinesAreNotJudged) {
  Results results = with_a_low_roof();
  results.mixed_machines = "the shards ran on machines that differ";
  EXPECT_THAT(beaten_roofs(results), IsEmpty());
}

TEST(Roofs, ThatAreBeatenAreMeasuredAgainUntilTheyAreNot) {
  Results results = with_a_low_roof();
  std::vector<int> asked;
  measure_beaten_roofs_again(results, [&](int threads) {
    asked.push_back(threads);
    return roof_of(asked.size() == 1 ? 4e9 : 2e10);
  });
  EXPECT_THAT(asked, ElementsAre(1, 1));
  EXPECT_EQ(results.roofs[0].flops_per_second, 2e10);
  EXPECT_EQ(results.roofs[0].measurements, 3);
  EXPECT_EQ(results.roofs[0].weather->other_busy_share, 0.25);
  EXPECT_THAT(beaten_roofs(results), IsEmpty());
}

TEST(Roofs, ThatStayTooLowAreMeasuredFourTimesAndNoMore) {
  Results results = with_a_low_roof();
  int asked = 0;
  measure_beaten_roofs_again(results, [&](int) {
    ++asked;
    return roof_of(4e9);
  });
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(results.roofs[0].flops_per_second, 5e9) << "the larger is kept";
  EXPECT_FALSE(results.roofs[0].weather) << "and its weather";
  EXPECT_THAT(beaten_roofs(results), SizeIs(1));
}

TEST(Roofs, ThatNoTrialBeatsAreNotMeasuredAgain) {
  Results results = network();
  measure_beaten_roofs_again(results, [](int) -> Roof { throw std::logic_error("measured"); });
  EXPECT_EQ(results.roofs[0].measurements, 1);
}

TEST(Roofs, ThatAreNotBelievedSayWhy) {
  Results results = with_a_low_roof();
  measure_beaten_roofs_again(results, [](int) { return roof_of(5.1e9); });
  EXPECT_THAT(why_not_believed(beaten_roofs(results), results.roofs),
              ElementsAre(AllOf(HasSubstr("the roof of arithmetic with 1 thread is not believed"),
                                HasSubstr("gemm/packed/m=64,n=64,k=64#1 was 2.02 times as fast"),
                                HasSubstr("measured 4 times"),
                                HasSubstr("other processes used 25.0 % of the processors"))));
}

TEST(ImpossibleTrial, LiesBelowItsFloorWithItsWholeInterval) {
  Results results = with_an_idle_kernel();
  find_impossible(results);
  EXPECT_EQ(results.trials[1].impossible,
            "took 5.00 ns [4.00, 6.00] a call, and its FLOPs take 1.31 µs at four times the arithmetic roof");
  for (const std::size_t honest : {0U, 2U, 3U}) EXPECT_THAT(results.trials[honest].impossible, IsEmpty());

  results.trials[1].launches.push_back({Slice{.seconds = 2e-6}});
  find_impossible(results);
  EXPECT_THAT(results.trials[1].impossible, IsEmpty());
}

TEST(ImpossibleTrial, IsNoneBetweenItsFloorAndItsRoof) {
  Results results = network();
  for (Launch& launch : results.trials[1].launches) launch[0].seconds = 1.4e-6;  // 375 GFLOP/s of 100
  find_impossible(results);
  EXPECT_THAT(results.trials[1].impossible, IsEmpty());
  EXPECT_THAT(trials_above_roof(results), SizeIs(1)) << "and it is suspect";
}

TEST(ImpossibleTrial, MayBeSoByItsBytes) {
  Results results = network();
  for (Launch& launch : results.trials[3].launches) launch[0].seconds = 1e-9;
  find_impossible(results);
  EXPECT_THAT(results.trials[3].impossible, HasSubstr("its bytes take 60.0 ns at twice the bandwidth of L1"));
}

TEST(ImpossibleTrial, IsNotFoundWhereNoRoofIsKnown) {
  Results old = with_an_idle_kernel();
  old.roofs.clear();
  find_impossible(old);
  EXPECT_THAT(old.trials[1].impossible, IsEmpty());
}

TEST(ImpossibleTrial, OfMixedMachinesStaysWhatItWasOnItsOwn) {
  Results mixed = with_an_idle_kernel();
  mixed.mixed_machines = "the shards ran on machines that differ";
  find_impossible(mixed);
  EXPECT_THAT(mixed.trials[1].impossible, IsEmpty());
  mixed.trials[1].impossible = "so said its shard";
  find_impossible(mixed);
  EXPECT_EQ(mixed.trials[1].impossible, "so said its shard");
}

TEST(ImpossibleTrial, SaysNothingOfARoof) {
  Results results = with_an_idle_kernel();
  EXPECT_THAT(trials_above_roof(results), SizeIs(1));
  find_impossible(results);
  EXPECT_THAT(trials_above_roof(results), IsEmpty());
}

TEST(ImpossibleTrial, HasItsRoofMeasuredAgainFirst) {
  Results results = with_an_idle_kernel();
  results.trials[1].cost.f32 = false;  // whose arithmetic no roof is beaten by
  int asked = 0;
  measure_beaten_roofs_again(results, [&](int) {
    ++asked;
    Roof again = results.roofs[0];
    if (asked == 2) again.bandwidth[0].bytes_per_second = 1e13;
    return again;
  });
  EXPECT_EQ(asked, 2);
  find_impossible(results);
  EXPECT_THAT(results.trials[1].impossible, IsEmpty()) << "49,152 bytes take 2.5 ns at 20 TB/s";
}

}  // namespace
}  // namespace assay
