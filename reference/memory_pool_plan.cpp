// The contract memory_pool_plan: its judge, its lower bound, and the plainest planner.

#include "assay/ops/memory_pool.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace assay {
namespace {

using memory_pool::Request;
using memory_pool::round_up;
using Problem = MemoryPoolPlan::Problem;

/// Clipped lives took 2.4 s at 10,000 blocks on two shared cores of an AMD EPYC (family 26).
constexpr Index most_for_naive = 10'000;

/// Storage of a plan in the making: made once, so that a call allocates nothing.
struct Workspace {
  std::vector<Index> order;   ///< of requests, by start
  std::vector<Index> living;  ///< those that were placed and overlap the next in time, by offset
  explicit Workspace(Index blocks)
      : order(static_cast<std::size_t>(blocks)), living(static_cast<std::size_t>(blocks)) {}
};

/// The lowest multiple of 64 from which `bytes` are free of the first `count` blocks in `living`.
Index lowest_gap(const Workspace& work, Index count, Index bytes, const MemoryPoolPlan::Output& out) {
  Index offset = 0;
  for (Index k = 0; k < count; ++k) {
    const Index i = work.living[static_cast<std::size_t>(k)];
    if (out.lower[i] - offset >= bytes) return offset;
    offset = std::max(offset, round_up(out.upper[i]));
  }
  return offset;
}

/// First fit: in order of start, each request goes to the lowest gap between those placed before it that
/// overlap it in time, which are looked for among all.
void first_fit(const MemoryPoolPlan::Input& in, MemoryPoolPlan::Output& out, Workspace& work) {
  std::iota(work.order.begin(), work.order.end(), 0);
  std::ranges::sort(work.order, [&](Index a, Index b) {
    return std::pair(in.requests[a].start, a) < std::pair(in.requests[b].start, b);
  });
  out.height[0] = 0;
  for (auto next = work.order.begin(); next != work.order.end(); ++next) {
    const Request& request = in.requests[*next];
    Index count = 0;
    for (auto placed = work.order.begin(); placed != next; ++placed) {
      // The placed block started no later, and so it overlaps if it has not ended.
      if (in.requests[*placed].end > request.start) work.living[static_cast<std::size_t>(count++)] = *placed;
    }
    std::sort(work.living.begin(), work.living.begin() + count,
              [&](Index a, Index b) { return out.lower[a] < out.lower[b]; });
    out.lower[*next] = lowest_gap(work, count, request.bytes, out);
    out.upper[*next] = out.lower[*next] + request.bytes;
    out.height[0] = std::max(out.height[0], out.upper[*next]);
  }
}

auto prepare_naive(const Problem& p, const MemoryPoolPlan::Input&, const Context&) {
  return [work = Workspace(p.blocks)](const MemoryPoolPlan::Input& in, MemoryPoolPlan::Output& out) mutable {
    first_fit(in, out, work);
  };
}

std::optional<std::string> naive_unfit(const Problem& p, const Context&) {
  if (p.blocks <= most_for_naive) return std::nullopt;
  return "scans and sorts for each of more than " + std::to_string(most_for_naive) + " blocks take too long";
}

std::string at(std::string_view name, Index i, Index value) {
  return std::string(name) + "[" + std::to_string(i) + "] is " + std::to_string(value);
}

/// Returns the fault of a plan as it was written, or nothing.
std::string objection(const MemoryPoolPlan::Input& in, const MemoryPoolPlan::Expected& want,
                      const MemoryPoolPlan::Output& out) {
  const Index height = out.height[0];
  if (height > want.total) {
    return at("height", 0, height) +
           ", more than all requests one after the other: " + std::to_string(want.total);
  }
  if (height < want.least_height) {
    return at("height", 0, height) +
           ", less than the bytes alive at one step: " + std::to_string(want.least_height);
  }
  Index top = 0;
  for (Index i = 0; i < in.requests.size(); ++i) {
    const Index lower = out.lower[i], bytes = in.requests[i].bytes;
    if (lower < 0 || lower > height - bytes) {
      return at("lower", i, lower) + ", which leaves no room for " + std::to_string(bytes) +
             " B below the height of " + std::to_string(height);
    }
    if (out.upper[i] != lower + bytes) {
      return at("upper", i, out.upper[i]) + ", expected lower + bytes = " + std::to_string(lower + bytes);
    }
    top = std::max(top, out.upper[i]);
  }
  if (height != top) return at("height", 0, height) + ", expected the largest upper " + std::to_string(top);
  const memory_pool::Plan plan{in.requests, out.lower, height};
  const auto found = fault(plan);
  return found ? to_string(*found, plan) : "";
}

const Register registered{[](Registry& r) {
  r.add<MemoryPoolPlan>({.name = "naive",
                         .summary = "first fit by start, looking at all blocks placed before",
                         .prepare = prepare_naive,
                         .unfit = naive_unfit});
}};

}  // namespace

auto MemoryPoolPlan::problem_of(const std::filesystem::path& file) -> Problem {
  return {.blocks = allocator_trace::count_requests(file),
          .pattern = static_cast<Index>(memory_pool::Pattern::trace)};
}

std::vector<Problem> MemoryPoolPlan::corner_cases() {
  return problems<Problem>({"blocks=1|2|3|4|7|16|33|63|65|130|257|1000,pattern=nested|short|clipped"});
}

double MemoryPoolPlan::footprint(const Problem& p) {
  // Requests, the plan, and the orders and maps of the oracle.
  return 160 * static_cast<double>(p.blocks);
}

auto MemoryPoolPlan::make_input(const Problem& p, Setting& setting) -> Input {
  Input in{setting.buffer<Request>(p.blocks)};
  std::ranges::copy(memory_pool::make_requests(p.blocks, p.pattern, setting), in.requests.begin());
  return in;
}

auto MemoryPoolPlan::expect(const Problem&, const Input& in, Setting&) -> Expected {
  Expected want{.least_height = memory_pool::least_height(in.requests)};
  for (const Request& request : in.requests) want.total += round_up(request.bytes);
  return want;
}

// Each block gets the size of some block: no plan fits both before and after, however much room it leaves,
// and sizes that many blocks have stay such.
void MemoryPoolPlan::salt(const Problem& p, const Input& in, std::string_view, Index at, Request& element,
                          Setting& setting) {
  const Index most = memory_pool::largest_total / (2 * p.blocks);  // all of them fit the largest total
  const Index other = in.requests[setting.rng.integer(0, p.blocks - 1)].bytes;
  element.bytes = std::min(other, most) + (at == 0 ? setting.rng.integer(1, 4096) : 0);
}

Agreement MemoryPoolPlan::judge(const Problem&, const Input& in, const Expected& want, const Output& out) {
  const Index numbers = out.lower.size() + out.upper.size() + out.height.size();
  Agreement outcome{.detail = objection(in, want, out), .compared = numbers, .total = numbers};
  outcome.agrees = outcome.detail.empty();
  if (!outcome.agrees) outcome.worst_error = std::numeric_limits<double>::infinity();
  return outcome;
}

// Blocks that share no byte are a plan whatever their lives.
Cost MemoryPoolPlan::cost(const Problem& p) {
  Cost out = FromParts::cost(p);
  out.avoidable_bytes = 2 * static_cast<double>(p.blocks) * sizeof(Index);
  return out;
}

std::vector<Figure> MemoryPoolPlan::figures(const Problem&, const Input&, const Expected& want,
                                            const Output& out) {
  return {{.name = "height",
           .value = static_cast<double>(out.height[0]),
           .unit = "bytes",
           .better = Figure::Better::lower,
           .bound = static_cast<double>(want.least_height)}};
}

}  // namespace assay
