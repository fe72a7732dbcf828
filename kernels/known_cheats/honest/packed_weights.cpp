// Frozen weights are packed once. The contract lets a kernel rely on them from its preparation on.

#include "assay/ops/lora.hpp"
#include "assay/registry.hpp"

#include <memory>
#include <vector>

namespace assay::known_cheats {
namespace {

struct Plan {
  std::vector<float> columns_of_w;  ///< W transposed
  std::vector<float> thin;          ///< X A
};

auto prepare(const Lora::Problem& p, const Lora::Input& in, const Context&) {
  auto plan = std::make_shared<Plan>();
  plan->columns_of_w.resize(static_cast<std::size_t>(p.k * p.n));
  plan->thin.resize(static_cast<std::size_t>(p.m * p.r));
  for (Index l = 0; l < p.k; ++l) {
    for (Index j = 0; j < p.n; ++j)
      plan->columns_of_w[static_cast<std::size_t>(j * p.k + l)] = in.w[l * p.n + j];
  }
  return [p, plan](const Lora::Input& input, Lora::Output& out) {
    const auto x = matrix::view(input.x.data(), p.m, p.k), a = matrix::view(input.a.data(), p.k, p.r);
    const auto b = matrix::view(input.b.data(), p.r, p.n);
    const auto w = matrix::view(plan->columns_of_w.data(), p.k, p.n, true);
    float* thin = plan->thin.data();
    for (Index i = 0; i < p.m; ++i) {
      for (Index r = 0; r < p.r; ++r) thin[i * p.r + r] = matrix::element<float>(x, a, i, r, p.k);
    }
    const auto x_a = matrix::view<float>(thin, p.m, p.r);
    for (Index i = 0; i < p.m; ++i) {
      for (Index j = 0; j < p.n; ++j) {
        out.y[i * p.n + j] = matrix::element<float>(x, w, i, j, p.k) +
                             static_cast<float>(p.scale) * matrix::element<float>(x_a, b, i, j, p.r);
      }
    }
  };
}

const Register registered{[](Registry& r) {
  r.add<Lora>(
      {.name = "packed_weights",
       .summary = "W transposed when it is prepared",
       .known_honest = "reads a part of its input in its preparation only, as an answer from there would be",
       .prepare = prepare});
}};

}  // namespace
}  // namespace assay::known_cheats
