// The buffers of inputs and outputs: what harness and kernels may not do to them, whatever their types.
#pragma once

#include "assay/detail/erased.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace assay::detail {

/// Gives the elements [begin, end) the value of poison_value().
void poison(const BufferView& part, Index begin, Index end);

/// Notes the parts whose guard bytes changed.
Agreement guards_of(const std::vector<BufferView>& parts);

/// Copies of drawn lines of an output, by which it is seen that somebody still writes to it.
class Glimpse {
 public:
  Glimpse(const std::vector<BufferView>& parts, Rng& rng);
  /// The part that changed since; empty when none did.
  std::string_view changed() const;

 private:
  struct Line {
    std::string_view part;
    const std::byte* at;
    std::array<std::byte, 64> bytes;
    std::size_t size;
  };
  std::vector<Line> lines_;
};

/// Notes in `outcome`, if it agreed until now, that it does not, and why.
void blame(Agreement& outcome, std::string detail);

/// Notes that a part of the input was written to. Whatever else was found may come from that.
void blame_for_input(Agreement& outcome, std::string_view part);

}  // namespace assay::detail
