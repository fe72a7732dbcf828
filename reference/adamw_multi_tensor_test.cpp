#include "assay/ops/adamw.hpp"

#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::adamw_multi_tensor_test {
namespace {

using ::testing::HasSubstr;
using Problem = AdamWMultiTensor::Problem;

/// A kernel alone, on one problem.
Agreement check(void (*kernel)(const Problem&, const AdamWMultiTensor::Input&, AdamWMultiTensor::Output&),
                const char* problem) {
  Registry registry;
  registry.add<AdamWMultiTensor>({.name = "naive", .run = kernel});
  return registry.at(AdamWMultiTensor::name)
      .open(problem, {.fill = Fill::uniform, .rng = Rng(5)})
      ->check(0, {});
}

void step(Index t, Index begin, Index end, const AdamWMultiTensor::Input& in, AdamWMultiTensor::Output& out) {
  const adamw::Constants<float> k(t);
  for (Index i = begin; i < end; ++i) {
    const auto after = adamw::step<adamw::Paper, float>(in.g[i], {out.p[i], out.m[i], out.v[i]}, k);
    out.p[i] = after.p;
    out.m[i] = after.m;
    out.v[i] = after.v;
  }
}

TEST(AdamWMultiTensor, LaysTensorsApart) {
  const auto spans = AdamWMultiTensor::spans({.tensors = 9, .n = 1024, .sizes = 1});
  ASSERT_EQ(spans.size(), 9U);
  EXPECT_EQ(spans[0].count, 1024);
  EXPECT_EQ(spans[1].count, 4);
  EXPECT_EQ(spans[2].count, 4);
  EXPECT_EQ(spans[3].count, 1024);
  for (std::size_t k = 1; k < spans.size(); ++k) {
    EXPECT_GT(spans[k].begin, spans[k - 1].begin + spans[k - 1].count) << k;
  }
  EXPECT_EQ(AdamWMultiTensor::parameters({.tensors = 9, .n = 1024, .sizes = 1}), 3 * 1024 + 6 * 4);
}

TEST(AdamWMultiTensorJudge, ObjectsToOneSweepOverTheGaps) {
  const auto faulty = [](const Problem& p, const AdamWMultiTensor::Input& in, AdamWMultiTensor::Output& out) {
    step(p.t, 0, out.p.size(), in, out);
  };
  const Agreement outcome = check(faulty, "tensors=3,n=5");
  EXPECT_FALSE(outcome.agrees);
  EXPECT_TRUE(check(faulty, "tensors=1,n=5").agrees);
}

TEST(AdamWMultiTensorJudge, ObjectsToATensorLeftOut) {
  const auto faulty = [](const Problem& p, const AdamWMultiTensor::Input& in, AdamWMultiTensor::Output& out) {
    const auto spans = AdamWMultiTensor::spans(p);
    for (std::size_t k = 0; k + 1 < spans.size(); ++k) {
      step(p.t, spans[k].begin, spans[k].begin + spans[k].count, in, out);
    }
  };
  const Agreement outcome = check(faulty, "tensors=3,n=5");
  EXPECT_FALSE(outcome.agrees);
  EXPECT_THAT(outcome.detail, HasSubstr("p["));
}

TEST(AdamWMultiTensorCost, CountsParametersAndNoGaps) {
  EXPECT_EQ(AdamWMultiTensor::cost({.tensors = 3, .n = 10}).bytes_read, 16 * 30);
}

}  // namespace
}  // namespace assay::adamw_multi_tensor_test
