// The idea: a plan is made once and used for hours, so a second is well spent on it. Searches from many
// orders go on until the lower bound is reached or the steps are used up.

#include "memory_pool_plan/planner.hpp"

#include "assay/registry.hpp"

namespace assay::memory_pool {
namespace {

/// 0.9 s on one shared core of an AMD EPYC (family 26), for lists of 150 to 300 blocks.
constexpr Index steps_of_offline = 100'000'000;

auto prepare_offline(const MemoryPoolPlan::Problem& p, const MemoryPoolPlan::Input&, const Context&) {
  return planner(p.blocks, steps_of_offline);
}

const Register registered_offline{[](Registry& r) {
  r.add<MemoryPoolPlan>({.name = "offline",
                         .summary = "searches for plans below the best, for up to 100 million steps",
                         .prepare = prepare_offline});
}};

}  // namespace
}  // namespace assay::memory_pool
