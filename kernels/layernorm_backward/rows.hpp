// The arrays of a call and the tiers that the variants of layernorm_backward and rmsnorm_backward share:
// `simd`, `streaming` and `threaded` run the same machine code.
#pragma once

#include "tiers.hpp"

#include "assay/caches.hpp"
#include "assay/ops/layernorm.hpp"

#include <vector>

namespace assay::layernorm_backward {

using Problem = layernorm::BackwardProblem;

/// The arrays of one call. rmsnorm has no mean and dbeta.
struct Operands {
  const float* dy = nullptr;
  const float* x = nullptr;
  const float* mean = nullptr;
  const float* rstd = nullptr;
  const float* gamma = nullptr;
  float* dx = nullptr;
  float* dgamma = nullptr;
  float* dbeta = nullptr;
  Index cols = 0;
  bool stream = false;  ///< dx goes past the caches, where rows start on a cache line
};

template <class Input, class Output>
Operands operands(const Problem& p, const Input& in, Output& out, bool stream = false) {
  Operands on{.dy = in.dy.data(), .x = in.x.data(), .rstd = in.rstd.data(), .gamma = in.gamma.data()};
  on.dx = out.dx.data();
  on.dgamma = out.dgamma.data();
  on.cols = p.cols;
  on.stream = stream;
  if constexpr (requires { in.mean; }) {
    on.mean = in.mean.data();
    on.dbeta = out.dbeta.data();
  }
  return on;
}

/// One tier's code for one operation: dx of the rows [first, last), and dgamma and dbeta of these rows alone.
using RowsFunction = void(const Operands&, Index first, Index last);

inline auto kernel_of(RowsFunction* function, const Problem& p, bool stream) {
  return
      [function, p, stream](const auto& in, auto& out) { function(operands(p, in, out, stream), 0, p.rows); };
}

template <class Visit>
void for_each_norm(const Visit& visit) {
  visit.template operator()<LayerNormBackward>();
  visit.template operator()<RmsNormBackward>();
}

/// Whether `threads` threads, each with a second-level cache of its own, write dx faster past the caches if
/// the arrays of a problem take `bytes`. Time in units of that of ordinary stores, AVX2, on a Zen 3 with 512
/// KiB in the second level: on one thread 0.9 at 5 MiB, 0.6 to 0.8 from 12 on (a Xeon with 2 MiB: 0.9 and
/// 0.8); on two 0.8 at 2 MiB, 0.9 at 5, 0.7 from 24 on.
inline bool streams(double bytes, int threads) { return bytes > caches().second * threads; }

using Tier = assay::Tier<RowsFunction>;
std::vector<Tier> tiers();

}  // namespace assay::layernorm_backward
