// The idea: s scales the narrow product, X A or dY B^T with m r elements, and the product of that is added to
// Y or dX while it is computed (beta = 1). There is no temporary as large as Y, and no pass to scale or to
// add. One m x r temporary remains, two in the backward pass; without it, X A would be computed again for
// each part of Y. W + s A B is never formed: that alone is k n r multiply-adds.

#include "lora/products.hpp"

namespace assay::lora {

const Register registered{[](Registry& r) {
  for_each_contract([&]<class Op>() {
    add_tiers<Op>(
        r, blocked::tiers(),
        {.name = "fused", .summary = "scaled while narrow, then added by the product, tiles compiled for {}"},
        [](const blocked::Tier& tier, const Problem& p, const typename Op::Input& in) {
          return scheduled<Op>(p, in, tier, 1);
        });
  });
}};

}  // namespace assay::lora
