// The work that cheats leave out, delay or hide: a normalization, plain and right.
#pragma once

#include "assay/ops/layernorm.hpp"

#include <cmath>

namespace assay::known_cheats {

/// With the statistics that it writes, as naive: the contract lets y be that of more digits, too.
inline void layer_norm_row(const LayerNorm::Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out,
                           Index row) {
  const float* x = in.x.data() + row * p.cols;
  float* y = out.y.data() + row * p.cols;
  const auto cols = static_cast<double>(p.cols);
  double sum = 0, squares = 0;
  for (Index j = 0; j < p.cols; ++j) sum += static_cast<double>(x[j]);
  const double mean = sum / cols;
  for (Index j = 0; j < p.cols; ++j)
    squares += (static_cast<double>(x[j]) - mean) * (static_cast<double>(x[j]) - mean);
  const double rstd = 1 / std::sqrt(squares / cols + layernorm::epsilon);
  const float written_mean = static_cast<float>(mean), written_rstd = static_cast<float>(rstd);
  for (Index j = 0; j < p.cols; ++j) y[j] = (x[j] - written_mean) * written_rstd * in.gamma[j] + in.beta[j];
  out.mean[row] = written_mean;
  out.rstd[row] = written_rstd;
}
inline void layer_norm(const LayerNorm::Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
  for (Index row = 0; row < p.rows; ++row) layer_norm_row(p, in, out, row);
}

}  // namespace assay::known_cheats
