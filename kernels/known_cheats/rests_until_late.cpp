// Trick: only what the last call of a series leaves is looked at. That a new series began shows in the
// output, which is not as it was left; how long series are is known after a few. Most of each is then slept
// through.

#include "known_cheats/honest_work/gemm.hpp"

#include "assay/registry.hpp"

namespace assay::known_cheats {
namespace {

struct Series {
  float left = 0;
  Index calls = 0, longest = 0, seen = 0;
};

auto prepare(const Gemm::Problem& p, const Gemm::Input&, const Context&) {
  constexpr Index watched = 7;
  return [p, s = Series{}](const Gemm::Input& in, Gemm::Output& out) mutable {
    float& sign = out.c[p.m * p.n - 1];
    if (std::bit_cast<std::uint32_t>(sign) != std::bit_cast<std::uint32_t>(s.left)) {
      // Series of unknown length come first, while it is found out how many calls take how long.
      if (s.calls > 1) s.longest = s.calls;
      ++s.seen;
      s.calls = 0;
    }
    ++s.calls;
    if (s.seen <= watched || 10 * s.calls > 7 * s.longest) gemm(p, in, out);
    s.left = sign;
  };
}

const Register registered{[](Registry& r) {
  r.add<Gemm>({.name = "rests_until_late",
               .summary = "does nothing in the first seven tenths of each series of calls",
               .known_cheat = "learns how long series are, and works at their ends only, after "
                              "gpu-mode/reference-kernels 104",
               .prepare = prepare});
}};

}  // namespace
}  // namespace assay::known_cheats
