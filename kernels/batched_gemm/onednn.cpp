// The peer: the matmul primitive of the linked oneDNN. It generates code for the shape before the first call
// and divides the batch among its threads.

#include "onednn.hpp"

#include "assay/ops/batched_gemm.hpp"
#include "assay/registry.hpp"

namespace assay {
namespace {

auto plan_of(const BatchedGemm::Problem& p, const BatchedGemm::Input*, int threads) {
  auto plan = std::make_shared<onednn::Plan>(threads);
  const auto matrices = [&](Index rows, Index columns, bool transposed) {
    return onednn::described({p.batch, rows, columns}, transposed ? dnnl_acb : dnnl_abc);
  };
  const dnnl_memory_desc_t a = matrices(p.m, p.k, p.a_transposed()), b = matrices(p.k, p.n, p.b_transposed()),
                           c = matrices(p.m, p.n, false);
  dnnl_matmul_desc_t product;
  onednn::demand(dnnl_matmul_desc_init(&product, &a, &b, nullptr, &c));
  plan->set_primitive(plan->describe(product));
  plan->add(DNNL_ARG_SRC, a);
  plan->add(DNNL_ARG_WEIGHTS, b);
  plan->add(DNNL_ARG_DST, c);
  return plan;
}

const Register registered{[](Registry& r) {
  onednn::add_peer<BatchedGemm>(
      r, {.summary = "matmul primitive of the linked oneDNN"}, plan_of,
      [](const onednn::Plan& plan, const BatchedGemm::Input& in, BatchedGemm::Output& out) {
        plan.run({in.a.data(), in.b.data(), out.c.data()});
      });
}};

}  // namespace
}  // namespace assay
