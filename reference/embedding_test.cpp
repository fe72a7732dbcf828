#include "assay/ops/embedding.hpp"

#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <map>
#include <set>
#include <vector>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::IsNan;
using ::testing::IsSupersetOf;
using ::testing::Le;

std::vector<Index> list(const Buffer<Index>& ids) { return {ids.begin(), ids.end()}; }

template <class T>
Buffer<T> holding(std::initializer_list<T> values) {
  Buffer<T> out(static_cast<Index>(values.size()));
  std::ranges::copy(values, out.begin());
  return out;
}

TEST(Embedding, MatchesRowsWorkedByHand) {
  const Embedding::Input in{holding<Index>({2, 0, 2}), holding<float>({1, 2, 3, 4, 5, 6})};
  Setting setting;
  const Expectation want = Embedding::expect({.n = 3, .rows = 3, .d = 2}, in, setting);
  EXPECT_THAT(want.value, ElementsAre(5, 6, 1, 2, 5, 6));
  EXPECT_THAT(want.bound, Each(0));
}

TEST(EmbeddingBackward, MatchesSumsWorkedByHand) {
  const EmbeddingBackward::Input in{holding<Index>({2, 0, 2}), holding<float>({1, 2, 3, 4, -5, 6})};
  Setting setting{.fill = Fill::uniform};
  const Expectation want = EmbeddingBackward::expect({.n = 3, .rows = 3, .d = 2}, in, setting);
  EXPECT_THAT(want.value, ElementsAre(3, 4, 0, 0, -4, 8));
  // One rounding, of the row that two ids name.
  const double g = rounding::g(1);
  EXPECT_THAT(want.bound, ElementsAre(0, 0, 0, 0, 6 * g, 8 * g));
}

TEST(EmbeddingBackward, IsExpectedInASampleOfALargeTable) {
  const embedding::Problem p{.n = 40, .rows = 100000, .d = 64, .ids = 1};
  Setting setting{.fill = Fill::uniform};
  const auto in = EmbeddingBackward::make_input(p, setting);
  const Expectation want = EmbeddingBackward::expect(p, in, setting);
  ASSERT_FALSE(want.all);
  std::set<Index> firsts;
  for (const Index id : in.ids) firsts.insert(id * p.d);
  EXPECT_THAT(want.where, IsSupersetOf(firsts));
  EXPECT_EQ(EmbeddingBackward::expected_bytes(p), 0);
}

// The words of a language: half of all draws are of the rows below the root of their number.
TEST(Embedding, DrawsRowsLikeWords) {
  const embedding::Problem p{.n = 20000, .rows = 65536, .d = 1, .ids = 1};
  Setting setting;
  const auto in = Embedding::make_input(p, setting);
  EXPECT_THAT(list(in.ids), Each(AllOf(Ge(0), Le(p.rows - 1))));
  const auto below = std::ranges::count_if(in.ids, [](Index id) { return id < 255; });
  EXPECT_NEAR(static_cast<double>(below) / 20000, 0.5, 0.02);
}

TEST(Embedding, NamesTheLastRowAndTheFirst) {
  for (const Index ids : {0, 1}) {
    const embedding::Problem p{.n = 9, .rows = 1000, .d = 1, .ids = ids};
    Setting setting;
    EXPECT_THAT(list(Embedding::make_input(p, setting).ids), IsSupersetOf({Index{0}, Index{999}}));
  }
}

TEST(Embedding, ChangesAnIdToAnotherRow) {
  const embedding::Problem p{.n = 1, .rows = 3, .d = 1};
  Setting setting;
  const Embedding::Input in = Embedding::make_input(p, setting);
  std::map<Index, int> seen;
  for (int i = 0; i < 100; ++i) {
    Index id = 1;
    Embedding::salt(p, in, "ids", 0, id, setting);
    ++seen[id];
  }
  EXPECT_THAT(seen, ElementsAre(::testing::Key(0), ::testing::Key(2)));
}

TEST(Dropout, MatchesNumbersWorkedByHand) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(),
                  infinity = std::numeric_limits<float>::infinity();
  const Dropout::Input in{holding<float>({1, 2, -3, infinity, infinity, nan}),
                          holding<std::uint8_t>({1, 0, 1, 1, 0, 0})};
  Setting setting{.fill = Fill::uniform};
  const Expectation want = Dropout::expect({.n = 6, .p = 50}, in, setting);
  EXPECT_THAT(want.value, ElementsAre(2, 0, -6, infinity, IsNan(), IsNan()));
  EXPECT_THAT(want.bound, ElementsAre(0x1p-22, 0, 6 * 0x1p-23, 0, 0, 0));
}

TEST(Dropout, DropsAsManyAsAreAskedFor) {
  for (const Index p : {0, 10, 99}) {
    Setting setting;
    const Dropout::Input in = Dropout::make_input({.n = 20000, .p = p}, setting);
    const auto dropped = std::ranges::count(in.keep, 0);
    EXPECT_NEAR(static_cast<double>(dropped) / 20000, static_cast<double>(p) / 100, 0.01) << p;
  }
}

}  // namespace
}  // namespace assay
