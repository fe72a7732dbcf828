// The idea: one rectangle of C per thread, as in gemm/threaded.cpp, each computed by the best tier of `simd`.

#include "gemm/grid.hpp"
#include "gemm_bf16/blocked.hpp"
#include "team.hpp"
#include "tiers.hpp"

#include <utility>
#include <vector>

namespace assay::gemm_bf16 {
namespace {

// Multiply-adds per thread below which fewer threads are faster. Measured on two cores of a Zen 5 with
// VDPBF16PS: 96^3 takes 1.2 times as long on two threads as on one, 128^3 about as long. With widened
// operands a lower threshold would do.
constexpr double least_multiply_adds = 0x1p20;

struct Plan {
  Tier tier;
  GemmBf16::Problem problem;
  blocked::Grid grid;
  std::vector<Buffer<float>> spaces = {};

  Product part(const GemmBf16::Input& in, float* c, Index i) const {
    return blocked::part_of(product_of(problem, in, c), blocked::rectangle(grid, problem.m, problem.n, i));
  }
};

auto prepare(const GemmBf16::Problem& p, const GemmBf16::Input& in, const Context& context) {
  Plan plan{.tier = best_of(tiers()),
            .problem = p,
            .grid = blocked::choose_grid(p.m, p.n, p.k, context.threads, least_multiply_adds)};
  for (int i = 0; i < plan.grid.parts(); ++i) {
    plan.spaces.emplace_back(plan.tier.space_floats(plan.part(in, nullptr, i)));
  }
  start_team(plan.grid.parts());
  return [plan = std::move(plan), threads = context.threads](const auto& now, auto& out) mutable {
    on_team(threads, plan.grid.parts(), [&](int i) {
      plan.tier.multiply(plan.part(now, out.c.data(), i), plan.spaces[static_cast<std::size_t>(i)].data());
    });
  };
}

const Register registered{[](Registry& r) {
  add_threaded<GemmBf16>(r, "best tier of simd on one rectangle of C per thread", prepare);
}};

}  // namespace
}  // namespace assay::gemm_bf16
