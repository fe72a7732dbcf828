// The idea: never more columns than one block of the product. A block is gathered from the image right before
// it is multiplied, while it is in a cache, and the next block overwrites it. For dx, a block of columns is
// added to the image right after the product. Unlike that of `im2col_gemm`, the workspace does not grow with
// the layer.

#include "conv2d/implicit_gemm.hpp"

#include "blocks.hpp"
#include "conv2d/bias.hpp"
#include "gemm/blocked.hpp"

#include "assay/registry.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

namespace assay::conv2d {
namespace {

// A block of columns is 256 x 256, and its rows are not a multiple of 4096 bytes apart: 272 KiB, a quarter of
// the second-level cache of the machine where it was chosen. The product reads it in place.
constexpr Index most_rows = 256;
constexpr Index most_pixels = 256;
constexpr Index ld = most_pixels + 16;
// The sum of dw runs over pixels, and rows of dw are read and written once per block of pixels.
constexpr Index most_pixels_of_dw = 1024;
constexpr Index ld_of_dw = most_pixels_of_dw + 16;
constexpr Index most_rows_of_dw = 96;

// The size of the next of equal blocks of at most `most`, in multiples of `unit`.
Index next_block(Index left, Index most, Index unit) {
  if (left <= most) return left;
  const Index blocks = (left + most - 1) / most, even = (left + blocks - 1) / blocks;
  return std::min(most, (even + unit - 1) / unit * unit);
}

/// Space for every product of `for_each_product(visit)`, which calls visit(product, …). A product of less
/// than a block may need more space than a whole one.
template <class Products>
Buffer<float> space_for(const blocked::Tier& tier, const Products& for_each_product) {
  Index space = 0;
  for_each_product([&](const blocked::Product& product, Index, Index) {
    space = std::max(space, tier.space_floats(product));
  });
  return Buffer<float>(space);
}

/// The distance of rows of columns, for blocks that are whole rows of the window.
Index ld_of_dx(const Window& w) {
  return rounded_up(std::clamp<Index>(most_pixels / w.out_w(), 1, w.out_h()) * w.out_w(), 16) + 16;
}

}  // namespace

ColumnSumY::ColumnSumY(const blocked::Tier& tier, const Problem& p, const ColumnShare& share)
    : tier_(tier),
      p_(p),
      share_(share),
      map_(columns_of_x(p)),
      columns_(most_rows * ld),
      space_(space_for(tier, [&](const auto& visit) { for_each_product(visit); })) {}

/// Calls visit(product, row, first) for the blocks of y of one image: y[f, places] += w[f, rows]
/// columns[rows, places], with rows from `row` and places from `first` on.
template <class Visit>
void ColumnSumY::for_each_product(const Visit& visit) const {
  const Index end = share_.place + share_.places, depth = p_.depth();
  for (Index first = share_.place; first < end;) {
    const Index count = next_block(end - first, most_pixels, 32);
    for (Index row = 0; row < depth;) {
      const Index steps = next_block(depth - row, most_rows, 4);
      visit(blocked::Product{.m = share_.rows,
                             .n = count,
                             .k = steps,
                             .lda = depth,
                             .ldb = ld,
                             .ldc = p_.out_pixels(),
                             .beta = p_.has_bias() || row > 0 ? 1.0F : 0.0F},
            row, first);
      row += steps;
    }
    first += count;
  }
}

void ColumnSumY::run(const Conv2d::Input& in, Conv2d::Output& out) {
  const Index pixels = p_.out_pixels();
  const float* const w = in.w.data() + share_.row * p_.depth();
  for (Index n = share_.image; n < share_.image + share_.images; ++n) {
    const float* const x = in.x.data() + n * p_.c * p_.pixels();
    float* const y = out.y.data() + (n * p_.f + share_.row) * pixels;
    if (p_.has_bias()) {
      set_rows(in.bias.data() + share_.row, share_.rows, share_.places, y + share_.place, pixels);
    }
    for_each_product([&](blocked::Product product, Index row, Index first) {
      gather(map_, x, row, product.k, first, product.n, columns_.data(), ld);
      product.a = w + row;
      product.b = columns_.data();
      product.c = y + first;
      tier_.multiply(product, space_.data());
    });
  }
}

ColumnSumDx::ColumnSumDx(const blocked::Tier& tier, const DataProblem& p, const ColumnShare& share)
    : tier_(tier),
      p_(p),
      share_(share),
      map_(columns_of_x(p)),
      columns_(std::max(most_rows, p.window().taps()) * ld_of_dx(p.window())),
      space_(space_for(tier, [&](const auto& visit) { for_each_product(visit); })) {}

/// Calls visit(product, channel, i) for the blocks of dx of one image: columns[rows, places] = w^T dy, with
/// the rows of the channels from `channel` on and the places of the window's rows from `i` on.
template <class Visit>
void ColumnSumDx::for_each_product(const Visit& visit) const {
  const Window w = p_.window();
  const Index channels = std::clamp<Index>(most_rows / w.taps(), 1, share_.rows);
  const Index window_rows = std::clamp<Index>(most_pixels / w.out_w(), 1, w.out_h());
  const Index end = share_.row + share_.rows;
  for (Index channel = share_.row; channel < end; channel += channels) {
    for (Index i = 0; i < w.out_h(); i += window_rows) {
      visit(blocked::Product{.m = std::min(channels, end - channel) * w.taps(),
                             .n = std::min(window_rows, w.out_h() - i) * w.out_w(),
                             .k = p_.f,
                             .lda = p_.depth(),
                             .ldb = p_.out_pixels(),
                             .ldc = ld_of_dx(w),
                             .a_transposed = true},
            channel, i);
    }
  }
}

void ColumnSumDx::run(const Conv2dDataGradient::Input& in, Conv2dDataGradient::Output& out) {
  const Index taps = p_.window().taps(), out_w = p_.window().out_w();
  for (Index n = share_.image; n < share_.image + share_.images; ++n) {
    const float* const dy = in.dy.data() + n * p_.f * p_.out_pixels();
    float* const dx = out.dx.data() + n * p_.c * p_.pixels();
    std::fill_n(dx + share_.row * p_.pixels(), share_.rows * p_.pixels(), 0.0F);
    for_each_product([&](blocked::Product product, Index channel, Index i) {
      product.a = in.w.data() + channel * taps;
      product.b = dy + i * out_w;
      product.c = columns_.data();
      tier_.multiply(product, space_.data());
      scatter_add(map_, product.c, product.ldc, channel * taps, product.m, i, product.n / out_w, dx);
    });
  }
}

namespace {

struct PlanOfDw {
  blocked::Tier tier;
  ColumnMap map;
  Buffer<float> columns, space;
};

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
  auto plan = std::make_shared<PlanOfDw>(
      PlanOfDw{.tier = tier,
               .map = columns_of_x(p),
               .columns = Buffer<float>(most_rows_of_dw * ld_of_dw),
               .space = space_for(tier, [&](const auto& visit) {
                 for_each_product_dw(p, [&](const blocked::Product& product, Index row, Index, Index first) {
                   visit(product, row, first);
                 });
               })});
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
  r.add<Conv2d>(
      {.name = name,
       .summary = "columns gathered a block at a time; workspace: 272 KiB" + of,
       .after = "im2col_gemm",
       .prepare = [tier](const Problem& p, const Conv2d::Input&, const Context&) -> Variant<Conv2d>::Kernel {
         const auto sum = std::make_shared<ColumnSumY>(tier, p, whole_y(p));
         return [sum](const Conv2d::Input& in, Conv2d::Output& out) { sum->run(in, out); };
       },
       .unfit = unfit});
  r.add<Conv2dDataGradient>(
      {.name = name,
       .summary = "columns added to dx a block at a time; workspace: about 272 KiB" + of,
       .after = "im2col_gemm",
       .prepare = [tier](const DataProblem& p, const Conv2dDataGradient::Input&,
                         const Context&) -> Variant<Conv2dDataGradient>::Kernel {
         const auto sum = std::make_shared<ColumnSumDx>(tier, p, whole_dx(p));
         return [sum](const Conv2dDataGradient::Input& in, Conv2dDataGradient::Output& out) {
           sum->run(in, out);
         };
       },
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
