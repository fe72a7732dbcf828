#include "bench/gate/timed_rejection.hpp"

#include "assay/error.hpp"
#include "assay/random.hpp"
#include "bench/gate/paired_launches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay {
namespace {

constexpr std::size_t naive = 0;

/// What a case may take, so that it runs everywhere.
constexpr double most_bytes = 0x1p29;

Context context_of(const VariantInfo& variant) { return {.threads = variant.threaded ? 2 : 1}; }

double work(const Operation& operation, const std::string& problem) {
  const Cost cost = operation.cost(problem);
  return cost.flops + cost.bytes_read + cost.bytes_written;
}

bool fits(const Operation& operation, std::size_t variant, const std::string& problem) {
  const Context context = context_of(operation.variants()[variant]);
  return operation.footprint(problem) <= most_bytes && !operation.unfit(naive, problem, Context{}) &&
         !operation.unfit(variant, problem, context);
}

/// Whether an input of it can be made: the extents of some contracts have to suit each other.
bool makes_sense(const Operation& operation, const std::string& problem) {
  try {
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
  /// Calls `change(extent)` for each, by position; options stay as they are.
  template <class Change>
  void each(const Change& change) {
    for (std::size_t i = 0; i < rules_.size(); ++i) {
      if (!rules_[i].fallback) change(i, values_[i]);
    }
  }
  std::size_t count() const { return rules_.size(); }

 private:
  std::vector<FieldRule> rules_;
  std::vector<Index> values_;
};

/// Returns what has fewer than a quarter of the corner cases above it: of those that the variant can run, if any.
std::string middling_corner_case(const Operation& operation, std::size_t variant) {
  std::vector<std::string> all = operation.corner_cases();
  const auto is_unfit = [&](std::size_t v) {
    return [&operation, v](const std::string& problem) { return !fits(operation, v, problem); };
  };
  std::erase_if(all, is_unfit(std::ranges::all_of(all, is_unfit(variant)) ? naive : variant));
  std::ranges::stable_sort(all, {}, [&](const std::string& problem) { return work(operation, problem); });
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
  const auto consider = [&](const std::string& problem) {
    if (!fits(operation, variant, problem) || work(operation, problem) >= least) return;
    if (!makes_sense(operation, problem)) return;
    least = work(operation, problem);
    best = problem;
  };
  for (std::size_t which = 0; which < Extents(operation, from).count(); ++which) {
    for (int doublings = 1; doublings <= most; ++doublings) {
      Extents extents(operation, from);
      extents.each([&](std::size_t i, Index& extent) {
        if (i == which) extent = std::min(extent << doublings, largest_extent);
      });
      consider(extents.text());
    }
  }
  for (int doublings = 1; !best && doublings <= most; ++doublings) {
    Extents extents(operation, from);
    extents.each([&](std::size_t, Index& extent) { extent = std::min(extent << doublings, largest_extent); });
    consider(extents.text());
  }
  return best;
}

/// naive and the variant, as one case.
std::vector<TrialRequest> both(const TimedCase& timed) {
  std::vector<TrialRequest> out;
  for (const std::size_t v : {naive, timed.variant}) {
    const VariantInfo& variant = timed.operation.variants()[v];
    const int threads = context_of(variant).threads;
    out.push_back(
        {.key = fmt::format("{}/{}/{}#{}", timed.operation.name(), variant.name, timed.problem, threads),
         .operation = std::string(timed.operation.name()),
         .variant = variant.name,
         .problem = timed.problem,
         .threads = threads});
  }
  return out;
}

std::string fault_of(const TrialSample& sample) {
  if (sample.failure) return "it " + sample.failure->reason;
  return sample.audit.fault.empty() ? "" : "in a slice that was timed: " + sample.audit.fault;
}

}  // namespace

std::optional<std::string> problem_beside_corner_cases(const Operation& operation, std::size_t variant,
                                                       Rng& rng) {
  const std::string drawn = drawn_above(operation, middling_corner_case(operation, variant), rng);
  return fits(operation, variant, drawn) ? drawn : grown(operation, variant, drawn);
}

TimedRejection rejected_by_run(const TimedCase& timed, const Sample& sample, const Hooks& hooks) {
  const LaunchRequest request{.policy = {.seed = timed.seed, .time_limit = timed.time_limit},
                              .trials = both(timed)};
  TimedRejection out;
  try {
    const std::vector<TrialSample> samples = sample(request, hooks);
    if (hooks.stopped()) return out;
    const TrialSample &of_naive = samples.at(0), &of_variant = samples.at(1);
    out.reason = fault_of(of_variant);
    if (!fault_of(of_naive).empty()) {
      out.astray = "naive is blamed: " + fault_of(of_naive);
    } else if (out.reason.empty() && of_variant.slices.empty()) {
      out.astray = "it has no times, and nothing says why";
    }
  } catch (const std::exception& failure) {
    out.astray = fmt::format("nobody is named: {}", failure.what());
  }
  return out;
}

TimedRejection rejected_by_gate(const TimedCase& timed, const std::filesystem::path& program,
                                const SampleSides& sample, const Hooks& hooks) {
  PairRequest request{.trials = both(timed),
                      .policy = {.seed = timed.seed, .time_limit = timed.time_limit},
                      .draw = draw_of(timed.seed, 0),
                      .check = true,
                      .shared_bytes = shared_bytes_for(timed.operation.footprint(timed.problem))};
  for (const char* side : {"base", "head", "control"})
    request.sides.push_back({.name = side, .program = program, .known_as = program});
  TimedRejection out;
  try {
    for (const std::vector<TurnSample>& side : sample(request, hooks)) {
      const TurnSample &of_naive = side.at(0), &of_variant = side.at(1);
      if (!of_naive.agrees && out.astray.empty()) out.astray = "naive is blamed: " + of_naive.disagreement;
      if (!of_variant.agrees && out.reason.empty()) out.reason = of_variant.disagreement;
    }
  } catch (const SideFailure& failure) {
    const bool named = failure.key() == request.trials.at(1).key;
    (named ? out.reason : out.astray) =
        fmt::format("{} {}", named ? "it" : "naive is blamed: it", failure.failure().reason);
  } catch (const std::exception& failure) {
    out.astray = fmt::format("nobody is named: {}", failure.what());
  }
  return out;
}

}  // namespace assay
