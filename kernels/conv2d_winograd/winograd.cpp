// The idea: F(4 x 4, 3 x 3) computes a tile of 4 x 4 results with 36 products per channel where direct sums
// take 144. Pixels and weights are transformed, a product of matrices sums the channels of each of 36 points,
// and the results are transformed back. Tiles go through in blocks, so that transformed pixels and results
// stay in the second-level cache. Weights of conv2d_winograd are constant and transformed once, when the
// variant is prepared; those of its gradient in each call.

#include "conv2d_winograd/tiles.hpp"
#include "team.hpp"

#include "assay/caches.hpp"

#include <algorithm>

namespace assay::conv2d::winograd {
namespace {

/// The sum for y, or for dx, which swaps source and result.
TileSum shape_of(const Layer& p, bool of_dx) {
  const Window w = p.window();
  TileSum shape{.rows = p.f,
                .channels = p.c,
                .source_h = p.h,
                .source_w = p.w,
                .result_h = w.out_h(),
                .result_w = w.out_w(),
                .top = w.top,
                .left = w.left};
  if (of_dx) {
    std::swap(shape.rows, shape.channels);
    std::swap(shape.source_h, shape.result_h);
    std::swap(shape.source_w, shape.result_w);
    shape.top = taps - 1 - w.top;
    shape.left = taps - 1 - w.left;
  }
  return shape;
}

/// Computes y from x, or dx from dy: the same sum over channels and taps, whose order is reversed for dx. It
/// goes in at most `most` shares, each on a thread and in space of its own; all threads share the transformed
/// weights.
class Sum {
 public:
  Sum(const Layer& p, bool of_dx, const Tier& tier, Index most)
      : layer_(p),
        shape_(shape_of(p, of_dx)),
        of_dx_(of_dx),
        tier_(tier),
        point_(vectors() * tier.lanes() * shape_.channels + line_floats),
        weights_(all_points * point_) {
    shape_.vectors = vectors();
    shape_.tiles = p.n * shape_.tiles_down() * shape_.tiles_across();
    shape_.block = block(shape_);
    divide(most);
    for (TileSum& share : shares_) {
      share.block = block(share);
      const Index floats = tier.space_floats(share.block, share.channels, share.vectors);
      share.space = spaces_.emplace_back(std::max(tier.weight_space(), floats)).data();
    }
    start_team(threads());
  }

  void transform(const float* w) {
    constexpr Index all_taps = taps * taps;
    const Index depth = layer_.depth();
    on_team(threads(), threads(), [&](int i) {
      const Index first = vectors() * i / threads(), end = vectors() * (i + 1) / threads();
      tier_.transform({.rows = shape_.rows,
                       .channels = shape_.channels,
                       .first_vector = first,
                       .vectors = end - first,
                       .weights = w,
                       .row = of_dx_ ? all_taps : depth,
                       .channel = of_dx_ ? depth : all_taps,
                       .half_turn = of_dx_,
                       .to = weights_.data(),
                       .point = point_,
                       .space = shares_[static_cast<std::size_t>(i)].space});
    });
  }

  /// `start` is null where rows start from zero.
  void run(const float* source, const float* start, float* result) {
    on_each(shares_, [&](TileSum share) {
      share.source = source;
      share.weights = weights_.data();
      share.weights_point = point_;
      share.start = start;
      share.result = result;
      tier_.sum(share);
    });
  }

 private:
  Index vectors() const { return pieces(shape_.rows, tier_.lanes()); }
  int threads() const { return static_cast<int>(shares_.size()); }

  /// Tiles that are transformed before they are multiplied.
  Index block(const TileSum& share) const {
    const auto bytes = [](Index floats) { return static_cast<double>(floats) * sizeof(float); };
    const Index height = tier_.height();
    const double weights = bytes(all_points * share.vectors * tier_.lanes() * shape_.channels);
    const double tile = bytes(all_points * (share.vectors * tier_.lanes() + shape_.channels));
    const auto whole = [&](double tiles) {
      const Index count = std::max<Index>(1, static_cast<Index>(tiles));
      return std::min(share.tiles, count > height ? count / height * height : count);
    };
    // By default a block takes half of the second-level cache. Each block reads all weights, and weights that
    // do not fit beside it come from beyond that cache for each block. If that costs more than writing the
    // tiles there and reading them again, a block takes twice the bytes of the weights, but at most half of
    // the last-level cache: beyond that, fewer blocks gain little.
    const double in_second = caches().second / 2 / tile, twice = 2 * weights / tile;
    if (weights <= caches().second / 2) return whole(std::max(in_second, static_cast<double>(height)));
    const double large = std::max(in_second, std::min(twice, caches().last / 2 / tile));
    const auto beyond = [&](double tiles) {
      return weights / std::min(tiles, static_cast<double>(share.tiles));
    };
    return whole(beyond(in_second) <= beyond(large) + 2 * tile ? in_second : large);
  }

  /// Makes shares of about the same work, at most `most`. Tiles share weights. Rows share pixels, which each
  /// thread transforms for itself.
  void divide(Index most) {
    const Index panel = tier_.panel_vectors(), panels = pieces(vectors(), panel);
    const bool by_tiles = shape_.tiles >= most * shape_.block || panels < most;
    const Index parts = std::min(most, by_tiles ? shape_.tiles : panels);
    for (Index i = 0; i < parts; ++i) {
      TileSum& share = shares_.emplace_back(shape_);
      if (by_tiles) {
        share.first_tile = shape_.tiles * i / parts;
        share.tiles = shape_.tiles * (i + 1) / parts - share.first_tile;
      } else {
        share.first_vector = cut(vectors(), panel, i, parts);
        share.vectors = cut(vectors(), panel, i + 1, parts) - share.first_vector;
      }
    }
  }

  Layer layer_;
  TileSum shape_;  ///< the whole sum, without arrays
  bool of_dx_;
  Tier tier_;
  Index point_;
  Buffer<float> weights_;
  std::vector<TileSum> shares_;
  std::vector<Buffer<float>> spaces_;
};

}  // namespace

Variant<Conv2dWinograd>::Kernel kernel_of_y(const Tier& tier, const WinogradProblem& p, const float* w,
                                            Index threads) {
  Sum sum(p, false, tier, threads);
  sum.transform(w);
  return [sum = std::move(sum), p](const auto& in, auto& out) mutable {
    sum.run(in.x.data(), p.has_bias() ? in.bias.data() : nullptr, out.y.data());
  };
}

Variant<Conv2dWinogradDataGradient>::Kernel kernel_of_dx(const Tier& tier, const WinogradDataProblem& p,
                                                         Index threads) {
  return [sum = Sum(p, true, tier, threads)](const auto& in, auto& out) mutable {
    sum.transform(in.w.data());
    sum.run(in.dy.data(), nullptr, out.dx.data());
  };
}

const Register registered{[](Registry& r) {
  constexpr TierWords words{.name = "winograd",
                            .summary = "36 products in place of 144 per tile of 4 x 4, compiled for {}",
                            .precision = lost_digits};
  add_tiers<Conv2dWinograd>(r, tiers(), words, [](const Tier& tier, const auto& p, const auto& in) {
    return kernel_of_y(tier, p, in.w.data(), 1);
  });
  add_tiers<Conv2dWinogradDataGradient>(r, tiers(), words, [](const Tier& tier, const auto& p, const auto&) {
    return kernel_of_dx(tier, p, 1);
  });
}};

}  // namespace assay::conv2d::winograd
