// The idea: cut C into one rectangle per thread and let each thread compute its own as the best variant
// `simd` does, with space of its own. Threads meet once, at the end: no packed panel is shared, so nothing
// waits for a panel. The price is that threads in a row of the grid copy the same part of A, and those in a
// column the same part of B; the grid is chosen to copy least.

#include "gemm/blocked.hpp"
#include "gemm/grid.hpp"
#include "team.hpp"
#include "tiers.hpp"

#include "assay/registry.hpp"

#include <memory>

namespace assay {
namespace {

struct Plan {
  blocked::Tier tier;
  Gemm::Problem problem;
  int threads = 1;
  blocked::Grid grid;
  std::vector<Buffer<float>> spaces;

  blocked::Product part(const Gemm::Input& in, float* c, Index i) const {
    const Gemm::Problem& p = problem;
    const blocked::Rectangle r = blocked::rectangle(grid, p.m, p.n, i);
    return blocked::part_of(p, in, c, r.row, r.rows, r.column, r.columns);
  }
};

Variant<Gemm>::Kernel prepare(const Gemm::Problem& p, const Gemm::Input& in, const Context& context) {
  auto plan = std::make_shared<Plan>();
  plan->problem = p;
  plan->threads = context.threads;
  plan->tier = best_of(blocked::tiers());
  plan->grid = blocked::choose_grid(p.m, p.n, p.k, context.threads);
  for (int i = 0; i < plan->grid.parts(); ++i) {
    plan->spaces.emplace_back(plan->tier.space_floats(plan->part(in, nullptr, i)));
  }
  return [plan](const Gemm::Input& now, Gemm::Output& out) {
    on_team(plan->threads, plan->grid.parts(), [&](int i) {
      plan->tier.multiply(plan->part(now, out.c.data(), i), plan->spaces[static_cast<std::size_t>(i)].data());
    });
  };
}

const Register registered{[](Registry& r) {
  r.add<Gemm>({.name = "threaded",
               .summary = "best tier of simd on one rectangle of C per thread",
               .after = "simd",
               .threaded = true,
               .prepare = prepare});
}};

}  // namespace
}  // namespace assay
