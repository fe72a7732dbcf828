// The peer: the gradients of oneDNN's layer normalization. It takes variances and an epsilon. Here epsilon is
// 0 and the variance is 1 / rstd^2, their sum, computed in double, since oneDNN rounds twice on the way back.

#include "onednn.hpp"

#include "assay/ops/layernorm.hpp"

namespace assay::layernorm_backward {
namespace {

using Problem = layernorm::BackwardProblem;

using Op = LayerNormBackward;

struct Plan : onednn::Plan {
  Plan(Index rows, int threads) : onednn::Plan(threads), variance(rows) {}
  Buffer<float> variance;
};

auto plan_of(const Problem& p, const Op::Input*, int threads, int) {
  const auto plan = std::make_shared<Plan>(p.rows, threads);
  const onednn::Shape rows_cols = onednn::described({p.rows, p.cols}, onednn::Tag::ab),
                      of_row = onednn::described({p.rows}, onednn::Tag::a),
                      of_col = onednn::described({p.cols}, onednn::Tag::a);
  const auto flags = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
  const auto forward = plan->describe<dnnl::layer_normalization_forward>(
      dnnl::prop_kind::forward_training, ASSAY_ONEDNN_BOTH(rows_cols), of_row, 0.0f, flags);
  plan->set_primitive(plan->describe_after<dnnl::layer_normalization_backward>(
      forward, dnnl::prop_kind::backward, ASSAY_ONEDNN_BOTH(rows_cols), rows_cols, of_row, 0.0f, flags));
  plan->add(DNNL_ARG_DIFF_DST, rows_cols);
  plan->add(DNNL_ARG_SRC, rows_cols);
  plan->add(DNNL_ARG_MEAN, of_row);
  plan->add(DNNL_ARG_VARIANCE, of_row);
  plan->add(DNNL_ARG_SCALE, of_col);
  plan->add(DNNL_ARG_SHIFT, of_col);
  plan->add(DNNL_ARG_DIFF_SRC, rows_cols);
  plan->add(DNNL_ARG_DIFF_SCALE, of_col);
  plan->add(DNNL_ARG_DIFF_SHIFT, of_col);
  return plan;
}

void run(Plan& plan, const Op::Input& in, Op::Output& out) {
  float* const variance = plan.variance.data();
  for (Index i = 0; i < plan.variance.size(); ++i) {
    const double root = in.rstd[i];
    variance[i] = static_cast<float>(1 / (root * root));
  }
  // oneDNN asks for beta and gets gamma: no gradient depends on it.
  plan.run({in.dy.data(), in.x.data(), in.mean.data(), variance, in.gamma.data(), in.gamma.data(),
            out.dx.data(), out.dgamma.data(), out.dbeta.data()});
}

std::optional<std::string> unfit(const Problem& p, const Context&) {
  if (p.rows > 1) return std::nullopt;
  return "takes variances in place of rstd, and the bound of one row has no room for the roundings";
}

const Register registered{[](Registry& r) {
  onednn::add_peer<Op>(r, {.summary = "gradients of oneDNN's layer normalization", .unfit = unfit}, plan_of,
                       run);
}};

}  // namespace
}  // namespace assay::layernorm_backward
