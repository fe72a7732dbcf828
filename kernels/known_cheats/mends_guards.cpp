// Trick: whole vectors are stored past the end of the output, and what lay there is put back before anybody
// looks.

#include "known_cheats/honest_work/layernorm.hpp"

#include "assay/registry.hpp"

#include <cstring>

namespace assay::known_cheats {
namespace {

void run(const LayerNorm::Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
  constexpr std::size_t past = 64;
  // Through a pointer that a compiler takes for any.
  float* volatile where = out.y.data() + out.y.size();
  char kept[past];
  std::memcpy(kept, where, past);
  std::memset(where, 0, past);
  layer_norm(p, in, out);
  std::memcpy(where, kept, past);
}

const Register registered{[](Registry& r) {
  r.add<LayerNorm>({.name = "mends_guards",
                    .summary = "writes a line past its output and restores it",
                    .known_cheat = "hides a write out of bounds from guards that are compared: "
                                   "wafer.ai/blog/reward-hacks-field-guide (memory out of bounds)",
                    .run = run});
}};

}  // namespace
}  // namespace assay::known_cheats
