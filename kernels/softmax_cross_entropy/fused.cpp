// The idea: a row stays in the first-level cache from its largest number to its gradient or its shares, and
// has one exponential per element: softmax, loss and gradient use the same powers. The next row is fetched
// meanwhile.

#include "pieces/pieces.hpp"

#include "assay/ops/attention.hpp"

#include <cmath>
#include <limits>

#define HWY_TARGET_INCLUDE "softmax_cross_entropy/fused.cpp"
#include "vectors_inl.hpp"

#include "pointwise/vector_formulas.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::softmax_cross_entropy::HWY_NAMESPACE {

using namespace assay::HWY_NAMESPACE;
namespace vec = pointwise::HWY_NAMESPACE;

/// Writes exp(x - largest) to `to`.
template <std::size_t count, class D>
HWY_INLINE vec::Pack<D, count> powers(D d, const float* x, float largest, float* to) {
  const vec::PackTag<D, count> tag;
  constexpr std::size_t lanes = hn::MaxLanes(D());
  vec::Pack<D, count> w;
  for (std::size_t k = 0; k < count; ++k) {
    w.v[k] =
        hn::Mul(hn::Sub(hn::LoadU(d, x + k * lanes), hn::Set(d, largest)), hn::Set(d, pointwise::log2_e));
  }
  const auto power = vec::power_of_two(tag, w);
  for (std::size_t k = 0; k < count; ++k) hn::StoreU(power.v[k], d, to + k * lanes);
  return power;
}

/// Writes the powers of a row to `to`. Returns their sum, NaN where all shares of the row are.
HWY_INLINE float sum_powers(const float* x, Index cols, float* to, float* largest) {
  const Floats d;
  const hn::CappedTag<float, 1> one;
  Index j = 0;
  float top = x[0];
  auto most = hn::Set(d, x[0]), second = most, third = most, fourth = most;
  // The largest number and its power lose NaN.
  auto nan = hn::IsNaN(most), other_nan = nan;
  for (; j + 4 * lanes <= cols; j += 4 * lanes) {
    const auto a = hn::LoadU(d, x + j), b = hn::LoadU(d, x + j + lanes);
    const auto c = hn::LoadU(d, x + j + 2 * lanes), e = hn::LoadU(d, x + j + 3 * lanes);
    most = hn::Max(most, a);
    second = hn::Max(second, b);
    third = hn::Max(third, c);
    fourth = hn::Max(fourth, e);
    nan = hn::Or(nan, hn::Or(hn::IsNaN(a), hn::IsNaN(b)));
    other_nan = hn::Or(other_nan, hn::Or(hn::IsNaN(c), hn::IsNaN(e)));
  }
  most = hn::Max(hn::Max(most, second), hn::Max(third, fourth));
  for (; j + lanes <= cols; j += lanes) {
    const auto a = hn::LoadU(d, x + j);
    most = hn::Max(most, a);
    nan = hn::Or(nan, hn::IsNaN(a));
  }
  top = hn::GetLane(hn::MaxOfLanes(d, most));
  bool undefined = !hn::AllFalse(d, hn::Or(nan, other_nan));
  for (; j < cols; ++j) {
    top = x[j] > top ? x[j] : top;
    undefined = undefined || std::isnan(x[j]);
  }
  undefined = undefined || std::isinf(top);  // inf - inf

  // Pairs of vectors and two sums: neither exponentials nor additions wait for each other.
  auto sum = hn::Zero(d), other = hn::Zero(d);
  j = 0;
  for (; j + 2 * lanes <= cols; j += 2 * lanes) {
    // A prefetch may name an address past the last row.
    for (Index line = 0; line < 2 * lanes; line += 16) {
      hwy::Prefetch(x + cols + j + line);
      hwy::Prefetch(to + cols + j + line);
    }
    const auto power = powers<2>(d, x + j, top, to + j);
    sum = hn::Add(sum, power.v[0]);
    other = hn::Add(other, power.v[1]);
  }
  if (j + lanes <= cols) {
    sum = hn::Add(sum, powers<1>(d, x + j, top, to + j).v[0]);
    j += lanes;
  }
  float total = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum, other)));
  for (; j < cols; ++j) total += hn::GetLane(powers<1>(one, x + j, top, to + j).v[0]);
  *largest = top;
  return undefined ? std::numeric_limits<float>::quiet_NaN() : total;
}

/// Multiplies by `scale` and subtracts `off`.
HWY_INLINE void scale_row(float scale, float off, float* y, Index cols) {
  const Floats d;
  Index j = 0;
  for (; j + lanes <= cols; j += lanes) {
    hn::StoreU(hn::MulSub(hn::LoadU(d, y + j), hn::Set(d, scale), hn::Set(d, off)), d, y + j);
  }
  for (; j < cols; ++j) y[j] = y[j] * scale - off;
}

/// Writes the gradient of a row and returns the terms of its loss: the largest of x, the sum of the powers
/// and, if every class has a part of the target, the sum of x - largest.
void row(const float* x, Index cols, float everywhere, float at_label, Index label, float share_of_rows,
         float* dx, float* largest, float* sum_of_powers, float* sum_of_distances) {
  const Floats d;
  const float total = *sum_of_powers = sum_powers(x, cols, dx, largest);

  *sum_of_distances = 0;
  if (everywhere > 0) {
    const auto top = hn::Set(d, *largest);
    auto distances = hn::Zero(d);
    Index j = 0;
    for (; j + lanes <= cols; j += lanes) {
      distances = hn::Add(distances, hn::Sub(hn::LoadU(d, x + j), top));
    }
    float all = hn::GetLane(hn::SumOfLanes(d, distances));
    for (; j < cols; ++j) all += x[j] - *largest;
    *sum_of_distances = all;
  }

  const float scale = share_of_rows / total, off = everywhere * share_of_rows;
  const float of_label = dx[label] * scale - (everywhere + at_label) * share_of_rows;
  scale_row(scale, off, dx, cols);
  dx[label] = of_label;
}

void rows(const Call<Softmax>& call, Index first, Index last) {
  const Index cols = call.p.cols;
  for (Index i = first; i < last; ++i) {
    float* const y = call.out[0] + i * cols;
    float largest = 0;
    scale_row(1 / sum_powers(call.in[0] + i * cols, cols, y, &largest), 0, y, cols);
  }
}

}  // namespace assay::softmax_cross_entropy::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::softmax_cross_entropy {

HWY_EXPORT(row);
HWY_EXPORT(rows);
}  // namespace assay::softmax_cross_entropy

template <>
assay::Tiers<assay::Softmax> assay::tiers_of<assay::Softmax>() {
  return tiers_in(softmax_cross_entropy::HWY_DISPATCH_TABLE(rows));
}

namespace assay::softmax_cross_entropy {

const Register registered{[](Registry& r) {
  const auto tiers = tiers_in(HWY_DISPATCH_TABLE(row));
  add_tiers<SoftmaxCrossEntropy>(
      r, tiers, {.name = "fused", .summary = "row after row with one exponential per element, vectors of {}"},
      [](const auto& tier, const SoftmaxCrossEntropy::Problem& p, const auto&) {
        return [p, function = tier.function](const auto& in, auto& out) {
          const auto everywhere = static_cast<float>(p.everywhere()),
                     at_label = static_cast<float>(p.at_label());
          for (Index i = 0; i < p.rows; ++i) {
            const float* x = in.x.data() + i * p.cols;
            const Index label = in.label[i];
            float largest = 0, powers = 0, distances = 0;
            function(x, p.cols, everywhere, at_label, label, 1 / static_cast<float>(p.rows),
                     out.dx.data() + i * p.cols, &largest, &powers, &distances);
            const float log_sum = std::log(powers);
            out.loss[i] = at_label * (log_sum - (x[label] - largest));
            if (p.smoothing > 0) {
              out.loss[i] += everywhere * (static_cast<float>(p.cols) * log_sum - distances);
            }
          }
        };
      });
  add_tiers_of<Softmax>(r, {.name = "fused", .summary = "row after row, vectors of {}"});
}};

}  // namespace assay::softmax_cross_entropy
#endif
