// Shows where the published im2col is right and where it is wrong: without padding it passes.

#include "assay/check.hpp"
#include "assay/registry.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace assay {
namespace {

bool agrees(const std::string& problem) {
  const Registry registry = Registry::linked();
  const Operation& im2col = registry.at("im2col");
  const auto& variants = im2col.variants();
  for (std::size_t v = 0; v < variants.size(); ++v) {
    if (variants[v].name != "ignores_left_padding") continue;
    return im2col.open(problem + ",layout=patch_major", {Fill::uniform, Rng(42), {}})->check(v, {}).agrees;
  }
  throw std::logic_error("im2col has no variant named ignores_left_padding");
}

TEST(IgnoresLeftPadding, IsRightWithoutPaddingAndDilation) {
  EXPECT_TRUE(agrees("n=2,c=3,h=6,w=7,kernel=3"));
  EXPECT_TRUE(agrees("n=1,c=3,h=9,w=9,kernel=3,stride=2"));
}

TEST(IgnoresLeftPadding, IsRejectedForPaddingOnAnySide) {
  for (const std::string side : {"left=1", "right=1", "bottom=1", "pad=1,bottom=0,left=0,right=0"}) {
    EXPECT_FALSE(agrees("n=1,c=2,h=6,w=7,kernel=3," + side)) << side;
  }
}

TEST(IgnoresLeftPadding, IsRejectedForDilationAlone) {
  EXPECT_FALSE(agrees("n=1,c=2,h=6,w=7,kernel=3,dilation=2"));
}

}  // namespace
}  // namespace assay
