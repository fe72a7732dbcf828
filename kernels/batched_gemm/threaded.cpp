// The idea: pairs do not depend on each other, so each thread takes an equal share of the batch. Limit: with
// fewer pairs than threads some threads are idle.

#include "batched_gemm/plan.hpp"
#include "team.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace assay::batched_gemm {
namespace {

// Multiply-adds per thread below which fewer threads are faster. Measured on two cores of a Zen 5, pairs of
// 32^3: 16 take 1.3 times as long on two threads as on one, 32 as long, and 64 take 0.7 times as long.
constexpr double least_multiply_adds = 0x1p19;

auto prepare(const Problem& p, const BatchedGemm::Input&, const Context& context) {
  const double work = p.multiply_adds();
  const Index worth = std::max<Index>(1, static_cast<Index>(std::min(work / least_multiply_adds, 1e9)));
  const int threads = started_team(context, false, std::min(worth, p.batch));
  const Plan plan(p, best_of(blocked::tiers()));
  std::vector<Buffer<float>> spaces;
  for (int i = 0; i < threads; ++i) spaces.emplace_back(plan.space_floats);
  return [plan, threads, spaces = std::move(spaces)](const auto& in, auto& out) mutable {
    const Index batch = plan.problem.batch;
    on_team(threads, threads, [&](int i) {
      plan.run(in, out, batch * i / threads, batch * (i + 1) / threads,
               spaces[static_cast<std::size_t>(i)].data());
    });
  };
}

const Register registered{[](Registry& r) {
  add_threaded<BatchedGemm>(r, "best tier of simd on an equal share of the batch per thread", prepare);
}};

}  // namespace
}  // namespace assay::batched_gemm
