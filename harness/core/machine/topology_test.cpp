#include "core/machine/topology.hpp"
#include "assay/caches.hpp"
#include "assay/error.hpp"
#include "core/files/processor_set.hpp"
#include "core/machine/described_topology_test.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <thread>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::topology_of;

std::vector<int> first_numbers(int count) {
  std::vector<int> out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

/// Processors 0 and 1 are siblings, and so on.
Topology two_memories() { return topology_of("numa:2 core:2 pu:2"); }

TEST(PlacingOrder, TakesEachCoreBeforeASibling) {
  EXPECT_THAT(placing_order(topology_of("core:4 pu:2"), first_numbers(8)),
              ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
}

TEST(PlacingOrder, BeginsWithTheOneThatIsAskedForAndStaysInItsMemory) {
  EXPECT_THAT(placing_order(two_memories(), first_numbers(8), 5), ElementsAre(5, 6, 0, 2, 4, 7, 1, 3));
}

TEST(PlacingOrder, CountsSiblingsAmongThoseAllowed) {
  EXPECT_THAT(placing_order(topology_of("core:4 pu:2"), {1, 2, 3}), ElementsAre(1, 2, 3));
}

TEST(PlacingOrder, TakesFastCoresFirstAndSlowOnesBeforeSiblings) {
  const Topology hybrid = topology_of("core:4 pu:2", 4);
  EXPECT_THAT(placing_order(hybrid, first_numbers(8)), ElementsAre(4, 6, 0, 2, 5, 7, 1, 3));
  EXPECT_THAT(topology_text(hybrid, first_numbers(8)),
              "8 processors on 4 cores, 1 memory, 2 of the cores slower than the others");
}

TEST(FastCores, AreOneProcessorOfEach) {
  EXPECT_THAT(fast_cores(topology_of("core:4 pu:2", 4), first_numbers(8)), ElementsAre(4, 6));
  EXPECT_THAT(fast_cores(topology_of("core:4 pu:2"), {1, 2, 3, 7}), ElementsAre(1, 2, 7));
  EXPECT_THAT(fast_cores({}, {3, 5}), ElementsAre(3, 5));
}

TEST(PlacingOrder, OfProcessorsThatNobodyKnowsIsThatOfTheirNumbers) {
  EXPECT_THAT(placing_order({}, {3, 5, 9}), ElementsAre(3, 5, 9));
  EXPECT_THAT(placing_order({}, {3, 5, 9}, 5), ElementsAre(5, 3, 9));
  EXPECT_THAT(placing_order({}, {}), ElementsAre());
  EXPECT_EQ(cores_of({}, {3, 5, 9}), 3);
}

TEST(TopologyTest, KnowsLargeMachines) {
  const Topology large = topology_of("numa:8 core:128 pu:2");
  ASSERT_EQ(large.size(), 2048U);
  const std::vector<int> order = placing_order(large, first_numbers(2048), 2046);
  EXPECT_EQ(order[0], 2046);
  EXPECT_EQ(order[1], 1792) << "the first of the same memory";
  EXPECT_EQ(order[128], 0) << "then another memory, before a sibling";
  EXPECT_EQ(order[1024], 1793);
  EXPECT_EQ(topology_text(large, first_numbers(2048)), "2048 processors on 1024 cores, 8 memories");
}

TEST(TopologyTest, OfThisMachineHasTheProcessorsThatMayBeUsed) {
  const std::vector<int> allowed = ProcessorSet::of_thread().numbers();
  ASSERT_FALSE(allowed.empty());
  ASSERT_GE(this_topology().size(), allowed.size());
  EXPECT_LE(cores_of(this_topology(), allowed), static_cast<int>(allowed.size()));
  EXPECT_THAT(topology_text(this_topology(), allowed), HasSubstr(" on "));
  EXPECT_TRUE(topology_of("no such words").empty());
}

TEST(ProcessorSet, HoldsMoreThanAThousand) {
  const ProcessorSet set({0, 1023, 1024, 65535});
  EXPECT_THAT(set.numbers(), ElementsAre(0, 1023, 1024, 65535));
  EXPECT_EQ(set.count(), 4);
  EXPECT_NE(set, ProcessorSet({0}));
}

TEST(ProcessorSet, MovesAThread) {
  std::thread([] {
    const int last = ProcessorSet::of_thread().numbers().back();
    EXPECT_TRUE(ProcessorSet({last}).give_to(0));
    EXPECT_THAT(ProcessorSet::of_thread().numbers(), ElementsAre(last));
    EXPECT_FALSE(ProcessorSet({65535}).give_to(0)) << "which no machine has yet";
    EXPECT_THAT(ProcessorSet::of_thread().numbers(), ElementsAre(last));
  }).join();
}

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
