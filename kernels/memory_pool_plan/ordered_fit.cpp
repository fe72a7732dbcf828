#include "memory_pool_plan/ordered_fit.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>

namespace assay::memory_pool {
namespace {

constexpr Index not_placed = -1;

}  // namespace

OrderedFit::OrderedFit(Index most) : offsets_(most), members_(static_cast<std::size_t>(most)) {
  beside_.reserve(members_.size());
}

std::optional<Index> OrderedFit::place(const Lives& lives, std::span<const std::size_t> order, Index target,
                                       Index most_steps) {
  steps_ = 0;
  classify(lives);
  std::fill_n(offsets_.begin(), order.size(), not_placed);
  Index height = 0;
  for (const std::size_t block : order) {
    const Life& life = lives.blocks[block];
    look_beside(lives, life);
    const Index offset = lowest_gap(life.units);
    height = std::max(height, offset + life.units);
    if (height > target || steps_ > most_steps) return std::nullopt;
    offsets_[static_cast<Index>(block)] = offset;
  }
  return height;
}

void OrderedFit::classify(const Lives& lives) {
  const auto class_of = [&](std::size_t block) {
    const Life& life = lives.blocks[block];
    return static_cast<std::size_t>(std::bit_width(static_cast<std::uint32_t>(life.last - life.first)));
  };
  begins_ = {};
  for (std::size_t b = 0; b < lives.blocks.size(); ++b) ++begins_[class_of(b) + 1];
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  auto next = begins_;
  for (std::size_t b = 0; b < lives.blocks.size(); ++b) members_[next[class_of(b)]++] = b;
}

void OrderedFit::look_beside(const Lives& lives, const Life& life) {
  beside_.clear();
  for (std::size_t k = 0; k < classes; ++k) {
    const auto members = std::span(members_).subspan(begins_[k], begins_[k + 1] - begins_[k]);
    const auto ended = [&](std::size_t b) { return lives.blocks[b].first + (Index{1} << k) <= life.first; };
    for (auto at = std::ranges::partition_point(members, ended); at != members.end(); ++at) {
      const Life& other = lives.blocks[*at];
      if (other.first >= life.last) break;
      ++steps_;
      const Index offset = offsets_[static_cast<Index>(*at)];
      if (offset != not_placed && other.last > life.first) beside_.emplace_back(offset, offset + other.units);
    }
  }
  std::ranges::sort(beside_);
  steps_ += static_cast<Index>(beside_.size());
}

Index OrderedFit::lowest_gap(Index units) const {
  Index offset = 0;
  for (const auto& [lower, upper] : beside_) {
    if (lower - offset >= units) break;
    offset = std::max(offset, upper);
  }
  return offset;
}

}  // namespace assay::memory_pool
