#include "app/unjudged.hpp"

#include <gtest/gtest.h>

#include <initializer_list>

namespace assay {
namespace {

Comparison of(std::initializer_list<Standing> standings) {
  Comparison out;
  for (const Standing standing : standings) out.verdicts.push_back({.key = "k", .standing = standing});
  return out;
}

TEST(Unjudged, IsCountedByItsReason) {
  EXPECT_EQ(unjudged_text(of({Standing::gone, Standing::undecided, Standing::same, Standing::undecided,
                              Standing::not_comparable})),
            "2 undecided, 1 not comparable, 1 gone");
  EXPECT_EQ(unjudged_text(of({Standing::same, Standing::added, Standing::skipped})), "");
}

TEST(Unjudged, FailsWhereItIsAskedTo) {
  for (const Standing standing : {Standing::undecided, Standing::not_comparable, Standing::gone}) {
    EXPECT_FALSE(unjudged_fails(of({Standing::same, standing}), {}));
    EXPECT_TRUE(unjudged_fails(of({Standing::same, standing}), {.undecided_fails = true}));
  }
  EXPECT_FALSE(unjudged_fails(of({Standing::same, Standing::skipped}), {.undecided_fails = true}));
}

TEST(Unjudged, LeavesABisectionWithoutAnAnswer) {
  const JudgingOptions bisect{.exit_codes = ExitCodes::bisect};
  EXPECT_TRUE(unjudged_fails(of({Standing::same, Standing::undecided}), bisect));
  EXPECT_TRUE(unjudged_fails(of({Standing::same, Standing::not_comparable}), bisect));
  EXPECT_FALSE(unjudged_fails(of({Standing::same, Standing::gone}), bisect));
  EXPECT_FALSE(expiry_fails(bisect));
  EXPECT_TRUE(expiry_fails({}));
}

}  // namespace
}  // namespace assay
