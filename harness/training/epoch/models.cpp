#include "training/epoch/models.hpp"

#include "assay/random.hpp"
#include "core/statistics/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace assay {
namespace {

/// Fewest steps that a period is played for: it is known to a hundredth of the spread of a step then.
constexpr Index played_steps = 20000;
/// And most: the rest of an epoch of billions of steps takes its number times the period.
constexpr double most_played_steps = 1e6;
/// Each resampled set of times is played this long: the luck of so many steps is less than the luck of the
/// samples.
constexpr Index replica_steps = 2000;
constexpr int replicas = 200;

double steady_period(const LoaderQueue& queue, Index steps, const std::vector<double>& load,
                     const std::vector<double>& rest) {
  const QueueRun run = play_drawn(queue, steps, load, rest);
  return (run.seconds - run.first_fill) / static_cast<double>(steps);
}

/// Draws as many blocks of consecutive times as there are, with replacement: neighbours stay neighbours. Runs
/// are blocks by themselves.
std::vector<double> resampled(const std::vector<double>& times, const std::vector<Index>& runs, Rng& random) {
  std::vector<double> out;
  const auto draw = [&](Index begin, Index size) {
    out.insert(out.end(), times.begin() + begin, times.begin() + begin + size);
  };
  const Index count = std::ssize(times), in_runs = std::accumulate(runs.begin(), runs.end(), Index{0});
  if (!runs.empty() && count == in_runs) {
    std::vector<Index> begins(runs.size(), 0);
    std::partial_sum(runs.begin(), runs.end() - 1, begins.begin() + 1);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const auto drawn = static_cast<std::size_t>(random.integer(0, std::ssize(runs) - 1));
      draw(begins[drawn], runs[drawn]);
    }
    return out;
  }
  constexpr Index blocks = 20;
  const Index size = std::max<Index>(1, count / blocks);
  while (std::ssize(out) < count) draw(random.integer(0, count - size), size);
  out.resize(times.size());
  return out;
}

/// Percentiles are too narrow for few samples: by the ratio of Student's quantile to the normal one, and by
/// sqrt(n / (n - 1)) (Hesterberg 2015, What Teachers Should Know About the Bootstrap, "expanded percentile").
double expansion(std::size_t samples) {
  constexpr double normal = 1.6448536269514722;  // 95 % quantile
  const auto n = static_cast<double>(samples);
  return student_quantile((1 - predicted_coverage) / 2, static_cast<int>(samples) - 1) / normal *
         std::sqrt(n / (n - 1));
}

constexpr std::array by_parts{Model::largest, Model::queue_formula, Model::queue};

/// Seconds of a step, one by each of them; `fitted` is the queue of M4.
std::array<double, by_parts.size()> periods_of(const Calibration& c, const LoaderQueue& fitted, Index steps,
                                               const std::vector<double>& load,
                                               const std::vector<double>& rest) {
  const double l = mean_of(load), r = mean_of(rest);
  return {largest_resource(c.queue, l, r), queue_formula(c.queue, l, r),
          steady_period(fitted, steps, load, rest)};
}

/// The intervals of these periods by resampled times, with 1 for the period of the times as they are; empty
/// where there are too few of them.
std::vector<Interval> resampled_periods(const Calibration& c, const LoaderQueue& fitted) {
  std::size_t fewest = c.rest.size() > 1 ? c.rest.size() : c.load.size();
  if (c.load.size() > 1) fewest = std::min(fewest, c.load.size());
  if (!c.runs.empty()) fewest = std::min(fewest, c.runs.size());
  if (fewest < 2) return {};
  const auto measured = periods_of(c, fitted, replica_steps, c.load, c.rest);
  if (std::ranges::min(measured) <= 0) return {};
  std::array<std::vector<double>, by_parts.size()> ratios;
  for (int i = 0; i < replicas; ++i) {
    // Both draw the same blocks where they are of the same steps: a slow step may be slow in both.
    Rng random(queue_seed + 2 + static_cast<std::uint64_t>(i));
    Rng same = random;
    const std::vector<double> load = resampled(c.load, c.runs, random);
    const std::vector<double> rest =
        resampled(c.rest, c.runs, c.load.size() == c.rest.size() ? same : random);
    const auto periods = periods_of(c, fitted, replica_steps, load, rest);
    for (std::size_t k = 0; k < periods.size(); ++k) ratios[k].push_back(periods[k] / measured[k]);
  }
  const double wider = expansion(fewest), tail = (1 - predicted_coverage) / 2;
  std::vector<Interval> out;
  for (const std::vector<double>& one : ratios) {
    out.push_back({1 + wider * (quantile(one, tail) - 1), 1, 1 + wider * (quantile(one, 1 - tail) - 1),
                   predicted_coverage});
  }
  return out;
}

/// Steps and segments err independently: half-widths add by squares. Without an interval of the steps there
/// is none.
Interval with_segments(const Interval& steps, const std::vector<Segment>& segments) {
  double below = 0, above = 0;
  for (const Segment& segment : segments) {
    const Interval& one = segment.seconds;
    below += (one.middle - one.low) * (one.middle - one.low);
    above += (one.high - one.middle) * (one.high - one.middle);
  }
  const auto grown = [&](double half, double squares) {
    return steps.coverage > 0 ? std::sqrt(half * half + squares) - half : 0;
  };
  const double more = seconds_of(segments);
  return {steps.low + more - grown(std::max(0.0, steps.middle - steps.low), below), steps.middle + more,
          steps.high + more + grown(std::max(0.0, steps.high - steps.middle), above), steps.coverage};
}

/// Runs that follow each other share the pace of the machine: fewer of them are independent. The
/// measured mean and the mean of the epoch are both samples of a pace that drifts:
///   var(difference) = var(measured mean) * (1 + span / epoch seconds).
Interval with_pace(Interval steps, const Calibration& c) {
  if (c.span <= 0 || steps.middle <= 0) return steps;
  const double fewer = (1 + c.persistence) / (1 - c.persistence);
  const double wider = std::sqrt(fewer * (1 + c.span / steps.middle));
  steps.low = steps.middle - wider * (steps.middle - steps.low);
  steps.high = steps.middle + wider * (steps.high - steps.middle);
  return steps;
}

/// The question that all models answer, and the segments that their answers share.
struct Question {
  const Calibration& c;
  const Target& target;
  std::vector<Segment> segments = segments_of(c, target);
};

/// The share of an epoch that was seen after so many of its first steps: it is in the epoch as it was.
double known_share(Index seen, const Target& target) {
  const auto steps = static_cast<double>(seen);
  return target.from_start && steps < target.steps ? steps / target.steps : 0;
}

/// The end of an interval over its middle. Later steps differ from those that were seen. Ratios err, so that
/// both ends are factors.
double end_of(double known, double luck, double pace, double sign) {
  return known + (1 - known) * std::exp(sign * std::hypot(luck, pace));
}

void widen_by_pace(Interval& seconds, const Calibration& c, const Target& target) {
  if (seconds.coverage <= 0) return;
  const double known = known_share(c.seen, target), ratio = seconds.low / seconds.middle;
  seconds.low =
      seconds.middle * end_of(known, ratio > 0 ? std::log(ratio) : std::log1p(1 - ratio), c.pace, -1);
  seconds.high = seconds.middle * end_of(known, std::log(seconds.high / seconds.middle), c.pace, 1);
}

/// Adds the parts that are the same for all models, and spreads the intervals over the whole.
ModelPrediction completed(ModelPrediction out, const Question& question, double fill,
                          const Interval& measured) {
  const auto& [c, target, segments] = question;
  const Interval steps = with_pace(measured, c);
  out.partial = target.partial * out.period;
  const double alone = out.one_off + fill + out.partial;
  out.seconds = shifted(with_segments(steps, segments), alone);
  out.one_off += fill;
  if (!(out.seconds.middle > 0)) return {.model = out.model, .impossible = "it says less than no time"};
  widen_by_pace(out.seconds, c, target);
  return out;
}

ModelPrediction by_mean(const Question& question) {
  const Calibration& c = question.c;
  if (c.all.empty()) return {.model = Model::mean, .impossible = "no window was timed"};
  const Spread spread = spread_of(c.all);
  ModelPrediction out{.model = Model::mean, .period = spread.mean};
  if (spread.freedom == 0) out.no_interval = "a single figure shows no spread";
  return completed(out, question, 0, sum_of_steps(spread, question.target.steps));
}

ModelPrediction by_line(const Question& question) {
  const Calibration& c = question.c;
  const Target& target = question.target;
  const bool line = c.line.impossible.empty();
  // Without windows from the start there is no line, but its two parts may be known.
  const bool put_together = c.period.steps > 0 && (c.one_off_known || !target.from_start);
  if (!line && !put_together) return {.model = Model::line, .impossible = c.line.impossible};
  ModelPrediction out{.model = Model::line};
  out.one_off = target.from_start ? (line ? c.line.one_off : c.one_off) : 0;
  out.period = line ? c.line.period : c.period.mean;
  Interval steps;
  if (line && target.from_start) {
    steps = shifted(c.line.at(target.steps), -out.one_off);
    if (c.line.freedom == 0) out.no_interval = "two windows: the line goes through both";
  } else if (line) {
    LineFit slope = c.line;
    slope.one_off = slope.one_off_variance = slope.covariance = 0;
    steps = slope.at(target.steps);
  } else {
    steps = sum_of_steps(c.period, target.steps);
    if (c.period.freedom == 0) out.no_interval = "a single figure shows no spread";
  }
  return completed(out, question, 0, steps);
}

std::string why_no_parts(const Calibration& c) {
  if (c.load.empty()) return c.no_load.empty() ? "what loading takes is not known" : c.no_load;
  if (c.rest.empty()) return c.no_rest.empty() ? "what a step takes without loading is not known" : c.no_rest;
  return "";
}

void add_by_parts(const Question& question, std::vector<ModelPrediction>& out) {
  const auto& [c, target, segments] = question;
  const std::string missing = why_no_parts(c);
  if (!missing.empty()) {
    for (const Model model : by_parts) out.push_back({.model = model, .impossible = missing});
    return;
  }
  const LoaderQueue queue = fitted_queue(c);
  const std::vector<Interval> ends = resampled_periods(c, queue);
  const Index steps = std::max(played_steps, static_cast<Index>(std::min(target.steps, most_played_steps)));
  const QueueRun run = play_drawn(queue, steps, c.load, c.rest);
  // The time before the first step. Without workers the first batch is loaded in its own step, like any
  // other.
  std::array<double, by_parts.size()> fills{};
  if (queue.workers > 0) {
    fills.fill(c.queue.load_contention * mean_of(c.load));
    fills.back() = run.first_fill;
  }
  auto periods = periods_of(c, queue, replica_steps, c.load, c.rest);
  periods.back() = (run.seconds - fills.back()) / static_cast<double>(steps) + hand_over(c);
  for (std::size_t k = 0; k < by_parts.size(); ++k) {
    ModelPrediction one{.model = by_parts[k], .period = periods[k]};
    const double fill = target.from_start ? fills[k] : 0;
    one.one_off = target.from_start ? std::max(0.0, c.one_off - fill) : 0;
    const double middle = target.steps * periods[k];
    Interval measured{middle, middle, middle, 0};
    if (!ends.empty()) {
      measured = {middle * ends[k].low, middle, middle * ends[k].high, predicted_coverage};
    } else if (c.period.freedom > 0) {
      const double ratio = periods[k] / c.period.mean;  // the steps vary, whatever their parts do
      const Interval sum = sum_of_steps(c.period, target.steps);
      measured = {ratio * sum.low, middle, ratio * sum.high, predicted_coverage};
    } else {
      one.no_interval = "means alone, without times of single steps";
    }
    out.push_back(completed(one, question, fill, measured));
  }
}

/// Returns the time that the loop waits longer for batches that miss pages, as M4 plays it.
std::optional<Segment> cold_segment(const Calibration& c, double steps) {
  if (!c.cold || steps < 1 || c.load.empty() || c.rest.empty()) return std::nullopt;
  // Until e^-12 of the pages are missing, or for a while where that never comes: the epoch goes on like it.
  constexpr double gone = 12, longest = 20000;
  const double rate = c.cold->rate;
  const double most = std::min({steps, rate > 0 ? std::ceil(gone / rate) : longest, longest});
  const double scale = rate > 0 ? 1 : steps / most;
  const auto count = static_cast<Index>(most);
  const auto played = [&](double extra) {
    LoaderQueue queue = c.queue;
    queue.cold = {.first = extra, .rate = rate};
    return play_drawn(queue, count, c.load, c.rest).seconds;
  };
  const double warm = played(0);
  const auto longer = [&](double extra) { return scale * std::max(0.0, played(extra) - warm); };
  const Interval& extra = c.cold->extra;
  Segment out{.kind = SegmentKind::cold_pages, .mean = extra.middle};
  for (Index i = 0; i < count; ++i) out.count += scale * std::exp(-rate * static_cast<double>(i));
  out.seconds = {longer(extra.low), longer(extra.middle), longer(extra.high), extra.coverage};
  return out;
}

}  // namespace

QueueRun play_drawn(const LoaderQueue& queue, Index steps, const std::vector<double>& load,
                    const std::vector<double>& rest) {
  const auto drawn = [](const std::vector<double>& times, std::uint64_t seed) {
    return [&times, random = Rng(seed)]() mutable {
      return times[static_cast<std::size_t>(random.integer(0, std::ssize(times) - 1))];
    };
  };
  return play(queue, steps, drawn(load, queue_seed), drawn(rest, queue_seed + 1));
}

std::string_view name_of(Model model) {
  constexpr std::array<std::string_view, all_models.size()> names{"M0", "M1", "M2", "M3", "M4"};
  return names[static_cast<std::size_t>(model)];
}

std::string in_words(Model model) {
  constexpr std::array<std::string_view, all_models.size()> ideas{"mean x N", "A + b N", "max(load/W, rest)",
                                                                  "M/M/1/K formula", "loader queue"};
  return fmt::format("{} {}", name_of(model), ideas[static_cast<std::size_t>(model)]);
}

double largest_resource(const LoaderQueue& queue, double load, double rest) {
  if (queue.workers == 0) return load + rest;
  return std::max(queue.load_contention * load / static_cast<double>(queue.workers),
                  queue.compute_contention * rest);
}

double queue_formula(const LoaderQueue& queue, double load, double rest) {
  if (queue.workers == 0) return load + rest;
  const double producer = queue.load_contention * load / static_cast<double>(queue.workers);
  const double consumer = queue.compute_contention * rest;
  if (producer <= 0) return consumer;
  const double ratio = consumer / producer;
  const auto places = static_cast<double>(queue.workers * queue.prefetch);
  const double empty =
      std::abs(ratio - 1) < 1e-9 ? 1 / (places + 1) : (1 - ratio) / (1 - std::pow(ratio, places + 1));
  return consumer + empty * producer;
}

double measured_by_played(const Calibration& c) {
  if (c.queue.workers == 0 || c.load.empty() || c.rest.empty()) return 1;
  const bool line = c.line.impossible.empty() && c.line.period > 0;
  const double measured = c.period.steps > 0 ? c.period.mean : line ? c.line.period : 0;
  const double played = steady_period(c.queue, played_steps, c.load, c.rest);
  return measured > 0 && played > 0 ? measured / played : 1;
}

double hand_over(const Calibration& c) {
  if (c.queue.workers == 0 || c.contention_assumed || c.load.empty() || c.rest.empty()) return 0;
  const QueueRun run = play_drawn(c.queue, played_steps, c.load, c.rest);
  return std::max(0.0, c.waited - (run.waited - run.first_fill) / static_cast<double>(played_steps));
}

LoaderQueue fitted_queue(const Calibration& c) {
  LoaderQueue queue = c.queue;
  if (!c.contention_assumed) return queue;
  const double ratio = std::max(1.0, measured_by_played(c));
  const bool waits_known = std::ranges::any_of(
      c.parts, [](const StepPhase& part) { return part.kind == PhaseKind::load && !part.overlaps; });
  if (ratio <= 1 || !waits_known || c.period.steps == 0) {
    // A factor on all times makes the clock of the queue slower and changes nothing else.
    queue.load_contention = queue.compute_contention = ratio;
    return queue;
  }
  // Beyond its wait a step takes what it takes. Batches come so late that the loop waits as it did.
  queue.compute_contention = std::max(1.0, (c.period.mean - c.waited) / mean_of(c.rest));
  const auto comes_late = [&](double contention) {
    queue.load_contention = contention;
    constexpr double nearly = 0.99;
    return steady_period(queue, replica_steps, c.load, c.rest) > nearly * c.period.mean;
  };
  double low = queue.compute_contention, high = low;
  while (!comes_late(high)) high *= 2;
  constexpr int halvings = 20;
  for (int i = 0; i < halvings && low < high; ++i) {
    const double between = (low + high) / 2;
    (comes_late(between) ? high : low) = between;
  }
  queue.load_contention = high;
  return queue;
}

Index enough_steps(const Calibration& c, const Target& target, const Interval& now) {
  Index measured = c.seen;
  for (const Group& group : c.all) measured += c.seen > 0 ? 0 : group.steps;
  if (now.coverage <= 0 || measured == 0) return 0;
  const double known = known_share(c.seen, target);
  // The luck of the steps, which more of them make smaller, beside the pace.
  const auto luck_of = [&](double end) {
    const double all = std::log(std::max(0.0, end / now.middle - known) / (1 - known));
    return std::sqrt(std::max(0.0, all * all - c.pace * c.pace));
  };
  const double below = luck_of(now.low), above = luck_of(now.high);
  // Less than decides, since later steps vary more, or drift: of 42 recorded epochs (reports/torch_jobs) that
  // were undecided 13 still were after as many steps as would do by 1.5, and none by 1.35.
  constexpr double further = 1.1, aimed = 1 + 0.7 * (widest_prediction - 1);
  const auto before = static_cast<double>(measured);
  for (double steps = std::ceil(further * before); steps < target.steps; steps = std::ceil(further * steps)) {
    const double less = std::sqrt(before / steps), later = known_share(static_cast<Index>(steps), target);
    const double high = end_of(later, less * above, c.pace, 1), low = end_of(later, less * below, c.pace, -1);
    if (high <= aimed * low) return static_cast<Index>(steps);
  }
  return 0;
}

std::vector<ModelPrediction> predict_with_all(const Calibration& c, const Target& target) {
  const Question question{c, target};
  std::vector<ModelPrediction> out{by_mean(question), by_line(question)};
  add_by_parts(question, out);
  return out;
}

const ModelPrediction* most_elaborate(const std::vector<ModelPrediction>& predictions) {
  const ModelPrediction* out = nullptr;
  for (const ModelPrediction& one : predictions) {
    if (one.impossible.empty()) out = &one;
  }
  return out;
}

std::string_view to_string(SegmentKind kind) {
  constexpr std::array<std::string_view, 3> words{"validation", "checkpoint", "cold pages"};
  return words[static_cast<std::size_t>(kind)];
}

std::vector<Segment> segments_of(const Calibration& c, const Target& target) {
  std::vector<Segment> out;
  const auto add = [&](SegmentKind kind, double count, const Spread& one) {
    if (count <= 0 || one.steps == 0) return;
    out.push_back({kind, count, one.mean, sum_of_steps(one, count)});
  };
  add(SegmentKind::validation, target.validation_steps, c.validation);
  add(SegmentKind::checkpoint, target.checkpoints, c.checkpoint);
  if (target.from_start) {
    if (const auto cold = cold_segment(c, target.steps)) out.push_back(*cold);
  }
  return out;
}

double seconds_of(const std::vector<Segment>& segments) {
  double out = 0;
  for (const Segment& segment : segments) out += segment.seconds.middle;
  return out;
}

}  // namespace assay
