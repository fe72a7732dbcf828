// The idea: blocks sorted by offset. The blocks that share bytes with a block and do not start before it
// follow right behind it, up to the first that starts past its end. Only their lives are compared, several at
// a time. The time stays quadratic in the number of blocks that use the same bytes one after the other.

#include "memory_pool/sorter.hpp"
#include "memory_pool_validate/compact.hpp"

#include "assay/registry.hpp"

namespace assay::memory_pool {
namespace {

/// The numbers for comparing lives: signed ones, for which vectors have an instruction.
template <class Number>
using Signed = std::make_signed_t<Number>;

template <class Number>
class SortedBreak {
 public:
  explicit SortedBreak(Index most)
      : sorter_(most),
        lower_(static_cast<std::size_t>(most)),
        upper_(lower_.size()),
        start_(lower_.size()),
        end_(lower_.size()) {}

  bool valid(const Compact& plan) {
    const auto order =
        sorter_.sorted(plan.blocks(), [&](Index i) { return static_cast<Number>(plan.lower(i)); });
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
      const auto i = static_cast<Index>(order[rank].position);
      lower_[rank] = order[rank].key;
      upper_[rank] = static_cast<Number>(plan.upper(i));
      start_[rank] = static_cast<Signed<Number>>(plan.start(i));
      end_[rank] = static_cast<Signed<Number>>(plan.end(i));
    }
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
      const std::size_t stop = first_past(upper_[rank], rank + 1, order.size());
      if (any_alive(rank + 1, stop, start_[rank], end_[rank])) return false;
    }
    return true;
  }

 private:
  /// The first rank in [from, count) whose block starts at `top` or above. It is mostly near: steps double
  /// until one is too far, then halve.
  std::size_t first_past(Number top, std::size_t from, std::size_t count) const {
    std::size_t step = 1;
    while (from + step <= count && lower_[from + step - 1] < top) {
      from += step;
      step *= 2;
    }
    const auto begin = lower_.begin() + static_cast<std::ptrdiff_t>(from);
    const auto end = lower_.begin() + static_cast<std::ptrdiff_t>(std::min(from + step - 1, count));
    return static_cast<std::size_t>(std::lower_bound(begin, end, top) - lower_.begin());
  }

  /// The loop has no branch, so that the compiler vectorises it.
  bool any_alive(std::size_t from, std::size_t to, Signed<Number> start, Signed<Number> end) const {
    const Signed<Number>* starts = start_.data();
    const Signed<Number>* ends = end_.data();
    Signed<Number> any = 0;
    for (std::size_t j = from; j < to; ++j) any |= (starts[j] < end) & (start < ends[j]);
    return any != 0;
  }

  Sorter<Number> sorter_;
  std::vector<Number> lower_, upper_;  // in order of offset, as are the lives
  std::vector<Signed<Number>> start_, end_;
};

const Register registered{[](Registry& r) {
  r.add<MemoryPoolValidate>({.name = "sorted_break",
                             .summary = "sorted by offset; lives compared up to the first block past the end",
                             .prepare = prepare_validator<SortedBreak>});
}};

}  // namespace
}  // namespace assay::memory_pool
