// The peer: layer normalization of oneDNN. It writes variances; the call includes turning them into
// reciprocal roots. Up to version 3.7 there is no normalization by the root mean square.

#include "onednn.hpp"

#include "assay/ops/layernorm.hpp"

#include <cmath>

namespace assay::layernorm {
namespace {

auto plan_of(const Problem& p, const LayerNorm::Input*, int threads, int) {
  const auto plan = std::make_shared<onednn::Plan>(threads);
  const onednn::Shape rows_cols = onednn::described({p.rows, p.cols}, onednn::Tag::ab),
                      of_row = onednn::described({p.rows}, onednn::Tag::a),
                      of_col = onednn::described({p.cols}, onednn::Tag::a);
  using Flags = dnnl::normalization_flags;
  plan->set_primitive(plan->describe<dnnl::layer_normalization_forward>(
      dnnl::prop_kind::forward_training, ASSAY_ONEDNN_BOTH(rows_cols), of_row, static_cast<float>(epsilon),
      Flags::use_scale | Flags::use_shift));
  plan->add(DNNL_ARG_SRC, rows_cols);
  plan->add(DNNL_ARG_SCALE, of_col);
  plan->add(DNNL_ARG_SHIFT, of_col);
  plan->add(DNNL_ARG_DST, rows_cols);
  plan->add(DNNL_ARG_MEAN, of_row);
  plan->add(DNNL_ARG_VARIANCE, of_row);
  return plan;
}

const Register registered{[](Registry& r) {
  onednn::add_peer<LayerNorm>(
      r, {.summary = "layer normalization of oneDNN, 1 / sqrt of its variances"}, plan_of,
      [](const onednn::Plan& plan, const LayerNorm::Input& in, LayerNorm::Output& out) {
        plan.run(
            {in.x.data(), in.gamma.data(), in.beta.data(), out.y.data(), out.mean.data(), out.rstd.data()});
        for (float& spread : out.rstd) spread = 1 / std::sqrt(spread + static_cast<float>(epsilon));
      });
}};

}  // namespace
}  // namespace assay::layernorm
