// The idea: a block that ended leaves its place to the next block of the same size, rounded up to 64, and to
// no other. There are no gaps to search. For each size, the pool needs the most blocks of that size alive at
// once, in the given order of starts; its height is the sum over sizes.

#include "memory_pool/events.hpp"

#include "assay/registry.hpp"

namespace assay::memory_pool {
namespace {

class EqualSize {
 public:
  explicit EqualSize(Index blocks)
      : events_(blocks),
        sizes_(blocks),
        group_(static_cast<std::size_t>(blocks)),
        next_(group_.size()),
        ended_(group_.size()) {}

  void operator()(const MemoryPoolPlan::Input& in, MemoryPoolPlan::Output& out) {
    group_by_size(in);
    Index top = 0, height = 0;
    const auto enter = [&](Index i) {
      const Index bytes = in.requests[i].bytes;
      Index& last = ended_[group(i)];
      if (last == none) {
        out.lower[i] = top;
        top += round_up(bytes);
      } else {
        out.lower[i] = out.lower[last];
        last = next_[static_cast<std::size_t>(last)];
      }
      out.upper[i] = out.lower[i] + bytes;
      height = std::max(height, out.upper[i]);
    };
    const auto leave = [&](Index i) {
      next_[static_cast<std::size_t>(i)] = std::exchange(ended_[group(i)], i);
    };
    events_.replay(in.requests, enter, leave);
    out.height[0] = height;
  }

 private:
  static constexpr Index none = -1;

  std::size_t group(Index i) const { return static_cast<std::size_t>(group_[static_cast<std::size_t>(i)]); }

  void group_by_size(const MemoryPoolPlan::Input& in) {
    const auto units = [&](Index i) {
      return static_cast<std::uint64_t>(round_up(in.requests[i].bytes) / alignment);
    };
    Index groups = -1;
    std::uint64_t last = 0;
    for (const auto& [size, position] : sizes_.sorted(in.requests.size(), units)) {
      if (size != last) ended_[static_cast<std::size_t>(++groups)] = none;
      last = size;
      group_[static_cast<std::size_t>(position)] = groups;
    }
  }

  Events events_;
  Sorter<std::uint64_t> sizes_;
  std::vector<Index> group_;  ///< group of each request
  std::vector<Index> next_;   ///< the block of the same size that ended before
  std::vector<Index> ended_;  ///< the last block of each group whose place is free
};

const Register registered{[](Registry& r) {
  r.add<MemoryPoolPlan>(
      {.name = "equal_size",
       .summary = "a place is used again by blocks of the same size alone",
       .prepare = [](const auto& p, const auto&, const Context&) { return EqualSize(p.blocks); }});
}};

}  // namespace
}  // namespace assay::memory_pool
