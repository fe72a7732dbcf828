// The idea: no columns at all. A register tile walks the image itself, channel by channel and tap by tap; a
// tap reads the image at a constant distance. The workspace is one image with its border, or the transposed
// weights, where a column buffer takes kernel_h x kernel_w images. Nothing is packed per tap.
//
// The sum of dw runs over pixels: elements of the image are broadcast and multiplied with vectors of filters
// of dy, which is transposed once.

#include "conv2d/direct.hpp"

#include "team.hpp"

#include "assay/caches.hpp"
#include "assay/registry.hpp"

#include <algorithm>
#include <numeric>

namespace assay::conv2d {

std::vector<DirectTier> direct_tiers() {
  std::vector<DirectTier> out;
  set_tap_sums(out);
  set_pixel_sums(out);
  set_tap_gradients(out);
  set_plane_sums(out);
  return out;
}

SumPlan::SumPlan(const Layer& p, const DirectTier& tier, bool of_dx)
    : tier_(tier),
      images_(p.n),
      groups_(p.groups),
      taps_(p.window().taps()),
      layout_(of_dx ? data_layout(p) : forward_layout(p)),
      places_(of_dx ? data_places(p) : forward_places(p)),
      channels_(of_dx ? p.group_f() : p.group_c()),
      rows_(of_dx ? p.group_c() : p.group_f()),
      w_row_(of_dx ? taps_ : p.depth()),
      w_channel_(of_dx ? p.depth() : taps_),
      result_h_(of_dx ? p.h : p.window().out_h()),
      result_w_(of_dx ? p.w : p.window().out_w()) {
  choose();
}

namespace {

// The cost of results, pixels and weights beside the multiply-adds, in multiply-adds of a vector, two of
// which take a cycle. Derived from the remaining time of layers with few steps and of small images on a Zen
// 5. Only the choice between two ways depends on it.
constexpr double per_result = 18;   // storing a vector of results, and starting its sum
constexpr double per_pixel = 1;     // copying a pixel of the image
constexpr double per_weight = 2.4;  // transposing a weight, or copying it where rows lie side by side
constexpr double per_copied_weight = 0.5;
constexpr double unaligned = 1.06;  // vectors of pixels across two cache lines
// A tile of a single vector waits for its loads and for the latency of its sums.
constexpr double single_vector = 1.6;

// Rows of a vector and of a panel of any target.
constexpr Index most_lanes = 16, most_panel_rows = 5 * most_lanes;
// The share of the second-level cache that pixels take while a panel of weights is walked over their places:
// half where each panel comes from beyond that cache. A strip is a multiple of all numbers of places that are
// stored together.
constexpr double strip_share(bool weights_fit) { return weights_fit ? 0.25 : 0.5; }
constexpr Index strip_unit = 48;

Index part_of_second_level(double share, Index floats) {
  return static_cast<Index>(caches().second * share / sizeof(float)) / std::max<Index>(1, floats);
}

}  // namespace

void SumPlan::choose() {
  const auto number = [](Index n) { return static_cast<double>(n); };
  double steps = 0, places = 0;
  for (const PlaceClass& c : places_) {
    if (c.taps.empty()) continue;
    const double count = number(c.count());
    places += count;
    steps += count * number(static_cast<Index>(c.taps.size()));
  }
  const double results = number(vectors(rows_)) * number(images_);
  const double slowed = vectors(rows_) == 1 ? single_vector : 1;
  // Planes a multiple of 4096 bytes apart fall into the same few sets of the caches. If a result would
  // otherwise stay in the second level, that costs about two more per float with AVX-512.
  const Index plane = result_h_ * result_w_;
  const bool collides = plane % 1024 == 0 && rows_ * plane <= part_of_second_level(0.5, 1);
  const double colliding = collides ? 2 * number(tier_.lanes()) : 0;
  const double on_pixels =
      results * (steps * number(channels_) * slowed + places * (per_result + colliding)) +
      (w_row_ == 1 ? per_copied_weight : per_weight) * number(rows_ * channels_ * taps_);
  double on_taps = per_pixel * number(images_ * channels_ * layout_.source_h * layout_.source_w);
  for (const Sweep& sweep : layout_.sweeps) {
    const Index positions = (sweep.out_h - 1) * layout_.pitch + sweep.out_w;
    const double depth = number(channels_ * static_cast<Index>(sweep.in_weights.size()));
    on_taps +=
        number(vectors(positions)) * number(rows_) * number(images_) * (unaligned * depth + per_result);
  }
  on_pixels_ = tier_.sum_pixels != nullptr && on_pixels < on_taps;
  cost_ = std::min(on_pixels, on_taps);
}

Index SumPlan::rows_at_once() const {
  const Index source_image = channels_ * layout_.source_h * layout_.source_w;
  if (source_image > part_of_second_level(0.5, 1)) return rows_;
  return part_of_second_level(0.5, channels_ * taps_);
}

Index SumPlan::space_floats() const {
  if (!on_pixels_) return layout_.floats(channels_);
  const Index most = std::max(most_panel_rows, rows_at_once() + most_lanes);
  return std::min(rounded_up(rows_, most_lanes), most) * channels_ * taps_;
}

bool SumPlan::divides_places(Index parts) const {
  return std::ranges::all_of(layout_.sweeps,
                             [&](const Sweep& sweep) { return !sweep.is_empty() && sweep.out_h >= parts; });
}

void SumPlan::divide(Index threads) {
  // Groups share nothing. Images share only weights. Rows, in whole vectors, share the image. Places share
  // the weights, which each part transposes for itself.
  const Index by_group = groups_ >= 4 * threads ? threads : std::gcd(threads, groups_);
  threads /= by_group;
  // Threads that divide images transpose all weights each. Where those outnumber pixels, whole panels of rows
  // are divided: 2 x 512 x 7 x 7 under 512 filters of 3 x 3.
  const bool weighs_more = on_pixels_ && rows_ * taps_ > images_ * layout_.source_h * layout_.source_w &&
                           vectors(rows_) % threads == 0 && rows_ >= most_panel_rows * threads;
  Index by_image = weighs_more ? 1 : std::gcd(threads, images_);
  // If threads divide the rows of an image, each thread copies the image.
  if (!on_pixels_ && by_image == 1 && images_ >= 4 * threads) by_image = threads;
  const Index left = threads / by_image;
  Index by_row = 1, by_place = 1, unit = 1;
  if (on_pixels_) {
    unit = tier_.lanes();
    (vectors(rows_) % left == 0 ? by_row : by_place) = left;
  } else if (rows_ % left != 0 && rows_ < 8 * left && divides_places(left)) {
    by_place = left;
  } else {
    by_row = std::min(left, rows_);
  }
  for (Index i = 0; i < by_group * by_image; ++i) {
    for (Index j = 0; j < by_row; ++j) {
      const Index row = cut(rows_, unit, j, by_row);
      const Index end = cut(rows_, unit, j + 1, by_row);
      for (Index part = 0; part < by_place; ++part) {
        shares_.push_back({.groups = range(groups_, 1, i / by_image, by_group),
                           .images = range(images_, 1, i % by_image, by_image),
                           .row = row,
                           .rows = end - row,
                           .part = part,
                           .parts = by_place,
                           .space = zeroed_space(space_floats())});
      }
    }
  }
  start_team(static_cast<int>(shares_.size()));
}

void SumPlan::run(const float* source, const float* w, const float* start, float* result) {
  on_each(shares_, [&](Share& share) {
    if (!on_pixels_) return sum_taps(share, source, w, start, result);
    for (Index group = share.groups.first, left = share.groups.count; left > 0; --left, ++group)
      sum_pixels(share, group, source, w, start, result);
  });
}

void SumPlan::sum_pixels(Share& share, Index group, const float* source, const float* w, const float* start,
                         float* result) const {
  float* const space = share.space.data();
  const Index source_plane = layout_.source_h * layout_.source_w, plane = result_h_ * result_w_;
  const Index source_image = channels_ * source_plane;
  // Weights that stay in the second-level cache are transposed once and read again for each strip of
  // places, whose pixels stay there too. So are the weights of large images: they are contiguous and fetched
  // ahead, and pixels are not. Other weights are transposed a panel at a time, and a panel serves as many
  // images as fit.
  const bool at_once = share.rows <= rows_at_once();
  const bool fits = share.rows <= part_of_second_level(0.5, channels_ * taps_);
  const Index images = std::clamp<Index>(part_of_second_level(1, source_image), 1, share.images.count);
  const Index strip = part_of_second_level(strip_share(fits), channels_ * layout_.step * layout_.step);
  PixelSum s{.channels = channels_,
             .kernel_taps = taps_,
             .weights = space,
             .source_channel = source_plane,
             .source_image = groups_ * source_image,
             .strip = at_once ? std::max<Index>(1, strip / strip_unit) * strip_unit : plane * images,
             .out_plane = plane,
             .out_image = groups_ * rows_ * plane};
  for (Index row = 0; row < share.rows; row += s.rows) {
    s.rows = at_once ? share.rows : tier_.panel_rows(share.rows - row);
    tier_.turn_weights({.rows = s.rows,
                        .channels = channels_,
                        .taps = taps_,
                        .weights = w + group * rows_ * channels_ * taps_ + (share.row + row) * w_row_,
                        .row = w_row_,
                        .channel = w_channel_,
                        .to = space});
    s.start = start == nullptr ? nullptr : start + group * rows_ + share.row + row;
    for (Index first = 0; first < share.images.count; first += s.images) {
      s.images = std::min(images, share.images.count - first);
      const Index image = (share.images.first + first) * groups_ + group;
      s.source = source + image * source_image;
      s.out = result + (image * rows_ + share.row + row) * plane;
      for (const PlaceClass& places : places_) {
        s.channels = places.taps.empty() ? 0 : channels_;
        s.taps = places.taps.data();
        s.tap_count = static_cast<Index>(places.taps.size());
        s.place_rows = places.rows.data();
        s.place_row_count = static_cast<Index>(places.rows.size());
        s.place_columns = places.columns.data();
        s.place_column_count = static_cast<Index>(places.columns.size());
        s.column_step = places.column_step;
        const Index count = s.images * places.count();
        s.first = count * share.part / share.parts;
        s.count = count * (share.part + 1) / share.parts - s.first;
        tier_.sum_pixels(s);
      }
    }
  }
}

void SumPlan::sum_taps(Share& share, const float* source, const float* w, const float* start,
                       float* result) const {
  float* const space = share.space.data();
  const Index source_floats = channels_ * layout_.source_h * layout_.source_w;
  const Index plane = result_h_ * result_w_;
  PlaneCopy copy(layout_);
  const auto first_row = [&](const Sweep& sweep, Index part) { return sweep.out_h * part / share.parts; };
  if (share.parts > 1) {  // the rows of the source under those of the result
    std::swap(copy.first_row, copy.last_row);
    for (const Sweep& sweep : layout_.sweeps) {
      copy.first_row = std::min(copy.first_row, first_row(sweep, share.part));
      copy.last_row = std::max(copy.last_row, first_row(sweep, share.part + 1) + layout_.reach());
    }
  }
  for (Index i = 0; i < share.images.count * share.groups.count; ++i) {
    const Index group = share.groups.first + i % share.groups.count;
    const Index image = (share.images.first + i / share.groups.count) * groups_ + group;
    tier_.fill(copy, source + image * source_floats, channels_, space);
    // Clears pixels that no tap reaches.
    if (std::ranges::any_of(layout_.sweeps, &Sweep::is_empty)) {
      std::fill_n(result + (image * rows_ + share.row) * plane, share.rows * plane, 0.0F);
    }
    for (const Sweep& sweep : layout_.sweeps) {
      if (sweep.is_empty()) continue;
      const Index begin = first_row(sweep, share.part);
      tier_.sum_taps({.rows = share.rows,
                      .channels = channels_,
                      .taps = static_cast<Index>(sweep.in_weights.size()),
                      .in_weights = sweep.in_weights.data(),
                      .in_channel = sweep.in_channel.data(),
                      .a = w + group * rows_ * channels_ * taps_ + share.row * w_row_,
                      .a_row = w_row_,
                      .a_channel = w_channel_,
                      .b = space + begin * layout_.pitch,
                      .b_channel = layout_.channel_floats(),
                      .pitch = layout_.pitch,
                      .start = start == nullptr ? nullptr : start + group * rows_ + share.row,
                      .out_h = first_row(sweep, share.part + 1) - begin,
                      .out_w = sweep.out_w,
                      .out = result + (image * rows_ + share.row) * plane +
                             (sweep.row + begin * sweep.step) * result_w_ + sweep.column,
                      .out_plane = plane,
                      .out_row = sweep.step * result_w_,
                      .out_step = sweep.step});
    }
  }
}

namespace {

// Pixels of a panel of transposed dy: a quarter of the second-level cache, so that they stay there while rows
// of dw are walked.
Index most_pixels() { return std::max<Index>(1, part_of_second_level(0.25, panel_filters)); }
// Floats of x and transposed dy at a time: an eighth of the last-level cache.
Index most_floats() { return static_cast<Index>(caches().last / 8 / sizeof(float)); }

Index panels(Index filters) { return pieces(filters, panel_filters); }

}  // namespace

WeightPlan::WeightPlan(const Layer& p, DirectTier tier, Index threads)
    : layer_(p), tier_(std::move(tier)), layout_(forward_layout(p)) {
  for (Index channel = 0; channel < p.group_c(); ++channel) {
    for (const Index tap : layout_.sweeps[0].in_channel) {
      row_offset_.push_back(channel * layout_.channel_floats() + tap);
    }
  }
  // Groups are divided first, then filters in whole panels, then channels.
  const Index by_group = std::gcd(threads, p.groups);
  threads /= by_group;
  const Index by_filters = std::gcd(threads, panels(p.group_f()));
  const Grid grid{by_filters, std::min(threads / by_filters, p.group_c())};
  for (Index i = 0; i < by_group * grid.parts(); ++i) {
    const Range filters = range(p.group_f(), panel_filters, i % grid.parts() / grid.inner, grid.outer);
    const Range channels = range(p.group_c(), 1, i % grid.inner, grid.inner);
    Share& share = shares_.emplace_back(Share{range(p.groups, 1, i / grid.parts(), by_group), filters.first,
                                              filters.count, channels.first, channels.count});
    const Index images = images_at_once(share);
    share.space = zeroed_space(images * image_floats(share) +
                               panels(share.filters) * panel_filters * panel_pixels(images) + 64);
  }
  start_team(static_cast<int>(shares_.size()));
}

Index WeightPlan::rows_at_once() const {
  const Index out_w = layout_.sweeps[0].out_w;
  return std::clamp<Index>(most_pixels() / out_w, 1, layout_.sweeps[0].out_h);
}

Index WeightPlan::images_at_once(const Share& share) const {
  if (rows_at_once() < layout_.sweeps[0].out_h) return 1;
  const Index pixels = layer_.out_pixels();
  const Index floats = image_floats(share) + panels(share.filters) * panel_filters * pixels;
  return std::clamp<Index>(std::min(most_pixels() / pixels, most_floats() / floats), 1, layer_.n);
}

void WeightPlan::run(const float* x, const float* dy, float* dw, float* dbias) {
  const Layer& p = layer_;
  on_each(shares_, [&](Share& share) {
    for (Index group = share.groups.first, left = share.groups.count; left > 0; --left, ++group) {
      sum(share, x + group * p.group_c() * p.pixels(), dy + group * p.group_f() * p.out_pixels(),
          dw + group * p.group_w(), dbias == nullptr ? nullptr : dbias + group * p.group_f());
    }
  });
}

void WeightPlan::sum(Share& share, const float* x, const float* dy, float* dw, float* dbias) const {
  const Layer& p = layer_;
  const Sweep& sweep = layout_.sweeps[0];
  const Index taps = static_cast<Index>(sweep.in_channel.size());
  const Index pixels = sweep.out_h * sweep.out_w;
  const Index at_once = images_at_once(share), most_rows = rows_at_once();
  const Index panel = panel_pixels(at_once) * panel_filters;
  float* const turned = share.space.data();
  float* const images = turned + panels(share.filters) * panel;

  TapGradient part{.rows = share.channels * taps,
                   .row_offset = row_offset_.data(),
                   .a_image = image_floats(share),
                   .pitch = layout_.pitch,
                   .out_w = sweep.out_w,
                   .b = turned,
                   .b_panel = panel,
                   .filters = share.filters,
                   .out = dw + share.filter * p.depth() + share.channel * taps,
                   .out_filter = p.depth()};
  for (Index first = 0; first < p.n; first += part.images) {
    part.images = std::min(at_once, p.n - first);
    for (Index image = 0; image < part.images; ++image) {
      tier_.fill(PlaneCopy(layout_), x + ((first + image) * p.c + share.channel) * p.pixels(), share.channels,
                 images + image * part.a_image);
    }
    for (Index i = 0; i < sweep.out_h; i += part.out_h) {
      part.out_h = std::min(most_rows, sweep.out_h - i);
      const Index now = part.out_h * sweep.out_w;
      for (Index image = 0; image < part.images; ++image) {
        tier_.turn_dy({.dy = dy + ((first + image) * p.f + share.filter) * pixels + i * sweep.out_w,
                       .plane = pixels,
                       .pixels = now,
                       .filters = share.filters,
                       .to = turned + image * now * panel_filters,
                       .panel = panel});
      }
      part.a = images + i * layout_.pitch;
      tier_.gradient(part);
      part.add = true;
    }
  }
  if (dbias == nullptr || share.channel != 0) return;
  for (Index f = share.filter; f < share.filter + share.filters; ++f) {
    dbias[f] = 0;
    for (Index n = 0; n < p.n; ++n) dbias[f] += tier_.sum(dy + (n * p.f + f) * pixels, pixels);
  }
}

Variant<Conv2d>::Kernel direct_y(const Problem& p, SumPlan plan, Index threads) {
  plan.divide(threads);
  return [p, plan = std::move(plan)](const auto& in, auto& out) mutable {
    plan.run(in.x.data(), in.w.data(), p.has_bias() ? in.bias.data() : nullptr, out.y.data());
  };
}

Variant<Conv2dDataGradient>::Kernel direct_dx(SumPlan plan, Index threads) {
  plan.divide(threads);
  return [plan = std::move(plan)](const auto& in, auto& out) mutable {
    plan.run(in.dy.data(), in.w.data(), nullptr, out.dx.data());
  };
}

Variant<Conv2dWeightGradient>::Kernel direct_dw(const Problem& p, const DirectTier& tier, Index threads) {
  return [p, plan = WeightPlan(p, tier, threads)](const auto& in, auto& out) mutable {
    plan.run(in.x.data(), in.dy.data(), out.dw.data(), p.has_bias() ? out.dbias.data() : nullptr);
  };
}

const Register registered{[](Registry& r) {
  const auto add = [&]<class Op>(std::type_identity<Op>, std::string_view summary, const auto& kernel_of) {
    add_tiers<Op>(
        r, direct_tiers(), {.name = "direct", .summary = summary, .after = "implicit_gemm"},
        [kernel_of](const DirectTier& tier, const auto& p, const auto&) { return kernel_of(p, tier); });
  };
  constexpr std::string_view sums = "register tile on the bordered image itself, compiled for {}";
  add(std::type_identity<Conv2d>(), sums,
      [](const Problem& p, const DirectTier& tier) { return direct_y(p, SumPlan::of_y(p, tier), 1); });
  add(std::type_identity<Conv2dDataGradient>(), sums,
      [](const DataProblem& p, const DirectTier& tier) { return direct_dx(SumPlan::of_dx(p, tier), 1); });
  add(std::type_identity<Conv2dWeightGradient>(),
      "image broadcast against filters of a turned dy, compiled for {}",
      [](const Problem& p, const DirectTier& tier) { return direct_dw(p, tier, 1); });
}};

}  // namespace assay::conv2d
