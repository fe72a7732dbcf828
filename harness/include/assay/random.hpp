/// A small random generator whose numbers are the same on every platform and library.
#pragma once

#include "assay/problem.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

/// FNV-1a, 64 bits: stable identifiers of texts, the same on every platform. With the `hash` of a text, that
/// of the two joined.
constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325U) {
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return hash;
}

/// The next number of splitmix64, which counts in `state`: Steele, Lea and Flood, Fast splittable
/// pseudorandom number generators, OOPSLA 2014.
constexpr std::uint64_t splitmix64(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

/// Drawn by the operating system: no kernel can know it before.
std::uint64_t secret();

/// xoshiro256** by Blackman and Vigna (2018), seeded through splitmix64. The standard library's distributions
/// differ between vendors; inputs must not, since results of different inputs are not comparable.
class Rng {
 public:
  explicit constexpr Rng(std::uint64_t seed) {
    for (std::uint64_t& word : state_) word = splitmix64(seed);
  }

  constexpr std::uint64_t next() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  /// Draws from [0, 1), 53 random bits.
  constexpr double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  /// Draws from [low, high).
  constexpr double uniform(double low, double high) { return low + (high - low) * unit(); }

  /// Draws from [low, high], both included. The bias of the multiplication is below 2^-32 for the ranges used
  /// here.
  constexpr Index integer(Index low, Index high) {
    return low + static_cast<Index>(unit() * static_cast<double>(high - low + 1));
  }

  /// One of -3, -2, -1, 1, 2, 3: entries of the exact fill. Sums of products stay exactly
  /// representable up to 2^24 / 9 terms, so every order of summation gives the same bits.
  constexpr float small_integer() {
    const Index draw = integer(-3, 2);
    return static_cast<float>(draw >= 0 ? draw + 1 : draw);
  }

 private:
  std::uint64_t state_[4] = {};
};

/// Puts the items into a drawn order (Fisher and Yates).
template <class T>
void shuffle(std::span<T> items, Rng& rng) {
  for (std::size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1], items[static_cast<std::size_t>(rng.integer(0, static_cast<Index>(i) - 1))]);
  }
}
template <class T>
std::vector<T> shuffled(std::vector<T> items, Rng& rng) {
  shuffle(std::span(items), rng);
  return items;
}

}  // namespace assay
