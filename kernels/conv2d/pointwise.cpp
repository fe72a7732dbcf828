// The idea: a 1 x 1 layer needs no columns, since x[channels, pixels] already has that layout. y is one
// product per image.

#include "conv2d/grid.hpp"
#include "conv2d/products.hpp"
#include "gemm/grid.hpp"
#include "team.hpp"
#include "tiers.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay::conv2d {
namespace {

using blocked::moved;

/// y[f, pixels] = w x + beta y.
blocked::Product product_y(const Layer& p, const float* x, const float* w, float beta, float* y) {
  return blocked::product({w, p.group_c()}, {x, p.pixels()}, y, p.pixels(), p.group_f(), p.pixels(),
                          p.group_c(), 1, beta);
}

/// product_of(image, input, output) for each image. Cuts a result by rows where these are many, else by
/// columns. If the result is one per image, images are divided first.
template <class Op, class ProductOf>
typename Variant<Op>::Kernel products(const Layer& p, Index threads, bool one_per_image,
                                      const ProductOf& product_of) {
  struct Part {
    Range images;
    blocked::Rectangle block;
    Buffer<float> space;
  };
  const blocked::Tier tier = best_of(blocked::tiers());
  typename Op::Output no_output{};
  const blocked::Product shape = product_of(0, typename Op::Input{}, no_output);
  const bool by_columns = shape.n >= 4 * shape.m;
  const Index extent = by_columns ? shape.n : shape.m, images = p.n * p.groups;
  const Grid grid = images_and_rows(threads, one_per_image ? images : 1, extent);
  std::vector<Part> parts;
  for (Index i = 0; i < grid.parts(); ++i) {
    const Range part = range(extent, by_columns ? 32 : 1, i % grid.inner, grid.inner);
    const blocked::Rectangle block = by_columns ? blocked::Rectangle{0, shape.m, part.first, part.count}
                                                : blocked::Rectangle{part.first, part.count, 0, shape.n};
    const Index floats = tier.space_floats(part_of(shape, block));
    parts.push_back({one_per_image ? range(images, 1, i / grid.inner, grid.outer) : Range{0, images}, block,
                     Buffer<float>(floats)});
  }
  start_team(grid.parts());
  return [tier, product_of, parts = std::move(parts)](const auto& in, auto& out) mutable {
    on_each(parts, [&](Part& part) {
      for (Index n = part.images.first; n < part.images.first + part.images.count; ++n) {
        tier.multiply(part_of(product_of(n, in, out), part.block), part.space.data());
      }
    });
  };
}

}  // namespace

Variant<Conv2d>::Kernel pointwise_y(const Problem& p, Index threads) {
  return products<Conv2d>(p, threads, true, [p](Index n, const auto& in, auto& out) {
    return product_y(p, moved(in.x.data(), n * p.group_c() * p.pixels()),
                     moved(in.w.data(), n % p.groups * p.group_w()), 0,
                     moved(out.y.data(), n * p.group_f() * p.pixels()));
  });
}

/// dx[c, pixels] = w^T dy.
Variant<Conv2dDataGradient>::Kernel pointwise_dx(const DataProblem& p, Index threads) {
  return products<Conv2dDataGradient>(p, threads, true, [p](Index n, const auto& in, auto& out) {
    return blocked::product({moved(in.w.data(), n % p.groups * p.group_w()), p.group_c(), true},
                            {moved(in.dy.data(), n * p.group_f() * p.pixels()), p.pixels()},
                            moved(out.dx.data(), n * p.group_c() * p.pixels()), p.pixels(), p.group_c(),
                            p.pixels(), p.group_f());
  });
}

/// dw[f, c] = the sum of dy x^T over images.
Variant<Conv2dWeightGradient>::Kernel pointwise_dw(const Problem& p, Index threads) {
  return products<Conv2dWeightGradient>(p, threads, false, [p](Index n, const auto& in, auto& out) {
    return blocked::product({moved(in.dy.data(), n * p.group_f() * p.pixels()), p.pixels()},
                            {moved(in.x.data(), n * p.group_c() * p.pixels()), p.pixels(), true},
                            moved(out.dw.data(), n % p.groups * p.group_w()), p.group_c(), p.group_f(),
                            p.group_c(), p.pixels(), 1, n < p.groups ? 0.0F : 1.0F);
  });
}

namespace {

/// Rows of y get their bias right before the product adds to them: half of a second-level cache at a time.
Variant<Conv2d>::Kernel prepare_y_with_bias(const Problem& p) {
  const Index most_rows = std::min(p.group_f(), std::max<Index>(14, 128 * 1024 / p.pixels()));
  const blocked::Tier tier = best_of(blocked::tiers());
  Index floats = 0;  // a smaller product may need more space
  for (const Index rows : {most_rows, p.group_f() % most_rows}) {
    if (rows == 0) continue;
    const blocked::Product shape = product_y(p, nullptr, nullptr, 1, nullptr);
    floats = std::max(floats, tier.space_floats(part_of(shape, {0, rows, 0, p.pixels()})));
  }
  return [p, most_rows, tier, space = Buffer<float>(floats)](const auto& in, auto& out) mutable {
    for (Index n = 0; n < p.n * p.groups; ++n) {
      const Index filter = n % p.groups * p.group_f();
      const float* x = in.x.data() + n * p.group_c() * p.pixels();
      float* y = out.y.data() + n * p.group_f() * p.pixels();
      for (Index row = 0; row < p.group_f(); row += most_rows) {
        const Index rows = std::min(most_rows, p.group_f() - row);
        set_rows(in.bias.data() + filter + row, rows, p.pixels(), y + row * p.pixels(), p.pixels());
        const blocked::Product whole = product_y(p, x, in.w.data() + filter * p.depth(), 1, y);
        tier.multiply(part_of(whole, {row, rows, 0, p.pixels()}), space.data());
      }
    }
  };
}

Variant<Conv2dWeightGradient>::Kernel prepare_dw(const Problem& p) {
  auto products = pointwise_dw(p, 1);
  if (!p.has_bias()) return products;
  return [p, products](const Conv2dWeightGradient::Input& in, Conv2dWeightGradient::Output& out) {
    products(in, out);
    sum_filters(p, in.dy.data(), out.dbias.data());
  };
}

/// `kernel_of(problem)` makes the kernel of one thread.
template <class Op, class KernelOf>
void add(Registry& r, const KernelOf& kernel_of) {
  r.add<Op>({.name = "pointwise",
             .summary = "1 x 1 layers as one product of matrices per image; no workspace",
             .after = "im2col_gemm",
             .prepare = [kernel_of](const auto& p, const auto&, const Context&) { return kernel_of(p); },
             .unfit = [](const Layer& p, const Context&) -> std::optional<std::string> {
               if (is_pointwise(p)) return std::nullopt;
               return "only for kernel 1 without stride and border";
             }});
}

const Register registered{[](Registry& r) {
  add<Conv2d>(r, [](const Problem& p) { return p.has_bias() ? prepare_y_with_bias(p) : pointwise_y(p, 1); });
  add<Conv2dDataGradient>(r, [](const DataProblem& p) { return pointwise_dx(p, 1); });
  add<Conv2dWeightGradient>(r, prepare_dw);
}};

}  // namespace
}  // namespace assay::conv2d
