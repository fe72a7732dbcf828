// Problems that nobody could have prepared a kernel for: beside those of a suite, and above corner cases.

#include "assay/check.hpp"
#include "assay/error.hpp"
#include "assay/random.hpp"

#include <algorithm>
#include <limits>

namespace assay {
namespace {

constexpr std::size_t of_naive = 0;

/// The most memory of a case in bytes, so that it runs everywhere.
constexpr double largest_footprint = 0x1p29;

Context context_of(const VariantInfo& variant) { return {.threads = variant.threaded ? 2 : 1}; }

double work_of(const Operation& operation, const std::string& problem) {
  const Cost cost = operation.cost(problem);
  return cost.flops + cost.bytes_read + cost.bytes_written;
}

bool fits(const Operation& operation, std::size_t variant, const std::string& problem) {
  const Context context = context_of(operation.variants()[variant]);
  return operation.footprint(problem) <= largest_footprint &&
         !operation.unfit(of_naive, problem, Context{}) && !operation.unfit(variant, problem, context);
}

/// Whether an input of it can be made: the extents of some contracts have to suit each other, as a window and
/// its image, and a contract may find that out when asked for a size or a cost.
bool makes_sense(const Operation& operation, const std::string& problem) {
  try {
    static_cast<void>(operation.footprint(problem));
    static_cast<void>(operation.cost(problem));
    static_cast<void>(operation.open(problem, {.fill = operation.fills().back()}));
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// A problem as numbers that can be changed.
class Extents {
 public:
  Extents(const Operation& operation, const std::string& problem)
      : rules_(operation.fields()), values_(parse_fields(operation.name(), problem, rules_)) {}
  std::string text() const { return format_fields(values_, rules_); }
  /// Calls `change(extent)` for each, by position, and keeps it within its limits; options stay as they are.
  template <class Change>
  void each(const Change& change) {
    for (std::size_t i = 0; i < rules_.size(); ++i) {
      if (!rules_[i].fallback) change(i, values_[i]);
      values_[i] = std::clamp(values_[i], rules_[i].low, rules_[i].high);
    }
  }
  std::size_t count() const { return rules_.size(); }

 private:
  std::vector<FieldRule> rules_;
  std::vector<Index> values_;
};

/// Returns the corner case at the third quartile of work, among those that the variant can run; among all
/// that naive can run where the variant can run none.
std::string middling_corner_case(const Operation& operation, std::size_t variant) {
  std::vector<std::string> all = operation.corner_cases();
  const auto is_unfit = [&](std::size_t v) {
    return [&operation, v](const std::string& problem) { return !fits(operation, v, problem); };
  };
  std::erase_if(all, is_unfit(std::ranges::all_of(all, is_unfit(variant)) ? of_naive : variant));
  std::ranges::stable_sort(all, {}, [&](const std::string& problem) { return work_of(operation, problem); });
  return all.at(all.size() * 3 / 4);
}

std::string drawn_above(const Operation& operation, const std::string& corner, Rng& rng) {
  constexpr int tries = 8;
  constexpr Index most = 3;
  for (int i = 0; i < tries; ++i) {
    Extents extents(operation, corner);
    extents.each([&](std::size_t, Index& extent) { extent += rng.integer(1, most); });
    if (makes_sense(operation, extents.text())) return extents.text();
  }
  return corner;
}

/// One extent doubled as often as it takes, with the least work; otherwise all of them.
std::optional<std::string> grown(const Operation& operation, std::size_t variant, const std::string& from) {
  constexpr int most = 14;
  std::optional<std::string> best;
  double least = std::numeric_limits<double>::infinity();
  const auto is_better = [&](const std::string& problem) {
    try {
      return fits(operation, variant, problem) && work_of(operation, problem) < least &&
             makes_sense(operation, problem);
    } catch (const Error&) {
      return false;  // As where it makes no sense, which is asked last since it takes longest.
    }
  };
  const auto consider = [&](const std::string& problem) {
    if (!is_better(problem)) return;
    least = work_of(operation, problem);
    best = problem;
  };
  for (std::size_t which = 0; which < Extents(operation, from).count(); ++which) {
    for (int doublings = 1; doublings <= most; ++doublings) {
      Extents extents(operation, from);
      extents.each([&](std::size_t i, Index& extent) {
        if (i == which) extent <<= doublings;
      });
      consider(extents.text());
    }
  }
  for (int doublings = 1; !best && doublings <= most; ++doublings) {
    Extents extents(operation, from);
    extents.each([&](std::size_t, Index& extent) { extent <<= doublings; });
    consider(extents.text());
  }
  return best;
}

}  // namespace

std::vector<std::string> problems_beside(const Operation& operation, const std::string& problem) {
  const std::vector<FieldRule> rules = operation.fields();
  const std::vector<Index> values = parse_fields(operation.name(), problem, rules);
  std::vector<std::string> out;
  for (const Index step : {-1, 1}) {
    std::vector<Index> beside = values;
    for (std::size_t i = 0; i < rules.size(); ++i) {
      if (!rules[i].fallback) beside[i] = std::clamp(values[i] + step, rules[i].low, rules[i].high);
    }
    const std::string text = format_fields(beside, rules);
    if (beside != values && makes_sense(operation, text)) out.push_back(text);
  }
  return out;
}

std::optional<std::string> drawn_problem(const Operation& operation, std::size_t variant, Rng& rng) {
  const std::string drawn = drawn_above(operation, middling_corner_case(operation, variant), rng);
  return fits(operation, variant, drawn) ? drawn : grown(operation, variant, drawn);
}

}  // namespace assay
