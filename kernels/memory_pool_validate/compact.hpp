// The first step of both exact validators: checks each block by itself and makes numbers small enough to be
// fast.
#pragma once

#include "assay/ops/memory_pool.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace assay::memory_pool {

/// A plan whose blocks all lie in the pool at multiples of 64, in units of 64 bytes and in steps from the
/// first. Units lose nothing: a block starts at a unit, so it overlaps the last unit of another block exactly
/// if it overlaps its last byte.
class Compact {
 public:
  /// `inside` is false if a block lies outside the pool or not at a multiple of 64; the rest is then void.
  explicit Compact(const Plan& plan) : plan_(plan) {
    Index first = std::numeric_limits<Index>::max(), last = std::numeric_limits<Index>::min();
    bool wrong = false;
    for (std::size_t i = 0; i < plan.offsets.size(); ++i) {
      const auto [bytes, start, end] = plan.requests[i];
      const Index offset = plan.offsets[i];
      // offset + bytes may overflow, pool - bytes may not.
      wrong |= offset < 0 || offset > plan.pool - bytes || offset % alignment != 0;
      first = std::min(first, start);
      last = std::max(last, end);
    }
    inside = !wrong;
    first_step_ = static_cast<std::uint64_t>(first);
    const std::uint64_t top = static_cast<std::uint64_t>(plan.pool) / alignment + 1;
    const std::uint64_t steps = static_cast<std::uint64_t>(last) - first_step_;
    narrow = top <= most_narrow && (plan.offsets.empty() || steps <= most_narrow);
  }

  bool inside = true;
  /// Whether all numbers fit in 31 bits.
  bool narrow = true;

  Index blocks() const { return static_cast<Index>(plan_.offsets.size()); }
  std::uint64_t lower(Index i) const { return static_cast<std::uint64_t>(offset(i)) / alignment; }
  /// One past the last unit of the block.
  std::uint64_t upper(Index i) const {
    return (static_cast<std::uint64_t>(offset(i) + request(i).bytes) + alignment - 1) / alignment;
  }
  std::uint64_t start(Index i) const { return static_cast<std::uint64_t>(request(i).start) - first_step_; }
  std::uint64_t end(Index i) const { return static_cast<std::uint64_t>(request(i).end) - first_step_; }

 private:
  static constexpr std::uint64_t most_narrow = std::numeric_limits<std::int32_t>::max();

  const Request& request(Index i) const { return plan_.requests[static_cast<std::size_t>(i)]; }
  Index offset(Index i) const { return plan_.offsets[static_cast<std::size_t>(i)]; }

  Plan plan_;
  std::uint64_t first_step_ = 0;
};

/// Runs Validator<Number>(blocks).valid(compact) for each plan, on 32-bit numbers if they fit. Allocates
/// storage for 64-bit numbers only if a plan needs it.
template <template <class Number> class Validator>
auto prepare_validator(const MemoryPoolValidate::Problem&, const MemoryPoolValidate::Input& in,
                       const Context&) {
  const Index most = in.most_blocks();
  bool any_wide = false;
  for (Index i = 0; i < in.plans.size(); ++i) any_wide |= !Compact(in.plan(i)).narrow;
  return [narrow = Validator<std::uint32_t>(most), wide = Validator<std::uint64_t>(any_wide ? most : 0)](
             const auto& input, auto& out) mutable {
    for (Index i = 0; i < input.plans.size(); ++i) {
      const Compact plan(input.plan(i));
      const bool valid = plan.inside && (plan.narrow ? narrow.valid(plan) : wide.valid(plan));
      out.valid[i] = valid ? 1 : 0;
    }
  };
}

}  // namespace assay::memory_pool
