// The peer: the products of `fused` by dnnl_sgemm of the linked oneDNN, composed as in `openblas`.

#include "onednn.hpp"
#include "lora/products.hpp"

namespace assay::lora {

const Register registered{[](Registry& r) {
  add_peer(r, "onednn", "its products by dnnl_sgemm of the linked oneDNN", onednn::multiply);
}};

}  // namespace assay::lora
