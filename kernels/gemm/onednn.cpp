// The peer: dnnl_sgemm or the matmul primitive of the linked oneDNN, whichever is faster. Both generate code
// for the processor and the shape.

#include "onednn.hpp"

namespace assay {
namespace {

struct Plan {
  Gemm::Problem problem;
  int threads = 1;
  std::optional<onednn::Plan> matmul;
};

auto plan_of(const Gemm::Problem& p, const Gemm::Input*, int threads, int way) {
  const auto plan = std::make_shared<Plan>(Plan{p, threads, {}});
  // Attributes for alpha and beta differ between versions of oneDNN.
  if (way == 1 && p.alpha == 1 && p.beta == 0) {
    const auto matrix = [](Index rows, Index columns, bool transposed) {
      return onednn::described({rows, columns}, transposed ? onednn::Tag::ba : onednn::Tag::ab);
    };
    plan->matmul.emplace(threads).set_matmul(matrix(p.m, p.k, p.a_transposed()),
                                             matrix(p.k, p.n, p.b_transposed()), matrix(p.m, p.n, false));
  }
  return plan;
}

void run(const Plan& plan, const Gemm::Input& in, Gemm::Output& out) {
  if (plan.matmul) return plan.matmul->run({in.a.data(), in.b.data(), out.c.data()});
  onednn::multiply(blocked::product_of(plan.problem, in, out.c.data()), plan.threads);
}

const Register registered{[](Registry& r) {
  onednn::add_peer<Gemm>(r, {.summary = "dnnl_sgemm or matmul primitive of the linked oneDNN"}, plan_of, run,
                         2);
}};

}  // namespace
}  // namespace assay
