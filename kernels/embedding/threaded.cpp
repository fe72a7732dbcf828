// The idea: ids, columns of the gradient, or elements on every thread. No two threads write to one number, so
// the result does not depend on their number.
//
// Break-evens are chosen, not measured: those of copies in the second-level cache, of sums of channels, and
// of the formulas of `pointwise` without an exponential.

#include "embedding/divided.hpp"
#include "team.hpp"

namespace assay::embedding {

const Register registered{[](Registry& r) {
  add_threaded<Embedding>(r, "prefetched, ids divided",
                          [](const Problem& p, const auto&, const Context& context) {
                            return prefetched(p, started_team(context, p.n * p.d < 65536, p.n));
                          });
  add_threaded<EmbeddingBackward>(
      r, "the best tier of sorted, columns divided",
      [](const Problem& p, const auto&, const Context& context) {
        return sorted(p, started_team(context, (p.n + p.rows) * p.d < 262144, (p.d + 15) / 16));
      });
  add_threaded<Dropout>(r, "the best SIMD tier, elements divided",
                        [](const Dropout::Problem& p, const auto&, const Context& context) {
                          return dropped(p, started_team(context, p.n < 131072));
                        });
}};

}  // namespace assay::embedding
