// What the variants of layernorm and rmsnorm share: the arrays of a call, and the tiers by which `simd` and
// `threaded` run the same machine code.
#pragma once

#include "assay/ops/layernorm.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay::layernorm {

/// The arrays of one call. Without beta and mean it is rmsnorm.
struct Operands {
  const float* x = nullptr;
  const float* gamma = nullptr;
  const float* beta = nullptr;
  float* y = nullptr;
  float* mean = nullptr;
  float* rstd = nullptr;
  Index cols = 0;
};

inline Operands operands(const Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
  return {in.x.data(),     in.gamma.data(), in.beta.data(), out.y.data(),
          out.mean.data(), out.rstd.data(), p.cols};
}
inline Operands operands(const Problem& p, const RmsNorm::Input& in, RmsNorm::Output& out) {
  return {in.x.data(), in.gamma.data(), nullptr, out.y.data(), nullptr, out.rstd.data(), p.cols};
}

/// One tier's code for one operation, on rows [first, last).
using RowsFunction = void(const Operands&, Index first, Index last);

struct Tier {
  std::string name;
  RowsFunction* function = nullptr;
  std::optional<std::string> unfit;  ///< why it cannot run here
};
/// Every SIMD tier that was built, best first. Defined in simd.cpp, for use by other variants.
template <class Op>
std::vector<Tier> tiers();

}  // namespace assay::layernorm
