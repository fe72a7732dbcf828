// The idea: cut C into one rectangle per thread and let each thread compute its own as the best variant
// `simd` does, with space of its own. Threads meet once, at the end: no packed panel is shared, so nothing
// waits for a panel. The price is that threads in a row of the grid copy the same part of A, and those in a
// column the same part of B; the grid is chosen to copy least.

#include "gemm/blocked.hpp"
#include "team.hpp"

#include "assay/registry.hpp"

#include <algorithm>
#include <memory>

namespace assay {
namespace {

// Rectangles begin at multiples of these, so that inner ones hold whole tiles and, where C is aligned, whole
// cache lines. 16 columns are a cache line and the widest vector.
constexpr Index row_unit = 8;
constexpr Index column_unit = 16;

struct Grid {
  Index rows = 1, columns = 1;
};

// Fewer threads than asked for where a part would be smaller than a fork and join is worth.
constexpr double least_multiply_adds = 0x1p18;

Grid choose_grid(const Gemm::Problem& p, int threads) {
  const double work = static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  const Index worth = std::max<Index>(1, static_cast<Index>(work / least_multiply_adds));
  const Index parts = std::min<Index>(threads, worth);
  const Index most_rows = (p.m + row_unit - 1) / row_unit;
  const Index most_columns = (p.n + column_unit - 1) / column_unit;
  Grid best;
  double least_copied = 0;
  for (Index rows = 1; rows <= std::min(parts, most_rows); ++rows) {
    const Grid grid{rows, std::min(parts / rows, most_columns)};
    const double copied = static_cast<double>(p.m * grid.columns + p.n * grid.rows);  // in units of k floats
    const Index used = grid.rows * grid.columns, best_used = best.rows * best.columns;
    if (used > best_used || (used == best_used && copied < least_copied)) {
      best = grid;
      least_copied = copied;
    }
  }
  return best;
}

// Where part `i` of `parts` equal parts of `extent` begins.
Index cut(Index extent, Index unit, Index i, Index parts) {
  const Index units = (extent + unit - 1) / unit;
  return std::min(extent, units * i / parts * unit);
}

struct Plan {
  blocked::Tier tier;
  Gemm::Problem problem;
  int threads = 1;
  Grid grid;
  std::vector<Buffer<float>> spaces;

  blocked::Product part(const Gemm::Input& in, float* c, Index i) const {
    const Gemm::Problem& p = problem;
    const Index row = i / grid.columns, column = i % grid.columns;
    const Index top = cut(p.m, row_unit, row, grid.rows), bottom = cut(p.m, row_unit, row + 1, grid.rows);
    const Index left = cut(p.n, column_unit, column, grid.columns);
    const Index right = cut(p.n, column_unit, column + 1, grid.columns);
    return blocked::part_of(p, in, c, top, bottom - top, left, right - left);
  }
  int parts() const { return static_cast<int>(grid.rows * grid.columns); }
};

Variant<Gemm>::Kernel prepare(const Gemm::Problem& p, const Gemm::Input& in, const Context& context) {
  auto plan = std::make_shared<Plan>();
  plan->problem = p;
  plan->threads = context.threads;
  plan->tier = blocked::best_tier();
  plan->grid = choose_grid(p, context.threads);
  for (int i = 0; i < plan->parts(); ++i) {
    plan->spaces.emplace_back(plan->tier.space_floats(plan->part(in, nullptr, i)));
  }
  return [plan](const Gemm::Input& now, Gemm::Output& out) {
    on_team(plan->threads, plan->parts(), [&](int i) {
      plan->tier.multiply(plan->part(now, out.c.data(), i), plan->spaces[static_cast<std::size_t>(i)].data());
    });
  };
}

const Register registered{[](Registry& r) {
  r.add<Gemm>({.name = "threaded",
               .summary = "best tier of simd on one rectangle of C per thread",
               .threaded = true,
               .prepare = prepare});
}};

}  // namespace
}  // namespace assay
