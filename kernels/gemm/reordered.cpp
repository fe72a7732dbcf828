// The idea: put the loop over columns innermost, so that rows of B and C are walked with stride one and the
// compiler vectorises the update. This helps while a row of B stays in a cache. Columns of op(B) = B^T lie
// along k instead: there, eight dot products run side by side, since a single one waits for its own last
// addition.

#include "assay/ops/gemm.hpp"

#include <algorithm>

namespace assay {
namespace {

struct RowsOfA {
  Index row, step;
  explicit RowsOfA(const Gemm::Problem& p)
      : row(p.a_transposed() ? 1 : p.k), step(p.a_transposed() ? p.m : 1) {}
};

void add_scaled_rows(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  const RowsOfA a(p);
  const float alpha = static_cast<float>(p.alpha), beta = static_cast<float>(p.beta);
  for (Index i = 0; i < p.m; ++i) {
    float* c = out.c.data() + i * p.n;
    for (Index j = 0; j < p.n; ++j) c[j] = beta == 0 ? 0 : beta * c[j];
    for (Index l = 0; l < p.k; ++l) {
      const float scaled = alpha * in.a[i * a.row + l * a.step];
      const float* b = in.b.data() + l * p.n;
      for (Index j = 0; j < p.n; ++j) c[j] += scaled * b[j];
    }
  }
}

void dot_side_by_side(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  constexpr Index most = 8;
  const RowsOfA a(p);
  const float alpha = static_cast<float>(p.alpha), beta = static_cast<float>(p.beta);
  for (Index i = 0; i < p.m; ++i) {
    for (Index j0 = 0; j0 < p.n; j0 += most) {
      const Index columns = std::min(most, p.n - j0);
      float sums[most] = {};
      const float* b = in.b.data() + j0 * p.k;
      if (columns == most) {
        for (Index l = 0; l < p.k; ++l) {
          const float from_a = in.a[i * a.row + l * a.step];
          for (Index j = 0; j < most; ++j) sums[j] += from_a * b[j * p.k + l];
        }
      } else {
        for (Index j = 0; j < columns; ++j) {
          for (Index l = 0; l < p.k; ++l) sums[j] += in.a[i * a.row + l * a.step] * b[j * p.k + l];
        }
      }
      float* c = out.c.data() + i * p.n + j0;
      for (Index j = 0; j < columns; ++j) c[j] = alpha * sums[j] + (beta == 0 ? 0 : beta * c[j]);
    }
  }
}

void run(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  if (p.b_transposed()) {
    dot_side_by_side(p, in, out);
  } else {
    add_scaled_rows(p, in, out);
  }
}

const Register registered{[](Registry& r) {
  r.add<Gemm>({.name = "reordered",
               .summary = "columns innermost: stride-one rows, vectorised",
               .after = "naive",
               .run = run});
}};

}  // namespace
}  // namespace assay
