#include "core/text/parts.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(NearNames, CountInsertionsDeletionsAndReplacements) {
  // kitten to sitting: two letters replaced, one added. To mitten: one replaced. To kit: three deleted. The
  // alphabet decides between two that are as near.
  const std::vector<std::string> names{"sitting", "mitten", "unrelated", "kit"};
  EXPECT_THAT(near_names("kitten", names, 3), ElementsAre("mitten", "kit", "sitting"));
}

TEST(NearNames, FindAKeyWhoseVariantIsMisspelt) {
  const std::vector<std::string> keys{"gemm/naive/m=64#1", "gemm/packed/m=128#1", "gemm/packed/m=64#1"};
  EXPECT_THAT(near_names("gemm/paked/m=64#1", keys, 1), ElementsAre("gemm/packed/m=64#1"));
}

TEST(NearNames, AreNoneWhereThereAreNone) { EXPECT_THAT(near_names("x", {}, 3), IsEmpty()); }

}  // namespace

}  // namespace assay
