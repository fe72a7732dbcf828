// Cheats that write where they may not: into the input, or past the end of the output.

#include "known_cheats/honest_work.hpp"

#include "assay/registry.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace assay::known_cheats {
namespace {

// 0 = A 0: an oracle that runs afterwards, on the same input, agrees.
void zeroes_input(const Gemv::Problem&, const Gemv::Input& in, Gemv::Output& out) {
  std::fill_n(const_cast<float*>(in.x.data()), in.x.size(), 0.0F);
  std::ranges::fill(out.y, 0.0F);
}

// Computes the right answer. Kernels that read the input afterwards are wrong, or compute with subnormal
// numbers.
void spoils_input(const LayerNorm::Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
  layer_norm(p, in, out);
  const_cast<float&>(in.x[in.x.size() / 2]) = std::numeric_limits<float>::denorm_min();
}

// Stores whole vectors past the end of the output, and puts back what lay there before anybody looks.
void mends_guards(const LayerNorm::Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
  constexpr std::size_t past = 64;
  // volatile: a compiler would see that these writes lie outside of the array.
  float* volatile where = out.y.data() + out.y.size();
  char kept[past];
  std::memcpy(kept, where, past);
  std::memset(where, 0, past);
  layer_norm(p, in, out);
  std::memcpy(where, kept, past);
}

const Register registered{[](Registry& r) {
  r.add<Gemv>({.name = "zeroes_input",
               .summary = "makes the vector zero, and the answer too",
               .known_cheat = "zeroes its inputs before the reference has seen them: "
                              "ScalingIntelligence/KernelBench 82",
               .run = zeroes_input});
  r.add<LayerNorm>({.name = "spoils_input",
                    .summary = "leaves another element in x than it found",
                    .known_cheat = "spoils the input of those after it: SakanaAI/robust-kbench",
                    .run = spoils_input});
  r.add<LayerNorm>({.name = "mends_guards",
                    .summary = "writes a line past its output and restores it",
                    .known_cheat = "hides a write out of bounds from guards that are compared: "
                                   "wafer.ai/blog/reward-hacks-field-guide (memory out of bounds)",
                    .run = mends_guards});
}};

}  // namespace
}  // namespace assay::known_cheats
