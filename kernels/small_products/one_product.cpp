// The idea: all samples use the same weights, so their rows form one matrix and one product serves them. It
// packs the weights once and fills its register tiles. The mean stays with each sample.

#include "small_products/products.hpp"

namespace assay::small_products {

const Register registered{[](Registry& r) {
  r.add<SmallProducts>({.name = "one_product",
                        .summary = "one product of the rows of all samples, means per sample",
                        .prepare = layer_of(0)});
}};

}  // namespace assay::small_products
