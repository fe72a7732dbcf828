// Common in first versions of fused attention: powers of the scores are summed as they come, without the
// largest of the row subtracted and corrected for. It is right for the small scores of a test, and NaN once
// one is above 88.

#include "assay/ops/attention.hpp"
#include "assay/registry.hpp"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

void run(const Attention::Problem& p, const Attention::Input& in, Attention::Output& out) {
  const float scale = 1 / std::sqrt(static_cast<float>(p.d));
  for (Index row = 0; row < p.heads * p.tokens; ++row) {
    const Index head = row / p.tokens * p.tokens;
    float* const y = out.y.data() + row * p.d;
    std::fill(y, y + p.d, 0.0F);
    float sum = 0;
    for (Index j = p.first_key(); j < p.keys_end(row % p.tokens); ++j) {
      float score = 0;
      for (Index c = 0; c < p.d; ++c) score += in.q[row * p.d + c] * in.k[(head + j) * p.d + c];
      const float power = std::exp(scale * score);
      sum += power;
      for (Index c = 0; c < p.d; ++c) y[c] += power * in.v[(head + j) * p.d + c];
    }
    for (Index c = 0; c < p.d && sum > 0; ++c) y[c] /= sum;
  }
}

const Register registered{[](Registry& r) {
  r.add<Attention>({.name = "no_maximum_of_scores",
                    .summary = "one pass over the keys, powers summed as they are",
                    .known_bad = "the formula as it is printed: overflows where a score is above 88",
                    .run = run});
}};

}  // namespace
}  // namespace assay
