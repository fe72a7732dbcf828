// The idea: the tiles of `direct` on every thread; or products where a layer is 1 x 1 and its pixels fill
// vectors: those of `pointwise`, or with a stride those of `implicit_gemm`. Threads divide images first,
// since images share only weights; then filters, channels of dx, or places. They divide dw by filters and
// channels, never by images: one thread sums a weight over the batch, so there are no accumulators to add up.

#include "conv2d/bias.hpp"
#include "conv2d/direct.hpp"
#include "conv2d/implicit_gemm.hpp"
#include "conv2d/pointwise.hpp"
#include "gemm/blocked.hpp"
#include "team.hpp"
#include "tiers.hpp"

#include "assay/registry.hpp"

#include <algorithm>
#include <memory>
#include <numeric>

namespace assay::conv2d {
namespace {

// Multiply-adds below which another thread costs more for its fork and join than it saves. As in gemm, not
// measured here.
constexpr double least_multiply_adds = 0x1p18;

Index useful_threads(const Layer& p, const Context& context) {
  const double work = static_cast<double>(p.y_size()) * static_cast<double>(p.depth());
  return std::clamp<Index>(static_cast<Index>(work / least_multiply_adds), 1, context.threads);
}

/// Part `i` of `parts` of `extent`. All parts but the last are multiples of `unit`.
struct Range {
  Index first = 0, count = 0;
};
Range range(Index extent, Index unit, Index i, Index parts) {
  const Index first = cut(extent, unit, i, parts);
  return {first, cut(extent, unit, i + 1, parts) - first};
}

/// A division inside a division.
struct Grid {
  Index outer = 1, inner = 1;
  int parts() const { return static_cast<int>(outer * inner); }
};

/// Puts threads on images as far as images divide evenly, the others on rows of the result.
Grid images_and_rows(Index threads, Index images, Index rows) {
  const Index outer = std::gcd(threads, images);
  if (outer == 1 && images >= 4 * threads) return {threads, 1};
  return {outer, std::min(threads / outer, rows)};
}

DirectTier best_tier() { return best_of(direct_tiers(), &DirectTier::sums); }

struct Sums {
  SumPlan plan;
  std::vector<SumPlan::Share> shares;
  std::vector<Buffer<float>> spaces;

  void run(const float* source, const float* w, const float* start, float* result) {
    const int parts = static_cast<int>(shares.size());
    on_team(parts, parts, [&](int i) {
      const auto at = static_cast<std::size_t>(i);
      plan.run(shares[at], source, w, start, result, spaces[at].data());
    });
  }
};

std::shared_ptr<Sums> divided_sums(SumPlan plan, const Layer& p, const Context& context) {
  std::vector<SumPlan::Share> shares = plan.shares(useful_threads(p, context));
  auto sums = std::make_shared<Sums>(Sums{std::move(plan), std::move(shares), {}});
  for (std::size_t i = 0; i < sums->shares.size(); ++i) {
    sums->spaces.push_back(zeroed_space(sums->plan.space_floats()));
  }
  start_team(static_cast<int>(sums->shares.size()));
  return sums;
}

struct Products {
  blocked::Tier tier;
  int threads = 1;
  std::vector<Range> images;
  std::vector<Block> blocks;
  std::vector<Buffer<float>> spaces;

  /// Multiplies product_of(image, block) for every image and block.
  template <class ProductOf>
  void run(const ProductOf& product_of) {
    on_team(threads, static_cast<int>(blocks.size()), [&](int i) {
      const auto at = static_cast<std::size_t>(i);
      for (Index n = images[at].first; n < images[at].first + images[at].count; ++n) {
        tier.multiply(product_of(n, blocks[at]), spaces[at].data());
      }
    });
  }
};

/// The blocks of a result: by rows where `rows` are many, else by columns. If the result is one per image,
/// images are divided first.
template <class ProductOf>
std::shared_ptr<Products> divided_products(const Layer& p, const Context& context, Index rows, Index columns,
                                           bool one_per_image, const ProductOf& product_of) {
  const Index threads = useful_threads(p, context);
  const bool by_columns = columns >= 4 * rows;
  const Index extent = by_columns ? columns : rows;
  const Grid grid = images_and_rows(threads, one_per_image ? p.n : 1, extent);
  auto products = std::make_shared<Products>();
  products->tier = best_of(blocked::tiers());
  products->threads = grid.parts();
  for (Index i = 0; i < grid.parts(); ++i) {
    const Range part = range(extent, by_columns ? 32 : 1, i % grid.inner, grid.inner);
    products->images.push_back(one_per_image ? range(p.n, 1, i / grid.inner, grid.outer) : Range{0, p.n});
    products->blocks.push_back(by_columns ? Block{0, rows, part.first, part.count}
                                          : Block{part.first, part.count, 0, columns});
    const blocked::Product product = product_of(products->blocks.back());
    products->spaces.emplace_back(products->tier.space_floats(product));
  }
  start_team(products->threads);
  return products;
}

/// Whether products, one per image, compute a 1 x 1 layer faster than the plan. The plan's cost counts
/// arithmetic; in addition, it transposes weights that serve a single tap and reads them from far away. On a
/// Zen 3, products of 16 pixels and more took 0.5 to 0.9 of the time, 0.95 to 1.05 with 16 pixels and some
/// 2,048 channels, and 2 times the time with single pixels, which leave most of a vector empty.
bool pays_as_products(const Layer& p, Index places, Index rows, Index channels, const SumPlan& plan) {
  constexpr double beside = 1.25;
  if (p.window().taps() > 1) return false;
  const Index vectors = plan.vectors(places);
  return static_cast<double>(p.n * rows * channels * vectors) < beside * plan.cost();
}

/// `implicit_gemm` on every thread.
template <class Sum>
struct ColumnSums {
  std::vector<std::unique_ptr<Sum>> parts;

  template <class In, class Out>
  void run(const In& in, Out& out) {
    const int count = static_cast<int>(parts.size());
    on_team(count, count, [&](int i) { parts[static_cast<std::size_t>(i)]->run(in, out); });
  }
};

/// Divides images first; then places if each thread gets whole vectors of them, else rows of the result. Each
/// thread gathers the columns for its rows.
template <class Sum, class Problem>
std::shared_ptr<ColumnSums<Sum>> divided_columns(const Problem& p, const Context& context,
                                                 const ColumnShare& whole) {
  constexpr Index least_places = 64;
  const Grid grid = images_and_rows(useful_threads(p, context), whole.images, whole.rows);
  const bool by_place = whole.places >= least_places * grid.inner;
  auto sums = std::make_shared<ColumnSums<Sum>>();
  for (Index i = 0; i < grid.parts(); ++i) {
    ColumnShare share = whole;
    const Range images = range(whole.images, 1, i / grid.inner, grid.outer);
    const Range part = by_place ? range(whole.places, 32, i % grid.inner, grid.inner)
                                : range(whole.rows, 1, i % grid.inner, grid.inner);
    share.image = images.first;
    share.images = images.count;
    (by_place ? share.place : share.row) = part.first;
    (by_place ? share.places : share.rows) = part.count;
    sums->parts.push_back(std::make_unique<Sum>(best_of(blocked::tiers()), p, share));
  }
  start_team(grid.parts());
  return sums;
}

Variant<Conv2d>::Kernel prepare_y(const Problem& p, const Conv2d::Input&, const Context& context) {
  SumPlan plan = SumPlan::of_y(p, best_tier());
  if (!pays_as_products(p, p.out_pixels(), p.f, p.c, plan)) {
    return
        [p, sums = divided_sums(std::move(plan), p, context)](const Conv2d::Input& in, Conv2d::Output& out) {
          sums->run(in.x.data(), in.w.data(), p.has_bias() ? in.bias.data() : nullptr, out.y.data());
        };
  }
  if (is_pointwise(p) && !p.has_bias()) {
    const auto products = divided_products(p, context, p.f, p.pixels(), true, [&](const Block& at) {
      return product_y(p, at, nullptr, nullptr, 0, nullptr);
    });
    return [p, products](const Conv2d::Input& in, Conv2d::Output& out) {
      products->run([&](Index n, const Block& at) {
        return product_y(p, at, in.x.data() + n * p.c * p.pixels(), in.w.data(), 0,
                         out.y.data() + n * p.f * p.pixels());
      });
    };
  }
  return [sums = divided_columns<ColumnSumY>(p, context, whole_y(p))](
             const Conv2d::Input& in, Conv2d::Output& out) { sums->run(in, out); };
}

Variant<Conv2dDataGradient>::Kernel prepare_dx(const DataProblem& p, const Conv2dDataGradient::Input&,
                                               const Context& context) {
  SumPlan plan = SumPlan::of_dx(p, best_tier());
  if (!pays_as_products(p, p.out_pixels(), p.c, p.f, plan)) {
    return [sums = divided_sums(std::move(plan), p, context)](const Conv2dDataGradient::Input& in,
                                                              Conv2dDataGradient::Output& out) {
      sums->run(in.dy.data(), in.w.data(), nullptr, out.dx.data());
    };
  }
  if (is_pointwise(p)) {
    const auto products = divided_products(p, context, p.c, p.pixels(), true, [&](const Block& at) {
      return product_dx(p, at, nullptr, nullptr, nullptr);
    });
    return [p, products](const Conv2dDataGradient::Input& in, Conv2dDataGradient::Output& out) {
      products->run([&](Index n, const Block& at) {
        return product_dx(p, at, in.dy.data() + n * p.f * p.pixels(), in.w.data(),
                          out.dx.data() + n * p.c * p.pixels());
      });
    };
  }
  return [sums = divided_columns<ColumnSumDx>(p, context, whole_dx(p))](
             const Conv2dDataGradient::Input& in, Conv2dDataGradient::Output& out) { sums->run(in, out); };
}

struct Weights {
  WeightPlan plan;
  DirectTier tier;
  int threads = 1;
  std::vector<WeightPlan::Share> shares;
  std::vector<Buffer<float>> spaces;
};

/// Divides the weights by filters, in whole panels, then by channels.
std::shared_ptr<Weights> divided_weights(const Layer& p, const Context& context) {
  const Index threads = useful_threads(p, context);
  const Index by_filters = std::gcd(threads, pieces(p.f, panel_filters));
  const Grid grid{by_filters, std::min(threads / by_filters, p.c)};
  auto weights = std::make_shared<Weights>(Weights{WeightPlan(p), best_tier(), grid.parts(), {}, {}});
  for (Index i = 0; i < grid.parts(); ++i) {
    const Range filters = range(p.f, panel_filters, i / grid.inner, grid.outer);
    const Range channels = range(p.c, 1, i % grid.inner, grid.inner);
    weights->shares.push_back({filters.first, filters.count, channels.first, channels.count});
    weights->spaces.push_back(zeroed_space(weights->plan.space_floats(weights->shares.back())));
  }
  start_team(weights->threads);
  return weights;
}

Variant<Conv2dWeightGradient>::Kernel prepare_dw(const Problem& p, const Conv2dWeightGradient::Input&,
                                                 const Context& context) {
  if (is_pointwise(p) && !p.has_bias()) {
    const auto products = divided_products(p, context, p.f, p.c, false, [&](const Block& at) {
      return product_dw(p, at, nullptr, nullptr, 0, nullptr);
    });
    return [p, products](const Conv2dWeightGradient::Input& in, Conv2dWeightGradient::Output& out) {
      products->run([&](Index n, const Block& at) {
        return product_dw(p, at, in.dy.data() + n * p.f * p.pixels(), in.x.data() + n * p.c * p.pixels(),
                          n == 0 ? 0 : 1, out.dw.data());
      });
    };
  }
  return [p, w = divided_weights(p, context)](const Conv2dWeightGradient::Input& in,
                                              Conv2dWeightGradient::Output& out) {
    on_team(w->threads, static_cast<int>(w->shares.size()), [&](int i) {
      const auto at = static_cast<std::size_t>(i);
      w->plan.run(w->tier, w->shares[at], in.x.data(), in.dy.data(), out.dw.data(),
                  p.has_bias() ? out.dbias.data() : nullptr, w->spaces[at].data());
    });
  };
}

const Register registered{[](Registry& r) {
  constexpr auto summary = "best tier of direct, or products where pointwise, on every thread";
  r.add<Conv2d>(
      {.name = "threaded", .summary = summary, .after = "direct", .threaded = true, .prepare = prepare_y});
  r.add<Conv2dDataGradient>(
      {.name = "threaded", .summary = summary, .after = "direct", .threaded = true, .prepare = prepare_dx});
  r.add<Conv2dWeightGradient>(
      {.name = "threaded", .summary = summary, .after = "direct", .threaded = true, .prepare = prepare_dw});
}};

}  // namespace
}  // namespace assay::conv2d
