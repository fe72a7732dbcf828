// Computes y from statistics with more digits than it writes. y is nearer to the truth, and further from the
// y of the written statistics, by which it is judged; the contract has room for that.

#include "assay/ops/layernorm.hpp"
#include "assay/registry.hpp"

#include <cmath>

namespace assay::known_cheats {
namespace {

void run(const LayerNorm::Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
  const auto cols = static_cast<double>(p.cols);
  for (Index row = 0; row < p.rows; ++row) {
    const auto at = [&](Index j) { return static_cast<double>(in.x[row * p.cols + j]); };
    double sum = 0, squares = 0;
    for (Index j = 0; j < p.cols; ++j) sum += at(j);
    const double mean = sum / cols;
    for (Index j = 0; j < p.cols; ++j) squares += (at(j) - mean) * (at(j) - mean);
    const double rstd = 1 / std::sqrt(squares / cols + layernorm::epsilon);
    for (Index j = 0; j < p.cols; ++j) {
      const double y =
          (at(j) - mean) * rstd * static_cast<double>(in.gamma[j]) + static_cast<double>(in.beta[j]);
      out.y[row * p.cols + j] = static_cast<float>(y);
    }
    out.mean[row] = static_cast<float>(mean);
    out.rstd[row] = static_cast<float>(rstd);
  }
}

const Register registered{[](Registry& r) {
  r.add<LayerNorm>(
      {.name = "more_digits",
       .summary = "everything in double, and rounded once",
       .known_honest = "its y does not follow from the statistics that it wrote, but from better ones",
       .run = run});
}};

}  // namespace
}  // namespace assay::known_cheats
