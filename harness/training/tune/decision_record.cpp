#include "training/tune/decision_record.hpp"

#include "core/machine/record.hpp"
#include "core/markup/template.hpp"
#include "core/text/figures.hpp"
#include "core/text/wrapped.hpp"

#include <fmt/format.h>

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

std::string decision_sentence(const TuneRecord& record) {
  const TuneRuling& ruling = record.ruling;
  const std::string chosen = setting_of(record.attempts[ruling.chosen].plan, record.job.plan);
  if (ruling.chosen == 0) {
    return fmt::format("Keep the job as it is: {} ({} samples/s); {}.", chosen,
                       rate_text(ruling.attempts[0].seconds), ruling.ties);
  }
  return fmt::format("Take {}: {} than the job as it is, {} samples/s; {}.", chosen,
                     change_text(ruling.attempts[ruling.chosen].ratio),
                     rate_text(ruling.attempts[ruling.chosen].seconds), ruling.ties);
}

}  // namespace

std::string decision_record(const TuneRecord& record) {
  const TuneRuling& ruling = record.ruling;
  const TrainingPlan& plan = record.job.plan;
  const double best = ruling.attempts[ruling.best].seconds, epoch = static_cast<double>(plan.samples);
  Json out = record_values(record.date, record.commit, record.machine, record.weather, record.command);
  out["job"] = record.job.name;
  out["decision"] = decision_sentence(record);
  out["samples"] = count_text(plan.samples);
  out["epoch_after"] = seconds_text(epoch * ruling.attempts[ruling.chosen].seconds);
  out["epoch_before"] = seconds_text(epoch * ruling.attempts.front().seconds);
  out["memory_after"] = bytes_text(record.attempts[ruling.chosen].peak_bytes);
  out["memory_before"] = bytes_text(record.attempts.front().peak_bytes);
  out["bound"] = seconds_text(ruling.bound_seconds);
  out["bound_rate"] = rate_text(ruling.bound_seconds);
  out["best"] = seconds_text(best);
  out["room"] = room_text(best, ruling.bound_seconds);
  out["plan"] = in_words(plan);
  out["settings"] = record.attempts.size();
  out["rounds"] = record.attempts.front().rounds.size();
  Json attempts = Json::array(), tried = Json::array(), rejected = Json::array();
  for (std::size_t i = 0; i < record.attempts.size(); ++i) {
    const AttemptRuling& one = ruling.attempts[i];
    Json row{{"number", i},
             {"setting", setting_of(record.attempts[i].plan, plan)},
             {"hypothesis", record.attempts[i].hypothesis},
             {"decision", to_string(one.decision)},
             {"why", one.why},
             {"rate", rate_text(one.seconds)},
             {"change", i == 0 ? "-" : change_text(one.ratio)},
             {"control", i == 0 ? "-" : change_text(one.control)},
             {"memory", bytes_text(record.attempts[i].peak_bytes)},
             {"verdict",
              fmt::format("{}{}", to_string(one.decision), one.tied_with_best ? ", tied for best" : "")}};
    if (i > 0) tried.push_back(row);
    if (i > 0 && (one.decision == Decision::reject || one.decision == Decision::wrong))
      rejected.push_back(row);
    attempts.push_back(std::move(row));
  }
  out["attempts"] = std::move(attempts);
  out["tried"] = std::move(tried);
  out["rejected"] = std::move(rejected);
  return document("tune_settings.md", out);
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
