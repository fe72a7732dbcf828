// Published: a permutation is sorted by offset, and then the list is walked by plain indices with a break at
// the first block that uses other bytes, which is right only in sorted order. Where the first and the third
// of three requests are the same and the second lies elsewhere, the walk ends at the second, and the answer
// is "valid".

#include "assay/ops/memory_pool.hpp"
#include "assay/registry.hpp"

#include <algorithm>
#include <numeric>

namespace assay::memory_pool {
namespace {

bool alone(const Plan& plan, std::size_t i) {
  const Index offset = plan.offsets[i];
  return offset >= 0 && offset <= plan.pool - plan.requests[i].bytes && offset % alignment == 0;
}

bool valid(const Plan& plan, std::span<std::size_t> order) {
  const std::size_t count = order.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (!alone(plan, i)) return false;
  }
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(plan.offsets[i], i); });
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = i + 1; j < count; ++j) {
      // order[i] and order[j] were meant.
      const Request &a = plan.requests[i], &b = plan.requests[j];
      if (plan.offsets[i] >= plan.offsets[j] + b.bytes || plan.offsets[j] >= plan.offsets[i] + a.bytes) break;
      if (a.start < b.end && b.start < a.end) return false;
    }
  }
  return true;
}

auto prepare(const MemoryPoolValidate::Problem&, const MemoryPoolValidate::Input& in, const Context&) {
  return [order = std::vector<std::size_t>(static_cast<std::size_t>(in.most_blocks()))](
             const MemoryPoolValidate::Input& input, MemoryPoolValidate::Output& out) mutable {
    for (Index i = 0; i < input.plans.size(); ++i) {
      const Plan plan = input.plan(i);
      out.valid[i] = valid(plan, std::span(order).first(plan.requests.size())) ? 1 : 0;
    }
  };
}

const Register registered{[](Registry& r) {
  r.add<MemoryPoolValidate>({.name = "unsorted_walk",
                             .summary = "sorts a permutation by offset, then walks the list as it was",
                             .known_bad = "the overlap validator of NNTrainer: it stops at the first block "
                                          "elsewhere, in whatever order the list is",
                             .prepare = prepare});
}};

}  // namespace
}  // namespace assay::memory_pool
