// The idea: `fused` with each product cut into one rectangle per thread. Threads meet twice, when the narrow
// products are ready and at the end.

#include "lora/schedule.hpp"
#include "tiers.hpp"

namespace assay::lora {
namespace {

template <class Op>
void add(Registry& r) {
  r.add<Op>({.name = "threaded",
             .summary = "fused, one rectangle of each product per thread, best tier",
             .threaded = true,
             .prepare = [](const Problem& p, const typename Op::Input& in, const Context& context) {
               return scheduled<Op>(p, in, best_of(blocked::tiers()), context.threads);
             }});
}

const Register registered{[](Registry& r) {
  add<Lora>(r);
  add<LoraBackward>(r);
}};

}  // namespace
}  // namespace assay::lora
