#include "assay/ops/lora.hpp"

#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>

namespace assay::lora_test {
namespace {

using lora::Problem;
using ::testing::ElementsAre;

Buffer<float> numbers(std::initializer_list<float> values) {
  Buffer<float> out(static_cast<Index>(values.size()));
  std::ranges::copy(values, out.begin());
  return out;
}

TEST(Lora, MatchesALayerWorkedByHand) {
  // X = [1 2], W = [3 4; 5 6]: X W = [13 16]. A = [1; -1]: X A = -1. B = [2 3]: s (X A) B = 2 [-2 -3].
  Setting setting;
  const Lora::Input in{numbers({1, 2}), numbers({3, 4, 5, 6}), numbers({1, -1}), numbers({2, 3})};
  EXPECT_THAT(Lora::expect({.m = 1, .n = 2, .k = 2, .r = 1, .scale = 2}, in, setting).value,
              ElementsAre(9, 10));
}

TEST(LoraBackward, MatchesALayerWorkedByHand) {
  // The layer above with dY = [1 10]: dY W^T = [43 65], dY B^T = 32, and so dX = [43 65] + 2 * 32 [1 -1];
  // dA = 2 [1; 2] 32 and dB = 2 * -1 [1 10].
  Setting setting;
  const LoraBackward::Input in{numbers({1, 2}), numbers({3, 4, 5, 6}), numbers({1, -1}), numbers({2, 3}),
                               numbers({1, 10})};
  const auto want = LoraBackward::expect({.m = 1, .n = 2, .k = 2, .r = 1, .scale = 2}, in, setting);
  EXPECT_THAT(want.dx.value, ElementsAre(107, 1));
  EXPECT_THAT(want.da.value, ElementsAre(64, 128));
  EXPECT_THAT(want.db.value, ElementsAre(-2, -20));
}

TEST(Lora, AddsNothingWithAScaleOfZero) {
  Setting setting;
  const Lora::Input in{numbers({1, 2}), numbers({3, 4, 5, 6}), numbers({1, -1}), numbers({2, 3})};
  EXPECT_THAT(Lora::expect({.m = 1, .n = 2, .k = 2, .r = 1, .scale = 0}, in, setting).value,
              ElementsAre(13, 16));
}

/// L = sum_ij Y_ij dY_ij, whose gradients are the outputs of lora_backward.
double loss(const Problem& p, const LoraBackward::Input& in, const std::vector<double>& x,
            const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (Index i = 0; i < p.m; ++i) {
    for (Index j = 0; j < p.n; ++j) {
      double y = 0;
      for (Index l = 0; l < p.k; ++l) {
        y += x[static_cast<std::size_t>(i * p.k + l)] * static_cast<double>(in.w[l * p.n + j]);
      }
      for (Index q = 0; q < p.r; ++q) {
        double xa = 0;
        for (Index l = 0; l < p.k; ++l) {
          xa += x[static_cast<std::size_t>(i * p.k + l)] * a[static_cast<std::size_t>(l * p.r + q)];
        }
        y += static_cast<double>(p.scale) * xa * b[static_cast<std::size_t>(q * p.n + j)];
      }
      sum += y * static_cast<double>(in.dy[i * p.n + j]);
    }
  }
  return sum;
}

TEST(LoraBackward, MatchesFiniteDifferencesInDouble) {
  const Problem p{.m = 3, .n = 5, .k = 4, .r = 2, .scale = 3};
  Setting setting{.fill = Fill::uniform, .rng = Rng(11)};
  const auto in = LoraBackward::make_input(p, setting);
  const auto want = LoraBackward::expect(p, in, setting);
  const auto doubles = [](const Buffer<float>& from) {
    return std::vector<double>(from.begin(), from.end());
  };
  std::vector<double> x = doubles(in.x), a = doubles(in.a), b = doubles(in.b);

  // L is linear in each input by itself: a central difference has no error but rounding, about 2^-52 / 2^-10.
  constexpr double step = 0x1p-10;
  const auto expect_gradient = [&](std::vector<double>& of, const std::vector<double>& gradient) {
    ASSERT_EQ(of.size(), gradient.size());
    for (std::size_t i = 0; i < of.size(); ++i) {
      const double before = of[i];
      of[i] = before + step;
      const double above = loss(p, in, x, a, b);
      of[i] = before - step;
      const double below = loss(p, in, x, a, b);
      of[i] = before;
      EXPECT_NEAR(gradient[i], (above - below) / (2 * step), 1e-10) << i;
    }
  };
  expect_gradient(x, want.dx.value);
  expect_gradient(a, want.da.value);
  expect_gradient(b, want.db.value);
}

TEST(LoraBackward, SamplesALargeGradientAndComputesTheSmallOnesWhole) {
  const Problem p{.m = 8192, .n = 3, .k = 8192, .r = 1};
  Setting setting;
  const auto in = LoraBackward::make_input(p, setting);
  const auto want = LoraBackward::expect(p, in, setting);
  EXPECT_FALSE(want.dx.where.empty());
  EXPECT_EQ(static_cast<Index>(want.da.value.size()), p.k * p.r);
  EXPECT_EQ(static_cast<Index>(want.db.value.size()), p.r * p.n);
}

/// Y = X W + (X A) B with the adapter's part multiplied by `s`, and with rank `r` of it.
void forward(const Problem& p, const Lora::Input& in, float s, Index r, Lora::Output& out) {
  const auto x = matrix::view(in.x.data(), p.m, p.k), w = matrix::view(in.w.data(), p.k, p.n);
  const auto a = matrix::view(in.a.data(), p.k, p.r), b = matrix::view(in.b.data(), p.r, p.n);
  for (Index i = 0; i < p.m; ++i) {
    for (Index j = 0; j < p.n; ++j) {
      float y = matrix::element<float>(x, w, i, j, p.k);
      for (Index q = 0; q < r; ++q) y += s * matrix::element<float>(x, a, i, q, p.k) * b(q, j);
      out.y[i * p.n + j] = y;
    }
  }
}

Agreement check(void (*run)(const Problem&, const Lora::Input&, Lora::Output&), const char* problem,
                Fill fill) {
  Registry registry;
  registry.add<Lora>({.name = "naive", .run = run});
  return registry.at(Lora::name).open(problem, {.fill = fill})->check(0, {});
}

TEST(LoraJudge, ObjectsToAForgottenScaleAndToAForgottenRank) {
  const auto right = [](const Problem& p, const Lora::Input& in, Lora::Output& out) {
    forward(p, in, static_cast<float>(p.scale), p.r, out);
  };
  const auto without_scale = [](const Problem& p, const Lora::Input& in, Lora::Output& out) {
    forward(p, in, 1, p.r, out);
  };
  const auto without_last_rank = [](const Problem& p, const Lora::Input& in, Lora::Output& out) {
    forward(p, in, static_cast<float>(p.scale), p.r - 1, out);
  };
  for (const Fill fill : Lora::fills) {
    for (const char* problem : {"m=3,n=5,k=7,r=2", "m=4,n=9,k=300,r=8,scale=-3"}) {
      EXPECT_TRUE(check(right, problem, fill).agrees) << problem;
      EXPECT_FALSE(check(without_scale, problem, fill).agrees) << problem;
      EXPECT_FALSE(check(without_last_rank, problem, fill).agrees) << problem;
    }
  }
  // A forgotten scale is none with s = 1.
  EXPECT_TRUE(check(without_scale, "m=3,n=5,k=7,r=2,scale=1", Fill::exact).agrees);
}

enum class Forgotten { nothing, scale_of_dx, scale_of_da, scale_of_db, adapter_of_dx };

template <Forgotten forgotten>
void backward(const Problem& p, const LoraBackward::Input& in, LoraBackward::Output& out) {
  const float s = static_cast<float>(p.scale);
  const auto unless = [](Forgotten which, float value, float otherwise) {
    return forgotten == which ? otherwise : value;
  };
  const auto product = [](const auto& a, const auto& b, Index m, Index n, Index k) {
    Buffer<float> c(m * n);
    for (Index i = 0; i < m * n; ++i) c[i] = matrix::element<float>(a, b, i / n, i % n, k);
    return c;
  };
  using matrix::view;
  const auto dy = view(in.dy.data(), p.m, p.n);
  const Buffer<float> dyb = product(dy, view(in.b.data(), p.n, p.r, true), p.m, p.r, p.n);
  const Buffer<float> xa = product(view(in.x.data(), p.m, p.k), view(in.a.data(), p.k, p.r), p.m, p.r, p.k);
  const Buffer<float> dx = product(dy, view(in.w.data(), p.n, p.k, true), p.m, p.k, p.n);
  const Buffer<float> more =
      product(view(dyb.data(), p.m, p.r), view(in.a.data(), p.r, p.k, true), p.m, p.k, p.r);
  const Buffer<float> da =
      product(view(in.x.data(), p.k, p.m, true), view(dyb.data(), p.m, p.r), p.k, p.r, p.m);
  const Buffer<float> db = product(view(xa.data(), p.r, p.m, true), dy, p.r, p.n, p.m);
  const float of_dx = unless(Forgotten::adapter_of_dx, unless(Forgotten::scale_of_dx, s, 1), 0);
  for (Index i = 0; i < dx.size(); ++i) out.dx[i] = dx[i] + of_dx * more[i];
  for (Index i = 0; i < da.size(); ++i) out.da[i] = unless(Forgotten::scale_of_da, s, 1) * da[i];
  for (Index i = 0; i < db.size(); ++i) out.db[i] = unless(Forgotten::scale_of_db, s, 1) * db[i];
}

template <Forgotten forgotten>
bool agrees(Fill fill) {
  Registry registry;
  registry.add<LoraBackward>({.name = "naive", .run = backward<forgotten>});
  return registry.at(LoraBackward::name)
      .open("m=4,n=9,k=70,r=3,scale=-3", {.fill = fill})
      ->check(0, {})
      .agrees;
}

TEST(LoraBackwardJudge, ObjectsToAScaleForgottenInAnyGradient) {
  for (const Fill fill : LoraBackward::fills) {
    EXPECT_TRUE(agrees<Forgotten::nothing>(fill));
    EXPECT_FALSE(agrees<Forgotten::scale_of_dx>(fill));
    EXPECT_FALSE(agrees<Forgotten::scale_of_da>(fill));
    EXPECT_FALSE(agrees<Forgotten::scale_of_db>(fill));
    EXPECT_FALSE(agrees<Forgotten::adapter_of_dx>(fill));
  }
}

TEST(Lora, CostCountsTheNarrowProducts) {
  // X W: 2 * 3 * 5 * 4; X A: 2 * 3 * 2 * 4; (X A) B: 2 * 3 * 5 * 2.
  const Problem p{.m = 3, .n = 5, .k = 4, .r = 2};
  EXPECT_EQ(Lora::cost(p).flops, 120 + 48 + 60);
  EXPECT_EQ(Lora::cost(p).bytes_read, 4 * (12 + 20 + 8 + 10));
  EXPECT_EQ(Lora::cost(p).bytes_written, 4 * 15);
  // dY W^T and (dY B^T) A^T: 120 + 48; dY B^T: 60; X^T (dY B^T): 48; X A: 48; (X A)^T dY: 60.
  EXPECT_EQ(LoraBackward::cost(p).flops, 120 + 48 + 60 + 48 + 48 + 60);
  EXPECT_EQ(LoraBackward::cost(p).bytes_read, 4 * (12 + 15 + 20 + 8 + 10));
  EXPECT_EQ(LoraBackward::cost(p).bytes_written, 4 * (12 + 8 + 10));
}

TEST(Lora, MayBeComputedWithoutTheNarrowProducts) {
  const Problem p{.m = 3, .n = 5, .k = 4, .r = 2}, off{.m = 3, .n = 5, .k = 4, .r = 2, .scale = 0};
  EXPECT_EQ(Lora::cost(p).avoidable_flops, 48 + 60);
  EXPECT_EQ(LoraBackward::cost(p).avoidable_flops, 48 + 60 + 48 + 48 + 60);
  EXPECT_EQ(Lora::cost(p).avoidable_bytes, 0);
  EXPECT_EQ(LoraBackward::cost(p).avoidable_bytes, 0);
  EXPECT_EQ(Lora::cost(off).avoidable_bytes, 4 * (8 + 10));
  EXPECT_EQ(LoraBackward::cost(off).avoidable_bytes, 4 * (12 + 8 + 10));
}

}  // namespace
}  // namespace assay::lora_test
