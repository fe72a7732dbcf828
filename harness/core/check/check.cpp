#include "assay/check.hpp"

#include "assay/error.hpp"
#include "assay/pick.hpp"
#include "assay/random.hpp"
#include "core/check/contained.hpp"
#include "core/check/passed_corners.hpp"
#include "core/code/calls.hpp"
#include "core/machine/clock.hpp"
#include "core/machine/fields.hpp"
#include "core/plan/trial_key.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <utility>

namespace assay {
namespace {

bool same_case(const Trial& a, const Trial& b) {
  return a.operation == b.operation && a.row.problem == b.row.problem;
}

std::set<int> thread_counts(const VariantInfo& variant, int cores) {
  return variant.threaded ? std::set<int>{1, 2, std::max(cores, 1)} : std::set<int>{1};
}

/// The share of each of so many kernels in `all` seconds, a fifth of them at most.
double shared_rehearsal(double all, std::size_t kernels) {
  return std::clamp(all / static_cast<double>(std::max<std::size_t>(kernels, 1)), Workload::short_rehearsal,
                    all / 5);
}

struct Selected {
  const Operation* operation;
  std::vector<std::size_t> variants;
};

std::string_view words_for(Kin kin) {
  static constexpr std::array<std::string_view, 4> words{"variant", "known-bad variant", "known cheat",
                                                         "variant that is known to be honest"};
  return words[static_cast<std::size_t>(kin)];
}

/// Throws Error when it would be empty.
std::vector<Selected> select(const Registry& registry, const std::string& filter, Kin kin) {
  const Filter wanted(filter, registry);
  std::vector<Selected> out;
  for (const Operation* operation : registry.operations()) {
    Selected next{operation, {}};
    for (std::size_t v = 0; v < operation->variants().size(); ++v) {
      const VariantInfo& variant = operation->variants()[v];
      const std::string name = fmt::format("{}/{}", operation->name(), variant.name);
      if (variant.kin() == kin && wanted.selects(name)) next.variants.push_back(v);
    }
    if (!next.variants.empty()) out.push_back(std::move(next));
  }
  if (out.empty()) {
    throw Error("filter '" + filter + "'", fmt::format("selects no {}", words_for(kin)),
                "`assay list` shows what there is");
  }
  return out;
}

/// A kernel by operation and variant.
using Kernel = std::pair<const Operation*, std::size_t>;

/// One step of checking: the workload to open, and the kernel to call on it.
struct CheckStep {
  const Operation* operation;
  std::size_t variant;
  std::string problem;
  Setting setting;
  Context context;
  double rehearsal_seconds = Workload::short_rehearsal;
  bool timed = false;  ///< calls on this input are timed as well

  const VariantInfo& info() const { return operation->variants()[variant]; }
  Kernel kernel() const { return {operation, variant}; }
};

/// The share of the time of all steps that passes before each of them, as their rehearsals foretell it. A
/// step without one takes some milliseconds as well.
std::vector<double> shares_before(std::span<const CheckStep> steps) {
  constexpr double least_seconds = 5e-3;
  std::vector<double> out;
  double sum = 0;
  for (const CheckStep& step : steps) {
    out.push_back(sum);
    sum += least_seconds + step.rehearsal_seconds;
  }
  for (double& share : out) share /= sum;
  return out;
}

/// The result of a check, as a child hands it to its parent.
struct Found {
  Agreement agreement;
  std::vector<double> seconds;  ///< of calls, where they were timed
};

void describe(Fields& f, Found& found) {
  f("agreement", found.agreement);
  f("seconds", found.seconds, {.terse = true});
}

std::string bytes_of(const Found& found) { return to_value(found).dump(); }

Found found_from(const std::string& bytes) {
  return value_from<Found>(bytes, "what a check found", "run it again");
}

/// Seconds of single calls on the input as it is, after one that is not timed: few of long ones.
std::vector<double> seconds_of_calls(Timed& timed) {
  constexpr std::size_t fewest = 3, most = 15;
  constexpr double longest = 0.3;
  std::vector<double> out;
  timed.repeat(1);
  for (double sum = 0; out.size() < fewest || (out.size() < most && sum < longest); sum += out.back()) {
    const auto start = std::chrono::steady_clock::now();
    timed.repeat(1);
    out.push_back(seconds_since(start));
  }
  return out;
}

Checked failed(const Failure& failure) {
  return {Agreement{.agrees = false, .detail = failure.reason}, failure};
}

/// Takes steps, and keeps open what the next one needs as well. naive comes first in each workload, and says
/// how long the others may take.
class Checker {
 public:
  explicit Checker(const Containment& containment) : time_limit_(containment.time_limit) {}

  Found take(const CheckStep& step, std::size_t number, const StepReporter& reporter) {
    Found out{.agreement = agreement_of_declaration(step.info()), .seconds = {}};
    if (!out.agreement.agrees) return out;
    open(step);
    const bool naive = step.info().name == "naive";
    const double limit =
        step_limit(time_limit_, naive ? std::nullopt : naive_seconds_, step.operation->cost(step.problem));
    // Rehearsals end well before the limit, which is for kernels that do not come back.
    const double rehearsal = std::min(step.rehearsal_seconds, limit / 4);
    const auto start = std::chrono::steady_clock::now();
    reporter.call(number, limit,
                  [&] { out.agreement = workload_->check(step.variant, step.context, rehearsal); });
    if (naive) naive_seconds_ = seconds_since(start);
    if (step.timed && out.agreement.agrees) {
      reporter.call(number, limit,
                    [&] { out.seconds = seconds_of_calls(*workload_->timed(step.variant, step.context)); });
    }
    return out;
  }

 private:
  void open(const CheckStep& step) {
    const Setting& now = step.setting;
    if (workload_ && opened_.operation == step.operation && opened_.problem == step.problem &&
        opened_.setting.fill == now.fill && opened_.setting.placement.fenced == now.placement.fenced &&
        opened_.setting.file == now.file)
      return;
    workload_.reset();  // two at a time might not fit
    workload_ = step.operation->open(step.problem, now);
    opened_ = step;
    naive_seconds_.reset();
  }

  double time_limit_;
  std::unique_ptr<Workload> workload_;
  CheckStep opened_{};
  std::optional<double> naive_seconds_;
};

/// Corner checks and the steps that answer them, one to one.
struct CornerSteps {
  std::vector<CornerCheck> checks;
  std::vector<CheckStep> steps;
  std::size_t listed_last = 0;    ///< so many that come first
  bool first_fault_only = false;  ///< checks a variant no further that disagreed

  void add(CheckStep step) {
    checks.push_back(
        {.operation = std::string(step.operation->name()),
         .variant = step.info().name,
         .problem = step.problem,
         .fill = step.setting.fill,
         .fenced = step.setting.placement.fenced,
         .threads = step.context.threads,
         .skipped = step.operation->unfit(step.variant, step.problem, step.context).value_or("")});
    steps.push_back(std::move(step));
  }

  /// Adds a check for each count of threads.
  void add(const Kernel& kernel, const std::string& problem, const Setting& setting, double rehearsal_seconds,
           int cores) {
    const auto& [operation, variant] = kernel;
    for (const int threads : thread_counts(operation->variants()[variant], cores)) {
      add({.operation = operation,
           .variant = variant,
           .problem = problem,
           .setting = setting,
           .context = {.threads = threads},
           .rehearsal_seconds = rehearsal_seconds});
    }
  }

  /// Adds each corner case of these variants, with every fill, and before a fence or in both placements.
  void add_corners(const Selected& selected, std::initializer_list<bool> placements, double rehearsal_seconds,
                   int cores, std::uint64_t seed) {
    for (const std::string& problem : selected.operation->corner_cases()) {
      for (const Fill fill : selected.operation->fills()) {
        for (const bool fenced : placements) {
          const Setting setting{.fill = fill, .rng = Rng(seed), .placement = {.fenced = fenced}};
          for (const std::size_t v : selected.variants)
            add({selected.operation, v}, problem, setting, rehearsal_seconds, cores);
        }
      }
    }
  }
};

/// Answers all; those that come after a failure of the same variant are left out, and all from a stop on.
std::vector<CornerCheck> answered(CornerSteps all, const Containment& containment, const Hooks& hooks) {
  Checker checker(containment);
  std::vector<bool> done(all.steps.size());
  std::set<Kernel> dropped, named;
  std::size_t reached = 0;
  const std::vector<double> shares = shares_before(all.steps);
  const auto end = [&](std::size_t i) {
    done[i] = true;
    reached = i + 1;
  };
  ContainedSteps steps;
  steps.count = all.steps.size();
  steps.work = [&](std::size_t i, const StepReporter& reporter) {
    if (!all.checks[i].skipped.empty() || dropped.contains(all.steps[i].kernel())) return std::string();
    return bytes_of(checker.take(all.steps[i], i, reporter));
  };
  steps.take = [&](std::size_t i, const std::string& bytes) {
    Found found = found_from(bytes);
    all.checks[i].agreement = {std::move(found.agreement), std::nullopt};
    all.checks[i].seconds = std::move(found.seconds);
    // One rejection of a cheat is enough: some of them take their time. And what is declared is the same
    // everywhere.
    const VariantInfo& variant = all.steps[i].info();
    if (!all.checks[i].agreement.agrees) named.insert(all.steps[i].kernel());
    if (!all.checks[i].agreement.agrees && (all.first_fault_only || variant.kin() == Kin::known_cheat ||
                                            !agreement_of_declaration(variant).agrees))
      dropped.insert(all.steps[i].kernel());
    end(i);
  };
  steps.fail = [&](const FailedStep& failure) {
    all.checks[failure.step].agreement = failed(failure.failure);
    dropped.insert(all.steps[failure.step].kernel());
    end(failure.step);
  };
  steps.accuses = [&](std::size_t i, const std::string& bytes) {
    return !named.contains(all.steps[i].kernel()) && !found_from(bytes).agreement.agrees;
  };
  const auto name_of = [&](std::size_t i) {
    return fmt::format("{}/{}", all.checks[i].operation, all.checks[i].variant);
  };
  steps.kernel = name_of;
  steps.remark = [&](std::size_t i, const std::string& words) { all.checks[i].remark = words; };
  steps.say = [&](std::size_t i) {
    hooks.say(fmt::format("check {}{}", all.first_fault_only ? "corner cases of " : "", name_of(i)),
              shares[i]);
  };
  do_steps(steps, containment, hooks);
  std::vector<CornerCheck> out;
  const std::size_t last = hooks.stopped() ? reached : all.checks.size();
  const auto list = [&](std::size_t begin, std::size_t before) {
    for (std::size_t i = begin; i < std::min(before, last); ++i) {
      if (done[i] || !all.checks[i].skipped.empty()) out.push_back(std::move(all.checks[i]));
    }
  };
  list(all.listed_last, last);
  list(0, all.listed_last);
  return out;
}

/// The kernel that a trial calls: of a variant that picks others, the one that it picks.
Kernel kernel_of(const Trial& trial) {
  const auto choice = picked(*trial.operation, trial.variant, trial.row.problem, trial.context);
  return {trial.operation, choice ? trial.operation->variant_named(choice->variant).value() : trial.variant};
}

/// Checks of kernels that are about to be timed. Nothing is called twice: their own cases are.
CornerSteps brief_corners(const std::set<Kernel>& kernels, int cores, std::uint64_t seed) {
  CornerSteps out{.first_fault_only = true};
  std::map<const Operation*, std::vector<std::size_t>> variants;
  for (const auto& [operation, variant] : kernels) variants[operation].push_back(variant);
  for (const auto& [operation, chosen] : variants)
    out.add_corners({operation, chosen}, {true}, Workload::no_rehearsal, cores, seed);
  return out;
}

/// The verdict on a kernel that failed a corner case, which it names.
Checked at_corner(const CornerCheck& check) {
  Checked out = check.agreement;
  if (out.failure) {
    out.failure->reason += fmt::format(", at the corner case {}", in_words(check));
    out.detail = out.failure->reason;
  } else {
    out.detail = fmt::format("at the corner case {}: {}", in_words(check), out.detail);
  }
  return out;
}

// Problems that nobody could have prepared a kernel for: beside those of a suite, and above corner cases.

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
  const std::size_t all = Extents(operation, from).count();
  for (std::size_t which = 0; which < all || (which == all && !best); ++which) {
    for (int doublings = 1; doublings <= most; ++doublings) {
      Extents extents(operation, from);
      extents.each([&](std::size_t i, Index& extent) {
        if (i == which || which == all) extent <<= doublings;
      });
      const std::string problem = extents.text();
      if (!is_better(problem)) continue;
      least = work_of(operation, problem);
      best = problem;
    }
  }
  return best;
}

}  // namespace

double rehearsal_before_timing(const Operation& operation, const std::string& problem, std::size_t kernels) {
  constexpr double all = 1.5;
  if (operation.cost(problem).flops > large_case_flops) return Workload::no_rehearsal;
  return shared_rehearsal(all, kernels);
}

std::vector<Checked> check_corners(std::span<const Trial> trials, const Machine& machine, std::uint64_t seed,
                                   const std::filesystem::path& passed_before, const Hooks& hooks,
                                   const Containment& containment) {
  PassedCorners passed(passed_before, machine);
  std::set<Kernel> kernels;
  for (const Trial& trial : trials) {
    if (trial.skipped.empty()) kernels.insert(kernel_of(trial));
  }
  std::erase_if(kernels, [&](const Kernel& one) { return passed.hold(*one.first, one.second); });
  std::vector<Checked> out(trials.size());
  if (kernels.empty()) return out;
  const std::vector<CornerCheck> checks =
      answered(brief_corners(kernels, machine.cores, seed), containment, hooks);
  if (!hooks.stopped()) {
    std::set<const Operation*> operations;
    for (const Kernel& kernel : kernels) operations.insert(kernel.first);
    passed.note(std::vector(operations.begin(), operations.end()), checks);
    passed.save();
  }
  std::map<std::pair<std::string_view, std::string_view>, const CornerCheck*> faults;
  for (const CornerCheck& check : checks) {
    if (!check.agreement.agrees) faults.try_emplace({check.operation, check.variant}, &check);
  }
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (!trials[i].skipped.empty()) continue;
    const auto [operation, variant] = kernel_of(trials[i]);
    const auto fault = faults.find({operation->name(), operation->variants()[variant].name});
    if (fault != faults.end()) out[i] = at_corner(*fault->second);
  }
  return out;
}

std::vector<Checked> check(std::span<const Trial> trials, std::uint64_t seed, const Hooks& hooks,
                           const Containment& containment, Sizes sizes, std::vector<Checked> corners) {
  std::vector<CheckStep> steps;
  std::vector<std::size_t> trial_of;
  for (std::size_t begin = 0; begin < trials.size();) {
    std::size_t end = begin + 1;
    while (end < trials.size() && same_case(trials[begin], trials[end])) ++end;
    const Trial& first = trials[begin];
    const std::string fields = fields_of(*first.operation, first.row.problem, first.row.file);
    const bool large = first.operation->cost(fields).flops > large_case_flops;
    std::vector<Fill> fills = first.operation->fills();
    if (large) fills.resize(1);
    const double longest = rehearsal_before_timing(*first.operation, fields, trials.size());
    const auto rehearsal = [&](Fill fill) {
      return fill == fills.back() ? longest : std::min(longest, Workload::short_rehearsal);
    };
    const auto add = [&](const std::string& problem, const Setting& setting, double rehearsal_seconds) {
      for (std::size_t i = begin; i < end; ++i) {
        if (!trials[i].skipped.empty()) continue;
        if (problem != fields && first.operation->unfit(trials[i].variant, problem, trials[i].context))
          continue;
        steps.push_back({.operation = first.operation,
                         .variant = trials[i].variant,
                         .problem = problem,
                         .setting = setting,
                         .context = trials[i].context,
                         .rehearsal_seconds = rehearsal_seconds});
        trial_of.push_back(i);
      }
    };
    for (const Fill fill : fills) {
      const Placement placement{.fenced = fill == fills.front()};
      add(fields, {.fill = fill, .rng = Rng(seed), .placement = placement, .file = first.row.file},
          rehearsal(fill));
    }
    // A file holds one size.
    if (sizes == Sizes::and_beside && first.row.file.empty()) {
      for (const std::string& problem : problems_beside(*first.operation, fields))
        add(problem, {.fill = fills.front(), .rng = Rng(seed)}, Workload::no_rehearsal);
    }
    begin = end;
  }
  std::vector<Checked> out = std::move(corners);
  out.resize(trials.size());
  Checker checker(containment);
  const std::vector<double> shares = shares_before(steps);
  ContainedSteps contained;
  contained.count = steps.size();
  contained.work = [&](std::size_t step, const StepReporter& reporter) {
    if (!out[trial_of[step]].agrees) return std::string();
    return bytes_of(checker.take(steps[step], step, reporter));
  };
  contained.take = [&](std::size_t step, const std::string& bytes) {
    Checked& before = out[trial_of[step]];
    Checked found{found_from(bytes).agreement, std::nullopt};
    const CheckStep& taken = steps[step];
    const Case& row = trials[trial_of[step]].row;
    const bool beside = row.file.empty() && taken.problem != row.problem;
    if (!found.agrees) found.detail = fmt::format("{} fill: {}", to_string(taken.setting.fill), found.detail);
    if (!found.agrees && beside)
      found.detail = fmt::format("beside it, at {}, {}", taken.problem, found.detail);
    // The figures of the trial's own problem stay: those of the last fill, which is timed.
    if (beside) found.figures = std::move(before.figures);
    found.worst_error = std::max(found.worst_error, before.worst_error);
    before = std::move(found);
  };
  contained.fail = [&](const FailedStep& step) { out[trial_of[step.step]] = failed(step.failure); };
  contained.accuses = [](std::size_t, const std::string& bytes) {
    return !found_from(bytes).agreement.agrees;
  };
  contained.kernel = [&](std::size_t step) { return trials[trial_of[step]].key; };
  contained.say = [&](std::size_t step) { hooks.say("check " + trials[trial_of[step]].key, shares[step]); };
  do_steps(contained, containment, hooks);
  return out;
}

std::string in_words(const CornerCheck& check) {
  return fmt::format("{}, {} fill, {}, threads {}", check.problem, to_string(check.fill),
                     check.fenced ? "off alignment, before a fence" : "aligned", check.threads);
}

std::vector<CornerCheck> check_corners(const Registry& registry, const std::string& filter, int cores,
                                       std::uint64_t seed, const Hooks& hooks, Kin kin,
                                       const Containment& containment) {
  CornerSteps all;
  const std::vector<Selected> chosen = select(registry, filter, kin);
  // Fresh kernels are called again and again: some change after thousands of calls, and corner cases are
  // many.
  std::size_t rehearsals = 0;
  constexpr double all_rehearsals = 5;
  for (const auto& [operation, selected] : chosen) {
    for (const std::size_t v : selected) rehearsals += thread_counts(operation->variants()[v], cores).size();
  }
  for (const auto& [operation, selected] : chosen) {
    for (const std::size_t v : selected) {
      Rng rng(seed);
      if (const auto problem = drawn_problem(*operation, v, rng))
        all.add({operation, v}, *problem, {.fill = operation->fills().back(), .rng = Rng(seed)},
                shared_rehearsal(all_rehearsals, rehearsals), cores);
    }
  }
  all.listed_last = all.checks.size();
  for (const Selected& one : chosen)
    all.add_corners(one, {false, true}, Workload::short_rehearsal, cores, seed);
  return answered(std::move(all), containment, hooks);
}

std::vector<CornerCheck> check_file(const Registry& registry, const std::string& filter,
                                    const std::filesystem::path& file, std::uint64_t seed, const Hooks& hooks,
                                    const Containment& containment) {
  CornerSteps all;
  for (const auto& [operation, selected] : select(registry, filter, Kin::sound)) {
    const std::string problem = operation->problem_of(file);
    const Fill fill = operation->fills().front();
    for (const std::size_t v : selected) {
      all.add({.operation = operation,
               .variant = v,
               .problem = problem,
               .setting = {.fill = fill, .rng = Rng(seed), .file = file},
               .context = {},
               .rehearsal_seconds = Workload::no_rehearsal,
               .timed = true});
    }
  }
  return answered(std::move(all), containment, hooks);
}

std::vector<std::string> problems_beside(const Operation& operation, const std::string& problem) {
  std::vector<std::string> out;
  for (const Index step : {-1, 1}) {
    Extents extents(operation, problem);
    const std::string before = extents.text();
    extents.each([&](std::size_t, Index& extent) { extent += step; });
    if (extents.text() != before && makes_sense(operation, extents.text())) out.push_back(extents.text());
  }
  return out;
}

std::optional<std::string> drawn_problem(const Operation& operation, std::size_t variant, Rng& rng) {
  const std::string drawn = drawn_above(operation, middling_corner_case(operation, variant), rng);
  return fits(operation, variant, drawn) ? drawn : grown(operation, variant, drawn);
}

}  // namespace assay
