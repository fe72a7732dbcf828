#include "core/machine/record.hpp"

#include "core/json/fields.hpp"
#include "core/markup/template.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace assay {
namespace {

TEST(RecordParts, EndWithTheCommandAndWhenOfWhatAndWhereItWasMeasured) {
  const Json values = record_values("2026-11-22T10:00:00Z", "c0ffee", {.key = "some_machine"},
                                    {.steal_share = 0.25, .other_busy_share = 0.5}, "assay tune");
  EXPECT_EQ(
      document("record_end.md", values),
      "## How to reproduce\n\n```\nassay tune\n```\n\n"
      "Measured 2026-11-22T10:00:00Z, commit c0ffee, machine `some_machine`. Other processes took 50.0 % of "
      "the processors, the\nhost 25.0 %.\n");
}

TEST(RecordParts, HoldAnIntervalAsThreeNumbersWordsForThoseThatJsonLacks) {
  const Interval endless{0.5, 1, std::numeric_limits<double>::infinity()};
  EXPECT_EQ(to_value(triple(endless)).dump(), R"([0.5,1.0,"inf"])");
}

}  // namespace
}  // namespace assay
