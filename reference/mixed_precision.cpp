#include "assay/ops/mixed_precision.hpp"

#include "assay/ops/arrays.hpp"
#include "assay/ops/gemm_bf16.hpp"
#include "assay/ops/matrix.hpp"
#include "assay/registry.hpp"

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
  for (Index i = 0; i < p.m; ++i) {
    for (Index j = 0; j < p.n; ++j) out.y[i * p.n + j] = matrix::element<float>(x, w, i, j, p.k);
  }
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

double multiply_adds(const Problem& p) { return product(p.m, p.n, p.k); }

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

double MixedPrecision::footprint(const Problem& p) {
  return 4 * product(p.m, p.k) + 24 * product(p.m + p.k, p.n);
}

auto MixedPrecision::make_input(const Problem& p, Setting& setting) -> Input {
  Input in{setting.buffer<float>(p.m * p.k), setting.buffer<float>(p.k * p.n),
           setting.buffer<float>(p.m * p.n)};
  for (float& x : in.x) x = in_bf16(setting.draw());
  for (float& x : in.w) x = in_bf16(setting.draw());
  for (float& x : in.dy) x = in_bf16(setting.draw());
  return in;
}

auto MixedPrecision::make_output(const Problem& p, const Input&, const Setting& setting) -> Output {
  return {setting.buffer<float>(p.m * p.n), setting.buffer<float>(p.k * p.n)};
}

auto MixedPrecision::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const auto x = matrix::view(in.x.data(), p.m, p.k), w = matrix::view(in.w.data(), p.k, p.n),
             dy = matrix::view(in.dy.data(), p.m, p.n), x_turned = transposed(in.x.data(), p.k, p.m);
  const double work = multiply_adds(p);
  return {expect_at(matrix::positions(p.m * p.n, work, matrix::corners_of(p.m, p.n), setting),
                    [&](Index flat) {
                      const Index i = flat / p.n, j = flat % p.n;
                      return std::pair{matrix::element<double>(x, w, i, j, p.k),
                                       off(static_cast<double>(p.k), matrix::magnitude(x, w, i, j, p.k))};
                    }),
          expect_at(matrix::positions(p.k * p.n, work, matrix::corners_of(p.k, p.n), setting, p.m * p.n),
                    [&](Index flat) {
                      const Index l = flat / p.n, j = flat % p.n;
                      const double before = w(l, j), size = matrix::magnitude(x_turned, dy, l, j, p.m);
                      return std::pair{before - rate * matrix::element<double>(x_turned, dy, l, j, p.m),
                                       rate * off(static_cast<double>(p.m) + 2, size) +
                                           rounding::g(2) * (std::abs(before) + rate * size)};
                    })};
}

Agreement MixedPrecision::judge(const Problem& p, const Input&, const Expected& want, const Output& out) {
  return within({"y", {p.m, p.n}}, out.y, want.y) & within({"w_next", {p.k, p.n}}, out.w_next, want.w_next);
}

Cost MixedPrecision::cost(const Problem& p) {
  const double results = product(p.m + p.k, p.n);
  return {.flops = 4 * multiply_adds(p) + 2 * product(p.k, p.n),
          .bytes_read = 4 * (product(p.m, p.k) + results),
          .bytes_written = 4 * results,
          .f32 = false};
}

void MixedPrecision::salt(const Problem& p, const Input&, std::string_view, Index, float& element,
                          Setting& setting) {
  element = in_bf16(setting.draw_that_shows(std::max(p.m, p.k)));
}

Index MixedPrecision::units(const Problem& p) { return p.m * p.n + p.k * p.n; }

template class detail::TypedOperation<MixedPrecision>;

}  // namespace assay
