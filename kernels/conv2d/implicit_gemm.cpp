// The idea: never more columns than one block of the product. A block is gathered from the image right before
// it is multiplied, while it is in a cache, and the next block overwrites it. For dx, a block of columns is
// added to the image right after the product. Unlike that of `im2col_gemm`, the workspace does not grow with
// the layer.

#include "conv2d/grid.hpp"
#include "conv2d/products.hpp"
#include "im2col/plan.hpp"
#include "team.hpp"
#include "tiers.hpp"

#include <algorithm>
#include <type_traits>

namespace assay::conv2d {
namespace {

// Columns of an image as im2col writes them, all or in blocks. Row k of the columns is a channel under a tap,
// column p a place of the window.

/// Copies rows [row, row + rows) and columns [first, first + count): to[r * ld + q] = source at (row + r,
/// first + q), zero outside the image.
void gather(const Window& w, const float* source, Index row, Index rows, Index first, Index count, float* to,
            Index ld) {
  const Index taps = w.taps(), out_w = w.out_w();
  for (Index r = row; r < row + rows; ++r, to += ld) {
    const Index tap = r % taps, kh = tap / w.kernel_w, column = w.column(0, tap % w.kernel_w);
    const float* const plane = source + r / taps * w.h * w.w;
    const im2col::Run inside = im2col::inside_run(out_w, w.stride, column, w.w);
    float* out = to;
    Index j = first % out_w;
    for (Index i = first / out_w, left = count; left > 0; ++i) {
      const Index end = std::min(out_w, j + left), source_row = w.row(i, kh);
      const bool exists = source_row >= 0 && source_row < w.h;
      const Index begin = exists ? std::clamp(inside.first, j, end) : end;
      const Index copied = std::clamp(inside.last, begin, end) - begin;
      const float* from = plane + source_row * w.w + column + begin * w.stride;
      for (; j < begin; ++j) *out++ = 0;
      if (w.stride == 1) {
        for (Index q = 0; q < copied; ++q) out[q] = from[q];
      } else if (w.stride == 2) {  // with a known stride the compiler uses shuffles
        for (Index q = 0; q < copied; ++q) out[q] = from[q * 2];
      } else {
        for (Index q = 0; q < copied; ++q) out[q] = from[q * w.stride];
      }
      out += copied;
      for (j = begin + copied; j < end; ++j) *out++ = 0;
      left = count - (out - to);
      j = 0;
    }
  }
}

/// Images [image, image + images); in each image the channels [row, row + rows) of y or dx, and the places
/// [place, place + places). A share of dx has all places, since windows overlap. dw is not divided.
struct ColumnShare {
  Index image = 0, images = 0, row = 0, rows = 0, place = 0, places = 0;
};

/// A block of columns has at most `rows` x `places` numbers, and its rows are `distance` floats apart.
struct ColumnBlock {
  Index rows = 0, places = 0, distance = 0;
};

template <class Op>
ColumnBlock block_of(const Layer& p, Columns columns) {
  if (columns == Columns::of_an_image) return {p.depth(), p.out_pixels(), p.out_pixels()};
  // The sum of dw runs over places, and rows of dw are read and written once per block of places.
  if (std::is_same_v<Op, Conv2dWeightGradient>) return {96, 1024, 1024 + 16};
  // 256 x 256 numbers whose rows are not a multiple of 4096 bytes apart: 272 KiB, a quarter of the
  // second-level cache of the machine where it was chosen. The product reads them in place.
  if (std::is_same_v<Op, Conv2d>) return {256, 256, 256 + 16};
  // For dx whole rows of the window, and all taps of a channel.
  const Window w = p.window();
  const Index places = std::clamp<Index>(256 / w.out_w(), 1, w.out_h()) * w.out_w();
  return {std::max<Index>(256, w.taps()), 256, rounded_up(places, 16) + 16};
}

/// Calls visit(product, row, first) for the blocks of y of one image: y[f, places] += w[f, rows]
/// columns[rows, places], with rows from `row` and places from `first` on.
template <class Visit>
void for_each_product(std::type_identity<Conv2d>, const Problem& p, const ColumnShare& share,
                      const ColumnBlock& block, const Visit& visit) {
  const Index end = share.place + share.places, depth = p.depth();
  for (Index first = share.place; first < end;) {
    const Index count = next_block(end - first, block.places, 32);
    for (Index row = 0; row < depth;) {
      const Index steps = next_block(depth - row, block.rows, 4);
      visit(blocked::product({nullptr, depth}, {nullptr, block.distance}, nullptr, p.out_pixels(), share.rows,
                             count, steps, 1, p.has_bias() || row > 0 ? 1.0F : 0.0F),
            row, first);
      row += steps;
    }
    first += count;
  }
}

/// Calls visit(product, channel, i) for the blocks of dx of one image: columns[rows, places] = w^T dy, with
/// the rows of the channels from `channel` on and the places of the window's rows from `i` on.
template <class Visit>
void for_each_product(std::type_identity<Conv2dDataGradient>, const DataProblem& p, const ColumnShare& share,
                      const ColumnBlock& block, const Visit& visit) {
  const Window w = p.window();
  const Index channels = std::clamp<Index>(block.rows / w.taps(), 1, share.rows);
  const Index window_rows = std::clamp<Index>(block.places / w.out_w(), 1, w.out_h());
  const Index end = share.row + share.rows;
  for (Index channel = share.row; channel < end; channel += channels) {
    for (Index i = 0; i < w.out_h(); i += window_rows) {
      visit(blocked::product({nullptr, p.depth(), true}, {nullptr, p.out_pixels()}, nullptr, block.distance,
                             std::min(channels, end - channel) * w.taps(),
                             std::min(window_rows, w.out_h() - i) * w.out_w(), p.group_f()),
            channel, i);
    }
  }
}

/// Calls visit(product, row, first, n) for the blocks of dw: dw[f, rows] += dy[f, places] columns[rows,
/// places]^T, with rows from `row` on and the places of image `n` from `first` on.
template <class Visit>
void for_each_product(std::type_identity<Conv2dWeightGradient>, const Problem& p, const ColumnShare&,
                      const ColumnBlock& block, const Visit& visit) {
  const Index pixels = p.out_pixels(), depth = p.depth();
  for (Index row = 0; row < depth;) {
    const Index rows = next_block(depth - row, block.rows, 16);
    for (Index n = 0; n < p.n * p.groups; ++n) {
      for (Index first = 0; first < pixels;) {
        const Index count = next_block(pixels - first, block.places, 16);
        visit(blocked::product({nullptr, pixels}, {nullptr, block.distance, true}, nullptr, depth,
                               p.group_f(), rows, count, 1, n >= p.groups || first > 0 ? 1.0F : 0.0F),
              row, first, n);
        first += count;
      }
    }
    row += rows;
  }
}

template <class Op>
struct ColumnSum {
  blocked::Tier tier;
  typename Op::Problem p;
  ColumnShare share;
  ColumnBlock block;
  Window window;
  Buffer<float> columns, space;

  template <class Visit>
  void for_each(const Visit& visit) const {
    for_each_product(std::type_identity<Op>(), p, share, block, visit);
  }
};

void run(ColumnSum<Conv2d>& sum, const Conv2d::Input& in, Conv2d::Output& out) {
  const Problem& p = sum.p;
  const ColumnShare& share = sum.share;
  const Index pixels = p.out_pixels();
  for (Index n = share.image; n < share.image + share.images; ++n) {
    const Index filter = n % p.groups * p.group_f() + share.row;
    const float* const w = in.w.data() + filter * p.depth();
    const float* const x = in.x.data() + n * p.group_c() * p.pixels();
    float* const y = out.y.data() + (n * p.group_f() + share.row) * pixels;
    if (p.has_bias()) {
      set_rows(in.bias.data() + filter, share.rows, share.places, y + share.place, pixels);
    }
    sum.for_each([&](const blocked::Product& product, Index row, Index first) {
      gather(sum.window, x, row, product.k, first, product.n, sum.columns.data(), product.ldb);
      sum.tier.multiply(blocked::with(product, w + row, sum.columns.data(), y + first), sum.space.data());
    });
  }
}

void run(ColumnSum<Conv2dDataGradient>& sum, const Conv2dDataGradient::Input& in,
         Conv2dDataGradient::Output& out) {
  const DataProblem& p = sum.p;
  const ColumnShare& share = sum.share;
  const Index taps = sum.window.taps(), out_w = sum.window.out_w();
  for (Index n = share.image; n < share.image + share.images; ++n) {
    const float* const w = in.w.data() + n % p.groups * p.group_w();
    const float* const dy = in.dy.data() + n * p.group_f() * p.out_pixels();
    float* const dx = out.dx.data() + n * p.group_c() * p.pixels();
    std::fill_n(dx + share.row * p.pixels(), share.rows * p.pixels(), 0.0F);
    sum.for_each([&](const blocked::Product& product, Index channel, Index i) {
      float* const columns = sum.columns.data();
      sum.tier.multiply(blocked::with(product, w + channel * taps, dy + i * out_w, columns),
                        sum.space.data());
      im2col::add_rows(sum.window, columns, product.ldc, channel * taps, product.m, i, product.n / out_w, dx);
    });
  }
}

void run(ColumnSum<Conv2dWeightGradient>& sum, const Conv2dWeightGradient::Input& in,
         Conv2dWeightGradient::Output& out) {
  const Problem& p = sum.p;
  sum.for_each([&](const blocked::Product& product, Index row, Index first, Index n) {
    gather(sum.window, in.x.data() + n * p.group_c() * p.pixels(), row, product.n, first, product.k,
           sum.columns.data(), product.ldb);
    const float* const dy = in.dy.data() + n * p.group_f() * p.out_pixels() + first;
    float* const dw = out.dw.data() + n % p.groups * p.group_w() + row;
    sum.tier.multiply(blocked::with(product, dy, sum.columns.data(), dw), sum.space.data());
  });
  if (p.has_bias()) sum_filters(p, in.dy.data(), out.dbias.data());
}

}  // namespace

template <class Op>
typename Variant<Op>::Kernel column_sums(const blocked::Tier& tier, const typename Op::Problem& p,
                                         Columns columns, Index threads) {
  constexpr Index least_places = 64;
  ColumnShare whole{.images = p.n * p.groups, .rows = std::is_same_v<Op, Conv2d> ? p.group_f() : p.group_c()};
  if constexpr (std::is_same_v<Op, Conv2d>) whole.places = p.out_pixels();
  const Grid grid = images_and_rows(threads, whole.images, whole.rows);
  const bool by_place = whole.places >= least_places * grid.inner;
  std::vector<ColumnSum<Op>> sums;
  for (Index i = 0; i < grid.parts(); ++i) {
    ColumnShare share = whole;
    const Range images = range(whole.images, 1, i / grid.inner, grid.outer);
    const Range part = by_place ? range(whole.places, 32, i % grid.inner, grid.inner)
                                : range(whole.rows, 1, i % grid.inner, grid.inner);
    share.image = images.first;
    share.images = images.count;
    (by_place ? share.place : share.row) = part.first;
    (by_place ? share.places : share.rows) = part.count;
    const ColumnBlock block = block_of<Op>(p, columns);
    sums.push_back({tier, p, share, block, p.window(), Buffer<float>(block.rows * block.distance), {}});
    Index space = 0;  // a product of less than a block may need more than a whole one
    sums.back().for_each([&](const blocked::Product& product, auto...) {
      space = std::max(space, tier.space_floats(product));
    });
    sums.back().space = Buffer<float>(space);
  }
  start_team(grid.parts());
  return [sums = std::move(sums)](const typename Op::Input& in, typename Op::Output& out) mutable {
    on_each(sums, [&](ColumnSum<Op>& sum) { run(sum, in, out); });
  };
}

template Variant<Conv2d>::Kernel column_sums<Conv2d>(const blocked::Tier&, const Problem&, Columns, Index);
template Variant<Conv2dDataGradient>::Kernel column_sums<Conv2dDataGradient>(const blocked::Tier&,
                                                                             const DataProblem&, Columns,
                                                                             Index);
template Variant<Conv2dWeightGradient>::Kernel column_sums<Conv2dWeightGradient>(const blocked::Tier&,
                                                                                 const Problem&, Columns,
                                                                                 Index);

namespace {

template <class Op>
void add(Registry& r, std::string_view summary) {
  add_tiers<Op>(r, blocked::tiers(), {.name = "implicit_gemm", .summary = summary, .after = "im2col_gemm"},
                [](const blocked::Tier& tier, const typename Op::Problem& p, const auto&) {
                  return column_sums<Op>(tier, p, Columns::of_a_block, 1);
                });
}

const Register registered{[](Registry& r) {
  add<Conv2d>(r, "columns gathered a block at a time; workspace: 272 KiB, products compiled for {}");
  add<Conv2dDataGradient>(
      r, "columns added to dx a block at a time; workspace: about 272 KiB, products compiled for {}");
  add<Conv2dWeightGradient>(
      r, "columns gathered a block at a time; workspace: 390 KiB, products compiled for {}");
}};

}  // namespace
}  // namespace assay::conv2d
