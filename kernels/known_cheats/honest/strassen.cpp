// Seven products of half the extent instead of eight. Where sums are long, its error is far below their
// bound; where they are short, it multiplies as usual.

#include "known_cheats/honest_work.hpp"

#include "assay/registry.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace assay::known_cheats {
namespace {

constexpr Index shortest = 64;

using Block = std::vector<float>;

/// Halves of three extents, and room for the sums and products.
struct Halves {
  Index m, n, k;
  Block left, right, product;
  Block c[4];

  explicit Halves(const Gemm::Problem& p) : m((p.m + 1) / 2), n((p.n + 1) / 2), k((p.k + 1) / 2) {
    left.resize(static_cast<std::size_t>(m * k));
    right.resize(static_cast<std::size_t>(k * n));
    product.resize(static_cast<std::size_t>(m * n));
    for (Block& each : c) each.resize(product.size());
  }
};

/// Adds `sign` times a block of a matrix to `to`. Rows and columns past the end of the matrix are zero.
template <class View>
void add_block(const View& from, Index rows, Index columns, Index row0, Index column0, float sign,
               Index height, Index width, Block& to) {
  for (Index i = 0; i < std::min(height, rows - row0); ++i) {
    for (Index j = 0; j < std::min(width, columns - column0); ++j)
      to[static_cast<std::size_t>(i * width + j)] += sign * from(row0 + i, column0 + j);
  }
}

/// Signs of the four blocks (1, 1), (1, 2), (2, 1) and (2, 2).
struct Signs {
  float of[4];
};
struct Product {
  Signs a, b, c;
};
/// Strassen, Gaussian elimination is not optimal, Numerische Mathematik 13 (1969).
constexpr Product products[7] = {
    {{{1, 0, 0, 1}}, {{1, 0, 0, 1}}, {{1, 0, 0, 1}}},  {{{0, 0, 1, 1}}, {{1, 0, 0, 0}}, {{0, 0, 1, -1}}},
    {{{1, 0, 0, 0}}, {{0, 1, 0, -1}}, {{0, 1, 0, 1}}}, {{{0, 0, 0, 1}}, {{-1, 0, 1, 0}}, {{1, 0, 1, 0}}},
    {{{1, 1, 0, 0}}, {{0, 0, 0, 1}}, {{-1, 1, 0, 0}}}, {{{-1, 0, 1, 0}}, {{1, 1, 0, 0}}, {{0, 0, 0, 1}}},
    {{{0, 1, 0, -1}}, {{0, 0, 1, 1}}, {{1, 0, 0, 0}}}};

void multiply(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out, Halves& h) {
  const auto a = matrix::view(in.a.data(), p.m, p.k, p.a_transposed());
  const auto b = matrix::view(in.b.data(), p.k, p.n, p.b_transposed());
  for (Block& each : h.c) std::ranges::fill(each, 0.0F);
  const Gemm::Problem half{.m = h.m, .n = h.n, .k = h.k};
  for (const Product& next : products) {
    std::ranges::fill(h.left, 0.0F);
    std::ranges::fill(h.right, 0.0F);
    for (Index q = 0; q < 4; ++q) {
      const Index row = q / 2, column = q % 2;
      if (next.a.of[q] != 0) add_block(a, p.m, p.k, row * h.m, column * h.k, next.a.of[q], h.m, h.k, h.left);
      if (next.b.of[q] != 0) add_block(b, p.k, p.n, row * h.k, column * h.n, next.b.of[q], h.k, h.n, h.right);
    }
    gemm_rows(half, h.left.data(), h.right.data(), h.product.data(), 0, h.m);
    for (Index q = 0; q < 4; ++q) {
      if (next.c.of[q] == 0) continue;
      for (std::size_t i = 0; i < h.product.size(); ++i) h.c[q][i] += next.c.of[q] * h.product[i];
    }
  }
  for (Index i = 0; i < p.m; ++i) {
    for (Index j = 0; j < p.n; ++j) {
      const Block& block = h.c[(i / h.m) * 2 + j / h.n];
      const float sum =
          static_cast<float>(p.alpha) * block[static_cast<std::size_t>(i % h.m * h.n + j % h.n)];
      float& c = out.c[i * p.n + j];
      c = sum + (p.beta == 0 ? 0 : static_cast<float>(p.beta) * c);
    }
  }
}

auto prepare(const Gemm::Problem& p, const Gemm::Input&, const Context&) {
  std::shared_ptr<Halves> halves;
  if (std::min({p.m, p.n, p.k}) >= shortest) halves = std::make_shared<Halves>(p);
  return [p, halves](const Gemm::Input& in, Gemm::Output& out) {
    if (halves != nullptr) {
      multiply(p, in, out, *halves);
    } else {
      gemm(p, in, out);
    }
  };
}

std::optional<std::string> unfit(const Gemm::Problem& p, const Context&) {
  if (std::min({p.m, p.n, p.k}) >= shortest) return std::nullopt;
  return "multiplies as usual";
}

const Register registered{[](Registry& r) {
  r.add<Gemm>({.name = "strassen",
               .summary = "one level of Strassen's algorithm",
               .known_honest = "does an eighth of the multiplications less than its cost says",
               .prepare = prepare,
               .unfit = unfit});
}};

}  // namespace
}  // namespace assay::known_cheats
