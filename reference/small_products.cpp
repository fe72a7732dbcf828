#include "assay/ops/small_products.hpp"

namespace assay {
namespace {

using Problem = SmallProducts::Problem;

void naive(const Problem& p, const SmallProducts::Input& in, SmallProducts::Output& out) {
  for (Index s = 0; s < p.samples; ++s) {
    const auto x = matrix::view(in.x.data() + s * p.rows * p.k, p.rows, p.k),
               w = matrix::view(in.w.data(), p.k, p.n);
    float* const y = out.y.data() + s * p.rows * p.n;
    matrix::multiply(x, w, p.rows, p.n, p.k, y);
    for (Index j = 0; j < p.n; ++j) {
      float sum = 0;
      for (Index i = 0; i < p.rows; ++i) sum += y[i * p.n + j];
      const float mean = sum / static_cast<float>(p.rows);
      for (Index i = 0; i < p.rows; ++i) y[i * p.n + j] -= mean;
    }
  }
}

const Register registered{[](Registry& r) {
  r.add<SmallProducts>({.name = "naive", .summary = "three loops and a mean per sample", .run = naive});
}};

}  // namespace

auto SmallProducts::corner_cases() -> std::vector<Problem> {
  std::vector<Problem> out;
  constexpr std::array<Index, 4> extents[] = {{1, 2, 1, 1},    {1, 3, 5, 2},   {3, 2, 16, 8},
                                              {2, 7, 15, 9},   {5, 4, 33, 17}, {9, 3, 31, 16},
                                              {17, 2, 10, 84}, {8, 8, 32, 40}, {4, 1, 6, 3}};
  for (const auto& [samples, rows, n, k] : extents) {
    out.push_back({.samples = samples, .rows = rows, .n = n, .k = k});
  }
  return out;
}

auto SmallProducts::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const Index all = p.samples * p.rows;
  const auto x = matrix::view(in.x.data(), all, p.k), w = matrix::view(in.w.data(), p.k, p.n);
  const auto rows = static_cast<double>(p.rows);
  const double factor = rounding::g(static_cast<double>(p.k) + rows + 3);
  // An element needs the products of all rows of its sample.
  const double work = product(all, p.n, p.k) * rows;
  return matrix::expect(all, p.n, work, setting, [&](Index row, Index j) {
    const Index first = row / p.rows * p.rows;
    double mean = 0, size = 0;
    for (Index i = first; i < first + p.rows; ++i) {
      mean += matrix::element<double>(x, w, i, j, p.k) / rows;
      size += matrix::magnitude(x, w, i, j, p.k) / rows;
    }
    return std::pair{matrix::element<double>(x, w, row, j, p.k) - mean,
                     factor * (matrix::magnitude(x, w, row, j, p.k) + size)};
  });
}

template class detail::TypedOperation<SmallProducts>;

}  // namespace assay
