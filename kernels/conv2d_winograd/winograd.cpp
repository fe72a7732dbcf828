// The idea: F(4 x 4, 3 x 3) computes a tile of 4 x 4 results with 36 products per channel where direct sums
// take 144. Pixels and weights are transformed, a product of matrices sums the channels of each of 36 points,
// and the results are transformed back. Tiles go through in blocks, so that transformed pixels and results
// stay in the second-level cache. Weights of conv2d_winograd are constant and transformed once, when the
// variant is prepared; those of its gradient in each call.

#include "conv2d_winograd/winograd.hpp"

#include "blocks.hpp"

#include "assay/caches.hpp"
#include "assay/registry.hpp"

#include <algorithm>

namespace assay::conv2d::winograd {

void Plan::measure(Index rows, Index channels, Index h, Index w) {
  shape_.rows = rows;
  shape_.channels = channels;
  shape_.result_h = h;
  shape_.result_w = w;
  all_tiles_ = layer_.n * shape_.tiles_down() * shape_.tiles_across();
  point_ = vectors() * tier_.lanes() * channels + line_floats;
}

Plan Plan::of_y(const Layer& p, const Tier& tier) {
  Plan plan(p, tier);
  const Window w = p.window();
  plan.shape_.source_h = p.h;
  plan.shape_.source_w = p.w;
  plan.shape_.top = w.top;
  plan.shape_.left = w.left;
  plan.measure(p.f, p.c, w.out_h(), w.out_w());
  return plan;
}

Plan Plan::of_dx(const Layer& p, const Tier& tier) {
  Plan plan(p, tier);
  const Window w = p.window();
  plan.of_dx_ = true;
  plan.shape_.source_h = w.out_h();
  plan.shape_.source_w = w.out_w();
  plan.shape_.top = taps - 1 - w.top;
  plan.shape_.left = taps - 1 - w.left;
  plan.measure(p.c, p.f, p.h, p.w);
  return plan;
}

Index Plan::vectors() const { return pieces(shape_.rows, tier_.lanes()); }

Index Plan::block(const Share& share) const {
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
  // tiles there and reading them again, a block takes twice the bytes of the weights, but at most half of the
  // last-level cache: beyond that, fewer blocks gain little.
  const double in_second = caches().second / 2 / tile, twice = 2 * weights / tile;
  if (weights <= caches().second / 2) return whole(std::max(in_second, static_cast<double>(height)));
  const double large = std::max(in_second, std::min(twice, caches().last / 2 / tile));
  const auto beyond = [&](double tiles) {
    return weights / std::min(tiles, static_cast<double>(share.tiles));
  };
  return whole(beyond(in_second) <= beyond(large) + 2 * tile ? in_second : large);
}

std::vector<Plan::Share> Plan::shares(Index most) const {
  const Index panel = tier_.panel_vectors(), panels = pieces(vectors(), panel);
  // Tiles share weights. Rows share pixels, which each thread transforms for itself.
  const bool by_tiles = all_tiles_ >= most * block(all()) || panels < most;
  const Index parts = std::min(most, by_tiles ? all_tiles_ : panels);
  std::vector<Share> out;
  for (Index i = 0; i < parts; ++i) {
    Share share = all();
    if (by_tiles) {
      share.first_tile = all_tiles_ * i / parts;
      share.tiles = all_tiles_ * (i + 1) / parts - share.first_tile;
    } else {
      share.first_vector = cut(vectors(), panel, i, parts);
      share.vectors = cut(vectors(), panel, i + 1, parts) - share.first_vector;
    }
    out.push_back(share);
  }
  return out;
}

Index Plan::space_floats(const Share& share) const {
  return std::max(tier_.weight_space(), tier_.space_floats(block(share), shape_.channels, share.vectors));
}

void Plan::transform(const float* w, Index first_vector, Index count, float* weights, float* space) const {
  constexpr Index all_taps = taps * taps;
  const Index depth = layer_.depth();
  tier_.transform({.rows = shape_.rows,
                   .channels = shape_.channels,
                   .first_vector = first_vector,
                   .vectors = count,
                   .weights = w,
                   .row = of_dx_ ? all_taps : depth,
                   .channel = of_dx_ ? depth : all_taps,
                   .half_turn = of_dx_,
                   .to = weights,
                   .point = point_,
                   .space = space});
}

void Plan::run(const Share& share, const float* source, const float* weights, const float* start,
               float* result, float* space) const {
  TileSum s = shape_;
  s.first_vector = share.first_vector;
  s.vectors = share.vectors;
  s.first_tile = share.first_tile;
  s.tiles = share.tiles;
  s.block = block(share);
  s.source = source;
  s.weights = weights;
  s.weights_point = point_;
  s.start = start;
  s.result = result;
  s.space = space;
  tier_.sum(s);
}

namespace {

struct Prepared {
  Plan plan;
  Buffer<float> weights, space;

  explicit Prepared(const Plan& its_plan)
      : plan(its_plan), weights(plan.weights_floats()), space(plan.space_floats(plan.all())) {}
  void transform(const float* w) { plan.transform(w, 0, plan.vectors(), weights.data(), space.data()); }
  void run(const float* source, const float* start, float* result) {
    plan.run(plan.all(), source, weights.data(), start, result, space.data());
  }
};

void add_tier(Registry& r, const Tier& tier) {
  const std::string name = "winograd@" + tier.name;
  const std::string summary = "36 products in place of 144 per tile of 4 x 4, compiled for " + tier.name;
  const auto unfit = [why = tier.unfit](const auto&, const Context&) { return why; };
  r.add<Conv2dWinograd>(
      {.name = name,
       .summary = summary,
       .precision = lost_digits,
       .prepare =
           [tier](const WinogradProblem& p, const Conv2dWinograd::Input& prepared, const Context&) {
             const auto all = std::make_shared<Prepared>(Plan::of_y(p, tier));
             all->transform(prepared.w.data());
             return [all, p](const Conv2dWinograd::Input& in, Conv2dWinograd::Output& out) {
               all->run(in.x.data(), p.has_bias() ? in.bias.data() : nullptr, out.y.data());
             };
           },
       .unfit = unfit});
  r.add<Conv2dWinogradDataGradient>(
      {.name = name,
       .summary = summary,
       .precision = lost_digits,
       .prepare =
           [tier](const WinogradDataProblem& p, const Conv2dWinogradDataGradient::Input&, const Context&) {
             return
                 [all = std::make_shared<Prepared>(Plan::of_dx(p, tier))](
                     const Conv2dWinogradDataGradient::Input& in, Conv2dWinogradDataGradient::Output& out) {
                   all->transform(in.w.data());
                   all->run(in.dy.data(), nullptr, out.dx.data());
                 };
           },
       .unfit = unfit});
}

const Register registered{[](Registry& r) {
  for (const Tier& tier : tiers()) add_tier(r, tier);
}};

}  // namespace
}  // namespace assay::conv2d::winograd
