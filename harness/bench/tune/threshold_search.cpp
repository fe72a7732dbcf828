#include "bench/tune/threshold_search.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

namespace assay {
namespace {

/// A stretch without any measured size is tried at its quarters.
constexpr std::size_t quarters = 4;

/// Combines two measurements of one size that contradicted others. Where both name the same way as the faster
/// one, the second measurement is kept: its result did not select it. Otherwise nothing is known.
Interval both(const MeasuredSize& before, const MeasuredSize& fresh) {
  if (faster_at(before) == faster_at(fresh)) return fresh.ratio;
  return {.low = std::min({before.ratio.low, fresh.ratio.low, 1.0}),
          .middle = std::sqrt(before.ratio.middle * fresh.ratio.middle),
          .high = std::max({before.ratio.high, fresh.ratio.high, 1.0}),
          .coverage = std::min(before.ratio.coverage, fresh.ratio.coverage),
          .basis = fresh.ratio.basis};
}

class Search {
 public:
  Search(std::span<const Index> sizes, const std::function<MeasuredSize(Index)>& measure,
         const std::function<bool()>& stopped)
      : sizes_(sizes), measure_(measure), stopped_(stopped), measured_(sizes.size()) {}

  Threshold run() {
    const bool whole = look_at_the_ends() && narrow() && look_at_both_sides() && narrow() && settle();
    return result(whole);
  }

 private:
  // Each of these functions returns false once the search was stopped.

  /// The answer during which the search was stopped does not count.
  bool measure(std::size_t i) {
    MeasuredSize fresh = measure_(sizes_[i]);
    if (stopped_()) return false;
    fresh.size = sizes_[i];
    fresh.again = measured_[i].has_value();
    if (fresh.again) fresh.ratio = both(*measured_[i], fresh);
    measured_[i] = fresh;
    return true;
  }

  bool look_at(std::size_t i) { return measured_[i] || measure(i); }

  bool look_into(std::size_t from, std::size_t to) {
    for (std::size_t k = 1; k < quarters; ++k) {
      if (!look_at(from + (to - from) * k / quarters)) return false;
    }
    return true;
  }

  /// A threshold may lie between the ends where the measured sizes do not enclose one.
  bool look_at_the_ends() {
    const std::size_t last = sizes_.size() - 1;
    if (!look_at(0) || !look_at(last)) return false;
    return (is(0, Faster::first) && is(last, Faster::second)) || look_into(0, last);
  }

  bool look_at_both_sides() {
    const auto low = largest(Faster::first), high = smallest(Faster::second);
    return (!low || look_into(0, *low)) && (!high || look_into(*high, sizes_.size() - 1));
  }

  bool narrow() {
    while (const auto middle = middle_of_a_gap()) {
      if (!look_at(*middle)) return false;
    }
    return true;
  }

  bool settle() {
    while (const auto doubtful = contradiction()) {
      if (!measure(*doubtful) || !narrow()) return false;
    }
    return true;
  }

  /// The middle between the smallest size of the second way and the measured size before it, or between the
  /// largest size of the first way and the measured size after it. Nothing if these are neighbours.
  std::optional<std::size_t> middle_of_a_gap() const {
    if (const auto high = smallest(Faster::second)) {
      std::size_t before = *high;
      while (before > 0 && (before == *high || !measured_[before])) --before;
      if (measured_[before] && *high - before > 1) return (before + *high) / 2;
    }
    if (const auto low = largest(Faster::first)) {
      std::size_t after = *low;
      while (after + 1 < sizes_.size() && (after == *low || !measured_[after])) ++after;
      if (measured_[after] && after - *low > 1) return (*low + after) / 2;
    }
    return std::nullopt;
  }

  /// A size, measured once so far, that contradicts a single threshold.
  std::optional<std::size_t> contradiction() const {
    const auto low = largest(Faster::first), high = smallest(Faster::second);
    if (!low || !high) return std::nullopt;
    for (std::size_t i = *high; i <= *low; ++i) {
      if (measured_[i] && !measured_[i]->again && !is(i, Faster::neither)) return i;
    }
    return std::nullopt;
  }

  bool is(std::size_t i, Faster which) const { return measured_[i] && faster_at(*measured_[i]) == which; }

  std::optional<std::size_t> smallest(Faster which) const {
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      if (is(i, which)) return i;
    }
    return std::nullopt;
  }
  std::optional<std::size_t> largest(Faster which) const {
    for (std::size_t i = sizes_.size(); i-- > 0;) {
      if (is(i, which)) return i;
    }
    return std::nullopt;
  }

  ThresholdOutcome outcome() const {
    const auto low = largest(Faster::first), high = smallest(Faster::second);
    if (!low && !high) return ThresholdOutcome::undecided;
    if (!high) return ThresholdOutcome::nowhere;
    if (!low) return *high == 0 ? ThresholdOutcome::everywhere : ThresholdOutcome::found;
    if (*low < *high) return ThresholdOutcome::found;
    const bool apart = *largest(Faster::second) < *smallest(Faster::first);
    return apart ? ThresholdOutcome::reversed : ThresholdOutcome::not_monotone;
  }

  Threshold result(bool whole) const {
    Threshold out;
    for (const auto& one : measured_) {
      if (one) out.sizes.push_back(*one);
    }
    if (!whole) return out;
    out.outcome = outcome();
    if (const auto low = largest(Faster::first)) out.low = sizes_[*low];
    if (const auto high = smallest(Faster::second)) out.high = sizes_[*high];
    return out;
  }

  std::span<const Index> sizes_;
  const std::function<MeasuredSize(Index)>& measure_;
  const std::function<bool()>& stopped_;
  std::vector<std::optional<MeasuredSize>> measured_;
};

}  // namespace

Faster faster_at(const MeasuredSize& measured) {
  if (measured.ratio.low > 1) return Faster::second;
  return measured.ratio.high < 1 ? Faster::first : Faster::neither;
}

std::string_view to_string(ThresholdOutcome outcome) {
  constexpr std::array<std::string_view, 7> words{"FOUND",        "EVERYWHERE", "NOWHERE", "REVERSED",
                                                  "NOT MONOTONE", "UNDECIDED",  "STOPPED"};
  return words[static_cast<std::size_t>(outcome)];
}

std::optional<Index> Threshold::constant() const {
  return outcome == ThresholdOutcome::found ? high : std::nullopt;
}

std::vector<Index> Threshold::outer_ties() const {
  std::vector<Index> out;
  for (const MeasuredSize& one : sizes) {
    const bool outside = (low && one.size < *low) || (high && one.size > *high);
    if (outside && faster_at(one) == Faster::neither) out.push_back(one.size);
  }
  return out;
}

std::vector<Index> geometric_sizes(Index from, Index to, double step) {
  assert(from >= 1 && from < to && step > 1);
  const double whole = std::log(static_cast<double>(to) / static_cast<double>(from));
  const auto steps = std::max<Index>(1, std::llround(whole / std::log(step)));
  std::vector<Index> out{from};
  for (Index i = 1; i < steps; ++i) {
    const double exact =
        static_cast<double>(from) * std::exp(whole * static_cast<double>(i) / static_cast<double>(steps));
    const Index size = std::llround(exact);
    if (size > out.back() && size < to) out.push_back(size);
  }
  out.push_back(to);
  return out;
}

Threshold find_threshold(std::span<const Index> sizes, const std::function<MeasuredSize(Index)>& measure,
                         const std::function<bool()>& stopped) {
  assert(sizes.size() >= 2);
  return Search(sizes, measure, stopped).run();
}

}  // namespace assay
