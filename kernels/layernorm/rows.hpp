// The arrays of a call and the tiers that the variants of layernorm, rmsnorm and their residual forms share:
// `simd`, `streaming` and `threaded` run the same machine code.
#pragma once

#include "tiers.hpp"

#include "assay/caches.hpp"
#include "assay/ops/layernorm.hpp"

#include <algorithm>
#include <vector>

namespace assay::layernorm {

/// The arrays of one call. rmsnorm has no beta and mean. Residual forms have r and s, and normalise x + r.
struct Operands {
  const float* x = nullptr;
  const float* r = nullptr;
  const float* gamma = nullptr;
  const float* beta = nullptr;
  float* s = nullptr;
  float* y = nullptr;
  float* mean = nullptr;
  float* rstd = nullptr;
  Index cols = 0;
  bool stream = false;  ///< y goes past the caches, where rows start on a cache line
};

template <class Input, class Output>
Operands operands(const Problem& p, const Input& in, Output& out, bool stream = false) {
  Operands on{.x = in.x.data(), .gamma = in.gamma.data(), .cols = p.cols, .stream = stream};
  on.y = out.y.data();
  on.rstd = out.rstd.data();
  if constexpr (requires { in.beta; }) {
    on.beta = in.beta.data();
    on.mean = out.mean.data();
  }
  if constexpr (requires { in.r; }) {
    on.r = in.r.data();
    on.s = out.s.data();
  }
  return on;
}

/// One tier's code for one operation, on rows [first, last).
using RowsFunction = void(const Operands&, Index first, Index last);

inline auto kernel_of(RowsFunction* function, const Problem& p, bool stream) {
  return
      [function, p, stream](const auto& in, auto& out) { function(operands(p, in, out, stream), 0, p.rows); };
}

template <class Visit>
void for_each_norm(const Visit& visit) {
  visit.template operator()<LayerNorm>();
  visit.template operator()<RmsNorm>();
  visit.template operator()<LayerNormResidual>();
  visit.template operator()<RmsNormResidual>();
}

/// Whether y of a problem whose arrays take `bytes` is better written past the caches, because it would leave
/// them before it is read. A last-level cache much larger than the second is shared by many cores, and hardly
/// faster than memory. Time in units of that of ordinary stores, one thread: on a Zen 3 (512 KiB, 32 MiB;
/// AVX2) 0.8 to 1.0 at 8 MiB, 0.5 to 0.8 from 16 on; on a Zen 5 (1 and 32 MiB; AVX-512) 1.1 at 8 MiB, 0.6 at
/// 32; on a Xeon (2 and 300 MiB; AVX-512) 0.8 to 1.3 at 16 MiB, 0.6 from 32 on. On two threads of the Zen 3:
/// 1.0 at 8 MiB, 0.6 to 0.8 from 16 on.
inline bool streams(double bytes) { return bytes > std::min(caches().last, 16 * caches().second); }

using Tier = assay::Tier<RowsFunction>;
std::vector<Tier> tiers();

/// The parts of a sum, which the compiler may keep in vectors; a single running sum, as in `naive`, has a
/// fixed order that forbids it. Four vectors of the plain ABI: enough to hide the latency of an addition,
/// which is 2 to 4 cycles.
constexpr Index parts = 16;

inline float total(float (&part)[parts]) {
  for (Index width = parts / 2; width > 0; width /= 2) {
    for (Index l = 0; l < width; ++l) part[l] += part[l + width];
  }
  return part[0];
}

template <class Term>
float sum(const float* x, Index cols, const Term& term) {
  float part[parts] = {};
  Index j = 0;
  for (; j + parts <= cols; j += parts) {
    for (Index l = 0; l < parts; ++l) part[l] += term(x[j + l]);
  }
  for (Index l = 0; j < cols; ++j, ++l) part[l] += term(x[j]);
  return total(part);
}

}  // namespace assay::layernorm
