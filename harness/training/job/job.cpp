#include "training/job/job.hpp"

#include "assay/error.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

namespace assay {
namespace {

struct Unit {
  std::string_view name;
  double size;
  Quantity quantity;
};

constexpr std::array units{
    Unit{"ns", 1e-9, Quantity::seconds},
    Unit{"nanoseconds", 1e-9, Quantity::seconds},
    Unit{"us", 1e-6, Quantity::seconds},
    Unit{"µs", 1e-6, Quantity::seconds},
    Unit{"microseconds", 1e-6, Quantity::seconds},
    Unit{"ms", 1e-3, Quantity::seconds},
    Unit{"milliseconds", 1e-3, Quantity::seconds},
    Unit{"s", 1, Quantity::seconds},
    Unit{"sec", 1, Quantity::seconds},
    Unit{"seconds", 1, Quantity::seconds},
    Unit{"min", 60, Quantity::seconds},
    Unit{"h", 3600, Quantity::seconds},
    Unit{"/s", 1, Quantity::samples_per_second},
    Unit{"samples/s", 1, Quantity::samples_per_second},
    Unit{"%", 0.01, Quantity::share},
    Unit{"", 1, Quantity::count},
};

[[noreturn]] void refuse(const Job& more, const std::string& what) {
  throw Error(more.source, what, "predict each job by itself, or score one with the other: --against FILE");
}

template <typename T>
void require_same(const Job& more, std::string_view name, const T& first, const T& second, bool both_stated) {
  if (both_stated && first != second) {
    refuse(more, fmt::format("has {} {}, the files before it {}", name, second, first));
  }
}

void append(StepPhase& phase, const StepPhase& more, const Job& from) {
  if (phase.kind != more.kind || phase.overlaps != more.overlaps || phase.scope != more.scope) {
    refuse(from, fmt::format("its phase {} is of another kind, scope or overlap", more.name));
  }
  const bool counted = phase.samples > 0 && more.samples > 0;
  if (!counted) refuse(from, fmt::format("its phase {} cannot be pooled without \"samples\"", more.name));
  const double total = phase.mean_seconds * static_cast<double>(phase.samples) +
                       more.mean_seconds * static_cast<double>(more.samples);
  phase.samples += more.samples;
  phase.mean_seconds = total / static_cast<double>(phase.samples);
  if (phase.seconds.empty() || more.seconds.empty()) {
    phase.seconds.clear();
  } else {
    phase.seconds.insert(phase.seconds.end(), more.seconds.begin(), more.seconds.end());
  }
}

/// A phase of a step that one of the measurements lacks took no time there, if its steps are known one by
/// one. A phase of another scope was not measured there.
void append_phases(Job& job, const Job& more, Index steps_before, Index steps_more) {
  const auto zeros = [](const StepPhase& like, Index steps) {
    StepPhase out = like;
    out.mean_seconds = 0;
    out.samples = steps;
    out.seconds.assign(static_cast<std::size_t>(steps), 0);
    return out;
  };
  for (StepPhase& phase : job.phases) {
    const auto same = std::ranges::find(more.phases, phase.name, &StepPhase::name);
    if (same != more.phases.end()) {
      append(phase, *same, more);
    } else if (phase.scope != Scope::training) {
      continue;
    } else if (!phase.seconds.empty()) {
      append(phase, zeros(phase, steps_more), more);
    } else {
      refuse(more, fmt::format("has no phase {}, as the files before it have", phase.name));
    }
  }
  for (const StepPhase& phase : more.phases) {
    if (std::ranges::find(job.phases, phase.name, &StepPhase::name) != job.phases.end()) continue;
    StepPhase& added = job.phases.emplace_back(phase);
    if (phase.scope != Scope::training) continue;
    if (phase.seconds.empty())
      refuse(more, fmt::format("has a phase {} that no file before it has", phase.name));
    added = zeros(phase, steps_before);
    append(added, phase, more);
  }
}

Index timed_steps(const Job& job) {
  Index out = 0;
  for (const TimedWindow& window : job.windows) out += window.steps;
  return out;
}

}  // namespace

std::optional<Quoted> parse_quoted(std::string_view text) {
  const std::size_t number = std::min(text.find_first_not_of("0123456789.,-"), text.size());
  const std::size_t point = std::min(text.find('.'), number);
  if (text.substr(point, number - point).find(',') != std::string_view::npos) return std::nullopt;
  std::string digits(text.substr(0, number));
  std::erase(digits, ',');
  const auto value = number_from<double>(digits);
  if (!value) return std::nullopt;
  std::string_view rest = text.substr(number);
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  const auto unit = std::ranges::find(units, rest, &Unit::name);
  if (unit == units.end()) return std::nullopt;
  const std::size_t decimals = point < number ? number - point - 1 : 0;
  const double half =
      unit->quantity == Quantity::count ? 0 : 0.5 * std::pow(10.0, -static_cast<double>(decimals));
  return Quoted{.value = *value * unit->size,
                .rounding = half * unit->size,
                .quantity = unit->quantity,
                .text = std::string(text)};
}

double seconds_in(std::string_view unit) {
  const auto found = std::ranges::find(units, unit, &Unit::name);
  return found != units.end() && found->quantity == Quantity::seconds ? found->size : 0;
}

double typed_rounding(double value) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
  const std::string_view digits(text, static_cast<std::size_t>(end - text));
  const std::size_t exponent = digits.find('e'), point = digits.find('.');
  const std::size_t decimals = point < exponent ? exponent - point - 1 : 0;
  const std::size_t sign = digits[exponent + 1] == '+' ? 1 : 0;
  int power = 0;
  std::from_chars(text + exponent + 1 + sign, end, power);
  return std::min(0.5 * std::pow(10.0, power - static_cast<int>(decimals)), 0.01 * std::abs(value));
}

bool can_agree(const Quoted& stated, double computed, double half_width) {
  // The last bits of products of decimal fractions are no contradiction.
  const double slack = 1e-12 * std::max(std::abs(stated.value), std::abs(computed));
  return std::abs(stated.value - computed) <= stated.rounding + half_width + slack;
}

StepPhase timed_phase(std::string name, PhaseKind kind, std::vector<double> seconds, bool overlaps,
                      Scope scope) {
  const double sum = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  return {.name = std::move(name),
          .kind = kind,
          .scope = scope,
          .overlaps = overlaps,
          .mean_seconds = seconds.empty() ? 0 : sum / static_cast<double>(seconds.size()),
          .samples = std::ssize(seconds),
          .seconds = std::move(seconds)};
}

TimedWindow timed_window(Index first_step, std::vector<double> step_seconds) {
  return {.first_step = first_step,
          .steps = std::ssize(step_seconds),
          .wall_seconds = std::accumulate(step_seconds.begin(), step_seconds.end(), 0.0),
          .step_seconds = std::move(step_seconds)};
}

StepCount count_steps(Index samples, Index batch, bool drop_last) {
  return {.full = samples / batch, .partial_samples = drop_last ? 0 : samples % batch};
}

void append_windows(Job& job, const Job& more) {
  const Dataset &first = job.dataset, &second = more.dataset;
  require_same(more, "batch", first.batch, second.batch, first.batch > 0 && second.batch > 0);
  require_same(more, "train", first.train, second.train, first.train > 0 && second.train > 0);
  require_same(more, "workers", job.loader.workers.value_or(0), more.loader.workers.value_or(0),
               job.loader.workers && more.loader.workers);
  require_same(more, "prefetch", job.loader.prefetch, more.loader.prefetch,
               job.loader.prefetch_stated && more.loader.prefetch_stated);
  append_phases(job, more, timed_steps(job), timed_steps(more));
  int runs = 0;
  for (const TimedWindow& window : job.windows) runs = std::max(runs, window.run + 1);
  for (TimedWindow window : more.windows) {
    window.run += runs;
    job.windows.push_back(std::move(window));
  }
  // The mean of both, by their lengths.
  const double before = job.weather.seconds, both = before + more.weather.seconds;
  const auto mean = [&](double& one, double other) {
    if (both > 0) one = (one * before + other * more.weather.seconds) / both;
  };
  mean(job.weather.other_busy_share, more.weather.other_busy_share);
  mean(job.weather.steal_share, more.weather.steal_share);
  mean(job.processor_seconds, more.processor_seconds);
  mean(job.worker_processor_seconds, more.worker_processor_seconds);
  job.weather.seconds = both;
  job.source += ", " + more.source;
  for (const std::string& note : more.notes) {
    if (std::ranges::find(job.notes, note) == job.notes.end()) job.notes.push_back(note);
  }
}

}  // namespace assay
