/// Another content of floating-point numbers, as good as theirs: bits of their fractions flip.
#pragma once

#include "assay/detail/erased.hpp"

#include <cstddef>
#include <cstdint>

namespace assay::detail {

/// Bits that differ in the fractions of numbers: of those below 2, and of others, which are some of the
/// former.
struct FlippedBits {
  std::uint64_t below_two = 0, of_others = 0;
};

/// Which of these bits differ in each number: drawn for each place, so that no sum over numbers follows from
/// an earlier one for less than reading them.
struct FlipPattern {
  std::uint64_t seed = 0;  ///< 0: none differ
  std::size_t first = 0;   ///< place of the first number
};

/// The bits by which numbers of this part may differ and still be as good an input; none, where it has no
/// floating-point numbers. Below 2 it is the whole fraction: a number stays within a factor of two, and far
/// enough from what it was that no answer from before can be mended by a slope. Large numbers, which may
/// stand for a mean far from zero, change little. Bits that no number uses stay so, as where all of them are
/// rounded to a shorter type.
FlippedBits free_bits(const BufferView& part);

bool is_floating(ElementType type);

/// Copies to `to`, which may be an earlier part of `from`, and flips those bits of every number but zeros,
/// subnormal ones, infinities and NaNs.
void copy_flipped(ElementType type, std::byte* to, const std::byte* from, std::size_t size, FlippedBits bits);

/// As above, but of those bits, those of one pattern or the other: numbers that had the first have the
/// second.
void copy_flipped(ElementType type, std::byte* to, const std::byte* from, std::size_t size, FlippedBits bits,
                  FlipPattern before, FlipPattern after);

}  // namespace assay::detail
