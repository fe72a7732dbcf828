// The idea: a buffer of columns makes the layer one product of matrices per image, for the project's best
// product. The price is the buffer: kernel_h x kernel_w times the pixels of y for each channel, written and
// read once per image.

#include "conv2d/bias.hpp"
#include "conv2d/columns.hpp"
#include "gemm/blocked.hpp"
#include "tiers.hpp"

#include "assay/registry.hpp"

#include <algorithm>
#include <memory>

namespace assay::conv2d {
namespace {

struct Plan {
  blocked::Tier tier;
  ColumnMap map;
  Buffer<float> columns, space;
};

/// A plan for `product`. The columns of one image take the place of an operand or of the result.
std::shared_ptr<Plan> plan_of(const Layer& p, const blocked::Product& product) {
  const blocked::Tier tier = best_of(blocked::tiers());
  auto plan = std::make_shared<Plan>(Plan{.tier = tier,
                                          .map = columns_of_x(p),
                                          .columns = Buffer<float>(p.depth() * p.out_pixels()),
                                          .space = Buffer<float>(tier.space_floats(product))});
  return plan;
}

blocked::Product product_y(const Layer& p, bool has_bias) {
  return {.m = p.f,
          .n = p.out_pixels(),
          .k = p.depth(),
          .lda = p.depth(),
          .ldb = p.out_pixels(),
          .ldc = p.out_pixels(),
          .beta = has_bias ? 1.0F : 0.0F};
}

blocked::Product product_columns(const Layer& p) {
  return {.m = p.depth(),
          .n = p.out_pixels(),
          .k = p.f,
          .lda = p.depth(),
          .ldb = p.out_pixels(),
          .ldc = p.out_pixels(),
          .a_transposed = true};
}

blocked::Product product_dw(const Layer& p) {
  return {.m = p.f,
          .n = p.depth(),
          .k = p.out_pixels(),
          .lda = p.out_pixels(),
          .ldb = p.out_pixels(),
          .ldc = p.depth(),
          .b_transposed = true};
}

Variant<Conv2d>::Kernel prepare_y(const Problem& p, const Conv2d::Input&, const Context&) {
  const blocked::Product product = product_y(p, p.has_bias());
  return [p, product, plan = plan_of(p, product)](const Conv2d::Input& in, Conv2d::Output& out) {
    blocked::Product now = product;
    now.a = in.w.data();
    now.b = plan->columns.data();
    for (Index n = 0; n < p.n; ++n) {
      now.c = out.y.data() + n * p.f * p.out_pixels();
      gather(plan->map, in.x.data() + n * p.c * p.pixels(), 0, p.depth(), 0, p.out_pixels(),
             plan->columns.data(), p.out_pixels());
      if (p.has_bias()) set_rows(in.bias.data(), p.f, p.out_pixels(), now.c, p.out_pixels());
      plan->tier.multiply(now, plan->space.data());
    }
  };
}

Variant<Conv2dDataGradient>::Kernel prepare_dx(const DataProblem& p, const Conv2dDataGradient::Input&,
                                               const Context&) {
  const blocked::Product product = product_columns(p);
  return [p, product, plan = plan_of(p, product)](const Conv2dDataGradient::Input& in,
                                                  Conv2dDataGradient::Output& out) {
    blocked::Product now = product;
    now.a = in.w.data();
    now.c = plan->columns.data();
    std::ranges::fill(out.dx, 0.0F);
    for (Index n = 0; n < p.n; ++n) {
      now.b = in.dy.data() + n * p.f * p.out_pixels();
      plan->tier.multiply(now, plan->space.data());
      scatter_add(plan->map, plan->columns.data(), p.out_pixels(), 0, p.depth(), 0, p.window().out_h(),
                  out.dx.data() + n * p.c * p.pixels());
    }
  };
}

Variant<Conv2dWeightGradient>::Kernel prepare_dw(const Problem& p, const Conv2dWeightGradient::Input&,
                                                 const Context&) {
  const blocked::Product product = product_dw(p);
  return [p, product, plan = plan_of(p, product)](const Conv2dWeightGradient::Input& in,
                                                  Conv2dWeightGradient::Output& out) {
    blocked::Product now = product;
    now.b = plan->columns.data();
    now.c = out.dw.data();
    for (Index n = 0; n < p.n; ++n) {
      now.a = in.dy.data() + n * p.f * p.out_pixels();
      now.beta = n == 0 ? 0.0F : 1.0F;
      gather(plan->map, in.x.data() + n * p.c * p.pixels(), 0, p.depth(), 0, p.out_pixels(),
             plan->columns.data(), p.out_pixels());
      plan->tier.multiply(now, plan->space.data());
    }
    if (p.has_bias()) sum_filters(p, in.dy.data(), out.dbias.data());
  };
}

const Register registered{[](Registry& r) {
  constexpr auto summary =
      "one product of matrices per image; workspace: kernel_h kernel_w c out_h out_w floats";
  r.add<Conv2d>({.name = "im2col_gemm", .summary = summary, .after = "naive", .prepare = prepare_y});
  r.add<Conv2dDataGradient>(
      {.name = "im2col_gemm", .summary = summary, .after = "naive", .prepare = prepare_dx});
  r.add<Conv2dWeightGradient>(
      {.name = "im2col_gemm", .summary = summary, .after = "naive", .prepare = prepare_dw});
}};

}  // namespace
}  // namespace assay::conv2d
