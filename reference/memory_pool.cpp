// The contracts memory_pool_validate and memory_pool_plan, with the plainest planner; whether a plan is
// valid, by the definition and by a sweep; a valid plan in O(n log n); and how low a plan may be at best.

#include "assay/ops/memory_pool.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <numeric>
#include <set>

namespace assay {
namespace {

using memory_pool::Draft;
using memory_pool::Request;
using Problem = MemoryPoolValidate::Problem;

enum Plans : Index { mutated, one };

/// All pairs of 10^5 blocks took 25 to 55 seconds on two shared cores of an AMD EPYC (family 26).
constexpr Index most_for_naive = 20'000;

void naive(const Problem&, const MemoryPoolValidate::Input& in, MemoryPoolValidate::Output& out) {
  for (Index i = 0; i < in.plans.size(); ++i) out.valid[i] = fault_by_pairs(in.plan(i)) ? 0 : 1;
}

std::optional<std::string> naive_unfit(const Problem& p, const Context&) {
  if (p.blocks <= most_for_naive) return std::nullopt;
  return "all pairs of more than " + std::to_string(most_for_naive) + " blocks take too long";
}

Index plans(const Problem& p) { return p.plans == mutated ? 1 + memory_pool::mutations : 1; }

}  // namespace

auto MemoryPoolValidate::problem_of(const std::filesystem::path& file) -> Problem {
  return {.blocks = allocator_trace::count_requests(file),
          .pattern = static_cast<Index>(memory_pool::Pattern::trace)};
}

// Few blocks have few partners; a word of a bitmap holds 64; 600 fill more than one block of any kind.
const Corners MemoryPoolValidate::corners = {
    "blocks=1|2|3|4|7|16|33|63|65|130|257|600,pattern=nested|short|clipped",
    "blocks=1000,pattern=nested|short|clipped,plans=one"};

double MemoryPoolValidate::footprint(const Problem& p) {
  // Plans, the drafts they were copied from, and the orders and maps of the oracle.
  return static_cast<double>(p.blocks) * (72 * static_cast<double>(plans(p)) + 120);
}

auto MemoryPoolValidate::make_input(const Problem& p, Setting& setting) -> Input {
  const std::vector<Request> requests = memory_pool::make_requests(p.blocks, p.pattern, setting);
  const std::vector<Draft> made = memory_pool::drafts(requests, p.plans == mutated, setting.rng);
  Index total = 0;
  for (const Draft& draft : made) total += static_cast<Index>(draft.requests.size());
  Input in{setting.buffer<Request>(total), setting.buffer<Index>(total), setting.buffer<Entry>(plans(p)), {}};
  Index first = 0;
  for (const Draft& draft : made) {
    const auto blocks = static_cast<Index>(draft.requests.size());
    std::ranges::copy(draft.requests, in.requests.begin() + first);
    std::ranges::copy(draft.offsets, in.offsets.begin() + first);
    in.plans[static_cast<Index>(in.what.size())] = {.first = first, .blocks = blocks, .pool = draft.pool};
    in.what.push_back(draft.what);
    first += blocks;
  }
  return in;
}

auto MemoryPoolValidate::expect(const Problem&, const Input& in, Setting&) -> Expected {
  Expected want;
  for (Index i = 0; i < in.plans.size(); ++i) want.valid.push_back(fault(in.plan(i)) ? 0 : 1);
  return want;
}

Agreement MemoryPoolValidate::judge(const Problem&, const Input& in, const Expected& want,
                                    const Output& out) {
  Agreement outcome{.compared = out.valid.size(), .total = out.valid.size()};
  Index wrong = 0;
  for (Index i = 0; i < out.valid.size(); ++i) {
    const Index expected = want.valid[static_cast<std::size_t>(i)];
    if (out.valid[i] == expected || wrong++ > 0) continue;
    const memory_pool::Plan plan = in.plan(i);
    const auto found = fault(plan);
    outcome.reject("valid[" + std::to_string(i) + "] is " + std::to_string(out.valid[i]) + ", expected " +
                   std::to_string(expected) + ": " + std::string(in.what[static_cast<std::size_t>(i)]) +
                   (found ? "; " + to_string(*found, plan) : ""));
  }
  if (wrong > 0) {
    outcome.detail +=
        "; " + std::to_string(wrong) + " of " + std::to_string(out.valid.size()) + " answers are wrong";
  }
  return outcome;
}

// The first fault ends the reading.
Cost MemoryPoolValidate::cost(const Problem& p) {
  const double count = static_cast<double>(plans(p));
  const double read = count * (static_cast<double>(p.blocks) * (sizeof(Request) + sizeof(Index)));
  return {.bytes_read = read, .bytes_written = count * sizeof(Index), .avoidable_bytes = read};
}

void MemoryPoolValidate::salt(const Problem&, const Input& in, std::string_view, Index at, Entry& element,
                              Setting& setting) {
  if (in.plans.size() > 1) {
    element = in.plans[(at + setting.rng.integer(1, in.plans.size() - 1)) % in.plans.size()];
  } else if (setting.timed || setting.rng.integer(0, 3) != 0) {
    element.pool += setting.rng.integer(1, 1024) * memory_pool::alignment;
  } else {
    element.pool /= 2;  // a fault that is seen before all blocks are looked at, and hides all others
  }
}

void MemoryPoolValidate::salt(const Problem&, const Input& in, std::string_view, Index at,
                              memory_pool::Request& element, Setting& setting) {
  if (setting.alone) {  // all of the pool behind it
    const auto plan = std::ranges::find_if(
        in.plans, [&](const Entry& one) { return at >= one.first && at - one.first < one.blocks; });
    if (plan != in.plans.end()) element.bytes = std::max(element.bytes, plan->pool - in.offsets[at]);
    return;
  }
  // A smaller block, and a life within what it was, keep a plan valid. A larger block may reach into another,
  // which shows whether a kernel looks: of half the plans, told by their first block, two grow on average, so
  // that many stay valid, and of the others eight, of which nearly always one does. It lives for one step, so
  // that some meet nobody in it: who knows from before which blocks meet is wrong there.
  const Index growing = in.requests[0].bytes % 2 == 0 ? 2 : 8;
  const bool grows = !setting.timed && setting.rng.integer(0, in.requests.size() - 1) < growing;
  if (grows || setting.rng.integer(0, 1) == 0) {
    element.start = setting.rng.integer(element.start, element.end - 1);
    element.end = grows ? element.start + 1 : setting.rng.integer(element.start + 1, element.end);
  }
  element.bytes = grows ? element.bytes + 2 * memory_pool::alignment : setting.rng.integer(1, element.bytes);
}

namespace {

using memory_pool::round_up;

/// Clipped lives took 2.4 s at 10,000 blocks on two shared cores of an AMD EPYC (family 26).
constexpr Index most_for_first_fit = 10'000;

/// The lowest multiple of 64 from which `bytes` are free of the blocks in `living`, which go by offset.
Index lowest_gap(std::span<const Index> living, Index bytes, const MemoryPoolPlan::Output& out) {
  Index offset = 0;
  for (const Index i : living) {
    if (out.lower[i] - offset >= bytes) return offset;
    offset = std::max(offset, round_up(out.upper[i]));
  }
  return offset;
}

/// First fit: in order of start, each request goes to the lowest gap between those placed before it that
/// overlap it in time, which are looked for among all. A call allocates nothing.
auto prepare_naive(const MemoryPoolPlan::Problem& p, const MemoryPoolPlan::Input&, const Context&) {
  const std::vector<Index> blocks(static_cast<std::size_t>(p.blocks));
  return [order = blocks, living = blocks](const MemoryPoolPlan::Input& in,
                                           MemoryPoolPlan::Output& out) mutable {
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, [&](Index a, Index b) {
      return std::pair(in.requests[a].start, a) < std::pair(in.requests[b].start, b);
    });
    out.height[0] = 0;
    for (auto next = order.begin(); next != order.end(); ++next) {
      const Request& request = in.requests[*next];
      std::size_t count = 0;
      for (auto placed = order.begin(); placed != next; ++placed) {
        // The placed block started no later, and so it overlaps if it has not ended.
        if (in.requests[*placed].end > request.start) living[count++] = *placed;
      }
      const auto now = std::span(living).first(count);
      std::ranges::sort(now, {}, [&](Index i) { return out.lower[i]; });
      const Index lower = lowest_gap(now, request.bytes, out);
      out.height[0] = std::max(out.height[0], out.place(*next, lower, request.bytes));
    }
  };
}

std::optional<std::string> first_fit_unfit(const MemoryPoolPlan::Problem& p, const Context&) {
  if (p.blocks <= most_for_first_fit) return std::nullopt;
  return "scans and sorts for each of more than " + std::to_string(most_for_first_fit) +
         " blocks take too long";
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
  r.add<MemoryPoolValidate>(
      {.name = "naive", .summary = "all pairs of blocks", .run = naive, .unfit = naive_unfit});
  r.add<MemoryPoolPlan>({.name = "naive",
                         .summary = "first fit by start, looking at all blocks placed before",
                         .prepare = prepare_naive,
                         .unfit = first_fit_unfit});
}};

}  // namespace

auto MemoryPoolPlan::problem_of(const std::filesystem::path& file) -> Problem {
  return {.blocks = allocator_trace::count_requests(file),
          .pattern = static_cast<Index>(memory_pool::Pattern::trace)};
}

const Corners MemoryPoolPlan::corners = {
    "blocks=1|2|3|4|7|16|33|63|65|130|257|1000,pattern=nested|short|clipped"};

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
  // Sizes change places, and one life in four is that of another block, so that nothing that follows from
  // lives is of use to a later call, and the list keeps its pattern.
  const auto drawn = [&]() -> const Request& { return in.requests[setting.rng.integer(0, p.blocks - 1)]; };
  const Request life = setting.rng.integer(0, 3) == 0 ? drawn() : element;
  element = {std::min(drawn().bytes, most) + (at == 0 ? setting.rng.integer(1, 4096) : 0), life.start,
             life.end};
}

Agreement MemoryPoolPlan::judge(const Problem&, const Input& in, const Expected& want, const Output& out) {
  const Index numbers = out.lower.size() + out.upper.size() + out.height.size();
  Agreement outcome{.compared = numbers, .total = numbers};
  if (std::string why = objection(in, want, out); !why.empty()) outcome.reject(std::move(why));
  return outcome;
}

std::vector<Figure> MemoryPoolPlan::figures(const Problem&, const Input&, const Expected& want,
                                            const Output& out) {
  return {{.name = "height",
           .value = static_cast<double>(out.height[0]),
           .unit = "bytes",
           .better = Figure::Better::lower,
           .bound = static_cast<double>(want.least_height),
           .worst = static_cast<double>(want.total)}};
}

template class detail::TypedOperation<MemoryPoolValidate>;
template class detail::TypedOperation<MemoryPoolPlan>;

}  // namespace assay

namespace assay::memory_pool {
namespace {

Fault clash(std::size_t i, std::size_t j) {
  return {
      .block = static_cast<Index>(i), .other = static_cast<Index>(j), .what = "overlap in space and time"};
}

/// Returns positions in `requests` in the order of their keys; equal keys keep their order.
template <class Key>
std::vector<std::size_t> order_by(std::span<const Request> requests, const Key& key) {
  std::vector<std::size_t> order(requests.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return key(requests[i]); });
  return order;
}

/// Calls enter(i) and leave(i) in order of time, at one step leave() first.
template <class Enter, class Leave>
void sweep(std::span<const Request> requests, const Enter& enter, const Leave& leave) {
  const auto starts = order_by(requests, [](const Request& r) { return r.start; });
  const auto ends = order_by(requests, [](const Request& r) { return r.end; });
  std::size_t next = 0;
  for (const std::size_t i : starts) {
    while (requests[ends[next]].end <= requests[i].start) leave(ends[next++]);
    enter(i);
  }
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

std::string to_string(const Fault& fault, const Plan& plan) {
  const auto block = [&](Index i) {
    const auto at = static_cast<std::size_t>(i);
    const auto& [bytes, start, end] = plan.requests[at];
    return "block " + std::to_string(i) + " (" + std::to_string(bytes) + " B at " +
           std::to_string(plan.offsets[at]) + ", steps [" + std::to_string(start) + ", " +
           std::to_string(end) + "))";
  };
  const std::string first = block(fault.block);
  return fault.other < 0 ? first + " " + std::string(fault.what)
                         : first + " and " + block(fault.other) + " " + std::string(fault.what);
}

bool overlap_in_time(const Request& a, const Request& b) { return a.start < b.end && b.start < a.end; }

bool overlap_in_space(const Plan& plan, std::size_t i, std::size_t j) {
  return plan.offsets[i] < plan.offsets[j] + plan.requests[j].bytes &&
         plan.offsets[j] < plan.offsets[i] + plan.requests[i].bytes;
}

std::optional<Fault> fault_of_any_block(const Plan& plan) {
  for (std::size_t i = 0; i < plan.requests.size(); ++i) {
    const Index offset = plan.offsets[i];
    // offset + bytes may overflow, pool - bytes may not.
    const bool inside = offset >= 0 && offset <= plan.pool - plan.requests[i].bytes;
    if (!inside) return Fault{.block = static_cast<Index>(i), .what = "is not inside the pool"};
    if (offset % alignment != 0) {
      return Fault{.block = static_cast<Index>(i), .what = "does not start at a multiple of 64"};
    }
  }
  return std::nullopt;
}

std::optional<Fault> fault_by_pairs(const Plan& plan) {
  if (const auto found = fault_of_any_block(plan)) return found;
  for (std::size_t i = 0; i < plan.requests.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (overlap_in_time(plan.requests[i], plan.requests[j]) && overlap_in_space(plan, i, j)) {
        return clash(j, i);
      }
    }
  }
  return std::nullopt;
}

std::optional<Fault> fault_by_sweep(const Plan& plan) {
  if (const auto found = fault_of_any_block(plan)) return found;
  std::optional<Fault> found;
  std::map<Index, std::size_t> alive;  // by offset
  const auto enter = [&](std::size_t i) {
    if (found) return;
    const auto [at, inserted] = alive.emplace(plan.offsets[i], i);
    if (!inserted) {
      found = clash(at->second, i);
    } else if (at != alive.begin() && overlap_in_space(plan, std::prev(at)->second, i)) {
      found = clash(std::prev(at)->second, i);
    } else if (std::next(at) != alive.end() && overlap_in_space(plan, std::next(at)->second, i)) {
      found = clash(std::next(at)->second, i);
    }
  };
  sweep(plan.requests, enter, [&](std::size_t i) { alive.erase(plan.offsets[i]); });
  return found;
}

Placed place_by_best_fit(std::span<const Request> requests) {
  Placed out{.offsets = std::vector<Index>(requests.size())};
  Gaps gaps;
  const auto enter = [&](std::size_t i) {
    out.offsets[i] = gaps.take(round_up(requests[i].bytes));
    out.pool = std::max(out.pool, out.offsets[i] + requests[i].bytes);
  };
  sweep(requests, enter, [&](std::size_t i) { gaps.release(out.offsets[i], round_up(requests[i].bytes)); });
  return out;
}

Index least_height(std::span<const Request> requests) {
  Index live = 0, most = 0;
  std::array<std::size_t, alignment> alive_by_padding{};
  const auto rounded = [&](std::size_t i) { return round_up(requests[i].bytes); };
  const auto alive = [&](std::size_t i) -> std::size_t& {
    return alive_by_padding[static_cast<std::size_t>(rounded(i) - requests[i].bytes)];
  };
  const auto enter = [&](std::size_t i) {
    live += rounded(i);
    ++alive(i);
    std::size_t padding = alive_by_padding.size() - 1;
    while (alive_by_padding[padding] == 0) --padding;
    most = std::max(most, live - static_cast<Index>(padding));
  };
  const auto leave = [&](std::size_t i) {
    live -= rounded(i);
    --alive(i);
  };
  sweep(requests, enter, leave);
  return most;
}

}  // namespace assay::memory_pool
