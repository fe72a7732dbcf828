#include "core/registry/flipped_bits.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/registry/flipped_bits.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// As signed integers, which numbers without a sign compare like: most processors have no other comparison.
template <class Bits>
void FlipAll(std::uint64_t exponent, std::uint64_t two, std::byte* to, const std::byte* from,
             std::size_t size, FlippedBits bits) {
  const hn::ScalableTag<Bits> d;
  const auto all = [&](std::uint64_t value) HWY_ATTR { return hn::Set(d, static_cast<Bits>(value)); };
  const auto exponents = all(exponent), twos = all(two), any = all(bits.below_two),
             large = all(bits.of_others);
  const auto flip = [&](const Bits* in, Bits* out) HWY_ATTR {
    const auto number = hn::LoadU(d, in);
    const auto its = hn::And(number, exponents);
    const auto fixed = hn::Or(hn::Eq(its, hn::Zero(d)), hn::Eq(its, exponents));
    const auto flips = hn::IfThenZeroElse(fixed, hn::IfThenElse(hn::Lt(its, twos), any, large));
    hn::StoreU(hn::Xor(number, flips), d, out);
  };
  const std::size_t lanes = hn::Lanes(d), count = size / sizeof(Bits);
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
                          std::size_t size, FlippedBits bits);

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

void copy_flipped(ElementType type, std::byte* to, const std::byte* from, std::size_t size,
                  FlippedBits bits) {
  if (size == 0) return;  // there may be no address
  const auto flip = [&]<class Bits>(const Format<Bits>& format) {
    HWY_DYNAMIC_DISPATCH(FlippingOf)(sizeof(Bits))(format.exponent, format.two, to, from, size, bits);
  };
  if (!with_format(type, flip)) std::memmove(to, from, size);
}

}  // namespace assay::detail
#endif
