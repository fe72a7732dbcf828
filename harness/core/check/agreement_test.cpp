#include "assay/agreement.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace assay {
namespace {

using ::testing::HasSubstr;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

Agreement one(float actual, double expected, double bound) {
  return within({"x", {1}}, {&actual, 1}, {&expected, 1}, {&bound, 1});
}

TEST(Agreement, AcceptsAnErrorOfExactlyTheBound) {
  EXPECT_TRUE(one(1.5F, 1.0, 0.5).agrees);
  EXPECT_EQ(one(1.5F, 1.0, 0.5).worst_error, 1);
}

TEST(Agreement, RejectsAnErrorAboveTheBound) {
  const Agreement outcome = one(1.5F, 1.0, 0.25);
  EXPECT_FALSE(outcome.agrees);
  EXPECT_EQ(outcome.worst_error, 2);
  EXPECT_THAT(outcome.detail, HasSubstr("x[0] is 1.5, expected 1 (error 2 times the bound 0.25)"));
}

TEST(Agreement, AsksForTheSameValueWhenTheBoundIsZero) {
  EXPECT_TRUE(one(3, 3, 0).agrees);
  EXPECT_TRUE(one(-0.0F, 0.0, 0).agrees);
  EXPECT_FALSE(one(3.0000002F, 3, 0).agrees);
}

TEST(Agreement, LetsNaNAgreeWithNaNOnly) {
  EXPECT_TRUE(one(std::numeric_limits<float>::quiet_NaN(), not_a_number, 0).agrees);
  EXPECT_FALSE(one(std::numeric_limits<float>::quiet_NaN(), 1, 1e9).agrees);
  EXPECT_FALSE(one(1, not_a_number, 1e9).agrees);
}

TEST(Agreement, LetsInfinityAgreeWithTheSameInfinityOnly) {
  EXPECT_TRUE(one(std::numeric_limits<float>::infinity(), infinity, 0).agrees);
  EXPECT_FALSE(one(std::numeric_limits<float>::infinity(), -infinity, 1e9).agrees);
  EXPECT_FALSE(one(std::numeric_limits<float>::infinity(), 1, 1e9).agrees);
  EXPECT_FALSE(one(1, infinity, 1e9).agrees);
}

TEST(Agreement, RejectsANaNBound) { EXPECT_FALSE(one(1.5F, 1.0, not_a_number).agrees); }

TEST(Agreement, NamesTheWorstOfSeveralAndWhereTheyLie) {
  const std::vector<float> actual{0, 1, 0, 0, 3, 0};
  const std::vector<double> expected(6, 0.0), bound(6, 0.5);
  const Agreement outcome = within({"m", {2, 3}}, actual, expected, bound);
  EXPECT_FALSE(outcome.agrees);
  EXPECT_THAT(outcome.detail, HasSubstr("m[1, 1] is 3"));
  EXPECT_THAT(outcome.detail, HasSubstr("2 of 6 compared elements disagree, all in m[any, 1]"));
}

TEST(Agreement, ComparesOnlyTheSample) {
  const std::vector<float> actual{0, 9, 0, 9};
  const std::vector<Index> where{0, 2};
  const std::vector<double> expected(2, 0.0), bound(2, 0.0);
  const Agreement outcome = within_sampled({"v", {4}}, actual, where, expected, bound);
  EXPECT_TRUE(outcome.agrees);
  EXPECT_EQ(outcome.compared, 2);
  EXPECT_EQ(outcome.total, 4);
}

TEST(Agreement, JoinsTwoKeepingTheFirstFault) {
  const Agreement wrong{.agrees = false, .worst_error = 3, .detail = "first"};
  const Agreement worse{.agrees = false, .worst_error = 5, .detail = "second"};
  const Agreement joined = wrong & worse;
  EXPECT_FALSE(joined.agrees);
  EXPECT_EQ(joined.worst_error, 5);
  EXPECT_EQ(joined.detail, "first");
}

TEST(Figures, AreToldInTheirUnitBesideTheirBound) {
  EXPECT_EQ(
      in_words(std::vector<Figure>{
          {.name = "height", .value = 1234, .unit = "bytes", .better = Figure::Better::lower, .bound = 987},
          {.name = "critical path", .value = 468e-6, .unit = "s"},
          {.name = "share in use", .value = 80, .unit = "%", .better = Figure::Better::higher, .bound = 100},
          {.name = "tasks", .value = 10'000}}),
      "height 1,234 bytes, lower bound 987 bytes, gap 25.03 %; critical path 468 µs; share in use 80 %, "
      "upper bound 100 %, gap 20.00 %; tasks 10,000");
  EXPECT_EQ(in_words(std::vector<Figure>{}), "");
}

TEST(Figures, HaveNoGapToABoundOfZero) {
  EXPECT_EQ(gap_of({.name = "waste", .value = 3, .bound = 0}), std::nullopt);
  EXPECT_EQ(gap_of({.name = "waste", .value = 3}), std::nullopt);
  EXPECT_EQ(gap_of({.name = "height", .value = 320, .bound = 256}), 0.25);
}

}  // namespace
}  // namespace assay
