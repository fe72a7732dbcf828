// Lists of requests, and a valid plan for each in O(n log n).

#include "assay/error.hpp"
#include "assay/ops/allocator_trace.hpp"
#include "assay/ops/memory_pool.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <utility>

namespace assay::memory_pool {
namespace {

constexpr Index longest_short_life = 64;

struct Life {
  Index start, end;
};

/// Every layer keeps an activation from its forward step to its backward step. Block 2i is that of layer i.
Life forward_backward(Index block, Index layers) {
  const Index layer = block / 2, backward = 2 * layers - 1 - layer;
  return block % 2 == 0 ? Life{layer, backward + 1} : Life{backward, backward + 2};
}

Life life(Pattern pattern, Index block, Index blocks, Rng& rng) {
  if (pattern == Pattern::short_lived) {
    const Index start = rng.integer(0, blocks - 1);
    return {start, start + rng.integer(1, longest_short_life)};
  }
  const Index layers = (blocks + 1) / 2;
  Life out = forward_backward(block, layers);
  if (pattern == Pattern::clipped && block % 2 == 1) out.end = 2 * layers + 1;
  return out;
}

/// Networks repeat their tensors: sizes come from a table of 24, of 4 bytes to 256 KiB, a quarter of them
/// odd.
std::vector<Index> sizes(Rng& rng) {
  std::vector<Index> out(24);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = 4 * rng.integer(1, 256) << rng.integer(0, 8);
    if (i % 4 == 0) ++out[i];
  }
  return out;
}

std::vector<Request> trace_of(Index blocks, const std::filesystem::path& file) {
  if (file.empty()) {
    throw Error("pattern=trace", "needs a file of requests",
                "write trace=FILE in place of blocks and pattern");
  }
  std::vector<Request> out;
  allocator_trace::for_each_request(file, [&](const Request& r) { out.push_back(r); });
  if (out.size() != static_cast<std::size_t>(blocks)) {
    throw Error(file.string(),
                "holds " + std::to_string(out.size()) + " requests instead of " + std::to_string(blocks),
                "leave the file as it is while it is read");
  }
  return out;
}

/// Memory that is free below the top of a growing pool: by offset, to join neighbours, and by size.
class Gaps {
 public:
  /// The smallest gap that holds `bytes`, the lowest among equals, or new bytes at the top.
  Index take(Index bytes) {
    const auto fits = by_size_.lower_bound({bytes, 0});
    if (fits == by_size_.end()) return grow(bytes);
    const auto [size, offset] = *fits;
    erase(offset, size);
    if (size > bytes) insert(offset + bytes, size - bytes);
    return offset;
  }

  void release(Index offset, Index bytes) {
    auto above = by_offset_.lower_bound(offset);
    if (above != by_offset_.end() && above->first == offset + bytes) {
      const auto [from, size] = *above;
      erase(from, size);
      bytes += size;
    }
    auto below = by_offset_.lower_bound(offset);
    if (below != by_offset_.begin() && (--below)->first + below->second == offset) {
      const auto [from, size] = *below;
      erase(from, size);
      offset = from;
      bytes += size;
    }
    insert(offset, bytes);
  }

 private:
  Index grow(Index bytes) {
    Index offset = top_;
    if (!by_offset_.empty()) {
      const auto [from, size] = *by_offset_.rbegin();
      if (from + size == top_) {
        erase(from, size);
        offset = from;
      }
    }
    top_ = offset + bytes;
    return offset;
  }
  void insert(Index offset, Index size) {
    by_offset_.emplace(offset, size);
    by_size_.emplace(size, offset);
  }
  void erase(Index offset, Index size) {
    by_offset_.erase(offset);
    by_size_.erase({size, offset});
  }

  Index top_ = 0;
  std::map<Index, Index> by_offset_;
  std::set<std::pair<Index, Index>> by_size_;
};

}  // namespace

std::vector<Request> make_requests(Index blocks, Index pattern, Setting& setting) {
  const auto kind = static_cast<Pattern>(pattern);
  if (kind == Pattern::trace) return trace_of(blocks, setting.file);
  Rng& rng = setting.rng;
  const std::vector<Index> table = sizes(rng);
  std::vector<Request> out;
  out.reserve(static_cast<std::size_t>(blocks));
  for (Index i = 0; i < blocks; ++i) {
    const auto [start, end] = life(kind, i, blocks, rng);
    const auto size = static_cast<std::size_t>(rng.integer(0, static_cast<Index>(table.size()) - 1));
    out.push_back({table[size], start, end});
  }
  // Whoever lists tensors does so by name or by layer, not by offset or by time.
  for (std::size_t i = out.size(); i > 1; --i) {
    std::swap(out[i - 1], out[static_cast<std::size_t>(rng.integer(0, static_cast<Index>(i) - 1))]);
  }
  return out;
}

Placed place_by_best_fit(std::span<const Request> requests) {
  std::vector<std::size_t> order(requests.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return requests[i].start; });

  Placed out{.offsets = std::vector<Index>(requests.size())};
  Gaps gaps;
  using End = std::pair<Index, std::size_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> alive;
  for (const std::size_t i : order) {
    for (; !alive.empty() && alive.top().first <= requests[i].start; alive.pop()) {
      const std::size_t ended = alive.top().second;
      gaps.release(out.offsets[ended], round_up(requests[ended].bytes));
    }
    out.offsets[i] = gaps.take(round_up(requests[i].bytes));
    out.pool = std::max(out.pool, out.offsets[i] + requests[i].bytes);
    alive.emplace(requests[i].end, i);
  }
  return out;
}

}  // namespace assay::memory_pool
