#include "bench/tune/variable.hpp"

#include "assay/error.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr double kib = 1024, mib = 1024 * 1024;

std::vector<std::string> values(const std::vector<Candidate>& candidates) {
  std::vector<std::string> out;
  for (const Candidate& one : candidates) out.push_back(one.name);
  return out;
}

TEST(CacheAttempts, AreTheDefaultAndWhatIsNearIt) {
  const auto candidates = cache_candidates({}, {32 * kib, 512 * kib, 32 * mib});
  EXPECT_THAT(values(candidates), ElementsAre("default", "16K/512K/32M", "64K/512K/32M", "32K/256K/32M",
                                              "32K/1M/32M", "32K/512K/16M", "32K/512K/64M", "32K/512K/8M"));
  EXPECT_EQ(candidates[0].in_use, "32K/512K/32M");
  EXPECT_EQ(candidates[3].in_use, "32K/256K/32M");
}

TEST(CacheAttempts, PassOverACacheSmallerThanTheOneBefore) {
  EXPECT_THAT(values(cache_candidates({}, {32 * kib, 1 * mib, 1 * mib})),
              ElementsAre("default", "16K/1M/1M", "64K/1M/1M", "32K/512K/1M", "32K/1M/2M"));
}

TEST(CacheAttempts, AreThoseThatAreAskedFor) {
  const CacheSizes system{32 * kib, 512 * kib, 32 * mib};
  const auto candidates = cache_candidates({"32K/512K/32M", "48K/2M/8M"}, system);
  EXPECT_THAT(values(candidates), ElementsAre("default", "32K/512K/32M", "48K/2M/8M"));
  EXPECT_EQ(candidates[1].left_out, "the default uses it already");
  EXPECT_TRUE(candidates[2].measured());
  EXPECT_THAT([&] { cache_candidates({"48K/2M"}, system); },
              ThrowsMessage<Error>(HasSubstr("--caches: \"48K/2M\" does not have three sizes")));
}

}  // namespace
}  // namespace assay
