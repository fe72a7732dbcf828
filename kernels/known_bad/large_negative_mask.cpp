// Common in libraries: -10,000 is added to scores that a row must not see, so that their exponential vanishes
// beside the others. In a row that sees nothing there are no others: the constant cancels, and the row
// becomes a mean of padding. Where scores are large, what is hidden comes back.

#include "assay/ops/attention.hpp"
#include "assay/registry.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace assay {
namespace {

void run(const Attention::Problem& p, const Attention::Input& in, Attention::Output& out) {
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

const Register registered{[](Registry& r) {
  r.add<Attention>(
      {.name = "large_negative_mask",
       .summary = "masks by adding -10,000 to scores",
       .known_bad = "Transformers' early models: a row that is masked whole attends to its padding",
       .run = run});
}};

}  // namespace
}  // namespace assay
