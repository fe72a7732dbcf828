// The content of an input: another one before each call, in the same memory, and what kernels did to it.
#pragma once

#include "core/registry/flipped_bits.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace assay::detail {

/// Renews the parts of an input, as core/README.md tells ("Every call has new content"), and tells who wrote
/// to them. No call finds out what changed for less than reading its input. A sum over a whole part of
/// integers stays the same when blocks turn, so that one element gets another value besides.
class Content {
 public:
  /// `salting` names the problem and the input that hold these parts.
  Content(std::vector<BufferView> parts, Salting salting);

  const std::vector<BufferView>& parts() const { return parts_; }
  /// Gives parts but steady and constant ones other content; redrawn ones follow from the seed alone.
  void renew(std::uint64_t seed, Renewal what);
  /// As Timed::nudge(). Undone by renew() and restore().
  bool nudge(bool change);
  /// Gives all parts what make_input() gave them.
  void restore();

  /// From now on `user` has the input as well.
  void used_by(const void* user);
  /// Of large inputs; small ones are looked at each time, and any where somebody is sought.
  enum class Look { none, drawn_blocks, all };
  /// Returns the part that somebody else than renew() changed, when only one user can have done so. Returns
  /// nothing when none changed, or when several users had the input: each of them is then looked at in turn.
  /// Calls `make_again`, which gives all parts their first content, when anything changed.
  std::string_view written_part(Look look, const std::function<void()>& make_again);

 private:
  struct State {
    std::vector<std::uint64_t> digests;  ///< of each block, before it was turned
    Index turned = 0;                    ///< elements, in each block to the left
    FlippedBits free_bits;               ///< of its numbers: those that renew() changes
    std::uint64_t pattern = 0;           ///< seed of that by which they differ now; 0: of none
    std::vector<std::byte> original;     ///< of a part that is redrawn
    std::vector<std::uint64_t> original_digests;
  };
  /// Looks at a share of its blocks.
  bool is_as_it_was(std::size_t part, double share) const;
  void redraw(std::size_t part);
  void salt(Rng& rng);
  void put_back_element();
  /// Leaves nothing but turns and patterns.
  void put_back();

  std::vector<BufferView> parts_;
  std::vector<State> states_;  ///< of each part
  Salting salting_;
  const BufferView* salted_ = nullptr;  ///< has one element that is not as it was; null: none has
  Index salted_at_ = 0;
  bool nudged_ = false;
  std::array<std::byte, most_width> kept_{};  ///< the bytes of that element before
  std::vector<const void*> users_;
  std::size_t bytes_ = 0;
  bool seeking_ = false;
};

}  // namespace assay::detail
