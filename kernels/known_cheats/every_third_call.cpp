// Trick: calls come in series, and one in three does the work of all three.

#include "known_cheats/honest_work/conv2d.hpp"

#include "assay/registry.hpp"

namespace assay::known_cheats {
namespace {

auto prepare(const Conv2d::Problem& p, const Conv2d::Input&, const Context&) {
  return [p, calls = 0](const Conv2d::Input& in, Conv2d::Output& out) mutable {
    if (calls++ % 3 == 0) conv2d_all(p, in, out);
  };
}

const Register registered{[](Registry& r) {
  r.add<Conv2d>(
      {.name = "every_third_call",
       .summary = "convolves in one call of three",
       .known_cheat = "one of 15 calls works, and the others return: gpu-mode/reference-kernels 104",
       .prepare = prepare});
}};

}  // namespace
}  // namespace assay::known_cheats
