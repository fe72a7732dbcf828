#include "assay/ops/mixed_precision.hpp"

#include "assay/ops/gemm_bf16.hpp"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

using Problem = MixedPrecision::Problem;

matrix::View<float> transposed(const float* data, Index rows, Index columns) {
  return matrix::view(data, rows, columns, true);
}

void naive(const Problem& p, const MixedPrecision::Input& in, MixedPrecision::Output& out) {
  const auto x = matrix::view(in.x.data(), p.m, p.k), w = matrix::view(in.w.data(), p.k, p.n),
             dy = matrix::view(in.dy.data(), p.m, p.n), x_turned = transposed(in.x.data(), p.k, p.m);
  matrix::multiply(x, w, p.m, p.n, p.k, out.y.data());
  for (Index l = 0; l < p.k; ++l) {
    for (Index j = 0; j < p.n; ++j) {
      const float gradient = matrix::element<float>(x_turned, dy, l, j, p.m);
      out.w_next[l * p.n + j] = w(l, j) - static_cast<float>(MixedPrecision::rate) * gradient;
    }
  }
}

/// The most by which a product of that many terms, of that sum of magnitudes, may be off.
double off(double terms, double magnitude) { return rounding::g(terms) * magnitude + 0x1p-120 * terms; }

float in_bf16(float x) { return bf16::widen(bf16::round(x)); }

const Register registered{[](Registry& r) {
  r.add<MixedPrecision>({.name = "naive", .summary = "both products and the update in f32", .run = naive});
}};

}  // namespace

auto MixedPrecision::corner_cases() -> std::vector<Problem> {
  std::vector<Problem> out;
  for (const auto& [m, n, k] : matrix::corner_extents) out.push_back({.m = m, .n = n, .k = k});
  out.push_back({.m = 64, .n = 10, .k = 120});
  return out;
}

auto MixedPrecision::make_input(const Problem& p, Setting& setting) -> Input {
  Input in = FromParts::make_input(p, setting);
  for (auto* part : {&in.x, &in.w, &in.dy}) std::ranges::transform(*part, part->begin(), in_bf16);
  return in;
}

auto MixedPrecision::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const auto x = matrix::view(in.x.data(), p.m, p.k), w = matrix::view(in.w.data(), p.k, p.n),
             dy = matrix::view(in.dy.data(), p.m, p.n), x_turned = transposed(in.x.data(), p.k, p.m);
  const double work = product(p.m, p.n, p.k);
  const auto y = [&](Index i, Index j) {
    return std::pair{matrix::element<double>(x, w, i, j, p.k),
                     off(static_cast<double>(p.k), matrix::magnitude(x, w, i, j, p.k))};
  };
  const auto w_next = [&](Index l, Index j) {
    const double before = w(l, j), size = matrix::magnitude(x_turned, dy, l, j, p.m);
    return std::pair{
        before - rate * matrix::element<double>(x_turned, dy, l, j, p.m),
        rate * off(static_cast<double>(p.m) + 2, size) + rounding::g(2) * (std::abs(before) + rate * size)};
  };
  return {matrix::expect(p.m, p.n, work, setting, y),
          matrix::expect(p.k, p.n, work, setting, w_next, p.m * p.n)};
}

void MixedPrecision::salt(const Problem& p, const Input&, std::string_view, Index, float& element,
                          Setting& setting) {
  element = in_bf16(setting.draw_that_shows(std::max(p.m, p.k)));
}

template class detail::TypedOperation<MixedPrecision>;

}  // namespace assay
