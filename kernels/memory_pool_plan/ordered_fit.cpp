#include "memory_pool_plan/ordered_fit.hpp"

#include <algorithm>

namespace assay::memory_pool {
namespace {

constexpr Index not_placed = -1;

}  // namespace

OrderedFit::OrderedFit(Index most) : offsets_(most) { beside_.reserve(static_cast<std::size_t>(most)); }

std::optional<Index> OrderedFit::place(const Lives& lives, std::span<const std::size_t> order, Index target,
                                       Index most_steps) {
  steps_ = 0;
  longest_ = 0;
  for (const Life& life : lives.blocks) longest_ = std::max(longest_, life.last - life.first);
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

void OrderedFit::look_beside(const Lives& lives, const Life& life) {
  const auto ended = [&](const Life& other) { return other.first + longest_ <= life.first; };
  auto at = std::ranges::partition_point(lives.blocks, ended) - lives.blocks.begin();
  beside_.clear();
  for (const Life& other : lives.blocks.subspan(static_cast<std::size_t>(at))) {
    if (other.first >= life.last) break;
    ++steps_;
    const Index offset = offsets_[at++];
    if (offset != not_placed && other.last > life.first) beside_.emplace_back(offset, offset + other.units);
  }
  std::ranges::sort(beside_);
  steps_ += static_cast<Index>(beside_.size());
}

Index OrderedFit::lowest_gap(Index units) {
  Index offset = 0;
  for (const auto& [lower, upper] : beside_) {
    if (lower - offset >= units) break;
    offset = std::max(offset, upper);
  }
  return offset;
}

}  // namespace assay::memory_pool
