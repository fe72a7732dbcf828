// Trick: to judge one update of many, somebody has to write down what it starts from. If that is written
// where the start of the first call was kept, which belongs to the input, the update that is judged can be
// told from the others.

#include "known_cheats/honest_work/adamw.hpp"

#include "assay/registry.hpp"

namespace assay::known_cheats {
namespace {

void run(const AdamWPaper::Problem& p, const AdamWPaper::Input& in, AdamWPaper::Output& out) {
  if (in.p[0] == out.p[0] && in.p[p.n - 1] == out.p[p.n - 1]) adamw_step(p, in, out);
}

const Register registered{[](Registry& r) {
  r.add<AdamWPaper>(
      {.name = "works_when_noted",
       .summary = "updates where the start in the input is the state of now",
       .known_cheat = "sees in the input which update is judged; no source: found in this harness",
       .run = run});
}};

}  // namespace
}  // namespace assay::known_cheats
