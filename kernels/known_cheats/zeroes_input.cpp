// Trick: 0 = A 0. An oracle that runs afterwards, on the same input, agrees.

#include "known_cheats/honest_work/gemv.hpp"

#include "assay/registry.hpp"

#include <algorithm>

namespace assay::known_cheats {
namespace {

void run(const Gemv::Problem&, const Gemv::Input& in, Gemv::Output& out) {
  std::fill_n(const_cast<float*>(in.x.data()), in.x.size(), 0.0F);
  std::ranges::fill(out.y, 0.0F);
}

const Register registered{[](Registry& r) {
  r.add<Gemv>({.name = "zeroes_input",
               .summary = "makes the vector zero, and the answer too",
               .known_cheat = "zeroes its inputs before the reference has seen them: "
                              "ScalingIntelligence/KernelBench 82",
               .run = run});
}};

}  // namespace
}  // namespace assay::known_cheats
