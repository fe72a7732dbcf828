// The idea: `fused` with the rows of the batch, and those of each product over all steps, divided among
// threads. A batch of one row leaves all but one thread idle in the steps.

#include "lstm/steps.hpp"

namespace assay::lstm {
namespace {

template <class Op>
void add(Registry& r) {
  add_threaded<Op>(r, "fused, rows of the batch and of products divided among threads, best tier",
                   [](const Problem& p, const auto& in, const Context& context) {
                     const bool too_short = Op::flops(p) < 4 * blocked::least_multiply_adds;
                     return kernel_of(best_of(tiers()), p, in, started_team(context, too_short));
                   });
}

const Register registered{[](Registry& r) {
  add<Lstm>(r);
  add<LstmBackward>(r);
}};

}  // namespace
}  // namespace assay::lstm
