// The idea: the columns of im2col_gemm, but never more of them than one block of the product. A block is
// gathered from the image right before it is multiplied, while it is in a cache, and then overwritten by the
// next; for dx, a block of columns is added to the image right after. The workspace does not grow with the
// layer.

#include "conv2d/bias.hpp"
#include "conv2d/columns.hpp"
#include "gemm/blocked.hpp"

#include "assay/registry.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

namespace assay::conv2d {
namespace {

// Of columns, 256 x 256 with rows that are no multiple of 4096 bytes apart: 272 KiB, a quarter of the
// second-level cache they were tried with, where the product reads them in place.
constexpr Index most_rows = 256;
constexpr Index most_pixels = 256;
constexpr Index ld = most_pixels + 16;
// For dw the pixels are the sum, and rows of dw are read and written once per block of them.
constexpr Index most_pixels_of_dw = 1024;
constexpr Index ld_of_dw = most_pixels_of_dw + 16;
constexpr Index most_rows_of_dw = 96;

// The size of the next of equal blocks of at most `most`, in multiples of `unit`.
Index next_block(Index left, Index most, Index unit) {
  if (left <= most) return left;
  const Index blocks = (left + most - 1) / most, even = (left + blocks - 1) / blocks;
  return std::min(most, (even + unit - 1) / unit * unit);
}

struct Plan {
  blocked::Tier tier;
  ColumnMap map;
  Buffer<float> columns, space;
};

/// result[rows, pixels] = weights[rows, depth] columns(source), or that added to what the result holds.
void multiply_columns(const Plan& plan, const float* weights, Index rows, Index depth, const float* source,
                      bool add, float* result, float* columns, float* space) {
  const Index pixels = plan.map.pixels();
  for (Index first = 0; first < pixels;) {
    const Index count = next_block(pixels - first, most_pixels, 32);
    for (Index row = 0; row < depth;) {
      const Index steps = next_block(depth - row, most_rows, 4);
      gather(plan.map, source, row, steps, first, count, columns, ld);
      plan.tier.multiply({.m = rows,
                          .n = count,
                          .k = steps,
                          .a = weights + row,
                          .b = columns,
                          .c = result + first,
                          .lda = depth,
                          .ldb = ld,
                          .ldc = pixels,
                          .beta = add || row > 0 ? 1.0F : 0.0F},
                         space);
      row += steps;
    }
    first += count;
  }
}

/// Space for any block of a product.
Index space_floats(const blocked::Tier& tier, Index rows, Index depth, bool b_transposed) {
  return tier.space_floats({.m = rows,
                            .n = b_transposed ? most_rows_of_dw : most_pixels,
                            .k = b_transposed ? most_pixels_of_dw : most_rows,
                            .lda = depth,
                            .ldb = b_transposed ? ld_of_dw : ld,
                            .ldc = depth,
                            .b_transposed = b_transposed});
}

Variant<Conv2d>::Kernel prepare_y(const blocked::Tier& tier, const Problem& p) {
  const auto plan =
      std::make_shared<Plan>(Plan{.tier = tier,
                                  .map = columns_of_x(p),
                                  .columns = Buffer<float>(most_rows * ld),
                                  .space = Buffer<float>(space_floats(tier, p.f, p.depth(), false))});
  return [p, plan](const Conv2d::Input& in, Conv2d::Output& out) {
    for (Index n = 0; n < p.n; ++n) {
      float* y = out.y.data() + n * p.f * p.out_pixels();
      if (p.has_bias()) set_rows(in.bias.data(), p.f, p.out_pixels(), y);
      multiply_columns(*plan, in.w.data(), p.f, p.depth(), in.x.data() + n * p.c * p.pixels(), p.has_bias(),
                       y, plan->columns.data(), plan->space.data());
    }
  };
}

/// A block of columns of dx: channels, and rows of the window.
struct ScatteredBlock {
  Index channels = 0, rows = 0;
  Index ld = 0;
};
ScatteredBlock scattered_block(const Layer& p) {
  const Window w = p.window();
  ScatteredBlock block;
  block.channels = std::clamp<Index>(most_rows / w.taps(), 1, p.c);
  block.rows = std::clamp<Index>(most_pixels / w.out_w(), 1, w.out_h());
  block.ld = (block.rows * w.out_w() + 15) / 16 * 16 + 16;
  return block;
}

/// columns[rows of w, places] = w^T dy for the channels from `channel` and the window's rows from `i` on.
blocked::Product product_columns(const Layer& p, const ScatteredBlock& block, Index channel, Index i) {
  const Window w = p.window();
  return {.m = std::min(block.channels, p.c - channel) * w.taps(),
          .n = std::min(block.rows, w.out_h() - i) * w.out_w(),
          .k = p.f,
          .lda = p.depth(),
          .ldb = p.out_pixels(),
          .ldc = block.ld,
          .a_transposed = true};
}

Variant<Conv2dDataGradient>::Kernel prepare_dx(const blocked::Tier& tier, const DataProblem& p) {
  const ScatteredBlock block = scattered_block(p);
  const Index taps = p.window().taps();
  const auto plan = std::make_shared<Plan>(
      Plan{.tier = tier,
           .map = columns_of_x(p),
           .columns = Buffer<float>(block.channels * taps * block.ld),
           .space = Buffer<float>(tier.space_floats(product_columns(p, block, 0, 0)))});
  return [p, block, taps, plan](const Conv2dDataGradient::Input& in, Conv2dDataGradient::Output& out) {
    std::ranges::fill(out.dx, 0.0F);
    for (Index n = 0; n < p.n; ++n) {
      float* const dx = out.dx.data() + n * p.c * p.pixels();
      for (Index channel = 0; channel < p.c; channel += block.channels) {
        for (Index i = 0; i < plan->map.out_h; i += block.rows) {
          blocked::Product product = product_columns(p, block, channel, i);
          product.a = in.w.data() + channel * taps;
          product.b = in.dy.data() + n * p.f * p.out_pixels() + i * plan->map.out_w;
          product.c = plan->columns.data();
          plan->tier.multiply(product, plan->space.data());
          scatter_add(plan->map, product.c, block.ld, channel * taps, product.m, i,
                      product.n / plan->map.out_w, dx);
        }
      }
    }
  };
}

Variant<Conv2dWeightGradient>::Kernel prepare_dw(const blocked::Tier& tier, const Problem& p) {
  const auto plan =
      std::make_shared<Plan>(Plan{.tier = tier,
                                  .map = columns_of_x(p),
                                  .columns = Buffer<float>(most_rows_of_dw * ld_of_dw),
                                  .space = Buffer<float>(space_floats(tier, p.f, p.out_pixels(), true))});
  return [p, plan](const Conv2dWeightGradient::Input& in, Conv2dWeightGradient::Output& out) {
    const Index pixels = p.out_pixels();
    for (Index row = 0; row < p.depth();) {
      const Index rows = next_block(p.depth() - row, most_rows_of_dw, 16);
      for (Index n = 0; n < p.n; ++n) {
        for (Index first = 0; first < pixels;) {
          const Index count = next_block(pixels - first, most_pixels_of_dw, 16);
          gather(plan->map, in.x.data() + n * p.c * p.pixels(), row, rows, first, count, plan->columns.data(),
                 ld_of_dw);
          plan->tier.multiply({.m = p.f,
                               .n = rows,
                               .k = count,
                               .a = in.dy.data() + n * p.f * pixels + first,
                               .b = plan->columns.data(),
                               .c = out.dw.data() + row,
                               .lda = pixels,
                               .ldb = ld_of_dw,
                               .ldc = p.depth(),
                               .b_transposed = true,
                               .beta = n > 0 || first > 0 ? 1.0F : 0.0F},
                              plan->space.data());
          first += count;
        }
      }
      row += rows;
    }
    if (p.has_bias()) sum_filters(p, in.dy.data(), out.dbias.data());
  };
}

void add_tier(Registry& r, const blocked::Tier& tier) {
  const std::string name = "implicit_gemm@" + tier.name;
  const std::string of = ", products compiled for " + tier.name;
  const auto unfit = [why = tier.unfit](const auto&, const Context&) { return why; };
  r.add<Conv2d>({.name = name,
                 .summary = "columns gathered a block at a time; workspace: 272 KiB" + of,
                 .prepare = [tier](const Problem& p, const Conv2d::Input&,
                                   const Context&) { return prepare_y(tier, p); },
                 .unfit = unfit});
  r.add<Conv2dDataGradient>(
      {.name = name,
       .summary = "columns added to dx a block at a time; workspace: about 272 KiB" + of,
       .prepare = [tier](const DataProblem& p, const Conv2dDataGradient::Input&,
                         const Context&) { return prepare_dx(tier, p); },
       .unfit = unfit});
  r.add<Conv2dWeightGradient>({.name = name,
                               .summary = "columns gathered a block at a time; workspace: 390 KiB" + of,
                               .prepare = [tier](const Problem& p, const Conv2dWeightGradient::Input&,
                                                 const Context&) { return prepare_dw(tier, p); },
                               .unfit = unfit});
}

const Register registered{[](Registry& r) {
  for (const blocked::Tier& tier : blocked::tiers()) add_tier(r, tier);
}};

}  // namespace
}  // namespace assay::conv2d
