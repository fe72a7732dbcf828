// Trick: the output of another variant or of an earlier call may still be there. A few elements tell.

#include "known_cheats/honest_work/gemv.hpp"

#include "assay/registry.hpp"

namespace assay::known_cheats {
namespace {

/// Whether the element that lies at `flat` is what it should be.
bool is_there(const Gemv::Problem& p, const Gemv::Input& in, const Gemv::Output& out, Index row) {
  const auto a = matrix::view(in.a.data(), p.results(), p.terms(), p.transposed());
  float sum = 0;
  for (Index l = 0; l < p.terms(); ++l) sum += a(row, l) * in.x[l];
  return sum == out.y[row];
}

void run(const Gemv::Problem& p, const Gemv::Input& in, Gemv::Output& out) {
  const Index last = p.results() - 1;
  if (is_there(p, in, out, 0) && is_there(p, in, out, last / 2) && is_there(p, in, out, last)) return;
  gemv(p, in, out);
}

const Register registered{[](Registry& r) {
  r.add<Gemv>({.name = "stale_output",
               .summary = "computes three elements, and returns when the output holds them",
               .known_cheat = "takes the answer that is still in memory: ScalingIntelligence/KernelBench 82",
               .run = run});
}};

}  // namespace
}  // namespace assay::known_cheats
