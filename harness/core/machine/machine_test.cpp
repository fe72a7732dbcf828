#include "assay/machine.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <regex>
#include <set>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Fingerprint, NamesEveryFactOnceAndLeavesNoneEmpty) {
  const Machine machine = this_machine();
  std::set<std::string> names;
  for (const auto& fact : machine.facts) {
    EXPECT_TRUE(names.insert(fact.name).second) << fact.name;
    EXPECT_FALSE(fact.name.empty() || fact.value.empty()) << fact.name;
  }
  EXPECT_TRUE(std::regex_match(machine.key, std::regex("[a-z0-9_]+"))) << machine.key;
  EXPECT_GE(machine.cores, 1);
  EXPECT_THAT(machine.key, HasSubstr(fmt::format("_{}c_", machine.cores)));
  EXPECT_GT(machine.memory_bytes, 0);
}

TEST(Fingerprint, AgreesWithItselfInWhatDecides) {
  EXPECT_THAT(differences(this_machine().facts, this_machine().facts, true), IsEmpty());
}

TEST(Differences, TellAbsentFromPresentOnBothSides) {
  const std::vector<Fact> before{{"cores", "2"}, {"MALLOC_ARENA_MAX", "1"}, {"system", "Linux 6", false}};
  const std::vector<Fact> after{{"cores", "4"}, {"LD_PRELOAD", "x.so"}, {"system", "Linux 7", false}};
  EXPECT_THAT(
      differences(before, after, true),
      ElementsAre("cores: 2 -> 4", "MALLOC_ARENA_MAX: 1 -> (absent)", "LD_PRELOAD: (absent) -> x.so"));
  EXPECT_THAT(differences(before, after, false),
              ElementsAre("cores: 2 -> 4", "MALLOC_ARENA_MAX: 1 -> (absent)", "system: Linux 6 -> Linux 7",
                          "LD_PRELOAD: (absent) -> x.so"));
}

TEST(Differences, CountAFactAsDecidingWhenEitherSideSaysSo) {
  EXPECT_THAT(differences({{"x", "1", false}}, {{"x", "2", true}}, true), ElementsAre("x: 1 -> 2"));
}

}  // namespace

}  // namespace assay
