#include "core/markup/template.hpp"
#include "core/statistics/proportion.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/figures.hpp"
#include "training/epoch/epoch_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace assay {
namespace {

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }
/// The error of a prediction in words: `6.3 % too short`.
std::string error_in_words(double error) {
  return fmt::format("{} too {}", percent(std::abs(error)), error < 0 ? "short" : "long");
}

std::string coverage_text(const ErrorSummary& one) {
  if (one.with_interval == 0) return "no interval";
  const Interval share = proportion(one.inside, one.with_interval);
  return fmt::format("{} of {} [{:.0f} %, {:.0f} %]", one.inside, one.with_interval, 100 * share.low,
                     100 * share.high);
}

Json error_row(const std::string& what, const ErrorSummary& one) {
  return Json{{"what", what},
              {"epochs", one.epochs},
              {"median", percent(one.median)},
              {"p95", percent(one.p95)},
              {"largest", percent(one.largest)},
              {"inside", coverage_text(one)}};
}

/// Returns nothing for no regrets.
std::string regret_figures(const std::vector<Regret>& all) {
  if (all.empty()) return "";
  std::vector<double> values;
  for (const Regret& one : all) values.push_back(one.regret);
  return fmt::format("{} in the median, {} at most", percent(median(values)),
                     percent(std::ranges::max(values)));
}

std::string regret_text(const std::vector<LoggedEpoch>& log) {
  const std::vector<Regret> all = regrets(log);
  if (all.empty()) return "No job was run with several settings, so there is no regret to tell.";
  const std::string at_pace = regret_figures(regrets_at_pace(log));
  return fmt::format(
      "Regret, what the setting that was predicted to be fastest takes longer than the one that was: {}, "
      "over {} prediction{}{}.",
      regret_figures(all), all.size(), all.size() == 1 ? "" : "s",
      at_pace.empty() ? "" : "; at the pace of the epoch " + at_pace);
}

Json error_rows(const std::vector<LoggedEpoch>& log) {
  const std::string at_pace = " at the pace of the epoch";
  Json out = Json::array();
  const auto add = [&](const std::string& what, const ErrorSummary& one) {
    if (one.epochs > 0) out.push_back(error_row(what, one));
  };
  for (const ErrorSummary& one : same_setting_errors(log)) add("the same setting, " + one.model, one);
  add("the same setting, M4 with the epochs before it", errors_with_experience(log));
  add("the same setting, M4" + at_pace, errors_at_pace(log));
  for (const ErrorSummary& one : segment_errors(log)) add(one.model + " alone", one);
  add("a setting that had not been run, M4", unrun_errors(log));
  add("a setting that had not been run, M4" + at_pace, unrun_errors_at_pace(log));
  return out;
}

/// A column for each model that the first epoch has.
Json epoch_row(const LoggedEpoch& epoch, const LoggedEpoch& first) {
  Json errors = Json::array();
  for (const LoggedModel& column : first.models) {
    const auto own = std::ranges::find(epoch.models, column.model, &LoggedModel::model);
    errors.push_back(own == epoch.models.end() ? std::string("-")
                                               : error_in_words(own->seconds.middle / epoch.seconds - 1));
  }
  return Json{{"job", epoch.job.name + ": " + in_words(epoch.job.plan)},
              {"measured", seconds_text(epoch.seconds)},
              {"errors", std::move(errors)}};
}

}  // namespace

std::string epoch_log_markdown(const std::vector<LoggedEpoch>& log, const std::string& hash) {
  Json out{{"epochs", Json::array()}};
  if (log.empty()) return document("epochs.md", out);
  std::vector<double> taken, busy, steal;
  for (const LoggedEpoch& epoch : log) {
    taken.push_back(epoch.prediction_seconds);
    busy.push_back(epoch.other_busy_share);
    steal.push_back(epoch.steal_share);
    out["epochs"].push_back(epoch_row(epoch, log.front()));
  }
  out["count"] = log.size();
  out["first"] = log.front().date;
  out["last"] = log.back().date;
  out["commit"] = log.back().commit;
  out["machine"] = log.back().machine;
  out["prediction"] = seconds_text(median(taken));
  out["longest"] = seconds_text(std::ranges::max(taken));
  out["others"] = percent_text(median(busy));
  out["stolen"] = percent_text(median(steal));
  out["errors"] = error_rows(log);
  out["regret"] = regret_text(log);
  out["at_pace"] = errors_at_pace(log).epochs > 0;
  out["with_experience"] = errors_with_experience(log).epochs > 0;
  Json models = Json::array();
  for (const LoggedModel& model : log.front().models) models.push_back(model.model);
  out["models"] = std::move(models);
  out["hash"] = hash;
  return document("epochs.md", out);
}

}  // namespace assay
