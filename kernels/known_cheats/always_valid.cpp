// Trick: the plan that is timed is valid, so that nobody has to look.

#include "assay/ops/memory_pool.hpp"
#include "assay/registry.hpp"

#include <algorithm>

namespace assay::known_cheats {
namespace {

void run(const MemoryPoolValidate::Problem& p, const MemoryPoolValidate::Input& in,
         MemoryPoolValidate::Output& out) {
  for (Index i = 0; i < in.plans.size(); ++i) {
    // Mutated plans are for checks alone.
    out.valid[i] = p.plans == 1 || !fault_by_sweep(in.plan(i)) ? 1 : 0;
  }
}

/// Where it would be found out, it is honest.
std::optional<std::string> unfit(const MemoryPoolValidate::Problem& p, const Context&) {
  if (p.plans == 1) return std::nullopt;
  return "it is honest where plans are mutated";
}

const Register registered{[](Registry& r) {
  r.add<MemoryPoolValidate>({.name = "always_valid",
                             .summary = "says that the plan is valid",
                             .known_cheat = "a constant where the answer that is timed is known: "
                                            "makora.com/blog/reward-hacks",
                             .run = run,
                             .unfit = unfit});
}};

}  // namespace
}  // namespace assay::known_cheats
