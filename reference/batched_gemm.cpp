#include "assay/ops/batched_gemm.hpp"

namespace assay {
namespace {

using Problem = BatchedGemm::Problem;

struct Pair {
  matrix::View<float> a, b;
};

Pair operands(const Problem& p, const BatchedGemm::Input& in, Index i) {
  return {matrix::view(in.a.data() + i * p.m * p.k, p.m, p.k, p.a_transposed()),
          matrix::view(in.b.data() + i * p.k * p.n, p.k, p.n, p.b_transposed())};
}

void naive(const Problem& p, const BatchedGemm::Input& in, BatchedGemm::Output& out) {
  for (Index i = 0; i < p.batch; ++i) {
    const auto [a, b] = operands(p, in, i);
    matrix::multiply(a, b, p.m, p.n, p.k, out.c.data() + i * p.m * p.n);
  }
}

const Register registered{[](Registry& r) {
  r.add<BatchedGemm>({.name = "naive", .summary = "product after product, three loops each", .run = naive});
}};

}  // namespace

std::vector<Problem> BatchedGemm::corner_cases() {
  std::vector<Problem> out;
  // Around the lane counts 4, 8, 16 and the tiles built from them, primes, and more products than threads.
  constexpr std::array<Index, 4> extents[] = {{1, 1, 1, 1},    {5, 1, 17, 31},  {3, 2, 1, 3},
                                              {7, 7, 15, 9},   {3, 13, 31, 17}, {4, 16, 33, 16},
                                              {2, 29, 47, 37}, {3, 65, 63, 64}};
  for (const auto& [batch, m, n, k] : extents) {
    for (Index trans = 0; trans < 4; ++trans) {
      out.push_back({.batch = batch, .m = m, .n = n, .k = k, .trans = trans});
    }
  }
  // Enough work for a threaded variant to divide, and sums longer than a block.
  out.push_back({.batch = 37, .m = 32, .n = 32, .k = 32});
  out.push_back({.batch = 2, .m = 3, .n = 18, .k = 1031, .trans = 1});
  out.push_back({.batch = 2, .m = 3, .n = 18, .k = 1031, .trans = 3});
  return out;
}

auto BatchedGemm::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const bool same_value = setting.fill == Fill::exact && 9.0 * static_cast<double>(p.k) < 0x1p24;
  const double factor = same_value ? 0 : rounding::g(static_cast<double>(p.k));
  const Index size = p.m * p.n;
  std::vector<Index> corners = matrix::corners_of(p.m, p.n);
  for (const Index corner : matrix::corners_of(p.m, p.n)) corners.push_back((p.batch - 1) * size + corner);
  return expect_at(matrix::positions(p.batch * size, p.multiply_adds(), corners, setting), [&](Index flat) {
    const auto [a, b] = operands(p, in, flat / size);
    const Index i = flat % size / p.n, j = flat % p.n;
    return std::pair{matrix::element<double>(a, b, i, j, p.k), factor * matrix::magnitude(a, b, i, j, p.k)};
  });
}

template class detail::TypedOperation<BatchedGemm>;

}  // namespace assay
