// The idea: a 1 x 1 layer needs no columns, since x[channels, pixels] already has that layout. y is one
// product per image.

#include "conv2d/pointwise.hpp"

#include "conv2d/bias.hpp"
#include "gemm/blocked.hpp"
#include "tiers.hpp"

#include "assay/registry.hpp"

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>

namespace assay::conv2d {
namespace {

struct Plan {
  blocked::Tier tier;
  Buffer<float> space;
};

/// Makes a plan with space for each of `products`: a smaller product may need more space.
std::shared_ptr<Plan> plan_of(std::initializer_list<blocked::Product> products) {
  const blocked::Tier tier = best_of(blocked::tiers());
  Index space = 0;
  for (const blocked::Product& product : products) space = std::max(space, tier.space_floats(product));
  return std::make_shared<Plan>(Plan{tier, Buffer<float>(space)});
}

Variant<Conv2d>::Kernel prepare_y(const Problem& p, const Conv2d::Input&, const Context&) {
  const Index most_rows = p.has_bias() ? std::min(rows_with_bias(p), p.f) : p.f;
  const float beta = p.has_bias() ? 1 : 0;
  const auto product = [&](Index rows) {
    return product_y(p, {0, rows, 0, p.pixels()}, nullptr, nullptr, beta, nullptr);
  };
  const auto plan =
      plan_of({product(most_rows), product(p.f % most_rows == 0 ? most_rows : p.f % most_rows)});
  return [p, most_rows, beta, plan](const Conv2d::Input& in, Conv2d::Output& out) {
    for (Index n = 0; n < p.n; ++n) {
      const float* x = in.x.data() + n * p.c * p.pixels();
      float* y = out.y.data() + n * p.f * p.pixels();
      for (Index row = 0; row < p.f; row += most_rows) {
        const Index rows = std::min(most_rows, p.f - row);
        if (p.has_bias()) {
          set_rows(in.bias.data() + row, rows, p.pixels(), y + row * p.pixels(), p.pixels());
        }
        plan->tier.multiply(product_y(p, {row, rows, 0, p.pixels()}, x, in.w.data(), beta, y),
                            plan->space.data());
      }
    }
  };
}

Variant<Conv2dDataGradient>::Kernel prepare_dx(const DataProblem& p, const Conv2dDataGradient::Input&,
                                               const Context&) {
  const Block all{0, p.c, 0, p.pixels()};
  return [p, all, plan = plan_of({product_dx(p, all, nullptr, nullptr, nullptr)})](
             const Conv2dDataGradient::Input& in, Conv2dDataGradient::Output& out) {
    for (Index n = 0; n < p.n; ++n) {
      plan->tier.multiply(product_dx(p, all, in.dy.data() + n * p.f * p.pixels(), in.w.data(),
                                     out.dx.data() + n * p.c * p.pixels()),
                          plan->space.data());
    }
  };
}

Variant<Conv2dWeightGradient>::Kernel prepare_dw(const Problem& p, const Conv2dWeightGradient::Input&,
                                                 const Context&) {
  const Block all{0, p.f, 0, p.c};
  return [p, all, plan = plan_of({product_dw(p, all, nullptr, nullptr, 0, nullptr)})](
             const Conv2dWeightGradient::Input& in, Conv2dWeightGradient::Output& out) {
    for (Index n = 0; n < p.n; ++n) {
      plan->tier.multiply(product_dw(p, all, in.dy.data() + n * p.f * p.pixels(),
                                     in.x.data() + n * p.c * p.pixels(), n == 0 ? 0 : 1, out.dw.data()),
                          plan->space.data());
    }
    if (p.has_bias()) sum_filters(p, in.dy.data(), out.dbias.data());
  };
}

std::optional<std::string> unfit(const Layer& p, const Context&) {
  if (is_pointwise(p)) return std::nullopt;
  return "only for kernel 1 without stride and border";
}

const Register registered{[](Registry& r) {
  constexpr auto summary = "1 x 1 layers as one product of matrices per image; no workspace";
  r.add<Conv2d>({.name = "pointwise",
                 .summary = summary,
                 .after = "im2col_gemm",
                 .prepare = prepare_y,
                 .unfit = unfit});
  r.add<Conv2dDataGradient>({.name = "pointwise",
                             .summary = summary,
                             .after = "im2col_gemm",
                             .prepare = prepare_dx,
                             .unfit = unfit});
  r.add<Conv2dWeightGradient>({.name = "pointwise",
                               .summary = summary,
                               .after = "im2col_gemm",
                               .prepare = prepare_dw,
                               .unfit = unfit});
}};

}  // namespace
}  // namespace assay::conv2d
