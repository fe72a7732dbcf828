// Trick: it is right itself, and whoever comes after it is wrong, or computes with subnormal numbers.

#include "known_cheats/honest_work/layernorm.hpp"

#include "assay/registry.hpp"

#include <limits>

namespace assay::known_cheats {
namespace {

void run(const LayerNorm::Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
  layer_norm(p, in, out);
  const_cast<float&>(in.x[in.x.size() / 2]) = std::numeric_limits<float>::denorm_min();
}

const Register registered{[](Registry& r) {
  r.add<LayerNorm>({.name = "spoils_input",
                    .summary = "leaves another element in x than it found",
                    .known_cheat = "spoils the input of those after it: SakanaAI/robust-kbench",
                    .run = run});
}};

}  // namespace
}  // namespace assay::known_cheats
