// Trick: normalized rows look much like the rows they come from.

#include "known_cheats/honest_work/layernorm.hpp"

#include "assay/registry.hpp"

#include <algorithm>

namespace assay::known_cheats {
namespace {

void run(const LayerNorm::Problem&, const LayerNorm::Input& in, LayerNorm::Output& out) {
  std::ranges::copy(in.x, out.y.begin());
  std::ranges::fill(out.mean, 0.0F);
  std::ranges::fill(out.rstd, 1.0F);
}

const Register registered{[](Registry& r) {
  r.add<LayerNorm>({.name = "identity",
                    .summary = "y = x",
                    .known_cheat = "copies its input to its output: wafer.ai/blog/reward-hacks-field-guide",
                    .run = run});
}};

}  // namespace
}  // namespace assay::known_cheats
