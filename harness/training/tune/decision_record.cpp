#include "training/tune/decision_record.hpp"

#include "core/machine/record.hpp"
#include "core/text/figures.hpp"
#include "core/text/wrapped.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace assay {
namespace {

/// Says how far the best setting lies above the bound; a best below it is luck.
std::string room_text(double best, double bound) { return percent_text(std::max(0.0, best / bound - 1)); }

/// Says in few words how the setting differs from the job.
std::string setting_of(const TrainingPlan& plan, const TrainingPlan& job) {
  std::string out = fmt::format("workers {}", plan.workers);
  if (plan.workers > 0)
    out += fmt::format(", prefetch {}{}", plan.prefetch, plan.in_order ? "" : ", any order");
  if (plan.batch != job.batch) out += fmt::format(", batch {}", plan.batch);
  if (plan.threads != job.threads) out += fmt::format(", {} threads", plan.threads);
  return out;
}

std::string rate_text(double seconds_per_sample) { return count_text(1 / seconds_per_sample); }

std::string attempts_table(const TuneRecord& record) {
  std::string out =
      "| setting | samples/s | time against the job as it is | the job's steps alone (control) | memory | "
      "verdict |\n"
      "|---|--:|---|---|--:|---|\n";
  for (std::size_t i = 0; i < record.attempts.size(); ++i) {
    const AttemptRuling& ruling = record.ruling.attempts[i];
    out += fmt::format("| {} | {} | {} | {} | {} | {}{} |\n",
                       setting_of(record.attempts[i].plan, record.job.plan), rate_text(ruling.seconds),
                       i == 0 ? "-" : change_text(ruling.ratio), i == 0 ? "-" : change_text(ruling.control),
                       bytes_text(record.attempts[i].peak_bytes), to_string(ruling.decision),
                       ruling.tied_with_best ? ", tied for best" : "");
  }
  return out;
}

std::string reasons(const TuneRecord& record) {
  std::string out;
  for (std::size_t i = 1; i < record.attempts.size(); ++i) {
    const AttemptRuling& ruling = record.ruling.attempts[i];
    out += fmt::format("{}. **{}**. Hypothesis: {}. {}: {}.\n", i,
                       setting_of(record.attempts[i].plan, record.job.plan), record.attempts[i].hypothesis,
                       to_string(ruling.decision), ruling.why);
  }
  return out;
}

std::string not_again(const TuneRecord& record) {
  std::string out;
  for (std::size_t i = 1; i < record.attempts.size(); ++i) {
    const AttemptRuling& ruling = record.ruling.attempts[i];
    if (ruling.decision != Decision::reject && ruling.decision != Decision::wrong) continue;
    out += fmt::format("- {}: {}\n", setting_of(record.attempts[i].plan, record.job.plan), ruling.why);
  }
  return out.empty() ? "- Nothing was rejected.\n" : out;
}

std::string decision_sentence(const TuneRecord& record) {
  const TuneRuling& ruling = record.ruling;
  const std::string chosen = setting_of(record.attempts[ruling.chosen].plan, record.job.plan);
  if (ruling.chosen == 0) {
    return fmt::format("Keep the job as it is: {} ({} samples/s); {}.", chosen,
                       rate_text(ruling.attempts[0].seconds), ruling.ties);
  }
  return fmt::format("Take {}: {} in time against the job as it is, {} samples/s; {}.", chosen,
                     change_text(ruling.attempts[ruling.chosen].ratio),
                     rate_text(ruling.attempts[ruling.chosen].seconds), ruling.ties);
}

std::string consequences(const TuneRecord& record) {
  const TuneRuling& ruling = record.ruling;
  const double epoch = static_cast<double>(record.job.plan.samples);
  const double before = epoch * ruling.attempts.front().seconds,
               after = epoch * ruling.attempts[ruling.chosen].seconds;
  return fmt::format(
      "An epoch of {} samples takes {} of steady steps instead of {}. Memory of the process at its peak, the "
      "data "
      "that all settings share included: {} instead of {}.\n",
      count_text(record.job.plan.samples), seconds_text(after), seconds_text(before),
      bytes_text(record.attempts[ruling.chosen].peak_bytes), bytes_text(record.attempts.front().peak_bytes));
}

}  // namespace

std::string decision_record(const TuneRecord& record) {
  const TuneRuling& ruling = record.ruling;
  const double best = ruling.attempts[ruling.best].seconds;
  std::string out = fmt::format("# Settings of {}\n\n", record.job.name);
  out += status_paragraph(record.date, record.commit, record.machine);
  out += fmt::format(
      "## Context\n\n{}. {} settings, {} interleaved rounds, each in another order; times are per sample. "
      "{}\n\n",
      in_words(record.job.plan), record.attempts.size(), record.attempts.front().rounds.size(),
      weather_sentence(record.weather));
  out += fmt::format(
      "## Physical limits\n\nA step without any loading takes {} per sample ({} samples/s): no setting of "
      "the loader "
      "can be faster. The best one takes {}, {} above that.\n\n",
      seconds_text(ruling.bound_seconds), rate_text(ruling.bound_seconds), seconds_text(best),
      room_text(best, ruling.bound_seconds));
  out += "## Attempts\n\n" + attempts_table(record) + "\n" + reasons(record) + "\n";
  out += "## Decision\n\n" + decision_sentence(record) + "\n\n";
  out += "## Consequences\n\n" + consequences(record) + "\n";
  out += fmt::format(
      "## What can be reached\n\nUp to {} more by loading that costs nothing; more than that only by a "
      "faster step.\n\n",
      room_text(best, ruling.bound_seconds));
  out += "## Not to be tried again here\n\n" + not_again(record) + "\n";
  return out + how_to_reproduce(record.command);
}

std::string decision_text(const TuneRecord& record) {
  std::string out = fmt::format("{:<34} {:>11}  {:<26} {}\n", "setting", "samples/s", "time", "verdict");
  for (std::size_t i = 0; i < record.attempts.size(); ++i) {
    const AttemptRuling& ruling = record.ruling.attempts[i];
    out += fmt::format("{:<34} {:>11}  {:<26} {}{}\n", setting_of(record.attempts[i].plan, record.job.plan),
                       rate_text(ruling.seconds), i == 0 ? "" : change_text(ruling.ratio),
                       to_string(ruling.decision), ruling.tied_with_best ? " =" : "");
  }
  return out + "= cannot be told from the fastest\n" + wrapped(decision_sentence(record), terminal_width) +
         "\n";
}

std::string to_json(const TuneRecord& record) {
  TrainingJob chosen = record.job;
  chosen.plan = record.attempts[record.ruling.chosen].plan;
  return to_json(chosen);
}

}  // namespace assay
