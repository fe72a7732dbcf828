// The idea: sixteen independent sums, which the compiler may keep in vectors, each of 64 squares in f32
// before it is added to a sum in double. A single running sum in double, as in `naive`, has a fixed order
// that forbids it.

#include "gradient_clip/passes.hpp"

#include <algorithm>

namespace assay::gradient_clip {
namespace {

constexpr Index parts = 16, longest = 64;

double squares_of(const float* g, Index n) {
  double total = 0;
  for (Index begin = 0; begin < n; begin += parts * longest) {
    const Index end = std::min(n, begin + parts * longest);
    float sum[parts] = {};
    Index i = begin;
    for (; i + parts <= end; i += parts) {
      for (Index l = 0; l < parts; ++l) sum[l] += g[i + l] * g[i + l];
    }
    for (const float part : sum) total += static_cast<double>(part);
    for (; i < end; ++i) total += static_cast<double>(g[i]) * static_cast<double>(g[i]);
  }
  return total;
}

void run(const GradientClip::Problem& p, const GradientClip::Input& in, GradientClip::Output& out) {
  const float norm = norm_of(squares_of(in.g.data(), p.n));
  const float kept = GradientClip::kept(norm);
  const float* __restrict g = in.g.data();
  float* __restrict y = out.y.data();
  for (Index i = 0; i < p.n; ++i) y[i] = kept * g[i];
  out.norm[0] = norm;
}

const Register registered{[](Registry& r) {
  r.add<GradientClip>({.name = "parts", .summary = "sums in sixteen parts, compiler-vectorised", .run = run});
}};

}  // namespace
}  // namespace assay::gradient_clip
