#include "bench/tune/threshold.hpp"

#include "assay/error.hpp"
#include "assay/plan.hpp"
#include "core/plan/trial_key.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/figures.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <utility>

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

constexpr std::size_t shown_names = 3;
constexpr Index most_threads = 4096;

[[noreturn]] void refuse_name(const std::string& where, const std::string& what, std::string_view name,
                              const std::vector<std::string>& known) {
  throw Error(where, what,
              fmt::format("near it: {}\n  `assay list` shows all",
                          fmt::join(near_names(name, known, shown_names), ", ")));
}

const Operation& operation_named(const Registry& registry, const std::string& name) {
  std::vector<std::string> known;
  for (const Operation* operation : registry.operations()) {
    if (operation->name() == name) return *operation;
    known.emplace_back(operation->name());
  }
  refuse_name(name, "is no operation", name, known);
}

/// The field that grows is an extent and is not given in the case as well.
void require_extent(const ThresholdRequest& request, const Operation& operation, const std::string& fixed) {
  const std::string where = "--vary " + request.vary;
  std::vector<std::string> known;
  const std::vector<FieldRule> rules = operation.fields();
  for (const FieldRule& rule : rules) {
    if (rule.words.empty()) known.emplace_back(rule.name);
  }
  const auto rule = std::ranges::find(rules, request.vary, &FieldRule::name);
  if (rule == rules.end())
    refuse_name(where, fmt::format("is no field of {}", operation.name()), request.vary, known);
  if (!rule->words.empty()) {
    throw Error(where, fmt::format("takes the words {}, which are no sizes", fmt::join(rule->words, ", ")),
                fmt::format("vary one of {}", fmt::join(known, ", ")));
  }
  if (("," + fixed).find("," + request.vary + "=") != std::string::npos) {
    throw Error(where, fmt::format("is given in {} as well", request.subject), "leave it out there");
  }
  const Index low = std::max<Index>(1, rule->low);
  if (request.from >= request.to) {
    throw Error("--from and --to", fmt::format("are {} and {}", request.from, request.to),
                "--from must be the smaller one");
  }
  if (request.from < low || request.to > rule->high) {
    throw Error("--from and --to", fmt::format("leave what {} may be", request.vary),
                fmt::format("give values from {} to {}", low, rule->high));
  }
}

/// The number behind a # in the name of a variant, where there is one.
std::optional<int> threads_named(const std::string& text) {
  const std::size_t hash = text.find('#');
  if (hash == std::string::npos) return std::nullopt;
  const auto threads = number_from<int>(text.substr(hash + 1));
  if (!threads || *threads < 1 || *threads > most_threads) {
    throw Error("--between " + text, "has no number of threads after the #", "write it as threaded#2");
  }
  return threads;
}

/// `otherwise` is the number that --threads gives, where it is given.
Contestant contestant(const Operation& operation, const std::string& text, std::optional<int> otherwise) {
  const std::string present = with_present_names(text), name = present.substr(0, present.find('#'));
  const std::optional<int> threads = threads_named(present);
  const std::string where = "--between " + text;
  const auto found = operation.variant_named(name);
  if (!found) {
    std::vector<std::string> known;
    for (const VariantInfo& variant : operation.variants()) {
      if (variant.kin() == Kin::sound) known.push_back(variant.name);
    }
    refuse_name(where, fmt::format("is no variant of {}", operation.name()), name, known);
  }
  const VariantInfo& variant = operation.variants()[*found];
  if (variant.kin() != Kin::sound)
    throw Error(where, "is kept apart and never timed", "name another variant");
  if (!variant.threaded && threads.value_or(1) != 1) {
    throw Error(where, "runs with one thread only", "leave the # out, or name a threaded variant");
  }
  Contestant out{.variant = *found, .name = name};
  if (variant.threaded) {
    out.threads = threads.value_or(otherwise.value_or(1));
    out.name += fmt::format("#{}", out.threads);
  }
  return out;
}

void add_contestants(ThresholdQuestion& out, const ThresholdRequest& request) {
  const std::size_t comma = request.between.find(',');
  if (comma == std::string::npos || request.between.find(',', comma + 1) != std::string::npos) {
    throw Error("--between " + request.between, "is not two variants", "write it as naive,simd@avx2");
  }
  if (request.threads.size() > 2) {
    throw Error("--threads", fmt::format("has {} numbers", request.threads.size()),
                "give one for each of the two variants, or one for both");
  }
  std::optional<int> of_first, of_second;
  if (!request.threads.empty()) {
    of_first = request.threads.front();
    of_second = request.threads.back();
  }
  out.first = contestant(*out.operation, request.between.substr(0, comma), of_first);
  out.second = contestant(*out.operation, request.between.substr(comma + 1), of_second);
  if (out.first.name == out.second.name) {
    throw Error("--between " + request.between, "is the same variant twice",
                "name two, or two numbers of threads: threaded#1,threaded#2");
  }
  if (!request.threads.empty() && out.first.threads == 1 && out.second.threads == 1 &&
      std::ranges::any_of(request.threads, [](int count) { return count != 1; })) {
    throw Error("--threads", "changes neither of the two variants", "leave it out, or name a threaded one");
  }
}

/// Says who refuses a size, and why; nothing if it can be measured. Throws Error if the contract refuses it.
std::optional<RefusedSizes> refusal_at(const ThresholdQuestion& question, Index size,
                                       const Machine& machine) {
  const Operation& operation = *question.operation;
  const std::string problem = question.problem_at(size);
  const double bytes = memory_for(operation.footprint(problem));
  for (const Contestant* one : {&question.first, &question.second}) {
    const auto reason = operation.unfit(one->variant, problem, {.threads = one->threads});
    if (reason) return RefusedSizes{.by = one->name, .why = *reason};
  }
  if (machine.memory_bytes > 0 && bytes > machine.memory_bytes) {
    return RefusedSizes{.by = "memory",
                        .why = fmt::format("needs {}, and {} are available", bytes_text(bytes),
                                           bytes_text(machine.memory_bytes))};
  }
  return std::nullopt;
}

void add_refused(std::vector<RefusedSizes>& list, RefusedSizes one, Index size) {
  auto same = std::ranges::find(list, one.by, &RefusedSizes::by);
  if (same == list.end()) same = list.insert(list.end(), std::move(one));
  same->sizes.push_back(size);
}

void add_sizes(ThresholdQuestion& out, const ThresholdRequest& request, const Machine& machine) {
  const std::vector<Index> all = geometric_sizes(request.from, request.to, request.step);
  std::size_t by_contract = 0;
  for (const Index size : all) {
    try {
      if (auto refusal = refusal_at(out, size, machine)) {
        add_refused(out.refused, *std::move(refusal), size);
      } else {
        out.sizes.push_back(size);
      }
    } catch (const Error& refusal) {
      if (++by_contract == all.size()) throw;
      const std::string why = refusal.what();
      add_refused(out.refused,
                  {.by = std::string(out.operation->name()), .why = why.substr(0, why.find('\n'))}, size);
    }
  }
  if (out.sizes.size() == 1) {
    const RefusedSizes& most =
        *std::ranges::max_element(out.refused, {}, [](const RefusedSizes& one) { return one.sizes.size(); });
    throw Error("--from and --to",
                fmt::format("leave {}={} alone: {}: {}", out.vary, out.sizes.front(), most.by, most.why),
                "give another range");
  }
}

/// Takes the policy of the turns of two builds, for the same reasons: many short slices are better than few
/// long ones, and threads that hand work to each other need longer to show their usual pace.
MeasurePolicy measure_policy(const ThresholdQuestion& question, const ThresholdPolicy& policy) {
  const bool team = question.first.threads > 1 || question.second.threads > 1;
  return {.launches = policy.rounds,
          .slices = 8,
          .slice_seconds = team ? 1e-3 : 2e-4,
          .trial_seconds = team ? 4e-2 : 2e-2,
          .seed = policy.seed};
}

/// The median over the slices of each variant; a call of several seconds is sampled in the first starts only.
std::vector<Turn> turns_of(const std::vector<TrialSample>& samples, std::span<const std::size_t> order) {
  std::vector<Turn> out;
  for (const std::size_t i : order) {
    if (samples[i].slices.empty()) return {};
    const std::vector<std::vector<double>> seconds{{median(seconds_of(samples[i].slices))}};
    out.push_back({.seconds = seconds, .control = seconds});
  }
  return out;
}

/// How a sample disagrees with the oracle or came to no end; empty where it did neither.
std::string fault_of(const TrialSample& sample) {
  if (sample.failure) return sample.failure->reason;
  return sample.audit.fault.empty() ? "" : "in a slice that was timed: " + sample.audit.fault;
}

Interval median_time(const Candidate& candidate) {
  std::vector<double> seconds;
  for (const Turn& turn : candidate.turns) seconds.push_back(turn.seconds.front().front());
  return median_interval(seconds);
}

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

std::string ThresholdQuestion::problem_at(Index size) const {
  const std::string text = fmt::format("{}{}{}={}", fixed, fixed.empty() ? "" : ",", vary, size);
  return operation->canonical(operation->name(), text);
}

ThresholdQuestion question_of(const ThresholdRequest& request, const Registry& registry,
                              const Machine& machine) {
  const std::size_t slash = request.subject.find('/');
  ThresholdQuestion out{.operation = &operation_named(registry, request.subject.substr(0, slash)),
                        .subject = request.subject,
                        .fixed = slash == std::string::npos ? "" : request.subject.substr(slash + 1),
                        .vary = request.vary};
  require_extent(request, *out.operation, out.fixed);
  add_contestants(out, request);
  add_sizes(out, request, machine);
  return out;
}

ThresholdRounds::ThresholdRounds(const ThresholdQuestion& question, ThresholdPolicy policy, Sample sample,
                                 Hooks hooks, std::filesystem::path passed_corners)
    : question_(question),
      policy_(policy),
      sample_(std::move(sample)),
      hooks_(std::move(hooks)),
      passed_corners_(std::move(passed_corners)) {}

Trial ThresholdRounds::trial_at(const Contestant& contestant, const std::string& problem) const {
  const Operation& operation = *question_.operation;
  const std::string name(operation.name());
  return {
      .operation = &operation,
      .variant = contestant.variant,
      .row = {.operation = name, .problem = problem},
      .context = {.threads = contestant.threads},
      .key =
          TrialKey{name, operation.variants()[contestant.variant].name, problem, contestant.threads}.text()};
}

MeasuredSize ThresholdRounds::measured_at(Index size) {
  const std::string problem = question_.problem_at(size);
  const std::vector<Trial> trials{trial_at(question_.first, problem), trial_at(question_.second, problem)};
  const std::string place = fmt::format("{}={}", question_.vary, size);
  const Hooks here{
      .progress = [&](std::string_view what,
                      std::optional<double> done) { hooks_.say(fmt::format("{}: {}", place, what), done); },
      .stop = hooks_.stop};
  // The share of the search that is over, by the number of sizes that it usually takes: those of the
  // bisection, both ends, and quarters of the stretches on both sides of the gap.
  const auto sizes = static_cast<double>(question_.sizes.size());
  const double usual = std::min(sizes, 8 + std::log2(sizes));
  const double begin = std::min(1.0, measured_ / usual), end = std::min(1.0, (measured_ + 1) / usual);
  const Hooks checking = here.part(begin, begin);
  const std::vector<Checked> agreements =
      check(trials, policy_.seed, checking, {}, Sizes::own,
            check_corners(trials, this_machine(), policy_.seed, passed_corners_, checking));
  if (hooks_.stopped()) return {};
  LaunchRequest request{.policy = measure_policy(question_, policy_)};
  std::vector<Candidate> both;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Trial& trial = trials[i];
    if (!agreements[i].agrees && wrong_.empty())
      wrong_ = fmt::format("{}: {}", trial.key, agreements[i].detail);
    const std::string& variant = trial.operation->variants()[trial.variant].name;
    request.trials.push_back({trial.key, trial.row.operation, variant, problem, trial.context.threads});
    both.push_back({.name = trial.key});
  }
  if (ended()) return {};
  const Hooks sampling = here.part(begin, end);
  const TakeTurns take_turns = [&](std::span<const std::size_t> order, int round) {
    request.index = round;
    const std::vector<TrialSample> samples = sample_(request, sampling);
    if (samples.size() < both.size()) return std::vector<Turn>();
    for (std::size_t i = 0; i < both.size(); ++i) {
      if (const std::string fault = fault_of(samples[i]); !fault.empty() && wrong_.empty())
        wrong_ = fmt::format("{}: {}", both[i].name, fault);
    }
    return wrong_.empty() ? turns_of(samples, order) : std::vector<Turn>();
  };
  measure_rounds(both, {.rounds = policy_.rounds, .seed = policy_.seed, .looks = 0}, take_turns, sampling);
  if (ended()) return {};
  if (const std::size_t rounds = rounds_of(both); rounds < fewest_rounds) {
    throw Error(both.front().name,
                fmt::format("gave samples in {} rounds, and {} are needed", rounds, fewest_rounds),
                fmt::format("give a smaller --to when a call takes over {:g} s, or more --rounds",
                            long_call_seconds));
  }
  ++measured_;
  return {.size = size,
          .ratio = ratio_between(both.front(), both.back()),
          .first = median_time(both.front()),
          .second = median_time(both.back())};
}

}  // namespace assay
