// The peer: the matmul primitive of the linked oneDNN. It generates code for the shape before the first call
// and divides the batch among its threads.

#include "onednn.hpp"

namespace assay {
namespace {

auto plan_of(const BatchedGemm::Problem& p, const BatchedGemm::Input*, int threads, int) {
  const auto plan = std::make_shared<onednn::Plan>(threads);
  const auto matrices = [&](Index rows, Index columns, bool transposed) {
    return onednn::described({p.batch, rows, columns}, transposed ? onednn::Tag::acb : onednn::Tag::abc);
  };
  plan->set_matmul(matrices(p.m, p.k, p.a_transposed()), matrices(p.k, p.n, p.b_transposed()),
                   matrices(p.m, p.n, false));
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
