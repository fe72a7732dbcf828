// The idea: both sums of a row in sixteen independent parts, which the compiler may keep in vectors, and the
// gradients of gamma and beta in the same walk. A single running sum, as in `naive`, has a fixed order that
// forbids it. The second walk finds the row in a cache.

#include "layernorm/rows.hpp"
#include "layernorm_backward/rows.hpp"

#include <algorithm>
#include <type_traits>

namespace assay::layernorm_backward {
namespace {

using layernorm::parts, layernorm::total;

template <bool centred>
void row(const Operands& on, Index r) {
  const float* __restrict dy = on.dy + r * on.cols;
  const float* __restrict x = on.x + r * on.cols;
  const float* __restrict gamma = on.gamma;
  float* __restrict dx = on.dx + r * on.cols;
  float* __restrict dgamma = on.dgamma;
  float* __restrict dbeta = on.dbeta;
  const float mean = centred ? on.mean[r] : 0, rstd = on.rstd[r];

  float part_of_w[parts] = {}, part_of_w_xhat[parts] = {};
  const auto add = [&](Index j, Index l) {
    const float w = dy[j] * gamma[j], xhat = (x[j] - mean) * rstd;
    if constexpr (centred) {
      part_of_w[l] += w;
      dbeta[j] += dy[j];
    }
    part_of_w_xhat[l] += w * xhat;
    dgamma[j] += dy[j] * xhat;
  };
  Index j = 0;
  for (; j + parts <= on.cols; j += parts) {
    for (Index l = 0; l < parts; ++l) add(j + l, l);
  }
  for (Index l = 0; j < on.cols; ++j, ++l) add(j, l);

  const auto n = static_cast<float>(on.cols);
  const float of_w = centred ? total(part_of_w) / n : 0, of_w_xhat = total(part_of_w_xhat) / n;
  for (j = 0; j < on.cols; ++j) {
    dx[j] = rstd * (dy[j] * gamma[j] - of_w - (x[j] - mean) * rstd * of_w_xhat);
  }
}

const Register registered{[](Registry& r) {
  for_each_norm([&]<class Op>() {
    constexpr bool centred = std::is_same_v<Op, LayerNormBackward>;
    const auto run = [](const Problem& p, const typename Op::Input& in, typename Op::Output& out) {
      const Operands on = operands(p, in, out);
      std::fill_n(on.dgamma, p.cols, 0.0F);
      if constexpr (centred) std::fill_n(on.dbeta, p.cols, 0.0F);
      for (Index i = 0; i < p.rows; ++i) row<centred>(on, i);
    };
    r.add<Op>({.name = "fused", .summary = "one walk for all sums, compiler-vectorised", .run = run});
  });
}};

}  // namespace
}  // namespace assay::layernorm_backward
