// The idea: operands are rounded to bf16 once per step, which halves the bytes that products read; with
// VDPBF16PS each instruction does the work of two. Sums and weights stay f32. Processors without it widen
// operands again inside the product, and the variant is no faster than `f32_products`.

#include "gemm_bf16/blocked.hpp"

#include "assay/ops/gemm.hpp"

#include <algorithm>

#define HWY_TARGET_INCLUDE "mixed_precision/bf16_master.cpp"
#include "vectors_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::mixed_precision::HWY_NAMESPACE {

using namespace assay::HWY_NAMESPACE;

/// The nearest bf16 of `count` finite numbers, ties to even.
void to_bf16(const float* from, std::uint16_t* to, Index count) {
  const hn::ScalableTag<std::uint32_t> d;
  const hn::Rebind<std::uint16_t, hn::ScalableTag<std::uint32_t>> half;
  const Floats f;
  Index i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto bits = hn::BitCast(d, hn::LoadU(f, from + i));
    const auto even = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1));
    const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(even, hn::Set(d, 0x7fff))));
    hn::StoreU(hn::TruncateTo(half, rounded), half, to + i);
  }
  for (; i < count; ++i) to[i] = bf16::round(from[i]);
}

/// next = w - rate gradient, where next holds the gradient.
void descend(const float* w, float rate, float* next, Index count) {
  const Floats d;
  Index i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(hn::NegMulAdd(hn::Set(d, rate), hn::LoadU(d, next + i), hn::LoadU(d, w + i)), d, next + i);
  }
  for (; i < count; ++i) next[i] = w[i] - rate * next[i];
}

}  // namespace assay::mixed_precision::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::mixed_precision {

HWY_EXPORT(to_bf16);
HWY_EXPORT(descend);

namespace {

class Step {
 public:
  explicit Step(const MixedPrecision::Problem& p)
      : p_(p),
        to_bf16_(best_of(tiers_in(HWY_DISPATCH_TABLE(to_bf16))).function),
        descend_(best_of(tiers_in(HWY_DISPATCH_TABLE(descend))).function),
        tier_(best_of(gemm_bf16::tiers())),
        x_(p.m * p.k),
        w_(p.k * p.n),
        dy_(p.m * p.n) {
    forward_ = {.m = p.m, .n = p.n, .k = p.k, .lda = p.k, .ldb = p.n, .ldc = p.n};
    gradient_ = {.m = p.k, .n = p.n, .k = p.m, .lda = p.k, .ldb = p.n, .ldc = p.n, .a_transposed = true};
    space_ = Buffer<float>(std::max(tier_.space_floats(forward_), tier_.space_floats(gradient_)));
  }

  void operator()(const MixedPrecision::Input& in, MixedPrecision::Output& out) {
    to_bf16_(in.x.data(), x_.data(), x_.size());
    to_bf16_(in.w.data(), w_.data(), w_.size());
    to_bf16_(in.dy.data(), dy_.data(), dy_.size());
    gemm_bf16::Product y = forward_, gradient = gradient_;
    y.a = gradient.a = x_.data();
    y.b = w_.data();
    y.c = out.y.data();
    tier_.multiply(y, space_.data());
    gradient.b = dy_.data();
    gradient.c = out.w_next.data();
    tier_.multiply(gradient, space_.data());
    descend_(in.w.data(), static_cast<float>(MixedPrecision::rate), out.w_next.data(), out.w_next.size());
  }

 private:
  MixedPrecision::Problem p_;
  void (*to_bf16_)(const float*, std::uint16_t*, Index);
  void (*descend_)(const float*, float, float*, Index);
  gemm_bf16::Tier tier_;
  Buffer<std::uint16_t> x_, w_, dy_;
  gemm_bf16::Product forward_, gradient_;
  Buffer<float> space_;
};

const Register registered{[](Registry& r) {
  r.add<MixedPrecision>(
      {.name = "bf16_master",
       .summary = "operands rounded to bf16, sums and weights f32",
       .precision = "products of bf16",
       .prepare = [](const MixedPrecision::Problem& p, const auto&, const Context&) { return Step(p); }});
}};

}  // namespace
}  // namespace assay::mixed_precision
#endif
