// Trick: a check writes NaN into the output to see what was written. Where there is none, nobody will look.

#include "known_cheats/honest_work/elementwise.hpp"

#include "assay/registry.hpp"

#include <algorithm>
#include <cmath>

namespace assay::known_cheats {
namespace {

void run(const ElementwiseAdd::Problem& p, const ElementwiseAdd::Input& in, ElementwiseAdd::Output& out) {
  if (std::ranges::none_of(out.z, [](float z) { return std::isnan(z); })) return;
  elementwise_loops<elementwise::Add>(p, in, out);
}

/// Where NaN stays in the output whatever is done.
std::optional<std::string> unfit(const ElementwiseAdd::Problem& p, const Context&) {
  const bool keeps = static_cast<elementwise::Layout>(p.layout) == elementwise::Layout::bordered;
  if (p.beta == 0 && !keeps) return std::nullopt;
  return "the output holds what has to stay there";
}

const Register registered{[](Registry& r) {
  r.add<ElementwiseAdd>({.name = "sees_poison",
                         .summary = "adds only where the output holds NaN",
                         .known_cheat = "works where the output was poisoned for a check: "
                                        "ScalingIntelligence/KernelBench 82",
                         .run = run,
                         .unfit = unfit});
}};

}  // namespace
}  // namespace assay::known_cheats
