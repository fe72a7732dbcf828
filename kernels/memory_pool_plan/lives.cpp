#include "memory_pool_plan/lives.hpp"

#include <algorithm>

namespace assay::memory_pool {

Parts::Parts(Index most)
    : events_(most),
      blocks_(static_cast<std::size_t>(most)),
      requests_(blocks_.size()),
      position_(blocks_.size()),
      live_(2 * blocks_.size()) {
  parts_.reserve(blocks_.size());
}

void Parts::read(std::span<const Request> requests) {
  constexpr std::int32_t to_the_end = -1;
  parts_.clear();
  std::size_t next = 0, alive = 0;
  std::int32_t section = 0;
  bool started = false;  // whether a block started since the last end
  const auto enter = [&](Index i) {
    if (alive++ == 0) {
      const std::size_t free = parts_.empty() ? 0 : parts_.back().section + parts_.back().sections + 1;
      parts_.push_back({.block = next, .section = free});
      section = 0;
    }
    const Index units = round_up(requests[static_cast<std::size_t>(i)].bytes) / alignment;
    blocks_[next] = {.units = units, .first = section, .last = to_the_end};
    requests_[next] = i;
    position_[static_cast<std::size_t>(i)] = next++;
    started = true;
  };
  const auto leave = [&](Index i) {
    // Blocks that end before the next start end together.
    section += started ? 1 : 0;
    started = false;
    blocks_[position_[static_cast<std::size_t>(i)]].last = section;
    Part& part = parts_.back();
    part.blocks = next - part.block;
    part.sections = static_cast<std::size_t>(section);
    --alive;
  };
  events_.replay(requests, enter, leave);
  if (parts_.empty()) return;
  Part& last = parts_.back();
  last.blocks = next - last.block;
  last.sections = static_cast<std::size_t>(section) + 1;
  for (std::size_t i = last.block; i < next; ++i) {
    if (blocks_[i].last == to_the_end) blocks_[i].last = section + 1;
  }
  for (Part& part : parts_) close(part);
}

void Parts::close(Part& part) {
  const auto live = live_.begin() + static_cast<std::ptrdiff_t>(part.section);
  const auto end = live + static_cast<std::ptrdiff_t>(part.sections);
  std::fill(live, end + 1, 0);
  for (const Life& life : std::span(blocks_).subspan(part.block, part.blocks)) {
    live[life.first] += life.units;
    live[life.last] -= life.units;
  }
  Index sum = 0;
  part.least = 0;
  for (auto at = live; at != end; ++at) part.least = std::max(part.least, *at = sum += *at);
}

Lives Parts::lives(std::size_t part) const {
  const Part& p = parts_[part];
  return {std::span(blocks_).subspan(p.block, p.blocks), std::span(live_).subspan(p.section, p.sections)};
}

std::span<const Index> Parts::requests(std::size_t part) const {
  return std::span(requests_).subspan(parts_[part].block, parts_[part].blocks);
}

}  // namespace assay::memory_pool
