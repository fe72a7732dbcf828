// The idea: the register tiles of `gemm` in the loop over samples. The gain of `one_product` over this
// variant comes from batching alone.

#include "small_products/products.hpp"

namespace assay::small_products {

const Register registered{[](Registry& r) {
  r.add<SmallProducts>(
      {.name = "per_sample", .summary = "a product of the best tier per sample", .prepare = layer_of(1)});
}};

}  // namespace assay::small_products
