// The idea: no columns at all. A register tile walks the image itself, channel by channel and tap by tap;
// what a tap sees is the image at a constant distance, read where it lies. The workspace is one image with
// its border, against kernel_h x kernel_w images of a column buffer, and nothing is packed per tap.
//
// For dw the pixels are the sum: elements of the image are broadcast against vectors of filters, of a dy that
// was turned once.

#include "conv2d/direct.hpp"

#include "assay/registry.hpp"

#include <algorithm>
#include <memory>

namespace assay::conv2d {

std::vector<DirectTier> direct_tiers() {
  const auto sums = tap_sum_tiers();
  const auto gradients = tap_gradient_tiers();
  std::vector<DirectTier> out;
  for (std::size_t i = 0; i < sums.size(); ++i) out.push_back({sums[i], gradients[i]});
  return out;
}

Buffer<float> zeroed_space(Index floats) {
  Buffer<float> space(floats);
  std::ranges::fill(space, 0.0F);
  return space;
}

SumPlan SumPlan::of_y(const Layer& p) {
  SumPlan plan(p, forward_layout(p));
  plan.channels_ = p.c;
  plan.rows_ = p.f;
  plan.w_row_ = p.depth();
  plan.w_channel_ = p.window().taps();
  plan.result_h_ = p.window().out_h();
  plan.result_w_ = p.window().out_w();
  return plan;
}

SumPlan SumPlan::of_dx(const Layer& p) {
  SumPlan plan(p, data_layout(p));
  plan.channels_ = p.f;
  plan.rows_ = p.c;
  plan.w_row_ = p.window().taps();
  plan.w_channel_ = p.depth();
  plan.result_h_ = p.h;
  plan.result_w_ = p.w;
  return plan;
}

void SumPlan::run(const TapSumTier& tier, const Share& share, const float* source, const float* w,
                  const float* start, float* result, float* space) const {
  const Index source_floats = channels_ * layout_.source_h * layout_.source_w;
  const Index plane = result_h_ * result_w_;
  for (Index image = share.image; image < share.image + share.images; ++image) {
    tier.fill(PlaneCopy(layout_), source + image * source_floats, channels_, space);
    // Pixels between those that any tap reaches.
    if (std::ranges::any_of(layout_.sweeps, &Sweep::is_empty)) {
      std::fill_n(result + (image * rows_ + share.row) * plane, share.rows * plane, 0.0F);
    }
    for (const Sweep& sweep : layout_.sweeps) {
      if (sweep.is_empty()) continue;
      tier.sum({.rows = share.rows,
                .channels = channels_,
                .taps = static_cast<Index>(sweep.in_weights.size()),
                .in_weights = sweep.in_weights.data(),
                .in_channel = sweep.in_channel.data(),
                .a = w + share.row * w_row_,
                .a_row = w_row_,
                .a_channel = w_channel_,
                .b = space,
                .b_channel = layout_.channel_floats(),
                .pitch = layout_.pitch,
                .start = start == nullptr ? nullptr : start + share.row,
                .out_h = sweep.out_h,
                .out_w = sweep.out_w,
                .out = result + (image * rows_ + share.row) * plane + sweep.row * result_w_ + sweep.column,
                .out_plane = plane,
                .out_row = sweep.step * result_w_,
                .out_step = sweep.step});
    }
  }
}

namespace {

// The limit on dy and the image together, in floats: 4 MiB, a part of a third-level cache. More images at
// once read and write dw less often.
constexpr Index most_at_once = 1024 * 1024;
// Pixels of a panel of dy: 256 KiB, so that it stays in the second-level cache while rows of dw are walked.
constexpr Index most_pixels = 2048;

Index panels(Index filters) { return (filters + panel_filters - 1) / panel_filters; }

}  // namespace

WeightPlan::WeightPlan(const Layer& p) : layer_(p), layout_(forward_layout(p)) {
  for (Index channel = 0; channel < p.c; ++channel) {
    for (const Index tap : layout_.sweeps[0].in_channel) {
      row_offset_.push_back(channel * layout_.channel_floats() + tap);
    }
  }
}

Index WeightPlan::images_at_once(const Share& share) const {
  const Index dy_floats = panels(share.filters) * panel_filters * layer_.out_pixels();
  return std::clamp<Index>(most_at_once / (image_floats(share) + dy_floats), 1, layer_.n);
}

Index WeightPlan::space_floats(const Share& share) const {
  const Index images = images_at_once(share);
  const Index dy_floats = panels(share.filters) * panel_filters * layer_.out_pixels();
  return images * (image_floats(share) + dy_floats) + 64;
}

void WeightPlan::run(const DirectTier& tier, const Share& share, const float* x, const float* dy, float* dw,
                     float* dbias, float* space) const {
  const Layer& p = layer_;
  const Sweep& sweep = layout_.sweeps[0];
  const Index taps = static_cast<Index>(sweep.in_channel.size());
  const Index pixels = sweep.out_h * sweep.out_w;
  const Index at_once = images_at_once(share);
  const Index panel = at_once * pixels * panel_filters;
  float* const turned = space;
  float* const images = space + panels(share.filters) * panel;
  const bool divided = pixels > most_pixels;
  const Index most_rows = divided ? std::max<Index>(1, most_pixels / sweep.out_w) : sweep.out_h;

  TapGradient part{.rows = share.channels * taps,
                   .row_offset = row_offset_.data(),
                   .a_image = image_floats(share),
                   .pitch = layout_.pitch,
                   .out_w = sweep.out_w,
                   .b_panel = panel,
                   .filters = share.filters,
                   .out = dw + share.filter * p.depth() + share.channel * taps,
                   .out_filter = p.depth()};
  for (Index first = 0; first < p.n; first += at_once) {
    const Index count = std::min(at_once, p.n - first);
    for (Index image = 0; image < count; ++image) {
      tier.sums.fill(PlaneCopy(layout_), x + ((first + image) * p.c + share.channel) * p.pixels(),
                     share.channels, images + image * part.a_image);
      tier.gradients.turn({.dy = dy + ((first + image) * p.f + share.filter) * pixels,
                           .pixels = pixels,
                           .filters = share.filters,
                           .to = turned + image * pixels * panel_filters,
                           .panel = panel});
    }
    part.images = divided ? 1 : count;
    for (Index image = 0; image < count; image += part.images) {
      for (Index i = 0; i < sweep.out_h; i += part.out_h) {
        part.out_h = std::min(most_rows, sweep.out_h - i);
        part.a = images + image * part.a_image + i * layout_.pitch;
        part.b = turned + (image * pixels + i * sweep.out_w) * panel_filters;
        tier.gradients.gradient(part);
        part.add = true;
      }
    }
  }
  if (dbias == nullptr || share.channel != 0) return;
  for (Index f = share.filter; f < share.filter + share.filters; ++f) {
    dbias[f] = 0;
    for (Index n = 0; n < p.n; ++n) dbias[f] += tier.gradients.sum(dy + (n * p.f + f) * pixels, pixels);
  }
}

namespace {

struct Sums {
  SumPlan plan;
  TapSumTier tier;
  Buffer<float> space;
};

std::shared_ptr<Sums> sums_of(SumPlan plan, const TapSumTier& tier) {
  const Index floats = plan.space_floats();
  return std::make_shared<Sums>(Sums{std::move(plan), tier, zeroed_space(floats)});
}

struct Weights {
  WeightPlan plan;
  DirectTier tier;
  Buffer<float> space;
};

void add_tier(Registry& r, const DirectTier& tier) {
  const std::string name = "direct@" + tier.sums.name;
  const std::string summary = "register tile on the bordered image itself, compiled for " + tier.sums.name;
  const auto unfit = [why = tier.sums.unfit](const auto&, const Context&) { return why; };
  r.add<Conv2d>({.name = name,
                 .summary = summary,
                 .prepare =
                     [tier](const Problem& p, const Conv2d::Input&, const Context&) {
                       return [s = sums_of(SumPlan::of_y(p), tier.sums), p](const Conv2d::Input& in,
                                                                            Conv2d::Output& out) {
                         s->plan.run(s->tier, s->plan.all(), in.x.data(), in.w.data(),
                                     p.has_bias() ? in.bias.data() : nullptr, out.y.data(), s->space.data());
                       };
                     },
                 .unfit = unfit});
  r.add<Conv2dDataGradient>(
      {.name = name,
       .summary = summary,
       .prepare =
           [tier](const DataProblem& p, const Conv2dDataGradient::Input&, const Context&) {
             return [s = sums_of(SumPlan::of_dx(p), tier.sums)](const Conv2dDataGradient::Input& in,
                                                                Conv2dDataGradient::Output& out) {
               s->plan.run(s->tier, s->plan.all(), in.dy.data(), in.w.data(), nullptr, out.dx.data(),
                           s->space.data());
             };
           },
       .unfit = unfit});
  r.add<Conv2dWeightGradient>(
      {.name = name,
       .summary = "image broadcast against filters of a turned dy, compiled for " + tier.sums.name,
       .prepare =
           [tier](const Problem& p, const Conv2dWeightGradient::Input&, const Context&) {
             WeightPlan plan(p);
             const Index floats = plan.space_floats(plan.all());
             const auto s = std::make_shared<Weights>(Weights{std::move(plan), tier, zeroed_space(floats)});
             return [s, p](const Conv2dWeightGradient::Input& in, Conv2dWeightGradient::Output& out) {
               s->plan.run(s->tier, s->plan.all(), in.x.data(), in.dy.data(), out.dw.data(),
                           p.has_bias() ? out.dbias.data() : nullptr, s->space.data());
             };
           },
       .unfit = unfit});
}

const Register registered{[](Registry& r) {
  for (const DirectTier& tier : direct_tiers()) add_tier(r, tier);
}};

}  // namespace
}  // namespace assay::conv2d
