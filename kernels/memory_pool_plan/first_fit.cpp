// The idea: the plan of `naive`, made from the free bytes instead of the placed blocks. Blocks free their
// bytes when they end, and a tree of gaps finds the lowest gap that is large enough: O(n log n) instead of
// O(n^2).

#include "memory_pool/events.hpp"
#include "memory_pool/gaps.hpp"

#include "assay/registry.hpp"

namespace assay::memory_pool {
namespace {

auto prepare(const MemoryPoolPlan::Problem& p, const MemoryPoolPlan::Input&, const Context&) {
  return [events = Events(p.blocks), gaps = Gaps(p.blocks)](const auto& in, auto& out) mutable {
    Index height = 0;
    gaps.reset();
    const auto enter = [&](Index i) {
      const Index bytes = in.requests[i].bytes;
      height = std::max(height, out.place(i, gaps.take(round_up(bytes)), bytes));
    };
    const auto leave = [&](Index i) { gaps.release(out.lower[i], round_up(in.requests[i].bytes)); };
    events.replay(in.requests, enter, leave);
    out.height[0] = height;
  };
}

const Register registered{[](Registry& r) {
  r.add<MemoryPoolPlan>(
      {.name = "first_fit", .summary = "the plan of naive, from a tree of gaps", .prepare = prepare});
}};

}  // namespace
}  // namespace assay::memory_pool
