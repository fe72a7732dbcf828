// The idea: the products with x are one product over all steps, as are the gradients of weights and inputs,
// so that only the product with h waits for the step before; and a row's biases, activations and cells are
// one pass of vectors over sums that the product has left in the nearest cache. Frameworks that compute step
// by step multiply few rows at a time, and make a pass for each activation. w_hh is transposed once per call.
//
// One source for all SIMD targets; `threaded` runs the same code by tiers().

#include "lstm/steps.hpp"

#define HWY_TARGET_INCLUDE "lstm/fused.cpp"
#include "vectors_inl.hpp"

#include "pointwise/vector_formulas.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::lstm::HWY_NAMESPACE {

using namespace assay::HWY_NAMESPACE;
namespace vec = pointwise::HWY_NAMESPACE;

HWY_INLINE Vector tanh_of(Vector x) {
  return vec::tanh_of(vec::PackTag<Floats, 1>(), vec::Pack<Floats, 1>{{x}}).v[0];
}

/// Calls at(j, access) for the vectors of a row of cells.
template <class At>
HWY_INLINE void walk(Index hidden, const At& at) {
  Index j = 0;
  for (; j + lanes <= hidden; j += lanes) at(j, Whole{});
  if (j < hidden) at(j, Some{hidden - j});
}

void row(const float* bias, const float* c_before, Index hidden, float* gates, float* c, float* y) {
  walk(hidden, [&](Index j, auto access) HWY_ATTR {
    const auto z = [&](Index k) HWY_ATTR {
      return hn::Add(access.load(gates + k * hidden + j), access.load(bias + k * hidden + j));
    };
    // Side by side: their steps wait for each other.
    const vec::Pack<Floats, 3> sums[1] = {{{z(0), z(1), z(3)}}};
    vec::Pack<Floats, 3> sigmoid[1];
    vec::compute(pointwise::Sigmoid(), vec::PackTag<Floats, 3>(), sums, 1, sigmoid);
    const auto [i, f, o] = sigmoid[0].v;
    const Vector g = tanh_of(z(2)), state = hn::MulAdd(f, access.load(c_before + j), hn::Mul(i, g));
    access.store(i, gates + j);
    access.store(f, gates + hidden + j);
    access.store(g, gates + 2 * hidden + j);
    access.store(o, gates + 3 * hidden + j);
    access.store(state, c + j);
    access.store(hn::Mul(o, tanh_of(state)), y + j);
  });
}

void row_gradient(const float* dy, const float* dh, const float* gates, const float* c, const float* c_before,
                  Index hidden, float* arrived, float* dz, float* dc) {
  walk(hidden, [&](Index j, auto access) HWY_ATTR {
    const Vector one = hn::Set(Floats(), 1.0F);
    const auto gate = [&](Index k) HWY_ATTR { return access.load(gates + k * hidden + j); };
    const auto slope = [&](Vector s) HWY_ATTR { return hn::Mul(s, hn::Sub(one, s)); };
    const auto put = [&](Vector gradient, Index k) HWY_ATTR { access.store(gradient, dz + k * hidden + j); };
    const Vector i = gate(0), f = gate(1), g = gate(2), o = gate(3), t = tanh_of(access.load(c + j));
    const Vector of_h = hn::Add(access.load(dy + j), access.load(dh + j));
    const Vector of_c = hn::MulAdd(hn::Mul(of_h, o), hn::NegMulAdd(t, t, one), access.load(arrived + j));
    put(hn::Mul(hn::Mul(of_c, g), slope(i)), 0);
    put(hn::Mul(hn::Mul(of_c, access.load(c_before + j)), slope(f)), 1);
    put(hn::Mul(hn::Mul(of_c, i), hn::NegMulAdd(g, g, one)), 2);
    put(hn::Mul(hn::Mul(of_h, t), slope(o)), 3);
    access.store(of_c, dc + j);
    access.store(hn::Mul(of_c, f), arrived + j);
  });
}

}  // namespace assay::lstm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::lstm {

HWY_EXPORT(row);
HWY_EXPORT(row_gradient);

std::vector<Tier> tiers() {
  auto all =
      tiers_in(&Tier::row, HWY_DISPATCH_TABLE(row), &Tier::row_gradient, HWY_DISPATCH_TABLE(row_gradient));
  auto products = blocked::tiers();
  for (std::size_t i = 0; i < all.size(); ++i) all[i].products = std::move(products[i]);
  return all;
}

template <class Op>
void add(Registry& r) {
  add_tiers<Op>(r, tiers(),
                {.name = "fused", .summary = "products over all steps, cells in one pass of vectors of {}"},
                [](const Tier& tier, const Problem& p, const auto& in) { return kernel_of(tier, p, in, 1); });
}
const Register registered{[](Registry& r) {
  add<Lstm>(r);
  add<LstmBackward>(r);
}};

}  // namespace assay::lstm
#endif
