// The buffers of inputs and outputs: what harness and kernels may not do to them, whatever their types.
#pragma once

#include "assay/detail/erased.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::detail {

/// Gives the elements [begin, end) the value of poison_value().
void poison(const BufferView& part, Index begin, Index end);

/// Notes the parts whose guard bytes changed.
Agreement guards_of(const std::vector<BufferView>& parts);

/// The parts that are not constant.
std::vector<BufferView> changing(std::vector<BufferView> parts);

/// Other content in the same memory, for as long as this lives: each block of each part turned by a drawn
/// number of elements, which keeps every one of them valid.
class Decoy {
 public:
  Decoy(std::vector<BufferView> parts, Rng& rng);
  ~Decoy();
  Decoy(const Decoy&) = delete;
  Decoy& operator=(const Decoy&) = delete;

 private:
  std::vector<BufferView> parts_;
  std::vector<std::size_t> turned_;  ///< elements, of each part
};

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

/// Watches the parts of an input, and tells who wrote to them.
class InputWatch {
 public:
  explicit InputWatch(std::vector<BufferView> parts);
  /// From now on `user` has the input as well.
  void used_by(const void* user);
  /// Returns the part that changed since the last look, when only one user can have changed it. Returns
  /// nothing when none changed, or when several users had the input: each of them is then looked at in turn.
  /// Calls `make_again` when anything changed. Large inputs are looked at when it is `due` or when somebody
  /// is sought.
  std::string_view written_part(bool due, const std::function<void()>& make_again);

 private:
  std::vector<BufferView> parts_;
  std::vector<std::uint64_t> digests_;
  std::vector<const void*> users_;
  bool small_ = true, seeking_ = false;
};

/// Notes in `outcome`, if it agreed until now, that it does not, and why.
void blame(Agreement& outcome, std::string detail);

/// Notes that a part of the input was written to. Whatever else was found may come from that.
void blame_for_input(Agreement& outcome, std::string_view part);

}  // namespace assay::detail
