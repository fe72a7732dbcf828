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

// A block of columns is 256 x 256, its rows no multiple of 4096 bytes apart: 272 KiB, a quarter of the
// second-level cache it was tried with, where the product reads it in place.
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

/// A plan with space for every product that `for_each_product(visit)` calls visit(product) with. Products of
/// less than a block may need more of it than those of a whole one.
template <class Products>
std::shared_ptr<Plan> plan_of(const blocked::Tier& tier, const Layer& p, Index columns,
                              const Products& for_each_product) {
  Index space = 0;
  for_each_product(
      [&](const blocked::Product& product) { space = std::max(space, tier.space_floats(product)); });
  return std::make_shared<Plan>(Plan{.tier = tier,
                                     .map = columns_of_x(p),
                                     .columns = Buffer<float>(columns),
                                     .space = Buffer<float>(space)});
}

/// Calls visit(product, row, first) for the blocks of y of one image: y[f, places] += w[f, rows]
/// columns[rows, places], with rows from `row` and places from `first` on.
template <class Visit>
void for_each_product_y(const Problem& p, const Visit& visit) {
  const Index pixels = p.out_pixels(), depth = p.depth();
  for (Index first = 0; first < pixels;) {
    const Index count = next_block(pixels - first, most_pixels, 32);
    for (Index row = 0; row < depth;) {
      const Index steps = next_block(depth - row, most_rows, 4);
      visit(blocked::Product{.m = p.f,
                             .n = count,
                             .k = steps,
                             .lda = depth,
                             .ldb = ld,
                             .ldc = pixels,
                             .beta = p.has_bias() || row > 0 ? 1.0F : 0.0F},
            row, first);
      row += steps;
    }
    first += count;
  }
}

Variant<Conv2d>::Kernel prepare_y(const blocked::Tier& tier, const Problem& p) {
  const auto plan = plan_of(tier, p, most_rows * ld, [&](const auto& visit) {
    for_each_product_y(p, [&](const blocked::Product& product, Index, Index) { visit(product); });
  });
  return [p, plan](const Conv2d::Input& in, Conv2d::Output& out) {
    float* const columns = plan->columns.data();
    for (Index n = 0; n < p.n; ++n) {
      const float* const x = in.x.data() + n * p.c * p.pixels();
      float* const y = out.y.data() + n * p.f * p.out_pixels();
      if (p.has_bias()) set_rows(in.bias.data(), p.f, p.out_pixels(), y);
      for_each_product_y(p, [&](blocked::Product product, Index row, Index first) {
        gather(plan->map, x, row, product.k, first, product.n, columns, ld);
        product.a = in.w.data() + row;
        product.b = columns;
        product.c = y + first;
        plan->tier.multiply(product, plan->space.data());
      });
    }
  };
}

/// Rows of columns apart, for blocks that are whole rows of the window.
Index ld_of_dx(const Window& w) {
  return (std::clamp<Index>(most_pixels / w.out_w(), 1, w.out_h()) * w.out_w() + 15) / 16 * 16 + 16;
}

/// Calls visit(product, channel, i) for the blocks of dx of one image: columns[rows, places] = w^T dy, with
/// the rows of the channels from `channel` on and the places of the window's rows from `i` on.
template <class Visit>
void for_each_product_dx(const DataProblem& p, const Visit& visit) {
  const Window w = p.window();
  const Index channels = std::clamp<Index>(most_rows / w.taps(), 1, p.c);
  const Index window_rows = std::clamp<Index>(most_pixels / w.out_w(), 1, w.out_h());
  for (Index channel = 0; channel < p.c; channel += channels) {
    for (Index i = 0; i < w.out_h(); i += window_rows) {
      visit(blocked::Product{.m = std::min(channels, p.c - channel) * w.taps(),
                             .n = std::min(window_rows, w.out_h() - i) * w.out_w(),
                             .k = p.f,
                             .lda = p.depth(),
                             .ldb = p.out_pixels(),
                             .ldc = ld_of_dx(w),
                             .a_transposed = true},
            channel, i);
    }
  }
}

Variant<Conv2dDataGradient>::Kernel prepare_dx(const blocked::Tier& tier, const DataProblem& p) {
  const Index taps = p.window().taps(), out_w = p.window().out_w();
  const auto plan =
      plan_of(tier, p, std::max(most_rows, taps) * ld_of_dx(p.window()), [&](const auto& visit) {
        for_each_product_dx(p, [&](const blocked::Product& product, Index, Index) { visit(product); });
      });
  return [p, taps, out_w, plan](const Conv2dDataGradient::Input& in, Conv2dDataGradient::Output& out) {
    std::ranges::fill(out.dx, 0.0F);
    for (Index n = 0; n < p.n; ++n) {
      const float* const dy = in.dy.data() + n * p.f * p.out_pixels();
      float* const dx = out.dx.data() + n * p.c * p.pixels();
      for_each_product_dx(p, [&](blocked::Product product, Index channel, Index i) {
        product.a = in.w.data() + channel * taps;
        product.b = dy + i * out_w;
        product.c = plan->columns.data();
        plan->tier.multiply(product, plan->space.data());
        scatter_add(plan->map, product.c, product.ldc, channel * taps, product.m, i, product.n / out_w, dx);
      });
    }
  };
}

/// Calls visit(product, row, n, first) for the blocks of dw: dw[f, rows] += dy[f, places] columns[rows,
/// places]^T, with rows from `row` on and the places of image `n` from `first` on.
template <class Visit>
void for_each_product_dw(const Problem& p, const Visit& visit) {
  const Index pixels = p.out_pixels(), depth = p.depth();
  for (Index row = 0; row < depth;) {
    const Index rows = next_block(depth - row, most_rows_of_dw, 16);
    for (Index n = 0; n < p.n; ++n) {
      for (Index first = 0; first < pixels;) {
        const Index count = next_block(pixels - first, most_pixels_of_dw, 16);
        visit(blocked::Product{.m = p.f,
                               .n = rows,
                               .k = count,
                               .lda = pixels,
                               .ldb = ld_of_dw,
                               .ldc = depth,
                               .b_transposed = true,
                               .beta = n > 0 || first > 0 ? 1.0F : 0.0F},
              row, n, first);
        first += count;
      }
    }
    row += rows;
  }
}

Variant<Conv2dWeightGradient>::Kernel prepare_dw(const blocked::Tier& tier, const Problem& p) {
  const auto plan = plan_of(tier, p, most_rows_of_dw * ld_of_dw, [&](const auto& visit) {
    for_each_product_dw(p, [&](const blocked::Product& product, Index, Index, Index) { visit(product); });
  });
  return [p, plan](const Conv2dWeightGradient::Input& in, Conv2dWeightGradient::Output& out) {
    float* const columns = plan->columns.data();
    for_each_product_dw(p, [&](blocked::Product product, Index row, Index n, Index first) {
      gather(plan->map, in.x.data() + n * p.c * p.pixels(), row, product.n, first, product.k, columns,
             ld_of_dw);
      product.a = in.dy.data() + n * p.f * p.out_pixels() + first;
      product.b = columns;
      product.c = out.dw.data() + row;
      plan->tier.multiply(product, plan->space.data());
    });
    if (p.has_bias()) sum_filters(p, in.dy.data(), out.dbias.data());
  };
}

void add_tier(Registry& r, const blocked::Tier& tier) {
  const std::string name = "implicit_gemm@" + tier.name;
  const std::string of = ", products compiled for " + tier.name;
  const auto unfit = [why = tier.unfit](const auto&, const Context&) { return why; };
  r.add<Conv2d>({.name = name,
                 .summary = "columns gathered a block at a time; workspace: 272 KiB" + of,
                 .after = "im2col_gemm",
                 .prepare = [tier](const Problem& p, const Conv2d::Input&,
                                   const Context&) { return prepare_y(tier, p); },
                 .unfit = unfit});
  r.add<Conv2dDataGradient>(
      {.name = name,
       .summary = "columns added to dx a block at a time; workspace: about 272 KiB" + of,
       .after = "im2col_gemm",
       .prepare = [tier](const DataProblem& p, const Conv2dDataGradient::Input&,
                         const Context&) { return prepare_dx(tier, p); },
       .unfit = unfit});
  r.add<Conv2dWeightGradient>({.name = name,
                               .summary = "columns gathered a block at a time; workspace: 390 KiB" + of,
                               .after = "im2col_gemm",
                               .prepare = [tier](const Problem& p, const Conv2dWeightGradient::Input&,
                                                 const Context&) { return prepare_dw(tier, p); },
                               .unfit = unfit});
}

const Register registered{[](Registry& r) {
  for (const blocked::Tier& tier : blocked::tiers()) add_tier(r, tier);
}};

}  // namespace
}  // namespace assay::conv2d
