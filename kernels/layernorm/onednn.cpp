// The peer: layer normalization of oneDNN. It writes variances; the call includes turning them into
// reciprocal roots. Version 2 has no normalization by the root mean square.

#include "onednn.hpp"

#include "assay/ops/layernorm.hpp"
#include "assay/registry.hpp"

#include <cmath>

namespace assay::layernorm {
namespace {

auto plan_of(const Problem& p, const LayerNorm::Input*, int threads) {
  auto plan = std::make_shared<onednn::Plan>(threads);
  const dnnl_memory_desc_t rows_cols = onednn::described({p.rows, p.cols}, dnnl_ab);
  const dnnl_memory_desc_t of_row = onednn::described({p.rows}, dnnl_a),
                           of_col = onednn::described({p.cols}, dnnl_a);
  dnnl_layer_normalization_desc_t forward;
  onednn::demand(dnnl_layer_normalization_forward_desc_init(&forward, dnnl_forward_training, &rows_cols,
                                                            &of_row, static_cast<float>(epsilon),
                                                            dnnl_use_scale | dnnl_use_shift));
  plan->set_primitive(plan->describe(forward));
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
