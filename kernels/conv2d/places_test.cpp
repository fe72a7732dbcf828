#include "conv2d/places.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace assay::conv2d {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

DataProblem window(std::string_view text) { return parse_problem<DataProblem>("test", text); }

std::vector<Index> taps_of(const PlaceClass& places) {
  std::vector<Index> taps;
  for (const ReachingTap& tap : places.taps) taps.push_back(tap.tap);
  return taps;
}
std::vector<Index> distances_of(const PlaceClass& places) {
  std::vector<Index> distances;
  for (const ReachingTap& tap : places.taps) distances.push_back(tap.source);
  return distances;
}
std::vector<Index> bases_of(const std::vector<Place>& places) {
  std::vector<Index> bases;
  for (const Place& place : places) bases.push_back(place.source);
  return bases;
}
std::vector<Index> results_of(const std::vector<Place>& places) {
  std::vector<Index> results;
  for (const Place& place : places) results.push_back(place.result);
  return results;
}

TEST(ForwardPlaces, LeaveOutTheTapsThatReadTheBorder) {
  // Four rows: no tap reaches the first from above and the last from below.
  const auto classes = forward_places(window("n=1,c=1,f=1,h=4,w=1,kernel=3,kernel_w=1,pad=1,left=0,right=0"));
  ASSERT_THAT(classes, SizeIs(3));
  EXPECT_THAT(taps_of(classes[0]), ElementsAre(1, 2));
  EXPECT_THAT(taps_of(classes[1]), ElementsAre(0, 1, 2));
  EXPECT_THAT(taps_of(classes[2]), ElementsAre(0, 1));
  EXPECT_THAT(bases_of(classes[1].rows), ElementsAre(1, 2));
  EXPECT_THAT(distances_of(classes[1]), ElementsAre(-1, 0, 1));
}

TEST(ForwardPlaces, AreClassesOfRowsTimesClassesOfColumns) {
  // 5 x 6 under 3 x 3: corners, edges and 3 x 4 places that every tap reaches.
  const auto classes = forward_places(window("n=1,c=1,f=1,h=5,w=6,kernel=3,pad=1"));
  ASSERT_THAT(classes, SizeIs(9));
  EXPECT_EQ(classes[4].count(), 12);
  EXPECT_THAT(distances_of(classes[4]), ElementsAre(-7, -6, -5, -1, 0, 1, 5, 6, 7));
  EXPECT_THAT(bases_of(classes[4].rows), ElementsAre(6, 12, 18));
  EXPECT_EQ(classes[4].column_step.source, 1);
  EXPECT_EQ(classes[4].column_step.result, 1);
  EXPECT_THAT(taps_of(classes[0]), ElementsAre(4, 5, 7, 8));
}

TEST(ForwardPlaces, AreAStrideApartInTheSource) {
  const auto classes = forward_places(window("n=1,c=1,f=1,h=1,w=9,kernel=1,kernel_w=3,stride=2"));
  ASSERT_THAT(classes, SizeIs(1));
  EXPECT_THAT(bases_of(classes[0].columns), ElementsAre(0, 2, 4, 6));
  EXPECT_EQ(classes[0].column_step.source, 2);
}

TEST(DataPlaces, HaveTheTapsThatLeaveNoRest) {
  // With a border of one, window i reads pixels 2 i - 1, 2 i and 2 i + 1 with taps 0, 1 and 2. The last of
  // eight pixels would be under tap 0 of a fifth window, which there is not.
  const auto classes =
      data_places(window("n=1,c=1,f=1,h=8,w=1,kernel=3,kernel_w=1,stride=2,pad=1,left=0,right=0"));
  ASSERT_THAT(classes, SizeIs(3));
  EXPECT_THAT(taps_of(classes[0]), ElementsAre(1));
  EXPECT_THAT(results_of(classes[0].rows), ElementsAre(0, 2, 4, 6));
  EXPECT_THAT(taps_of(classes[1]), ElementsAre(0, 2));
  EXPECT_THAT(distances_of(classes[1]), ElementsAre(1, 0));
  EXPECT_THAT(bases_of(classes[1].rows), ElementsAre(0, 1, 2));
  EXPECT_THAT(taps_of(classes[2]), ElementsAre(2));
  EXPECT_THAT(results_of(classes[2].rows), ElementsAre(7));
}

TEST(DataPlaces, HoldThePixelsThatNoWindowCoversInClassesWithoutTaps) {
  // Odd rows as a whole, and of the even rows the odd columns.
  const auto classes = data_places(window("n=1,c=1,f=1,h=3,w=4,kernel=1,stride=2"));
  ASSERT_THAT(classes, SizeIs(3));
  EXPECT_THAT(taps_of(classes[0]), ElementsAre(0));
  EXPECT_EQ(classes[0].count(), 4);
  EXPECT_THAT(classes[1].taps, IsEmpty());
  EXPECT_THAT(results_of(classes[1].columns), ElementsAre(1, 3));
  EXPECT_THAT(classes[2].taps, IsEmpty());
  EXPECT_THAT(results_of(classes[2].rows), ElementsAre(4));
  EXPECT_THAT(results_of(classes[2].columns), ElementsAre(0, 1, 2, 3));
}

}  // namespace
}  // namespace assay::conv2d
