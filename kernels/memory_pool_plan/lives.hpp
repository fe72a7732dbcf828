// Requests in the form for searches: in order of start, in multiples of the alignment, and with time divided
// into sections. A section is a largest set of blocks that live together: no other set contains it.
#pragma once

#include "memory_pool/events.hpp"

#include "assay/ops/memory_pool.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace assay::memory_pool {

/// A block that lives in the sections [first, last).
struct Life {
  Index units = 0;
  std::int32_t first = 0, last = 0;
};

/// Blocks in order of start, and the units alive in each of their sections.
struct Lives {
  std::span<const Life> blocks;
  std::span<const Index> live;
};

/// A list of requests divided into parts. No two parts share a step, so each can be planned by itself.
class Parts {
 public:
  /// For lists of at most `most` requests.
  explicit Parts(Index most)
      : events_(most),
        blocks_(static_cast<std::size_t>(most)),
        requests_(blocks_.size()),
        position_(blocks_.size()),
        live_(2 * blocks_.size()) {
    parts_.reserve(blocks_.size());
  }

  void read(std::span<const Request> requests) {
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

  std::size_t count() const { return parts_.size(); }
  Lives lives(std::size_t part) const {
    const Part& p = parts_[part];
    return {std::span(blocks_).subspan(p.block, p.blocks), std::span(live_).subspan(p.section, p.sections)};
  }
  /// The lower bound: no plan of the part takes fewer units.
  Index least(std::size_t part) const { return parts_[part].least; }
  /// The requests of the part's blocks, by their place in the list.
  std::span<const Index> requests(std::size_t part) const {
    return std::span(requests_).subspan(parts_[part].block, parts_[part].blocks);
  }

 private:
  struct Part {
    std::size_t block = 0, section = 0;  ///< the first block and section
    std::size_t blocks = 0, sections = 0;
    Index least = 0;
  };
  void close(Part& part) {
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

  Events events_;
  std::vector<Life> blocks_;
  std::vector<Index> requests_;
  std::vector<std::size_t> position_;  ///< position of each request among the blocks
  std::vector<Index> live_;
  std::vector<Part> parts_;
};

}  // namespace assay::memory_pool
