// The idea: `fused` with each product cut into one rectangle per thread. Threads meet twice, when the
// narrow products are ready and at the end.

#include "lora/products.hpp"

namespace assay::lora {

const Register registered{[](Registry& r) {
  for_each_contract([&]<class Op>() {
    add_threaded<Op>(r, "fused, one rectangle of each product per thread, best tier",
                     [](const Problem& p, const typename Op::Input& in, const Context& context) {
                       return scheduled<Op>(p, in, best_of(blocked::tiers()), context.threads);
                     });
  });
}};

}  // namespace assay::lora
