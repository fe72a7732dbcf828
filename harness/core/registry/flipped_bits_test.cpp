#include "core/registry/flipped_bits.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

namespace assay::detail::flipped_bits_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAreArray;

template <class Bits>
std::vector<Bits> flipped(ElementType type, std::vector<Bits> numbers, FlippedBits bits) {
  auto* const data = reinterpret_cast<std::byte*>(numbers.data());
  copy_flipped(type, data, data, numbers.size() * sizeof(Bits), bits);
  return numbers;
}

/// Numbers of both signs around 2, zeros, subnormal numbers, an infinity and a NaN.
template <class Bits>
std::vector<Bits> of_every_kind(Bits exponent, Bits two) {
  const auto sign = static_cast<Bits>(~(static_cast<Bits>(~Bits{0}) >> 1)), one = Bits{1};
  std::vector<Bits> out{
      0, sign, one, static_cast<Bits>(sign | one), exponent, static_cast<Bits>(exponent | one)};
  // Enough that no vector is left over, and some of a next one.
  for (Bits i = 0; i < 200; ++i) {
    const auto below = static_cast<Bits>(two - one - i), above = static_cast<Bits>(two + i);
    for (const Bits number : {below, above})
      out.push_back(static_cast<Bits>(i % 2 == 0 ? number : number | sign));
  }
  return out;
}

template <class Bits>
void expect_flips(ElementType type, Bits exponent, Bits two) {
  const FlippedBits bits{.below_two = 0b1101, .of_others = 0b0100};
  const std::vector<Bits> before = of_every_kind(exponent, two), after = flipped(type, before, bits);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto its = static_cast<Bits>(before[i] & exponent);
    const std::uint64_t expected = its == 0 || its == exponent ? 0 : its < two ? 0b1101 : 0b0100;
    EXPECT_EQ(before[i] ^ after[i], expected) << "element " << i << " of " << sizeof(Bits) << " bytes";
  }
  EXPECT_THAT(flipped(type, after, bits), ElementsAreArray(before));
}

TEST(FlippedBits, AreThoseOfEveryNumberButZerosSubnormalsInfinitiesAndNaNs) {
  expect_flips<std::uint32_t>(ElementType::f32, 0x7f800000, 0x40000000);
  expect_flips<std::uint64_t>(ElementType::f64, 0x7ff0000000000000, 0x4000000000000000);
  expect_flips<std::uint16_t>(ElementType::f16, 0x7c00, 0x4000);
  expect_flips<std::uint16_t>(ElementType::bf16, 0x7f80, 0x4000);
}

TEST(FlippedBits, MayBeCopiedToAnEarlierPartOfTheSameNumbers) {
  for (const std::size_t count : {1UL, 2UL, 7UL, 16UL, 17UL, 33UL, 100UL}) {
    for (const std::size_t by : {0UL, 1UL, 3UL, 15UL, 16UL, 17UL, 40UL}) {
      std::vector<float> numbers(count + by, 1.0F), expected;
      for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += static_cast<float>(i);
      const FlippedBits bits{.below_two = 0x70, .of_others = 0x30};
      for (std::size_t i = by; i < numbers.size(); ++i) {
        const std::uint32_t flips = numbers[i] < 2 ? 0x70 : 0x30;
        expected.push_back(std::bit_cast<float>(std::bit_cast<std::uint32_t>(numbers[i]) ^ flips));
      }
      auto* const data = reinterpret_cast<std::byte*>(numbers.data());
      copy_flipped(ElementType::f32, data, data + by * sizeof(float), count * sizeof(float), bits);
      numbers.resize(count);
      EXPECT_THAT(numbers, ElementsAreArray(expected)) << count << " by " << by;
    }
  }
}

template <class Bits>
void expect_patterns(ElementType type, Bits one) {
  constexpr std::size_t count = 100, turned = 37;
  const FlippedBits bits{.below_two = 0x3f, .of_others = 0x3f};
  const FlipPattern none, first{.seed = 7, .first = 5}, second{.seed = 9, .first = 0};
  const std::vector<Bits> numbers(count, one);
  const auto copied = [&](const std::vector<Bits>& from, std::size_t begin, FlipPattern before,
                          FlipPattern after) {
    std::vector<Bits> out(from.size() - begin);
    copy_flipped(type, reinterpret_cast<std::byte*>(out.data()),
                 reinterpret_cast<const std::byte*>(from.data() + begin), out.size() * sizeof(Bits), bits,
                 before, after);
    return out;
  };
  const std::vector<Bits> has_first = copied(numbers, 0, none, first);
  const std::set<Bits> different(has_first.begin(), has_first.end());
  EXPECT_GT(different.size(), 30U) << sizeof(Bits) << " bytes, of 64 patterns of six bits";
  for (const Bits number : has_first) EXPECT_EQ((number ^ one) & ~Bits{0x3f}, 0);
  // A number that turned to another place has the pattern of that place.
  const FlipPattern there{.seed = 7, .first = 5 + turned};
  EXPECT_THAT(copied(has_first, turned, there, second),
              ElementsAreArray(copied(numbers, turned, none, second)));
  EXPECT_THAT(copied(has_first, turned, there, none), Each(one));
}

TEST(FlippedBits, FollowAPatternThatIsUndoneAtAnyPlace) {
  expect_patterns<std::uint32_t>(ElementType::f32, 0x3f800000);
  expect_patterns<std::uint64_t>(ElementType::f64, 0x3ff0000000000000);
  expect_patterns<std::uint16_t>(ElementType::f16, 0x3c00);
  expect_patterns<std::uint16_t>(ElementType::bf16, 0x3f80);
}

TEST(FlippedBits, LeaveWhatIsNoFloatingPointNumberAsItIs) {
  const std::vector<std::uint32_t> numbers(9, 0x3f800001);
  EXPECT_FALSE(is_floating(ElementType::i32));
  EXPECT_THAT(flipped(ElementType::i32, numbers, {~std::uint64_t{0}, ~std::uint64_t{0}}), Each(0x3f800001U));
}

BufferView view_of(std::vector<float>& numbers) {
  return {.data = reinterpret_cast<std::byte*>(numbers.data()), .size = static_cast<Index>(numbers.size())};
}

TEST(FreeBits, AreTheWholeFractionBelowTwoAndFewOfLargeNumbers) {
  std::vector<float> any{0.1F, -1.7F, 1e6F, 0, std::numeric_limits<float>::infinity()};
  const FlippedBits free = free_bits(view_of(any));
  EXPECT_EQ(free.below_two, 0x7fffffU);
  EXPECT_EQ(free.of_others, 0x3fffU);
  // No input that was valid becomes another magnitude.
  const std::vector<float> before{0.1F, -1.7F, 1e6F};
  for (const float number : before) {
    const float other = std::bit_cast<float>(
        flipped(ElementType::f32, std::vector{std::bit_cast<std::uint32_t>(number)}, free)[0]);
    EXPECT_LT(std::abs(std::log2(other / number)), std::abs(number) < 2 ? 1 : 0.002) << number;
  }
}

TEST(FreeBits, AreNoneThatNoNumberUses) {
  std::vector<float> rounded_to_bf16{1.0F, 1.5F, 1.0078125F};
  EXPECT_EQ(free_bits(view_of(rounded_to_bf16)).below_two, 0x7f0000U);
  std::vector<float> zeros(4, 0.0F);
  EXPECT_EQ(free_bits(view_of(zeros)).below_two, 0U);
}

}  // namespace
}  // namespace assay::detail::flipped_bits_test
