// Trick: variables that are set for measurements only tell that this is one.

#include "known_cheats/honest_work/layernorm.hpp"

#include "assay/registry.hpp"

#include <cstdlib>

namespace assay::known_cheats {
namespace {

auto prepare(const LayerNorm::Problem& p, const LayerNorm::Input&, const Context&) {
  const bool timed = std::getenv("OPENBLAS_THREAD_TIMEOUT") != nullptr;
  return [p, every = timed ? 2 : 1](const LayerNorm::Input& in, LayerNorm::Output& out) {
    for (Index row = 0; row < p.rows; row += every) layer_norm_row(p, in, out, row);
  };
}

const Register registered{[](Registry& r) {
  r.add<LayerNorm>({.name = "by_environment",
                    .summary = "leaves out every second row where the environment is that of a measurement",
                    .known_cheat = "tells by environment variables whether it is timed: "
                                   "gpu-mode/reference-kernels 162",
                    .prepare = prepare});
}};

}  // namespace
}  // namespace assay::known_cheats
