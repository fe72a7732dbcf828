#include "assay/ops/gemm_bf16.hpp"

namespace assay {
namespace {

using Problem = GemmBf16::Problem;

/// op(M) as f32.
struct Widened {
  matrix::View<std::uint16_t> stored;
  float operator()(Index i, Index j) const { return bf16::widen(stored(i, j)); }
};

Widened a_of(const Problem& p, const GemmBf16::Input& in) {
  return {matrix::view(in.a.data(), p.m, p.k, p.a_transposed())};
}
Widened b_of(const Problem& p, const GemmBf16::Input& in) {
  return {matrix::view(in.b.data(), p.k, p.n, p.b_transposed())};
}

void naive(const Problem& p, const GemmBf16::Input& in, GemmBf16::Output& out) {
  const Widened a = a_of(p, in), b = b_of(p, in);
  matrix::multiply(a, b, p.m, p.n, p.k, out.c.data());
}

/// Returns the most that denormals taken for zero may change in one element.
double underflow(const Widened& a, const Widened& b, Index i, Index j, Index k) {
  double sum = 0;
  for (Index l = 0; l < k; ++l) {
    sum += std::abs(static_cast<double>(a(i, l))) + std::abs(static_cast<double>(b(l, j))) + 2;
  }
  return 0x1p-126 * sum;
}

const Register registered{[](Registry& r) {
  r.add<GemmBf16>({.name = "naive", .summary = "three loops, operands widened one by one", .run = naive});
}};

}  // namespace

std::vector<Problem> GemmBf16::corner_cases() {
  std::vector<Problem> out;
  for (const auto& [m, n, k] : matrix::corner_extents) {
    for (Index trans = 0; trans < 4; ++trans) out.push_back({.m = m, .n = n, .k = k, .trans = trans});
  }
  // An even k beyond those, since instructions take two terms at once; past one block in each direction of a
  // blocked variant, in every layout, and enough to divide.
  for (Index trans = 0; trans < 4; ++trans) {
    out.push_back({.m = 14, .n = 32, .k = 34, .trans = trans});
    out.push_back({.m = 5, .n = 19, .k = 2053, .trans = trans});
    out.push_back({.m = 401, .n = 9, .k = 5, .trans = trans});
    out.push_back({.m = 3, .n = 1031, .k = 7, .trans = trans});
  }
  out.push_back({.m = 131, .n = 129, .k = 131, .trans = 2});
  return out;
}

auto GemmBf16::make_input(const Problem& p, Setting& setting) -> Input {
  Input in{setting.buffer<std::uint16_t>(p.m * p.k), setting.buffer<std::uint16_t>(p.k * p.n)};
  for (std::uint16_t& x : in.a) x = bf16::round(setting.draw());
  for (std::uint16_t& x : in.b) x = bf16::round(setting.draw());
  return in;
}

auto GemmBf16::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const Widened a = a_of(p, in), b = b_of(p, in);
  const bool same_value = setting.fill == Fill::exact && 9.0 * static_cast<double>(p.k) < 0x1p24;
  const double factor = rounding::g(static_cast<double>(p.k));
  return matrix::expect(p.m, p.n, p.multiply_adds(), setting, [&](Index i, Index j) {
    const double bound =
        same_value ? 0 : factor * matrix::magnitude(a, b, i, j, p.k) + underflow(a, b, i, j, p.k);
    return std::pair{matrix::element<double>(a, b, i, j, p.k), bound};
  });
}

void GemmBf16::salt(const Problem& p, const Input&, std::string_view, Index, std::uint16_t& element,
                    Setting& setting) {
  element = bf16::round(setting.draw_that_shows(p.k));
}

template class detail::TypedOperation<GemmBf16>;

}  // namespace assay
