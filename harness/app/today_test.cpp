#include "app/verbs.hpp"

#include "assay/error.hpp"
#include "bench/ledger/hand_made_ledger_test.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Today, IsTheDayThatTheVariableNames) {
  ::setenv("ASSAY_TODAY", "2026-10-01", 1);
  EXPECT_EQ(date_text(today()), "2026-10-01");
  for (const char* bad : {"", "soon", "2026-02-30", "1790812800"}) {
    ::setenv("ASSAY_TODAY", bad, 1);
    EXPECT_THAT([] { today(); }, ThrowsMessage<Error>(HasSubstr("is no day"))) << bad;
  }
  ::unsetenv("ASSAY_TODAY");
}

TEST(Today, IsNotTheDayOfASource) {
  ::setenv("SOURCE_DATE_EPOCH", "86399", 1);
  EXPECT_GT(today(), hand_made::day("2026-01-01")) << "acceptances that ran out would be in force again";
  ::unsetenv("SOURCE_DATE_EPOCH");
}

}  // namespace
}  // namespace assay
