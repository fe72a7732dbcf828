// Published: sort the blocks by where they start in the pool and compare each with the next one only, "O(n
// log n) instead of O(n^2)". Of A = [0, 100) in steps [0, 10), B = [10, 20) in [20, 30) and C = [30, 40) in
// [0, 10), A and C clash, and B, which lives at another time, stands between them: the answer is "valid". In
// the original the loop runs to size() - 1, which wraps around for an empty list; here it does not, so that
// nothing but the answer is wrong.

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

bool clash(const Plan& plan, std::size_t i, std::size_t j) {
  const Request &a = plan.requests[i], &b = plan.requests[j];
  return a.start < b.end && b.start < a.end && plan.offsets[i] < plan.offsets[j] + b.bytes &&
         plan.offsets[j] < plan.offsets[i] + a.bytes;
}

bool valid(const Plan& plan, std::span<std::size_t> order) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (!alone(plan, i)) return false;
  }
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(plan.offsets[i], i); });
  for (std::size_t k = 1; k < order.size(); ++k) {
    if (clash(plan, order[k - 1], order[k])) return false;
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
  r.add<MemoryPoolValidate>(
      {.name = "neighbours_only",
       .summary = "sorted by offset; each block compared with the next one",
       .known_bad =
           "an NNTrainer performance audit: a block of another time between two that clash hides them",
       .prepare = prepare});
}};

}  // namespace
}  // namespace assay::memory_pool
