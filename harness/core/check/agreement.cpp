#include "assay/agreement.hpp"

#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <array>
#include <cassert>
#include <cmath>

namespace assay {
namespace {

/// Error in units of the bound; infinite where no finite number says how wrong it is.
template <class T>
double error_in_bounds(T actual, double expected, double bound) {
  const double value = actual;
  if (std::isnan(expected) || std::isnan(value)) {
    // Any NaN is a NaN: IEEE 754 leaves sign and payload of a computed one open. That of an element which was
    // never written is right only where it is to stay so.
    const bool written = !is_poison(actual) || is_poison(static_cast<T>(expected));
    const bool both = std::isnan(expected) && std::isnan(value);
    return both && written ? 0 : std::numeric_limits<double>::infinity();
  }
  if (value == expected) return 0;
  // Where the bound reaches beyond the largest number of that type, a result may overflow.
  constexpr double largest = std::numeric_limits<T>::max();
  if (std::isinf(value) && std::abs(expected) + bound > largest) {
    return (value > 0) == (expected > 0) ? 0 : std::numeric_limits<double>::infinity();
  }
  const double error = std::abs(value - expected);
  if (!std::isfinite(error) || bound <= 0) return std::numeric_limits<double>::infinity();
  return error / bound;
}

/// The range of the disagreeing elements along one axis.
struct Spread {
  Index low = std::numeric_limits<Index>::max();
  Index high = -1;
  void include(Index i) {
    low = std::min(low, i);
    high = std::max(high, i);
  }
};

std::vector<Index> coordinates(const std::vector<Index>& extents, Index flat) {
  std::vector<Index> out(extents.size());
  for (std::size_t axis = extents.size(); axis-- > 0;) {
    out[axis] = flat % extents[axis];
    flat /= extents[axis];
  }
  return out;
}

std::string pattern_text(const Shape& shape, const std::vector<Spread>& spreads) {
  std::string out;
  for (std::size_t axis = 0; axis < spreads.size(); ++axis) {
    const auto [low, high] = spreads[axis];
    out += axis == 0 ? "" : ", ";
    out += low == high                                   ? fmt::format("{}", low)
           : low == 0 && high + 1 == shape.extents[axis] ? "any"
                                                         : fmt::format("{}..{}", low, high);
  }
  return fmt::format("{}[{}]", shape.name, out);
}

/// A few elements that all lie within their bounds, and their share of an Agreement. Nearly all elements do,
/// and so many at a time cost a fraction of the same elements one by one. Nothing is said where one does not.
struct Few {
  static constexpr std::size_t count = 256, lanes = 8;
  bool within = false;
  double worst_error = 0, squares = 0;
  Index rounded = 0;

  template <class T, class Position>
  static Few of(std::span<const T> actual, std::size_t begin, const Position& position,
                const double* expected, const double* bound) {
    std::array<double, lanes> worst{}, squares{}, rounded{}, outside{};
    for (std::size_t i = begin; i < begin + count; i += lanes) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const auto at = static_cast<std::size_t>(position(i + lane));
        const double error = std::abs(static_cast<double>(actual[at]) - expected[i + lane]);
        const double limit = bound[i + lane];
        const double times = error / (limit > 0 ? limit : 1);
        outside[lane] += error <= (limit > 0 ? limit : 0) ? 0 : 1;
        worst[lane] = worst[lane] > times ? worst[lane] : times;
        squares[lane] += limit > 0 ? times * times : 0;
        rounded[lane] += limit > 0 ? 1 : 0;
      }
    }
    Few out{.within = true};
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      out.within = out.within && outside[lane] == 0 && worst[lane] <= 1;
      out.worst_error = std::max(out.worst_error, worst[lane]);
      out.squares += squares[lane];
      out.rounded += static_cast<Index>(rounded[lane]);
    }
    return out;
  }
};

template <class T, class Position>
Agreement compare(const Shape& shape, std::span<const T> actual, std::size_t count, const Position& position,
                  std::span<const double> expected, std::span<const double> bound) {
  assert(count == expected.size() && count == bound.size());
  Agreement out{.compared = static_cast<Index>(count), .total = static_cast<Index>(actual.size())};
  std::size_t wrong = 0;
  std::size_t worst = 0;
  double worst_wrong = -1;
  std::vector<Spread> spreads(shape.extents.size());
  for (std::size_t i = 0; i < count; ++i) {
    if (i % Few::count == 0 && i + Few::count <= count) {
      const Few few = Few::of(actual, i, position, expected.data(), bound.data());
      if (few.within) {
        out.worst_error = std::max(out.worst_error, few.worst_error);
        out.squares += few.squares;
        out.rounded += few.rounded;
        i += Few::count - 1;
        continue;
      }
    }
    const Index flat = position(i);
    const double error = error_in_bounds(actual[static_cast<std::size_t>(flat)], expected[i], bound[i]);
    out.worst_error = std::max(out.worst_error, error);
    if (bound[i] > 0 && std::isfinite(error)) {
      out.squares += error * error;
      ++out.rounded;
    }
    if (error <= 1) continue;
    ++wrong;
    const auto at = coordinates(shape.extents, flat);
    for (std::size_t axis = 0; axis < at.size(); ++axis) spreads[axis].include(at[axis]);
    if (error > worst_wrong) {
      worst_wrong = error;
      worst = i;
    }
  }
  if (wrong == 0) return out;
  out.agrees = false;
  const Index flat = position(worst);
  const std::string times = std::isfinite(worst_wrong) ? fmt::format("error {:.3g} times the bound {:.3g}",
                                                                     worst_wrong, bound[worst])
                                                       : fmt::format("bound {:.3g}", bound[worst]);
  out.detail =
      fmt::format("{} is {:.{}g}, expected {:.{}g} ({}); {} of {} compared elements disagree, all in {}",
                  shape.element(flat), actual[static_cast<std::size_t>(flat)],
                  std::numeric_limits<T>::max_digits10, expected[worst], std::numeric_limits<T>::max_digits10,
                  times, wrong, count, pattern_text(shape, spreads));
  return out;
}

constexpr auto in_order = [](std::size_t i) { return static_cast<Index>(i); };

}  // namespace

Expectation::Expectation(Positions positions) : Positions(std::move(positions)) {
  // Shorter ones come from the heap, where kernels get that memory later.
  constexpr std::size_t many = 4 << 20;
  for (std::vector<double>* const numbers : {&value, &bound}) {
    numbers->reserve(static_cast<std::size_t>(size()));
    if (numbers->capacity() >= many)
      detail::prefer_large_pages(numbers->data(), sizeof(double) * numbers->capacity());
  }
}

std::optional<double> gap_of(const Figure& figure) {
  if (!figure.bound || *figure.bound == 0) return std::nullopt;
  return std::abs(figure.value - *figure.bound) / std::abs(*figure.bound);
}

std::string with_unit(double value, std::string_view unit) {
  if (unit == "s") return seconds_text(value);
  return count_text(value) + (unit.empty() ? "" : fmt::format(" {}", unit));
}

std::string in_words(std::span<const Figure> figures) {
  std::string out;
  for (const Figure& one : figures) {
    out += fmt::format("{}{} {}", out.empty() ? "" : "; ", one.name, with_unit(one.value, one.unit));
    if (!one.bound) continue;
    out += fmt::format(", {} bound {}", one.better == Figure::Better::higher ? "upper" : "lower",
                       with_unit(*one.bound, one.unit));
    if (const auto gap = gap_of(one)) out += fmt::format(", gap {:.2f} %", 100 * *gap);
  }
  return out;
}

Agreement operator&(Agreement first, const Agreement& second) {
  if (first.agrees) first.detail = second.detail;
  first.agrees = first.agrees && second.agrees;
  first.worst_error = std::max(first.worst_error, second.worst_error);
  first.compared += second.compared;
  first.total += second.total;
  first.squares += second.squares;
  first.rounded += second.rounded;
  return first;
}

double Agreement::rms_error() const {
  return rounded > 0 ? std::sqrt(squares / static_cast<double>(rounded)) : 0;
}

std::string other_figures(std::span<const Figure> first, std::span<const Figure> later) {
  if (first.empty() || later.empty()) return "";
  if (std::ranges::equal(first, later, {}, &Figure::value, &Figure::value)) return "";
  return fmt::format("has other figures when it is called again on the same input: {}, then {}",
                     in_words(first), in_words(later));
}

std::string fewer_digits(Index rounded, double rms_error, double rms_error_of_measure,
                         std::string_view measure) {
  constexpr double limit = 8;
  constexpr Index fewest = 32;  // fewer elements say little about a spread
  if (rounded < fewest || rms_error_of_measure <= 0) return "";
  const double times = rms_error / rms_error_of_measure;
  if (times <= limit) return "";
  return fmt::format(
      "computes with fewer digits: its errors (root mean square) are {:.3g} times those of {}, and {} is "
      "allowed",
      times, measure, limit);
}

std::string Shape::element(Index flat) const {
  return fmt::format("{}[{}]", name, fmt::join(coordinates(extents, flat), ", "));
}

Agreement within(const Shape& shape, std::span<const float> actual, std::span<const double> expected,
                 std::span<const double> bound) {
  return compare(shape, actual, actual.size(), in_order, expected, bound);
}

Agreement within(const Shape& shape, std::span<const double> actual, std::span<const double> expected,
                 std::span<const double> bound) {
  return compare(shape, actual, actual.size(), in_order, expected, bound);
}

Agreement within_sampled(const Shape& shape, std::span<const float> actual, std::span<const Index> where,
                         std::span<const double> expected, std::span<const double> bound) {
  return compare(
      shape, actual, where.size(), [&](std::size_t i) { return where[i]; }, expected, bound);
}

}  // namespace assay
