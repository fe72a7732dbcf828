#include "core/machine/roofline.hpp"

#include "core/machine/roof_kernels.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <stdexcept>

namespace assay {
namespace {

constexpr double kib = 1024, mib = 1024 * kib;

const Roof roof{.threads = 1,
                .flops_per_second = 100,
                .bandwidth = {{"L1", 1000, 50}, {"L2", 10000, 20}, {"memory", 100000, 5}}};

TEST(LimitAtRoof, AreTheLongerOfArithmeticAndTraffic) {
  // 200 flops at 100 a second against 50 bytes at 50 a second, then against 500 bytes.
  EXPECT_DOUBLE_EQ(limit_at_roof(roof, {.flops = 200, .bytes_read = 30, .bytes_written = 20}, 100).seconds,
                   2);
  EXPECT_DOUBLE_EQ(limit_at_roof(roof, {.flops = 200, .bytes_read = 300, .bytes_written = 200}, 100).seconds,
                   10);
}

TEST(LimitAtRoof, AreUnknownForArithmeticOfAnotherKind) {
  EXPECT_EQ(limit_at_roof(roof, {.flops = 1, .f32 = false}, 1000).seconds, 0);
}

TEST(LimitAtRoof, UseTheSmallestLevelThatHoldsTheWorkingSet) {
  const Cost cost{.bytes_read = 100};
  EXPECT_DOUBLE_EQ(limit_at_roof(roof, cost, 1000).seconds, 2);
  EXPECT_DOUBLE_EQ(limit_at_roof(roof, cost, 1001).seconds, 5);
  EXPECT_DOUBLE_EQ(limit_at_roof(roof, cost, 1e9).seconds, 20);
}

TEST(LimitAtRoof, AreZeroWhereTheRoofIsUnknown) {
  const Roof arithmetic_only{.flops_per_second = 100};
  EXPECT_EQ(limit_at_roof({}, {.flops = 1, .bytes_read = 1}, 1).seconds, 0);
  EXPECT_EQ(limit_at_roof(arithmetic_only, {.flops = 1, .bytes_read = 1}, 1).seconds, 0);
  EXPECT_DOUBLE_EQ(limit_at_roof(arithmetic_only, {.flops = 1}, 1).seconds, 0.01);
  EXPECT_EQ(limit_at_roof(roof, {}, 1).seconds, 0);
}

TEST(LimitAtRoof, IsOfTheMixOfReadsAndWrites) {
  const Bandwidth level{"L1", 1000, 30, {{0, 60}, {0.5, 20}, {1, 10}}};
  const Roof mixed{.bandwidth = {level}};
  EXPECT_DOUBLE_EQ(limit_at_roof(mixed, {.bytes_read = 60}, 1).seconds, 1);
  EXPECT_DOUBLE_EQ(limit_at_roof(mixed, {.bytes_read = 20, .bytes_written = 10}, 1).seconds, 1);
  EXPECT_DOUBLE_EQ(limit_at_roof(mixed, {.bytes_read = 10, .bytes_written = 10}, 1).seconds, 1);
  EXPECT_DOUBLE_EQ(limit_at_roof(mixed, {.bytes_written = 10}, 1).seconds, 1);
  // One read and three writes: half the bytes as copies, half as fills.
  EXPECT_DOUBLE_EQ(limit_at_roof(mixed, {.bytes_read = 10, .bytes_written = 30}, 1).seconds,
                   20 / 20. + 20 / 10.);
}

TEST(BandwidthAt, IsThatOfTheNearestMixWhereOneIsMissing) {
  EXPECT_EQ(bandwidth_at({"L1", 1000, 30, {}}, 0), 30);
  EXPECT_EQ(bandwidth_at({"L1", 1000, 30, {}}, 1), 30);
  EXPECT_EQ(bandwidth_at({"L1", 1000, 0, {{0.5, 20}, {1, 0}}}, 1), 20);
  EXPECT_EQ(bandwidth_at({"L1", 1000, 0, {}}, 0.5), 0);
}

TEST(LimitAtRoof, NamesTheFigureThatTakesTheTime) {
  EXPECT_EQ(limit_at_roof(roof, {.flops = 200, .bytes_read = 50}, 100).by, "arithmetic");
  EXPECT_EQ(limit_at_roof(roof, {.flops = 200, .bytes_read = 500}, 100).by, "L1");
  EXPECT_EQ(limit_at_roof(roof, {.flops = 200, .bytes_read = 500}, 1e9).by, "memory");
}

TEST(Floor, IsWhatFlopsTakeAtFourTimesTheRoofOrBytesAtTwiceTheBandwidthOfL1) {
  // 400 flops a second, 100 bytes a second.
  const RoofLimit flops = floor_of({roof}, {.flops = 800, .bytes_read = 60, .bytes_written = 40}, 1);
  EXPECT_DOUBLE_EQ(flops.seconds, 2);
  EXPECT_EQ(flops.by, "arithmetic");
  const RoofLimit bytes = floor_of({roof}, {.flops = 800, .bytes_read = 260, .bytes_written = 40}, 1);
  EXPECT_DOUBLE_EQ(bytes.seconds, 3);
  EXPECT_EQ(bytes.by, "L1");
}

TEST(Floor, LeavesOutWhatAKernelMayDoWithout) {
  const Cost cost{.flops = 800, .bytes_read = 60, .bytes_written = 40, .avoidable_flops = 600};
  EXPECT_DOUBLE_EQ(floor_of({roof}, cost, 1).seconds, 1);
  EXPECT_DOUBLE_EQ(
      floor_of({roof}, {.bytes_read = 60, .bytes_written = 40, .avoidable_bytes = 50}, 1).seconds, 0.5);
  EXPECT_EQ(floor_of({roof}, {.flops = 800, .avoidable_flops = 800}, 1).seconds, 0);
}

TEST(Floor, CountsBytesAloneWhereTheArithmeticIsAnother) {
  const Cost doubles{.flops = 1e9, .bytes_read = 100, .f32 = false}, integers{.bytes_read = 100};
  EXPECT_DOUBLE_EQ(floor_of({roof}, doubles, 1).seconds, 1);
  EXPECT_DOUBLE_EQ(floor_of({roof}, integers, 1).seconds, 1);
}

TEST(Floor, IsNotKnownWithoutARoofNorForBytesWithoutL1) {
  const Cost bytes{.bytes_read = 1e9};
  EXPECT_EQ(floor_of({}, {.flops = 1e9, .bytes_read = 1e9}, 1).seconds, 0);
  EXPECT_EQ(floor_of({{.flops_per_second = 100, .bandwidth = {{"memory", 1e6, 5}}}}, bytes, 1).seconds, 0)
      << "a kernel in a cache that nobody measured may be faster than memory";
  EXPECT_EQ(floor_of({{.threads = 2, .flops_per_second = 100}}, {.flops = 1}, 1).seconds, 0)
      << "what two threads do says nothing of one";
}

TEST(Floor, IsOfTheFastestLevelWhicheverThatIs) {
  Roof odd = roof;
  odd.bandwidth[1].bytes_per_second = 100;
  EXPECT_DOUBLE_EQ(floor_of({odd}, {.bytes_read = 100}, 1).seconds, 0.5);
}

TEST(Floor, OfManyThreadsIsHeldAgainstOneAsWell) {
  Roof beside_others = roof;
  beside_others.threads = 2;
  beside_others.flops_per_second = 90;
  EXPECT_DOUBLE_EQ(floor_of({roof, beside_others}, {.flops = 800}, 2).seconds, 1) << "800 flops a second";
  beside_others.flops_per_second = 250;
  EXPECT_DOUBLE_EQ(floor_of({roof, beside_others}, {.flops = 800}, 2).seconds, 0.8);
  EXPECT_DOUBLE_EQ(floor_of({roof, beside_others}, {.flops = 800}, 1).seconds, 2);
}

TEST(Roof, IsRaisedFigureByFigureAndTakesTheWeatherOfWhatItKeeps) {
  Roof first = roof;
  first.weather = Weather{.seconds = 1};
  Roof again = roof;
  again.weather = Weather{.seconds = 2};
  again.flops_per_second = 99;
  raise(first, again);
  EXPECT_EQ(first.weather->seconds, 1) << "nothing was larger";
  again.bandwidth[1].bytes_per_second = 21;
  first.bandwidth[2].mixes = {{0, 6}, {1, 3}};
  again.bandwidth[2].mixes = {{0, 5}, {1, 4}};
  raise(first, again);
  EXPECT_EQ(first.bandwidth[2].mixes[0].bytes_per_second, 6);
  EXPECT_EQ(first.bandwidth[2].mixes[1].bytes_per_second, 4);
  EXPECT_EQ(first.flops_per_second, 100);
  EXPECT_EQ(first.bandwidth[0].bytes_per_second, 50);
  EXPECT_EQ(first.bandwidth[1].bytes_per_second, 21);
  EXPECT_EQ(first.weather->seconds, 2);
  EXPECT_EQ(first.measurements, 3);
}

TEST(CallsPerSlice, FillIt) {
  EXPECT_EQ(calls_per_slice([](Index calls) { return static_cast<double>(calls); }, 100), 100);
  EXPECT_EQ(calls_per_slice([](Index) { return 1000.0; }, 100), 1) << "one call is longer than a slice";
}

TEST(CallsPerSlice, AreNotFooledByOneThatWasHeldUp) {
  int asked = 0;
  const auto held_up_once = [&](Index calls) {
    return static_cast<double>(calls) + (++asked == 2 ? 5000.0 : 0.0);
  };
  EXPECT_EQ(calls_per_slice(held_up_once, 100), 100);
}

Machine with_caches(std::vector<Cache> caches) {
  return {.cores = 8, .memory_bytes = 1e12, .caches = std::move(caches)};
}

TEST(RoofLevels, FitTheirCacheAndNotTheOneBefore) {
  const auto levels = roof_levels(with_caches({{1, 48 * kib, 1}, {2, mib, 1}, {3, 32 * mib, 2}}), 1);
  ASSERT_EQ(levels.size(), 4U);
  EXPECT_EQ(levels[0].bytes_per_thread, 32 * kib);
  EXPECT_EQ(levels[1].bytes_per_thread, mib / 2);
  EXPECT_EQ(levels[2].bytes_per_thread, 8 * mib);  // half of a share of 16 MiB
  EXPECT_EQ(levels[2].holds_bytes, 32 * mib);      // one thread can use all of it
  EXPECT_EQ(levels[3].name, "memory");
  EXPECT_EQ(levels[3].bytes_per_thread, 128 * mib);
}

TEST(RoofLevels, LeaveOutALevelWhoseShareIsNoLargerThanTheOneBefore) {
  const auto levels = roof_levels(with_caches({{1, 32 * kib, 1}, {2, mib, 1}, {3, 11 * mib, 8}}), 8);
  ASSERT_EQ(levels.size(), 3U);
  EXPECT_EQ(levels[2].name, "memory");
}

TEST(RoofLevels, CountEveryCacheThatTheThreadsReach) {
  const auto levels = roof_levels(with_caches({{1, 32 * kib, 2}, {3, 16 * mib, 4}}), 8);
  ASSERT_EQ(levels.size(), 3U);
  EXPECT_EQ(levels[0].holds_bytes, 4 * 32 * kib);
  EXPECT_EQ(levels[1].holds_bytes, 2 * 16 * mib);
  EXPECT_EQ(levels[2].bytes_per_thread * 8, 4 * 2 * 16 * mib);
}

TEST(RoofLevels, HaveNoMoreCachesThanCores) {
  const Machine machine = with_caches({{1, 32 * kib, 1}, {3, 16 * mib, 4}});
  const auto usual = roof_levels(machine, 8), crowded = roof_levels(machine, 128);
  ASSERT_EQ(crowded.size(), usual.size());
  for (std::size_t i = 0; i < usual.size(); ++i) {
    EXPECT_EQ(crowded[i].holds_bytes, usual[i].holds_bytes);
    EXPECT_EQ(crowded[i].bytes_per_thread * 128, usual[i].bytes_per_thread * 8);
  }
}

TEST(RoofLevels, MeasureMemoryEvenWhereNothingIsKnown) {
  Machine bare;
  const auto levels = roof_levels(bare, 2);
  ASSERT_EQ(levels.size(), 1U);
  EXPECT_EQ(levels[0].bytes_per_thread, 8 * mib);
}

TEST(RoofKernels, MultiplyInEachOfTheirWays) {
  using roof::Walk;
  constexpr std::size_t count = 2 * roof::stream_step;
  struct alignas(64) Array {
    float values[count];
  };
  const auto a = std::make_unique<Array>(), b = std::make_unique<Array>(), out = std::make_unique<Array>();
  std::iota(a->values, a->values + count, 0.0f);
  std::fill_n(b->values, count, 2.0f);
  for (const Walk walk : {Walk::multiply, Walk::multiply_past_caches, Walk::multiply_in_place}) {
    std::fill_n(out->values, count, walk == Walk::multiply_in_place ? 2.0f : -1.0f);
    roof::loop(walk)(a->values, b->values, out->values, count);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(out->values[i], 2.0f * static_cast<float>(i));
  }
  roof::loop(Walk::add_up)(a->values, b->values, out->values, count);
  roof::loop(Walk::scale_in_place)(a->values, b->values, out->values, count);
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(a->values[i], static_cast<float>(i));
    ASSERT_EQ(b->values[i], 2.0f);
    ASSERT_EQ(out->values[i], 2.0f * static_cast<float>(i));
  }
  roof::loop(Walk::scale_past_caches)(a->values, b->values, out->values, count);
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(out->values[i], static_cast<float>(i));
  for (const Walk walk : {Walk::fill, Walk::fill_past_caches}) {
    for (Array* const array : {a.get(), b.get(), out.get()}) std::fill_n(array->values, count, -1.0f);
    roof::loop(walk)(a->values, b->values, out->values, count);
    for (const Array* const array : {a.get(), b.get(), out.get()}) {
      for (const float value : array->values) ASSERT_EQ(value, 1.0f);
    }
  }
}

TEST(RoofKernels, DoTheArithmeticTheyCount) {
  float sink = 0;
  const double flops = roof::multiply_add(100, sink);
  // Twelve sums per lane that have reached 2, and one FMA per sum, lane and round.
  const double lanes = flops / (100.0 * 12 * 2);
  EXPECT_EQ(sink, static_cast<float>(lanes * 12 * 2));
}

TEST(Stream, WalksRoundItsArraysAndCountsWhatItMoved) {
  Stream stream(3 * sizeof(float) * roof::stream_step * 5.5);  // room for five steps
  std::vector<std::size_t> counts;
  static std::vector<std::size_t>* seen = nullptr;
  seen = &counts;
  const roof::StreamingLoop record = [](float*, float*, float*, std::size_t count) {
    seen->push_back(count);
  };
  EXPECT_EQ(stream.advance(3, record), 3.0 * roof::stream_step);
  stream.advance(4, record);
  EXPECT_THAT(counts,
              ::testing::ElementsAre(3 * roof::stream_step, 2 * roof::stream_step, 2 * roof::stream_step));
}

TEST(Team, RunsEveryMemberBetweenBarriersInStep) {
  for (const int threads : {3, 128}) {
    constexpr int steps = 50;
    Barrier barrier(threads);
    std::atomic<int> sum = 0, out_of_step = 0;
    run_team(threads, [&](int) {
      for (int step = 1; step <= steps; ++step) {
        ++sum;
        barrier.arrive_and_wait();
        if (sum != step * threads) ++out_of_step;
        barrier.arrive_and_wait();
      }
    });
    EXPECT_EQ(out_of_step, 0) << threads;
    EXPECT_EQ(sum, steps * threads);
  }
}

TEST(Team, PassesOnTheExceptionOfAMember) {
  EXPECT_THROW(run_team(2,
                        [](int index) {
                          if (index == 1) throw std::runtime_error("planted");
                        }),
               std::runtime_error);
}

}  // namespace
}  // namespace assay
