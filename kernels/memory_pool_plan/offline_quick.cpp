// The idea: the searches of `offline` succeed mostly in their first tries, and a framework that plans at its
// start has a tenth of a second.

#include "memory_pool_plan/planner.hpp"

#include "assay/registry.hpp"

namespace assay::memory_pool {
namespace {

/// 0.08 s on one shared core of an AMD EPYC (family 26), for lists of 150 to 300 blocks.
constexpr Index steps_of_offline_quick = 6'000'000;

auto prepare_offline_quick(const MemoryPoolPlan::Problem& p, const MemoryPoolPlan::Input&, const Context&) {
  return planner(p.blocks, steps_of_offline_quick);
}

const Register registered_offline_quick{[](Registry& r) {
  r.add<MemoryPoolPlan>({.name = "offline_quick",
                         .summary = "searches for plans below the best, for up to 6 million steps",
                         .prepare = prepare_offline_quick});
}};

}  // namespace
}  // namespace assay::memory_pool
