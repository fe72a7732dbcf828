#include "core/machine/record.hpp"

#include "core/json/fields.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace assay {
namespace {

TEST(RecordParts, SayWhenOfWhatAndWhereARecordWasMeasured) {
  EXPECT_EQ(status_paragraph("2026-11-22T10:00:00Z", "c0ffee", {.key = "some_machine"}),
            "Status: measured 2026-11-22T10:00:00Z, commit c0ffee, machine `some_machine`.\n\n");
  EXPECT_EQ(weather_sentence({.steal_share = 0.25, .other_busy_share = 0.5}),
            "Other processes took 50.0 % of the processors, the host 25.0 %.");
}

TEST(RecordParts, EndWithTheCommandInAFence) {
  EXPECT_EQ(how_to_reproduce("assay tune"), "## How to reproduce\n\n```\nassay tune\n```\n");
}

TEST(RecordParts, HoldAnIntervalAsThreeNumbersWordsForThoseThatJsonLacks) {
  const Interval endless{0.5, 1, std::numeric_limits<double>::infinity()};
  EXPECT_EQ(to_value(triple(endless)).dump(), R"([0.5,1.0,"inf"])");
}

}  // namespace
}  // namespace assay
