#include "core/registry/flipped_bits.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/registry/flipped_bits.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::uint64_t place_factor = 0x9e3779b97f4a7c15U;  // odd

/// Places of as many numbers as a vector holds, each times an odd number, and the seed; zeros, which stay
/// zeros when they are mixed, where there is no pattern.
template <class Bits>
void FirstPlaces(FlipPattern pattern, std::size_t lanes, Bits* out) {
  for (std::size_t i = 0; i < lanes; ++i)
    out[i] =
        pattern.seed == 0 ? Bits{0} : static_cast<Bits>((pattern.first + i) * place_factor + pattern.seed);
}

/// Bits that follow from such a place: Marsaglia, Xorshift RNGs, Journal of Statistical Software 8(14), 2003.
template <class Places>
HWY_ATTR Places Mixed(Places x) {
  constexpr bool is_short = sizeof(hn::TFromV<Places>) == 2;
  constexpr int left = is_short ? 7 : 13, right = is_short ? 9 : 17, last = is_short ? 8 : 5;
  x = hn::Xor(x, hn::ShiftLeft<left>(x));
  x = hn::Xor(x, hn::ShiftRight<right>(x));
  return hn::Xor(x, hn::ShiftLeft<last>(x));
}

// As signed integers, which numbers without a sign compare like: most processors have no other comparison.
template <class Bits>
void FlipAll(std::uint64_t exponent, std::uint64_t two, std::byte* to, const std::byte* from,
             std::size_t size, FlippedBits bits, const FlipPattern* patterns) {
  const hn::ScalableTag<Bits> d;
  const hn::RebindToUnsigned<decltype(d)> of_places;
  using Place = hn::TFromD<decltype(of_places)>;
  const auto all = [&](std::uint64_t value) HWY_ATTR { return hn::Set(d, static_cast<Bits>(value)); };
  const auto exponents = all(exponent), twos = all(two), any = all(bits.below_two),
             large = all(bits.of_others);
  const std::size_t lanes = hn::Lanes(d), count = size / sizeof(Bits);
  Place first[HWY_MAX_BYTES / sizeof(Bits)] = {};
  const auto places = [&](int which) HWY_ATTR {
    if (patterns != nullptr) FirstPlaces(patterns[which], lanes, first);
    return hn::LoadU(of_places, first);
  };
  const auto step_of = [&](int which) HWY_ATTR {
    const bool is_none = patterns == nullptr || patterns[which].seed == 0;
    return hn::Set(of_places, is_none ? Place{0} : static_cast<Place>(lanes * place_factor));
  };
  auto before = places(0), after = places(1);
  const auto step_before = step_of(0), step_after = step_of(1);
  const auto flip = [&](const Bits* in, Bits* out) HWY_ATTR {
    const auto number = hn::LoadU(d, in);
    const auto its = hn::And(number, exponents);
    const auto fixed = hn::Or(hn::Eq(its, hn::Zero(d)), hn::Eq(its, exponents));
    auto flips = hn::IfThenZeroElse(fixed, hn::IfThenElse(hn::Lt(its, twos), any, large));
    if (patterns != nullptr) {
      flips = hn::And(flips, hn::BitCast(d, hn::Xor(Mixed(before), Mixed(after))));
      before = hn::Add(before, step_before);
      after = hn::Add(after, step_after);
    }
    hn::StoreU(hn::Xor(number, flips), d, out);
  };
  const auto* const in = reinterpret_cast<const Bits*>(from);
  auto* const out = reinterpret_cast<Bits*>(to);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) flip(in + i, out + i);
  Bits rest[HWY_MAX_BYTES / sizeof(Bits)] = {};
  std::memcpy(rest, in + i, (count - i) * sizeof(Bits));
  flip(rest, rest);
  std::memcpy(out + i, rest, (count - i) * sizeof(Bits));
}

using Flipping = void (*)(std::uint64_t exponent, std::uint64_t two, std::byte* to, const std::byte* from,
                          std::size_t size, FlippedBits bits, const FlipPattern* patterns);

Flipping FlippingOf(std::size_t width) {
  return width == 2 ? FlipAll<std::int16_t> : width == 4 ? FlipAll<std::int32_t> : FlipAll<std::int64_t>;
}

}  // namespace assay::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::detail {
namespace {

HWY_EXPORT(FlippingOf);

/// How a floating-point type is made.
template <class Bits>
struct Format {
  Bits exponent, two;   ///< mask; exponent of 2.0
  int fraction, small;  ///< bits; those that change a number by some 2^-10, and short ones by more
};
constexpr Format<std::uint32_t> single{0x7f800000, 0x40000000, 23, 14};
constexpr Format<std::uint64_t> twice{0x7ff0000000000000, 0x4000000000000000, 52, 42};
constexpr Format<std::uint16_t> half{0x7c00, 0x4000, 10, 4}, brain{0x7f80, 0x4000, 7, 2};

/// Calls visit(Format) for a type that has one, and returns whether it has.
template <class Visit>
bool with_format(ElementType type, const Visit& visit) {
  switch (type) {
    case ElementType::f32: return visit(single), true;
    case ElementType::f64: return visit(twice), true;
    case ElementType::f16: return visit(half), true;
    case ElementType::bf16: return visit(brain), true;
    default: return false;
  }
}

}  // namespace

FlippedBits free_bits(const BufferView& part) {
  FlippedBits out;
  with_format(part.type, [&]<class Bits>(const Format<Bits>& format) {
    const auto* const numbers = reinterpret_cast<const Bits*>(part.data);
    Bits used = 0;
    for (Index i = 0; i < part.size; ++i) {
      const auto its = static_cast<Bits>(numbers[i] & format.exponent);
      used = static_cast<Bits>(used | (its != 0 && its != format.exponent ? numbers[i] : 0));
    }
    const int unused = used == 0 ? format.fraction : std::min(format.fraction, std::countr_zero(used));
    const auto up_to = [&](int end) { return (std::uint64_t{1} << end) - (std::uint64_t{1} << unused); };
    out.below_two = up_to(format.fraction);
    // A quarter of the digits of a type as short as that.
    out.of_others = up_to(std::min(format.fraction, std::max(format.small, unused + 2)));
  });
  return out;
}

bool is_floating(ElementType type) {
  return with_format(type, [](const auto&) {});
}

namespace {
void flip(ElementType type, std::byte* to, const std::byte* from, std::size_t size, FlippedBits bits,
          const FlipPattern* patterns) {
  if (size == 0) return;  // there may be no address
  const auto flip_all = [&]<class Bits>(const Format<Bits>& format) {
    HWY_DYNAMIC_DISPATCH(FlippingOf)
    (sizeof(Bits))(format.exponent, format.two, to, from, size, bits, patterns);
  };
  if (!with_format(type, flip_all)) std::memmove(to, from, size);
}
}  // namespace

void copy_flipped(ElementType type, std::byte* to, const std::byte* from, std::size_t size,
                  FlippedBits bits) {
  flip(type, to, from, size, bits, nullptr);
}

void copy_flipped(ElementType type, std::byte* to, const std::byte* from, std::size_t size, FlippedBits bits,
                  FlipPattern before, FlipPattern after) {
  if (bits.below_two == 0) return flip(ElementType::i32, to, from, size, bits, nullptr);
  const std::array both{before, after};
  flip(type, to, from, size, bits, both.data());
}

}  // namespace assay::detail
#endif
