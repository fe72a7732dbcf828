// Common when a loop over samples is turned into one call: everything in its body is batched, the
// normalization too, which then takes its mean over all samples, as batch normalization does. It is right for
// one sample.

#include "assay/ops/small_products.hpp"
#include "assay/registry.hpp"

namespace assay {
namespace {

void run(const SmallProducts::Problem& p, const SmallProducts::Input& in, SmallProducts::Output& out) {
  const Index rows = p.samples * p.rows;
  for (Index j = 0; j < p.n; ++j) {
    float sum = 0;
    for (Index i = 0; i < rows; ++i) {
      float y = 0;
      for (Index l = 0; l < p.k; ++l) y += in.x[i * p.k + l] * in.w[l * p.n + j];
      sum += out.y[i * p.n + j] = y;
    }
    for (Index i = 0; i < rows; ++i) out.y[i * p.n + j] -= sum / static_cast<float>(rows);
  }
}

const Register registered{[](Registry& r) {
  r.add<SmallProducts>(
      {.name = "mean_of_batch",
       .summary = "one product, and one mean over the rows of all samples",
       .known_bad = "VoxCeleb trainer guide: batching a loop whose layers are not all per sample",
       .run = run});
}};

}  // namespace
}  // namespace assay
