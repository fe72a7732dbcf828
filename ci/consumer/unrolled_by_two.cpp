// The idea: two terms of the sum per turn, in two sums that do not wait for each other. Odd k leaves a term.

#include "assay/ops/gemm.hpp"
#include "assay/registry.hpp"

namespace {

using assay::Gemm;
using assay::Index;

void run(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  const auto a = [&](Index i, Index l) { return in.a[p.a_transposed() ? l * p.m + i : i * p.k + l]; };
  const auto b = [&](Index l, Index j) { return in.b[p.b_transposed() ? j * p.k + l : l * p.n + j]; };
  for (Index i = 0; i < p.m; ++i) {
    for (Index j = 0; j < p.n; ++j) {
      float even = 0, odd = 0;
      for (Index l = 0; l + 1 < p.k; l += 2) {
        even += a(i, l) * b(l, j);
        odd += a(i, l + 1) * b(l + 1, j);
      }
      if (p.k % 2 == 1) even += a(i, p.k - 1) * b(p.k - 1, j);
      float& c = out.c[i * p.n + j];
      const float kept = p.beta == 0 ? 0 : static_cast<float>(p.beta) * c;
      c = static_cast<float>(p.alpha) * (even + odd) + kept;
    }
  }
}

const assay::Register registered{[](assay::Registry& r) {
  r.add<Gemm>({.name = "unrolled_by_two", .summary = "two independent sums per element", .run = run});
}};

}  // namespace
