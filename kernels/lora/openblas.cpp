// The peer: the products of `fused` by cblas_sgemm of the linked OpenBLAS, with s in the narrow products and
// beta = 1 in those that are added. Frameworks compose an adapter likewise; most apply s in a pass of its
// own.

#include "openblas.hpp"
#include "lora/products.hpp"

namespace assay::lora {

const Register registered{[](Registry& r) {
  add_peer(r, "openblas", "its products by cblas_sgemm of the linked OpenBLAS", openblas::multiply);
}};

}  // namespace assay::lora
