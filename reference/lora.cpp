#include "assay/ops/lora.hpp"

namespace assay {
namespace {

using lora::Problem;
using matrix::element;
using matrix::multiply;
using matrix::Sized;
using matrix::view;
using matrix::View;

/// A B [m, n]. An element is computed when it is first asked for, since few may be expected.
class Product {
 public:
  Product(View<float> a, View<float> b, Index m, Index n, Index k)
      : a_(a), b_(b), n_(n), k_(k), known_(static_cast<std::size_t>(m * n), {0, -1}) {}

  const Sized& operator()(Index i, Index j) const {
    Sized& known = known_[static_cast<std::size_t>(i * n_ + j)];
    if (known.magnitude < 0) known = element<Sized>(a_, b_, i, j, k_);
    return known;
  }

 private:
  View<float> a_, b_;
  Index n_, k_;
  mutable std::vector<Sized> known_;  ///< the magnitude is -1 until they are computed
};

void scale_by(float s, Buffer<float>& x) {
  for (float& each : x) each *= s;
}

Variant<Lora>::Kernel naive(const Problem& p, const Lora::Input&, const Context&) {
  return [p, thin = Buffer<float>(p.m * p.r), full = Buffer<float>(p.m * p.n)](const Lora::Input& in,
                                                                               Lora::Output& out) mutable {
    multiply(view(in.x.data(), p.m, p.k), view(in.w.data(), p.k, p.n), p.m, p.n, p.k, out.y.data());
    multiply(view(in.x.data(), p.m, p.k), view(in.a.data(), p.k, p.r), p.m, p.r, p.k, thin.data());
    multiply(view<float>(thin.data(), p.m, p.r), view(in.b.data(), p.r, p.n), p.m, p.n, p.r, full.data());
    scale_by(static_cast<float>(p.scale), full);
    for (Index i = 0; i < p.m * p.n; ++i) out.y[i] += full[i];
  };
}

Variant<LoraBackward>::Kernel naive_backward(const Problem& p, const LoraBackward::Input&, const Context&) {
  return [p, thin_space = Buffer<float>(p.m * p.r), full = Buffer<float>(p.m * p.k)](
             const LoraBackward::Input& in, LoraBackward::Output& out) mutable {
    const float s = static_cast<float>(p.scale);
    const auto dy = view(in.dy.data(), p.m, p.n);
    const auto thin = view<float>(thin_space.data(), p.m, p.r);
    multiply(dy, view(in.w.data(), p.n, p.k, true), p.m, p.k, p.n, out.dx.data());
    multiply(dy, view(in.b.data(), p.n, p.r, true), p.m, p.r, p.n, thin_space.data());
    multiply(thin, view(in.a.data(), p.r, p.k, true), p.m, p.k, p.r, full.data());
    scale_by(s, full);
    for (Index i = 0; i < p.m * p.k; ++i) out.dx[i] += full[i];

    multiply(view(in.x.data(), p.k, p.m, true), thin, p.k, p.r, p.m, out.da.data());
    scale_by(s, out.da);

    multiply(view(in.x.data(), p.m, p.k), view(in.a.data(), p.k, p.r), p.m, p.r, p.k, thin_space.data());
    multiply(view<float>(thin_space.data(), p.r, p.m, true), dy, p.r, p.n, p.m, out.db.data());
    scale_by(s, out.db);
  };
}

double thin_work(const Problem& p) { return product(p.m, p.r, p.n + p.k); }
double full_work(const Problem& p) { return product(p.m, p.n, p.k); }

/// The factor of the magnitude: of `roundings`, or zero where all is exact, below 2^24 at its largest.
double factor(const Setting& setting, double roundings, double largest) {
  return setting.fill == Fill::exact && largest < 0x1p24 ? 0 : rounding::g(roundings);
}

const Register registered{[](Registry& r) {
  r.add<Lora>({.name = "naive",
               .summary = "three products, the last as large as Y, then scaled and added",
               .prepare = naive});
  r.add<LoraBackward>({.name = "naive",
                       .summary = "six products, one as large as dX, then scaled and added",
                       .prepare = naive_backward});
}};

}  // namespace

const Corners LoraBackward::corners = {
    // Around the lane counts 4, 8, 16 and the tiles built from them, primes, and the ranks in use.
    "m=1,n=1,k=1,r=1,scale=2|-3", "m=1,n=17,k=31,r=2,scale=2|-3", "m=2,n=1,k=3,r=1,scale=2|-3",
    "m=5,n=7,k=2,r=3,scale=2|-3", "m=7,n=15,k=9,r=4,scale=2|-3", "m=13,n=31,k=17,r=8,scale=2|-3",
    "m=16,n=33,k=16,r=5,scale=2|-3", "m=29,n=47,k=37,r=16,scale=2|-3", "m=31,n=65,k=63,r=17,scale=2|-3",
    "m=5,n=6,k=7,r=2,scale=1",
    // Past a block of each direction, and enough work to divide.
    "m=3,n=1031,k=7,r=4", "m=5,n=19,k=1031,r=4", "m=397,n=9,k=5,r=2", "m=67,n=129,k=65,r=8"};

std::vector<Problem> Lora::corner_cases() {
  std::vector<Problem> out = LoraBackward::corner_cases();
  // Not for the gradients: all zeros cannot be told from each other.
  out.push_back({.m = 5, .n = 6, .k = 7, .r = 2, .scale = 0});
  return out;
}

auto Lora::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const auto x = view(in.x.data(), p.m, p.k), w = view(in.w.data(), p.k, p.n);
  const auto a = view(in.a.data(), p.k, p.r), b = view(in.b.data(), p.r, p.n);
  const Product xa(x, a, p.m, p.r, p.k);
  const double s = static_cast<double>(p.scale), k = static_cast<double>(p.k), r = static_cast<double>(p.r);
  const double rounded = factor(setting, 2 * k + r + 1, 27 * std::abs(s) * k * r + 9 * k);
  return matrix::expect(p.m, p.n, full_work(p), setting, [&](Index i, Index j) {
    Sized y = element<Sized>(x, w, i, j, p.k);
    y += s * element<Sized>(xa, b, i, j, p.r);
    return std::pair{y.value, rounded * y.magnitude};
  });
}

auto LoraBackward::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const auto x = view(in.x.data(), p.m, p.k), a = view(in.a.data(), p.k, p.r);
  const auto dy = view(in.dy.data(), p.m, p.n);
  const auto x_turned = view(in.x.data(), p.k, p.m, true), w_turned = view(in.w.data(), p.n, p.k, true);
  const auto a_turned = view(in.a.data(), p.r, p.k, true), b_turned = view(in.b.data(), p.n, p.r, true);
  const Product dyb(dy, b_turned, p.m, p.r, p.n), xa(x, a, p.m, p.r, p.k);
  const auto xa_turned = [&](Index l, Index i) { return xa(i, l); };

  const double s = static_cast<double>(p.scale), m = static_cast<double>(p.m), n = static_cast<double>(p.n);
  const double k = static_cast<double>(p.k), r = static_cast<double>(p.r), largest = 27 * std::abs(s);
  const double in_dx = factor(setting, 2 * n + r + 1, largest * n * r + 9 * n);
  const double in_da = factor(setting, n + m + 1, largest * n * m);
  const double in_db = factor(setting, k + m + 1, largest * k * m);
  const auto dx = [&](Index i, Index j) {
    Sized sum = element<Sized>(dy, w_turned, i, j, p.n);
    sum += s * element<Sized>(dyb, a_turned, i, j, p.r);
    return std::pair{sum.value, in_dx * sum.magnitude};
  };
  const auto da = [&](Index i, Index j) {
    const Sized sum = s * element<Sized>(x_turned, dyb, i, j, p.m);
    return std::pair{sum.value, in_da * sum.magnitude};
  };
  const auto db = [&](Index i, Index j) {
    const Sized sum = s * element<Sized>(xa_turned, dy, i, j, p.m);
    return std::pair{sum.value, in_db * sum.magnitude};
  };
  const Index first_da = p.m * p.k, first_db = first_da + p.k * p.r;
  return {matrix::expect(p.m, p.k, full_work(p), setting, dx),
          matrix::expect(p.k, p.r, 0, setting, da, first_da),
          matrix::expect(p.r, p.n, 0, setting, db, first_db)};
}

// Where r is large or s is 0, W + s A B costs less to form than the products that the adapter is counted
// with.
Cost Lora::cost(const Problem& p) {
  Cost out = FromParts::cost(p);
  out.flops = 2 * (full_work(p) + thin_work(p));
  out.avoidable_flops = 2 * thin_work(p);
  out.avoidable_bytes = p.scale == 0 ? 4 * product(p.k + p.n, p.r) : 0;
  return out;
}

// Beside dY W^T, of rank r: dY B^T and (X A)^T dY with m n, X A, X^T (dY B^T) and (dY B^T) A^T with m k.
Cost LoraBackward::cost(const Problem& p) {
  const double thin_dx = product(p.m, p.k) * static_cast<double>(p.r);
  const double of_adapter = thin_work(p) + thin_dx + thin_work(p);
  Cost out = FromParts::cost(p);
  out.flops = 2 * (full_work(p) + of_adapter);
  out.avoidable_flops = 2 * of_adapter;
  out.avoidable_bytes = p.scale == 0 ? 4 * (product(p.m, p.k) + product(p.k + p.n, p.r)) : 0;
  return out;
}

template class detail::TypedOperation<Lora>;
template class detail::TypedOperation<LoraBackward>;

}  // namespace assay
