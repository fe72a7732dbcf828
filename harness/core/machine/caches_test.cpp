#include "assay/caches.hpp"
#include "assay/error.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(CacheSizes, AreReadAsTheyAreWritten) {
  const CacheSizes sizes = cache_sizes_from("48000/512K/32M", "x");
  EXPECT_EQ(sizes, (CacheSizes{48000, 512.0 * 1024, 32.0 * 1024 * 1024}));
  EXPECT_EQ(to_text(sizes), "48000/512K/32M");
  EXPECT_EQ(to_text(cache_sizes_from("32K/1024K/1M", "x")), "32K/1M/1M");
}

TEST(CacheSizes, ThatCannotBeAreRefusedByName) {
  const auto refused = [](const char* text, const char* what) {
    EXPECT_THAT([&] { cache_sizes_from(text, "ASSAY_CACHES"); },
                ThrowsMessage<Error>(HasSubstr(std::string("ASSAY_CACHES: \"") + text + "\" " + what)))
        << text;
  };
  refused("", "has no size as number 1");
  refused("32K/512K", "does not have three sizes");
  refused("32K/512K/32M/64M", "does not have three sizes");
  refused("32K/512K/32M/", "does not have three sizes");
  refused("32K//32M", "has no size as number 2");
  refused("32K/512k/32M", "has no size as number 2");
  refused("0K/512K/32M", "has no size as number 1");
  refused("-1/512K/32M", "has no size as number 1");
  refused("32K/99999999999/32M", "has no size as number 2");
  refused("1M/512K/32M", "has a cache that is smaller than the one before");
}

TEST(CacheSizes, OfTheSystemAreInOrder) {
  const CacheSizes sizes = caches_of_the_system();
  EXPECT_GT(sizes.first, 0);
  EXPECT_LE(sizes.first, sizes.second);
  EXPECT_LE(sizes.second, sizes.last);
}

}  // namespace
}  // namespace assay
