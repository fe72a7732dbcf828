#include "assay/ops/gemm.hpp"

#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

namespace assay::batched_gemm_test {
namespace {

using ::testing::ElementsAre;
using Problem = BatchedGemm::Problem;

Buffer<float> numbers(std::initializer_list<float> values) {
  Buffer<float> out(static_cast<Index>(values.size()));
  std::ranges::copy(values, out.begin());
  return out;
}

TEST(BatchedGemm, MatchesTwoProductsWorkedByHandInEveryLayout) {
  // [1 2] [3; 4] = 11 and [5 6] [7; 8] = 83 with m = n = 1 read alike in all layouts. With m = 2, k = 1:
  // [1; 2] [3 4] = [3 4; 6 8] and [5; 6] [7 8] = [35 40; 42 48], which lie alike in all layouts as well.
  for (const Index trans : {0, 1, 2, 3}) {
    Setting setting;
    const BatchedGemm::Input in{numbers({1, 2, 5, 6}), numbers({3, 4, 7, 8})};
    EXPECT_THAT(BatchedGemm::expect({.batch = 2, .m = 1, .n = 1, .k = 2, .trans = trans}, in, setting).value,
                ElementsAre(11, 83));
    EXPECT_THAT(BatchedGemm::expect({.batch = 2, .m = 2, .n = 2, .k = 1, .trans = trans}, in, setting).value,
                ElementsAre(3, 4, 6, 8, 35, 40, 42, 48));
  }
}

TEST(BatchedGemm, ReadsTransposedOperandsByTheirStoredRows) {
  // The second of two products is [1 2; 3 4] [5 6; 7 8] = [19 22; 43 50]; the first is of zeros.
  const auto second = [](Index trans, std::initializer_list<float> a, std::initializer_list<float> b) {
    Setting setting;
    const BatchedGemm::Input in{numbers(a), numbers(b)};
    const auto want = BatchedGemm::expect({.batch = 2, .m = 2, .n = 2, .k = 2, .trans = trans}, in, setting);
    EXPECT_THAT(want.value, ElementsAre(0, 0, 0, 0, 19, 22, 43, 50))
        << matrix::transposes[static_cast<std::size_t>(trans)];
  };
  second(0, {0, 0, 0, 0, 1, 2, 3, 4}, {0, 0, 0, 0, 5, 6, 7, 8});
  second(1, {0, 0, 0, 0, 1, 2, 3, 4}, {0, 0, 0, 0, 5, 7, 6, 8});
  second(2, {0, 0, 0, 0, 1, 3, 2, 4}, {0, 0, 0, 0, 5, 6, 7, 8});
  second(3, {0, 0, 0, 0, 1, 3, 2, 4}, {0, 0, 0, 0, 5, 7, 6, 8});
}

TEST(BatchedGemm, SamplesLargeBatchesWithTheCornersOfFirstAndLast) {
  Setting setting;
  const Problem p{.batch = 2048, .m = 16, .n = 257, .k = 17};
  const auto in = BatchedGemm::make_input(p, setting);
  const auto want = BatchedGemm::expect(p, in, setting);
  ASSERT_FALSE(want.where.empty());
  EXPECT_TRUE(std::ranges::is_sorted(want.where));
  EXPECT_THAT(want.where, ::testing::IsSupersetOf(
                              {Index{0}, p.m * p.n - 1, (p.batch - 1) * p.m * p.n, p.batch * p.m * p.n - 1}));
}

/// A variant under test, with the matrices of `b_of(i)` and `c_of(i)` in place of the i-th.
template <Index (*b_of)(Index), Index (*last)(Index)>
void faulty(const Problem& p, const BatchedGemm::Input& in, BatchedGemm::Output& out) {
  for (Index i = 0; i < last(p.batch); ++i) {
    const auto a = matrix::view(in.a.data() + i * p.m * p.k, p.m, p.k);
    const auto b = matrix::view(in.b.data() + b_of(i) * p.k * p.n, p.k, p.n);
    for (Index row = 0; row < p.m; ++row) {
      for (Index column = 0; column < p.n; ++column) {
        out.c[(i * p.m + row) * p.n + column] = matrix::element<float>(a, b, row, column, p.k);
      }
    }
  }
}
Index same(Index i) { return i; }
Index first(Index) { return 0; }
Index one_less(Index i) { return i - 1; }

Agreement check(void (*run)(const Problem&, const BatchedGemm::Input&, BatchedGemm::Output&), Fill fill) {
  Registry registry;
  registry.add<BatchedGemm>({.name = "naive", .run = run});
  return registry.at(BatchedGemm::name).open("batch=3,m=4,n=5,k=6", {.fill = fill})->check(0, {});
}

TEST(BatchedGemmJudge, ObjectsToOneMatrixForTheWholeBatchAndToOneLeftOut) {
  for (const Fill fill : BatchedGemm::fills) {
    EXPECT_TRUE((check(faulty<same, same>, fill).agrees));
    EXPECT_FALSE((check(faulty<first, same>, fill).agrees));
    EXPECT_FALSE((check(faulty<same, one_less>, fill).agrees));
  }
}

TEST(BatchedGemm, CostCountsEachMatrixOnce) {
  const Cost cost = BatchedGemm::cost({.batch = 7, .m = 2, .n = 3, .k = 5});
  EXPECT_EQ(cost.flops, 7 * 60);
  EXPECT_EQ(cost.bytes_read, 7 * 4 * (10 + 15));
  EXPECT_EQ(cost.bytes_written, 7 * 4 * 6);
}

}  // namespace
}  // namespace assay::batched_gemm_test
