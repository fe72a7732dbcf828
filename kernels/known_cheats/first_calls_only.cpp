// Trick: somebody checks at first and measures later. After so many calls the checks must be over.

#include "known_cheats/honest_work/gemv.hpp"

#include "assay/registry.hpp"

namespace assay::known_cheats {
namespace {

auto prepare(const Gemv::Problem& p, const Gemv::Input&, const Context&) {
  constexpr int honest_calls = 40;  // of which a check takes 33 at most
  return [p, calls = 0](const Gemv::Input& in, Gemv::Output& out) mutable {
    if (++calls <= honest_calls) gemv(p, in, out);
  };
}

const Register registered{[](Registry& r) {
  r.add<Gemv>({.name = "first_calls_only",
               .summary = "works in its first forty calls",
               .known_cheat = "is right as often as it is checked before it is timed: karpathy/llm.c 852",
               .prepare = prepare});
}};

}  // namespace
}  // namespace assay::known_cheats
