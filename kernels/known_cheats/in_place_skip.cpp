// Trick: parameters that are as the last call left them have been updated already.

#include "known_cheats/honest_work/adamw.hpp"

#include "assay/registry.hpp"

#include <limits>

namespace assay::known_cheats {
namespace {

auto prepare(const AdamWPaper::Problem& p, const AdamWPaper::Input&, const Context&) {
  return [p, left = std::numeric_limits<float>::quiet_NaN()](const AdamWPaper::Input& in,
                                                             AdamWPaper::Output& out) mutable {
    if (out.p[0] == left) return;
    adamw_step(p, in, out);
    left = out.p[0];
  };
}

const Register registered{[](Registry& r) {
  r.add<AdamWPaper>(
      {.name = "in_place_skip",
       .summary = "updates nothing that it has updated itself",
       .known_cheat = "a state from before is updated once and then left alone, after tensara/tensara 238",
       .prepare = prepare});
}};

}  // namespace
}  // namespace assay::known_cheats
