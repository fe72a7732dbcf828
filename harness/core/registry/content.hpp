// The content of an input: another one before each call, in the same memory, and what kernels did to it.
#pragma once

#include "assay/detail/erased.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace assay::detail {

/// Renews the parts of an input, and tells who wrote to them.
///
/// Blocks of 32 KiB turn by a drawn number of elements, outside of the time, at the speed of a copy: nearly
/// every element changes, all of them stay valid, and no call finds out what changed for less than reading
/// its input. A sum over a whole part stays the same, so that one element gets another value besides.
class Content {
 public:
  /// `salting` names the problem and the input that hold these parts.
  Content(std::vector<BufferView> parts, Salting salting);

  const std::vector<BufferView>& parts() const { return parts_; }
  /// Gives parts but steady and constant ones other content. That of parts which are redrawn follows from the
  /// seed alone.
  void renew(std::uint64_t seed, Renewal what);
  /// As Timed::nudge(). Undone by renew() and restore().
  bool nudge(bool change);
  /// Gives all parts what make_input() gave them.
  void restore();

  /// From now on `user` has the input as well.
  void used_by(const void* user);
  /// Returns the part that somebody else than renew() changed since the last look, when only one user can
  /// have done so. Returns nothing when none changed, or when several users had the input: each of them is
  /// then looked at in turn. Calls `make_again`, which gives all parts their first content, when anything
  /// changed. Large inputs are looked at when it is `due` or when somebody is sought.
  std::string_view written_part(bool due, const std::function<void()>& make_again);

 private:
  struct State {
    std::uint64_t digest = 0, original_digest = 0;
    Index turned = 0;  ///< elements, in each block to the left, by this process: memory may be shared
    std::vector<std::byte> original;  ///< of a part that is redrawn
  };
  void redraw(std::size_t part);
  void salt(Rng& rng);
  void put_back_element();
  /// Leaves nothing but turns.
  void put_back();

  std::vector<BufferView> parts_;
  std::vector<State> states_;  ///< of each part
  Salting salting_;
  const BufferView* salted_ = nullptr;  ///< has one element that is not as it was; null: none has
  Index salted_at_ = 0;
  bool nudged_ = false;
  std::array<std::byte, most_width> kept_{};  ///< the bytes of that element before
  std::vector<const void*> users_;
  bool small_ = true, seeking_ = false;
};

}  // namespace assay::detail
