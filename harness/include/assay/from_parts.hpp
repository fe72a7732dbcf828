/// The functions of a contract that follow from the extents of its parts.
#pragma once

#include "assay/operation.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace assay {
namespace detail {

template <class Problem>
Index extent_of(const Problem& problem, const auto& extent) {
  if constexpr (std::integral<std::remove_cvref_t<decltype(extent)>>) {
    return static_cast<Index>(extent);
  } else {
    return std::invoke(extent, problem);
  }
}

template <class Problem>
std::vector<Index> extents_of(const auto& part, const Problem& problem) {
  return std::apply(
      [&](const auto&... extents) { return std::vector<Index>{extent_of(problem, extents)...}; },
      part.extents);
}

/// The number of elements, which may exceed an Index.
template <class Problem>
double elements_of(const auto& part, const Problem& problem) {
  double out = 1;
  for (const Index extent : extents_of(part, problem)) out *= static_cast<double>(extent);
  return out;
}

template <class Problem>
Index size_of(const auto& part, const Problem& problem) {
  static_assert(std::tuple_size_v<decltype(part.extents)> > 0, "give the part its extents");
  Index size = 1;
  for (const Index extent : extents_of(part, problem)) size *= extent;
  return size;
}

template <class Problem>
auto buffer_of(const auto& part, const Problem& problem, const Setting& setting) {
  return setting.buffer<typename std::remove_cvref_t<decltype(part)>::Element>(size_of(part, problem));
}

/// The expectations of `count` parts, in their order.
template <std::size_t count, class Expected>
auto expectations(const Expected& want) {
  static_assert(count <= 3, "judge() has to be written for so many parts");
  if constexpr (std::derived_from<Expected, Expectation>) {
    return std::tie(want);
  } else if constexpr (count == 1) {
    const auto& [first] = want;
    return std::tie(first);
  } else if constexpr (count == 2) {
    const auto& [first, second] = want;
    return std::tie(first, second);
  } else {
    const auto& [first, second, third] = want;
    return std::tie(first, second, third);
  }
}

}  // namespace detail

/// Texts of problems, as problems() takes them.
using Corners = std::initializer_list<const char*>;

/// The base of a contract `Op` whose parts have extents. It gives what follows from them; where it does not
/// fit, the contract writes its own, which may call this one. What is expected of an output of several parts
/// is an aggregate: an Expectation for each, or a vector of integers, in their order.
template <class Op>
struct FromParts {
  using Expected = Expectation;
  static constexpr int version = 1;
  static constexpr bool f32 = true;  ///< as Cost::f32
  /// Sums that no fill keeps exact; or bytes, of which any will do.
  static constexpr std::array fills{Fill::uniform};

  /// The problems of O::corners, a `static const Corners`.
  template <class O = Op>
  static std::vector<typename O::Problem> corner_cases() {
    return problems<typename O::Problem>({O::corners.begin(), O::corners.end()});
  }

  /// Work of a call that only moves numbers.
  template <class O = Op>
  static double flops(const typename O::Problem&) {
    return 0;
  }

  /// Every part of the input is read once, every part of the output written once.
  template <class O = Op>
  static Cost cost(const typename O::Problem& problem) {
    const auto bytes = [&](const auto&... parts) {
      return (0.0 + ... +
              (sizeof(typename std::remove_cvref_t<decltype(parts)>::Element) *
               detail::elements_of(parts, problem)));
    };
    return {.flops = O::flops(problem),
            .bytes_read = std::apply(bytes, O::Input::parts()),
            .bytes_written = std::apply(bytes, O::Output::parts()),
            .f32 = O::f32};
  }

  /// Bytes that the expectation of a number takes: value and bound. None where the oracle takes a sample.
  template <class O = Op>
  static double expected_bytes(const typename O::Problem&) {
    return 2 * sizeof(double);
  }

  /// Bytes of all parts, and of what is expected of the output: numbers, or the same bits.
  template <class O = Op>
  static double footprint(const typename O::Problem& problem) {
    const auto expected = [&](const auto& part) {
      using Element = typename std::remove_cvref_t<decltype(part)>::Element;
      const double bytes = std::is_floating_point_v<Element> ? O::expected_bytes(problem) : sizeof(Element);
      return bytes * detail::elements_of(part, problem);
    };
    const Cost moved = cost<O>(problem);
    return moved.bytes_read + moved.bytes_written +
           std::apply([&](const auto&... parts) { return (... + expected(parts)); }, O::Output::parts());
  }

  /// Part by part: each element as O::draw(problem, part's name, element, setting) stores it, where there is
  /// one for its type; else a number as the setting draws it.
  template <class O = Op>
  static typename O::Input make_input(const typename O::Problem& problem, Setting& setting) {
    typename O::Input in;
    const auto fill = [&](const auto& part) {
      auto& buffer = part.of(in) = detail::buffer_of(part, problem, setting);
      for (auto& x : buffer) {
        if constexpr (requires { O::draw(problem, part.name, x, setting); }) {
          O::draw(problem, part.name, x, setting);
        } else if constexpr (std::is_same_v<decltype(x), std::uint64_t&>) {
          x = setting.rng.next();
        } else {
          x = setting.draw();
        }
      }
    };
    std::apply([&](const auto&... parts) { (fill(parts), ...); }, O::Input::parts());
    return in;
  }

  /// Poison, but where calls update what the input has.
  template <class O = Op>
  static typename O::Output make_output(const typename O::Problem& problem, const typename O::Input& in,
                                        const Setting& setting) {
    typename O::Output out;
    std::apply(
        [&](const auto&... parts) { ((parts.of(out) = detail::buffer_of(parts, problem, setting)), ...); },
        O::Output::parts());
    const auto copy = [&](const auto& part) {
      if constexpr (requires { part.updated; }) std::ranges::copy(part.of(in), part.updated_in(out).begin());
    };
    std::apply([&](const auto&... parts) { (copy(parts), ...); }, O::Input::parts());
    return out;
  }

  template <class O = Op>
  static Agreement judge(const typename O::Problem& problem, const typename O::Input&,
                         const typename O::Expected& want, const typename O::Output& out) {
    constexpr auto parts = O::Output::parts();
    constexpr std::size_t count = std::tuple_size_v<decltype(O::Output::parts())>;
    const auto expected = detail::expectations<count>(want);
    const auto judged = [&](const auto& part, const auto& expectation) {
      using Element = typename std::remove_cvref_t<decltype(part)>::Element;
      return within({part.name, detail::extents_of(part, problem)}, std::span<const Element>(part.of(out)),
                    expectation);
    };
    return [&]<std::size_t... k>(std::index_sequence<k...>) {
      return (... & judged(std::get<k>(parts), std::get<k>(expected)));
    }
    (std::make_index_sequence<count>());
  }
};

/// The same, of a contract whose output is judged element by element: each element of each part is a unit, in
/// the order of the parts.
template <class Op>
struct ByElement : FromParts<Op> {
  template <class O = Op>
  static Index units(const typename O::Problem& problem) {
    return std::apply([&](const auto&... parts) { return (... + detail::size_of(parts, problem)); },
                      O::Output::parts());
  }
};

}  // namespace assay
