/// Whether the judge of a contract bites: a right output is spoiled, and the judge has to object.
#pragma once

#include "assay/detail/erased.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace assay::testing {
namespace teeth {

using detail::BufferView;

template <class T>
T loaded(const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

/// Whether two numbers differ, other than as zeros of both signs do, and as any two NaNs that were written.
template <class T>
bool numbers_differ(T a, T b) {
  if (std::isnan(a) && std::isnan(b)) return is_poison(a) != is_poison(b);
  return !(a == b);
}

inline bool differ(const BufferView& part, const std::byte* a, const std::byte* b) {
  if (part.type == ElementType::f32) return numbers_differ(loaded<float>(a), loaded<float>(b));
  if (part.type == ElementType::f64) return numbers_differ(loaded<double>(a), loaded<double>(b));
  return std::memcmp(a, b, part.width) != 0;
}

inline void negate(const BufferView& part, std::byte* element) {
  if (part.type == ElementType::f32 || part.type == ElementType::f64) {
    element[part.width - 1] ^= std::byte{0x80};
  } else if (part.is_number) {
    std::uint64_t bits = 0;  // little-endian: narrower ones come first
    std::memcpy(&bits, element, part.width);
    bits = -bits;
    std::memcpy(element, &bits, part.width);
  } else {
    std::memset(element, 0x5a, part.width);
  }
}

inline void unwrite(const BufferView& part, std::byte* element) {
  const auto put = [&](const auto& poison) { std::memcpy(element, &poison, sizeof poison); };
  if (part.type == ElementType::f32) {
    put(poison_value<float>());
  } else if (part.type == ElementType::f64) {
    put(poison_value<double>());
  } else {
    std::memset(element, poison_value<std::uint8_t>(), part.width);
  }
}

}  // namespace teeth

/// Spoils a right output in four ways, `tries` times each in every part, and returns the spoiled elements
/// that the judge let pass.
inline std::vector<std::string> surviving_corruptions(Workload& workload, std::uint64_t seed, int tries) {
  using namespace teeth;
  const detail::NaiveOutput right = workload.naive_output(seed);
  std::vector<std::string> survivors;
  Rng rng(seed);
  using Element = std::vector<std::byte>;
  for (const BufferView& part : right.outputs) {
    const auto kept = [&](Index at) { return Element(part.element(at), part.element(at) + part.width); };
    const auto store = [&](Index at, const Element& value) { std::ranges::copy(value, part.element(at)); };
    for (int attempt = 0; attempt < tries && part.size > 0; ++attempt) {
      for (const std::string_view how : {"zeroed", "negated", "unwritten", "swapped"}) {
        const Index at = rng.integer(0, part.size - 1);
        const Index next = at + 1 < part.size ? at + 1 : 0;
        const Element before = kept(at), before_next = kept(next);
        if (how == "swapped") {
          store(at, before_next);
          store(next, before);
        } else if (how == "unwritten") {
          unwrite(part, part.element(at));
        } else if (how == "zeroed") {
          std::memset(part.element(at), 0, part.width);
        } else {
          negate(part, part.element(at));
        }
        if (differ(part, before.data(), part.element(at)) && right.judge().agrees)
          survivors.push_back(fmt::format("{}[{}] {}", part.name, at, how));
        store(next, before_next);
        store(at, before);
      }
    }
  }
  return survivors;
}

/// Makes `tries` changes of each part of a right output, and returns the places where a judgement in units
/// differs from that of the whole output. None where the contract defines no units().
inline std::vector<std::string> faults_of_units(Workload& workload, std::uint64_t seed, int tries) {
  const detail::NaiveOutput right = workload.naive_output(seed);
  std::vector<std::string> faults;
  if (!right.units) return faults;
  Rng rng(seed);
  const auto between = [](Index begin, Index end) {
    std::vector<Index> out(static_cast<std::size_t>(end - begin));
    std::iota(out.begin(), out.end(), begin);
    return out;
  };
  // How many elements were compared is said behind the semicolon.
  const auto text = [](const Agreement& found) { return found.detail.substr(0, found.detail.find(';')); };
  const auto compare = [&](const std::string& what, const Agreement& expected, const Agreement& found) {
    const bool same = expected.agrees == found.agrees && expected.worst_error == found.worst_error;
    if (same && text(expected) == text(found)) return;
    faults.push_back(what + ": whole '" + text(expected) + "', in units '" + text(found) + "'");
  };
  for (const detail::BufferView& part : right.outputs) {
    compare("a right output", right.judge(), right.judge_in(between(0, *right.units)));
    if (part.type != ElementType::f32) continue;
    auto* const elements = reinterpret_cast<float*>(part.data);
    for (int attempt = 0; attempt < tries && part.size > 0; ++attempt) {
      const Index at = rng.integer(0, part.size - 1);
      const float before = elements[at];
      // An element that a right call does not write belongs to no unit.
      if (!std::isfinite(before)) continue;
      elements[at] += 1 + std::abs(before);
      if (const Agreement wrong = right.judge(); !wrong.agrees) {
        const std::string what = fmt::format("{}[{}] increased", part.name, at);
        Index low = 0, high = *right.units;
        while (high - low > 1) {
          const Index middle = low + (high - low) / 2;
          (right.judge_in(between(low, middle)).agrees ? low : high) = middle;
        }
        compare(what, wrong, right.judge_in({low}));
        std::vector<Index> some{low};
        for (int i = 0; i < 8; ++i) some.push_back(rng.integer(0, *right.units - 1));
        compare(what, wrong, right.judge_in(some));
      }
      elements[at] = before;
    }
  }
  return faults;
}

/// Returns the share of `tries` renewals of the input after which the answer from before is judged to be
/// wrong. 1 where nothing of the input changes. The input is another one when this returns.
inline double renewals_that_show(Workload& workload, std::uint64_t seed, int tries) {
  const std::vector<detail::BufferView> inputs = workload.naive_output(seed).inputs;
  if (std::ranges::all_of(inputs, [](const detail::BufferView& part) {
        return part.size == 0 || part.role == Role::steady || part.role == Role::constant;
      }))
    return 1;
  const std::unique_ptr<Timed> timed = workload.timed(0, {});
  Rng rng(seed);
  int shown = 0;
  for (int i = 0; i < tries; ++i) {
    timed->arm(rng.next());
    timed->renew(rng.next(), Renewal::untimed);
    timed->repeat(1);
    timed->renew(rng.next(), Renewal::untimed);
    if (!timed->judge(rng.next()).agrees) ++shown;
  }
  return static_cast<double>(shown) / tries;
}

}  // namespace assay::testing
