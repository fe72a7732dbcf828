// Whether a plan is valid, by the definition and by a sweep; and how low a plan may be at best.

#include "assay/ops/memory_pool.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

namespace assay::memory_pool {
namespace {

constexpr std::size_t most_for_pairs = 2048;

bool overlap_in_time(const Request& a, const Request& b) { return a.start < b.end && b.start < a.end; }

/// Takes blocks inside the pool, whose ends do not overflow.
bool overlap_in_space(const Plan& plan, std::size_t i, std::size_t j) {
  return plan.offsets[i] < plan.offsets[j] + plan.requests[j].bytes &&
         plan.offsets[j] < plan.offsets[i] + plan.requests[i].bytes;
}

std::optional<Fault> fault_of_block(const Plan& plan, std::size_t i) {
  const Index offset = plan.offsets[i];
  // offset + bytes may overflow, pool - bytes may not.
  const bool inside = offset >= 0 && offset <= plan.pool - plan.requests[i].bytes;
  if (!inside) return Fault{.block = static_cast<Index>(i), .what = "is not inside the pool"};
  if (offset % alignment != 0) {
    return Fault{.block = static_cast<Index>(i), .what = "does not start at a multiple of 64"};
  }
  return std::nullopt;
}

std::optional<Fault> fault_of_any_block(const Plan& plan) {
  for (std::size_t i = 0; i < plan.requests.size(); ++i) {
    if (const auto found = fault_of_block(plan, i)) return found;
  }
  return std::nullopt;
}

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

/// Calls enter(i) and leave(i) in order of time, at one step leave() first; stops where enter() says false.
template <class Enter, class Leave>
void sweep(std::span<const Request> requests, const Enter& enter, const Leave& leave) {
  const auto starts = order_by(requests, [](const Request& r) { return r.start; });
  const auto ends = order_by(requests, [](const Request& r) { return r.end; });
  std::size_t next = 0;
  for (const std::size_t i : starts) {
    while (requests[ends[next]].end <= requests[i].start) leave(ends[next++]);
    if (!enter(i)) return;
  }
}

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
    const auto [at, inserted] = alive.emplace(plan.offsets[i], i);
    if (!inserted) {
      found = clash(at->second, i);
    } else if (at != alive.begin() && overlap_in_space(plan, std::prev(at)->second, i)) {
      found = clash(std::prev(at)->second, i);
    } else if (std::next(at) != alive.end() && overlap_in_space(plan, std::next(at)->second, i)) {
      found = clash(std::next(at)->second, i);
    }
    return !found;
  };
  sweep(plan.requests, enter, [&](std::size_t i) { alive.erase(plan.offsets[i]); });
  return found;
}

std::optional<Fault> fault(const Plan& plan) {
  return plan.requests.size() <= most_for_pairs ? fault_by_pairs(plan) : fault_by_sweep(plan);
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
    return true;
  };
  const auto leave = [&](std::size_t i) {
    live -= rounded(i);
    --alive(i);
  };
  sweep(requests, enter, leave);
  return most;
}

}  // namespace assay::memory_pool
