// Attention with masks or a softmax that fail at large scores.

#include "assay/ops/attention.hpp"
#include "assay/registry.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace assay {
namespace {

// Common in libraries: -10,000 is added to hidden scores, so that their exponential vanishes beside the
// others. A row in which all are hidden has no others: the constant cancels, and the row becomes a mean of
// padding. Where scores are large, hidden ones come back.
void large_negative_mask(const Attention::Problem& p, const Attention::Input& in, Attention::Output& out) {
  const float scale = 1 / std::sqrt(static_cast<float>(p.d));
  std::vector<float> score(static_cast<std::size_t>(p.tokens));
  for (Index row = 0; row < p.heads * p.tokens; ++row) {
    const Index head = row / p.tokens * p.tokens;
    for (Index j = 0; j < p.tokens; ++j) {
      float sum = 0;
      for (Index c = 0; c < p.d; ++c) sum += in.q[row * p.d + c] * in.k[(head + j) * p.d + c];
      const bool seen = j >= p.first_key() && j < p.keys_end(row % p.tokens);
      score[static_cast<std::size_t>(j)] = scale * sum + (seen ? 0 : -10000.0F);
    }
    const float largest = *std::ranges::max_element(score);
    float sum = 0;
    for (float& s : score) sum += s = std::exp(s - largest);
    for (Index c = 0; c < p.d; ++c) {
      float y = 0;
      for (Index j = 0; j < p.tokens; ++j) {
        y += score[static_cast<std::size_t>(j)] / sum * in.v[(head + j) * p.d + c];
      }
      out.y[row * p.d + c] = y;
    }
  }
}

// Common in first versions of fused attention: powers of the scores are summed as they come, without the
// largest of the row subtracted and corrected for. It is right for the small scores of a test, and NaN once a
// score is above 88.
void no_maximum_of_scores(const Attention::Problem& p, const Attention::Input& in, Attention::Output& out) {
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
  r.add<Attention>(
      {.name = "large_negative_mask",
       .summary = "masks by adding -10,000 to scores",
       .known_bad = "Transformers' early models: a row that is masked whole attends to its padding",
       .run = large_negative_mask});
  r.add<Attention>({.name = "no_maximum_of_scores",
                    .summary = "one pass over the keys, powers summed as they are",
                    .known_bad = "the formula as it is printed: overflows where a score is above 88",
                    .run = no_maximum_of_scores});
}};

}  // namespace
}  // namespace assay
