#include "assay/ops/network.hpp"

#include "assay/error.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string>

namespace assay::training {

void require_valid(const Network& of) {
  if (of.kind != Kind::transformer) return;
  if (of.side % of.patch != 0) {
    throw Error("patch=" + std::to_string(of.patch), "does not divide side=" + std::to_string(of.side),
                "give a divisor of side");
  }
  if (of.width % of.heads != 0) {
    throw Error("heads=" + std::to_string(of.heads), "does not divide width=" + std::to_string(of.width),
                "give a divisor of width");
  }
}

Segments::Segments(const Network& of) {
  require_valid(of);
  const Index d = of.width;
  if (of.kind == Kind::classifier) {
    const Index features = 2 * d * of.half_side() * of.half_side();
    add("conv1.weight", {d, of.channels, 3, 3}, 9 * of.channels);
    add("conv1.bias", {d}, 0);
    add("conv2.weight", {2 * d, d, 3, 3}, 9 * d);
    add("conv2.bias", {2 * d}, 0);
    add("dense.weight", {features, classes}, features);
    add("dense.bias", {classes}, 0);
    return;
  }
  add("embed.weight", {of.patch_pixels(), d}, of.patch_pixels());
  add("position", {of.tokens(), d}, 0);
  add("norm1.gamma", {d}, 1);
  add("norm1.beta", {d}, 0);
  add("attention.weight", {d, 3 * d}, d);
  add("project.weight", {d, d}, d);
  add("project.bias", {d}, 0);
  add("norm2.gamma", {d}, 1);
  add("norm2.beta", {d}, 0);
  add("expand.weight", {d, of.hidden()}, d);
  add("expand.bias", {of.hidden()}, 0);
  add("contract.weight", {of.hidden(), d}, of.hidden());
  add("contract.bias", {d}, 0);
  add("head.weight", {d, classes}, d);
  add("head.bias", {classes}, 0);
}

void Segments::add(std::string_view name, std::vector<Index> extents, Index fan_in) {
  Index count = 1;
  for (const Index extent : extents) count *= extent;
  all_.push_back({name, std::move(extents), total_, count, fan_in});
  total_ += count;
}

Index Segments::begin_of(std::string_view name) const {
  const auto at = std::ranges::find(all_, name, &Segment::name);
  assert(at != all_.end());
  return at->begin;
}

void initialize(const Network& network, Rng& rng, std::span<float> parameters) {
  for (const Segment& segment : Segments(network).all()) {
    const bool scale = segment.extents.size() == 1 && segment.fan_in == 1;
    const double reach =
        segment.fan_in == 0 || scale ? 0.1 : std::sqrt(3 / static_cast<double>(segment.fan_in));
    for (float& p : parameters.subspan(static_cast<std::size_t>(segment.begin),
                                       static_cast<std::size_t>(segment.count))) {
      p = static_cast<float>((scale ? 1 : 0) + rng.uniform(-reach, reach));
    }
  }
}

namespace {

/// Multiply-adds of the layers, and those of the first, whose data gradient nobody asks for.
struct Products {
  double all = 0, first = 0;
};

Products products(const Network& of) {
  const auto d = static_cast<double>(of.width);
  if (of.kind == Kind::classifier) {
    const auto pixels = static_cast<double>(of.side * of.side);
    const auto halved = static_cast<double>(of.half_side() * of.half_side());
    const double first = 9 * static_cast<double>(of.channels) * d * pixels;
    return {first + 9 * d * 2 * d * halved + 2 * d * halved * classes, first};
  }
  const auto tokens = static_cast<double>(of.tokens());
  const double first = tokens * static_cast<double>(of.patch_pixels()) * d;
  // Queries, keys, values and projection 4 d^2, the MLP 8 d^2, scores and their use 2 d for each key.
  return {first + tokens * (12 * d * d + 2 * tokens * d) + d * classes, first};
}

}  // namespace

double forward_multiply_adds(const Network& network) { return products(network).all; }
double backward_multiply_adds(const Network& network) {
  return 2 * products(network).all - products(network).first;
}

}  // namespace assay::training
