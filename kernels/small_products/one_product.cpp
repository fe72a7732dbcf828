// The idea: all samples meet the same weights, so that their rows are one matrix and one product serves them,
// which packs the weights once and fills its register tiles; the mean stays with each sample.

#include "small_products/products.hpp"

#include "assay/registry.hpp"

namespace assay::small_products {
namespace {

const Register registered{[](Registry& r) {
  r.add<SmallProducts>({.name = "one_product",
                        .summary = "one product of the rows of all samples, means per sample",
                        .prepare = layer_of(0)});
}};

}  // namespace
}  // namespace assay::small_products
