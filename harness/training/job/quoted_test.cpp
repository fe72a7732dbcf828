#include "training/job/job.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

TEST(Quoted, ReadsFiguresWithTheirUnits) {
  EXPECT_DOUBLE_EQ(parse_quoted("0.0997 s")->value, 0.0997);
  EXPECT_DOUBLE_EQ(parse_quoted("56.7 min")->value, 3402);
  EXPECT_DOUBLE_EQ(parse_quoted("5,641/s")->value, 5641);
  EXPECT_EQ(parse_quoted("5,641/s")->quantity, Quantity::samples_per_second);
  EXPECT_DOUBLE_EQ(parse_quoted("44.3 %")->value, 0.443);
  EXPECT_DOUBLE_EQ(parse_quoted("12µs")->value, 12e-6);
  EXPECT_EQ(parse_quoted("34,221")->quantity, Quantity::count);
}

// Half a unit of the last digit that was printed.
TEST(Quoted, KnowsHowItWasRounded) {
  EXPECT_DOUBLE_EQ(parse_quoted("0.0997 s")->rounding, 0.00005);
  EXPECT_DOUBLE_EQ(parse_quoted("0.01000 s")->rounding, 0.000005);
  EXPECT_DOUBLE_EQ(parse_quoted("56.7 min")->rounding, 3);
  EXPECT_DOUBLE_EQ(parse_quoted("141 min")->rounding, 30);
  EXPECT_EQ(parse_quoted("34221")->rounding, 0);
}

TEST(Quoted, RefusesWhatIsNoFigure) {
  for (const char* text : {"", "s", "1.2.3 s", "1.5,000 s", "12 parsecs", "about 5 s", "5 s or so", "-"}) {
    EXPECT_FALSE(parse_quoted(text)) << text;
  }
}

TEST(TypedRounding, FollowsTheShortestDecimal) {
  EXPECT_DOUBLE_EQ(typed_rounding(0.0442), 0.00005);
  EXPECT_DOUBLE_EQ(typed_rounding(49.85), 0.005);
  EXPECT_DOUBLE_EQ(typed_rounding(1.5e-7), 1.5e-9) << "not 5e-9, a thirtieth";
  EXPECT_DOUBLE_EQ(typed_rounding(10), 0.1);
  EXPECT_LT(typed_rounding(1.0 / 3), 1e-15);
}

TEST(CanAgree, LetsRangesMeet) {
  const Quoted stated = *parse_quoted("1.0 s");
  EXPECT_TRUE(can_agree(stated, 1.05, 0));
  EXPECT_FALSE(can_agree(stated, 1.06, 0));
  EXPECT_TRUE(can_agree(stated, 1.06, 0.01));
}

}  // namespace
}  // namespace assay
