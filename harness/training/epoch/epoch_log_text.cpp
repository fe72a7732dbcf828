#include "core/markup/document.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/figures.hpp"
#include "training/epoch/epoch_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string coverage_text(const ErrorSummary& one) {
  if (one.with_interval == 0) return "no interval";
  const Interval share = proportion(one.inside, one.with_interval);
  return fmt::format("{} of {} [{:.0f} %, {:.0f} %]", one.inside, one.with_interval, 100 * share.low,
                     100 * share.high);
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
      "over {}{}.",
      regret_figures(all), quantity_text(std::ssize(all), "prediction"),
      at_pace.empty() ? "" : "; at the pace of the epoch " + at_pace);
}

doc::Table errors_table(const std::vector<ErrorSummary>& errors) {
  doc::Table out{.tag = "errors",
                 .columns = doc::columns("what = what was predicted; !epochs; !median = median error; !p95; "
                                         "!largest; !inside = inside the 90 % interval")};
  for (const ErrorSummary& one : errors) {
    out.rows.push_back({one.predicted, doc::count(static_cast<double>(one.epochs)), percent(one.median),
                        percent(one.p95), percent(one.largest), coverage_text(one)});
  }
  return out;
}

/// A column for each model that the first epoch has.
doc::Table epochs_table(const std::vector<LoggedEpoch>& log) {
  doc::Table out{.tag = "epochs", .columns = doc::columns("!job; !measured")};
  for (const LoggedModel& model : log.front().models)
    out.columns.push_back({.tag = model.model, .folds = false});
  for (const LoggedEpoch& epoch : log) {
    auto& row = out.rows.emplace_back();
    row = {epoch.job.name + ": " + in_words(epoch.job.plan), doc::seconds(epoch.seconds)};
    for (const LoggedModel& column : log.front().models) {
      const auto own = std::ranges::find(epoch.models, column.model, &LoggedModel::model);
      row.push_back(own == epoch.models.end() ? std::string("-")
                                              : error_text(own->seconds.middle / epoch.seconds - 1));
    }
  }
  return out;
}

double median_of(const std::vector<LoggedEpoch>& log, double LoggedEpoch::*of) {
  std::vector<double> values;
  for (const LoggedEpoch& epoch : log) values.push_back(epoch.*of);
  return median(values);
}

constexpr const char* at_pace_text =
    "At the pace of the epoch: the machine is shared, and its pace in the epoch is not known before. These "
    "rows multiply all predicted times by the time of steps without loading in the epoch over their time in "
    "the calibration. The rest is the model's own error: of loading, start-up and cold pages. Epochs whose "
    "source waits by the clock are not among them.";
constexpr const char* experience_about =
    "With the epochs before it: the interval of a calibration holds the luck of its runs, and nothing that "
    "the machine does afterwards. Here its ends are moved by as much as would have held nine of ten of the "
    "earlier epochs in the log, of any job on that machine; the first nine have no such interval.";

}  // namespace

std::string epoch_log_markdown(const std::vector<LoggedEpoch>& log, const std::string& hash) {
  doc::Document out{.title = "Predicted epochs against epochs that were run"};
  if (log.empty()) {
    out.sections = {{.blocks = {doc::Text("No epoch was run.")}}};
    return doc::to_markdown(out);
  }
  const LoggedEpoch& last = log.back();
  const std::vector<ErrorSummary> errors = errors_of(log);
  const auto about_rows = [&](std::string_view predicted, const char* text) {
    const bool any = std::ranges::find(errors, predicted, &ErrorSummary::predicted) != errors.end();
    return doc::Text(any ? text : "");
  };
  const doc::Text about =
      fmt::format("{} whole epochs, {} to {}, commit {}, machine ", log.size(), log.front().date, last.date,
                  last.commit) +
      doc::code(last.machine) +
      fmt::format(
          ". Each was predicted from the first 2 % of its steps, or 96 of them, trained in short runs that "
          "were spread over some seconds, and the hash of the prediction was printed before the epoch began. "
          "A prediction took {} in the median, {} at most. Other processes took {} of the processors in the "
          "median, the host {}.",
          seconds_text(median_of(log, &LoggedEpoch::prediction_seconds)),
          seconds_text(std::ranges::max(log, {}, &LoggedEpoch::prediction_seconds).prediction_seconds),
          percent_text(median_of(log, &LoggedEpoch::other_busy_share)),
          percent_text(median_of(log, &LoggedEpoch::steal_share)));
  out.sections = {
      {.blocks = {about, errors_table(errors), doc::Text(regret_text(log)),
                  about_rows("the same setting, M4 at the pace of the epoch", at_pace_text),
                  about_rows(with_experience, experience_about)}},
      {.title = "Every epoch",
       .blocks = {epochs_table(log), doc::Text("All epochs with their predictions: FNV-1a " + hash)}}};
  return doc::to_markdown(out);
}

}  // namespace assay
