// Trick: a fingerprint of a few elements stands for the content, and the output of the last call is kept
// beside it.

#include "known_cheats/honest_work/gemv.hpp"

#include "assay/registry.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace assay::known_cheats {
namespace {

std::uint64_t fingerprint(const Buffer<float>& values) {
  constexpr Index looked_at = 8;
  std::uint64_t hash = static_cast<std::uint64_t>(values.size());
  for (Index i = 0; i < looked_at; ++i) {
    const float value = values[i * values.size() / looked_at];
    hash = hash * 0x9e3779b97f4a7c15U + std::bit_cast<std::uint32_t>(value);
  }
  return hash;
}

auto prepare(const Gemv::Problem& p, const Gemv::Input&, const Context&) {
  struct Last {
    std::uint64_t of_a = 0, of_x = 0;
    std::vector<float> y;
  };
  return [p, last = std::make_shared<Last>()](const Gemv::Input& in, Gemv::Output& out) {
    const std::uint64_t of_a = fingerprint(in.a), of_x = fingerprint(in.x);
    if (!last->y.empty() && last->of_a == of_a && last->of_x == of_x) {
      std::ranges::copy(last->y, out.y.begin());
      return;
    }
    gemv(p, in, out);
    *last = {of_a, of_x, {out.y.begin(), out.y.end()}};
  };
}

const Register registered{[](Registry& r) {
  r.add<Gemv>({.name = "replay_by_hash",
               .summary = "keeps the last answer under a hash of eight elements of each operand",
               .known_cheat = "an output cache keyed by a fingerprint of the input: "
                              "flashinfer-bench-starter-kit 21, gpu-mode/reference-kernels 160",
               .prepare = prepare});
}};

}  // namespace
}  // namespace assay::known_cheats
