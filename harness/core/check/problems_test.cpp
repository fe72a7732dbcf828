#include "assay/check.hpp"
#include "assay/error.hpp"
#include "core/check/doubling_test.hpp"

#include <gmock/gmock.h>

// A namespace of its own: builds join test files, and these names are short.
namespace assay::problems_test {
namespace {

using assay::testing::doubled;
using assay::testing::Doubling;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

std::optional<std::string> needs_thousands(const Doubling::Problem& p, const Context&) {
  if (p.rows * p.columns > 4000) return std::nullopt;
  return "is for thousands";
}
std::optional<std::string> never(const Doubling::Problem&, const Context&) { return "needs a unicorn"; }

const Registry& registry() {
  static const Registry out = [] {
    Registry made = testing::doubling_registry();
    made.add<Doubling>({.name = "anywhere", .run = doubled});
    made.add<Doubling>({.name = "large", .run = doubled, .unfit = needs_thousands});
    made.add<Doubling>({.name = "nowhere", .run = doubled, .unfit = never});
    return made;
  }();
  return out;
}

constexpr std::size_t anywhere = 1, large = 2, nowhere = 3;

std::optional<std::string> problem(std::size_t variant, std::uint64_t seed = 42) {
  Rng rng(seed);
  return drawn_problem(registry().at("doubling"), variant, rng);
}

TEST(DrawnProblem, IsNoCornerCase) {
  const auto first = problem(anywhere), second = problem(anywhere, 43);
  ASSERT_TRUE(first && second);
  EXPECT_THAT(registry().at("doubling").corner_cases(), Not(Contains(*first)));
  EXPECT_NE(*first, *second);
  EXPECT_EQ(*first, *problem(anywhere));
}

TEST(DrawnProblem, GrowsUntilTheVariantRuns) {
  const auto found = problem(large);
  ASSERT_TRUE(found);
  EXPECT_FALSE(registry().at("doubling").unfit(large, *found, {}));
  EXPECT_LE(registry().at("doubling").cost(*found).flops, 8000) << "twice as much would have done";
  EXPECT_FALSE(problem(nowhere));
}

// Stands for a window that must fit into its image: problems that fit are larger than the corner cases.
struct Fitting : Doubling {
  static constexpr std::string_view name = "fitting";
  static double footprint(const Problem& p) {
    if (p.columns > 20) throw Error(std::string(name), "the columns do not fit", "give less");
    return Doubling::footprint(p);
  }
};

TEST(DrawnProblem, PassesOverWhatTheContractRefuses) {
  Registry made;
  made.add<Fitting>({.name = "naive", .run = doubled});
  made.add<Fitting>(
      {.name = "large", .run = doubled, .unfit = [](const Doubling::Problem& p, const Context&) {
         return p.rows > 100 ? std::nullopt : std::optional<std::string>("is for hundreds");
       }});
  made.add<Fitting>({.name = "nowhere", .run = doubled, .unfit = never});
  Rng rng(42);
  const auto found = drawn_problem(made.at("fitting"), 1, rng);
  ASSERT_TRUE(found);
  EXPECT_FALSE(made.at("fitting").unfit(1, *found, {}));
  EXPECT_FALSE(drawn_problem(made.at("fitting"), 2, rng));
}

TEST(ProblemsBeside, LeaveOutWhatTheContractRefuses) {
  Registry made;
  made.add<Fitting>({.name = "naive", .run = doubled});
  EXPECT_THAT(problems_beside(made.at("fitting"), "rows=4,columns=20"), ElementsAre("rows=3,columns=19"));
}

}  // namespace
}  // namespace assay::problems_test
