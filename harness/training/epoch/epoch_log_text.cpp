#include "core/markup/escaping.hpp"
#include "core/statistics/proportion.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/figures.hpp"
#include "training/epoch/epoch_log.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay {
namespace {

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }
std::string signed_percent(double share) { return fmt::format("{:+.1f} %", 100 * share); }

std::string coverage_text(const ErrorSummary& one) {
  if (one.with_interval == 0) return "no interval";
  const Interval share = proportion(one.inside, one.with_interval);
  return fmt::format("{} of {} [{:.0f} %, {:.0f} %]", one.inside, one.with_interval, 100 * share.low,
                     100 * share.high);
}

std::string error_row(const std::string& what, const ErrorSummary& one) {
  return fmt::format("| {} | {} | {} | {} | {} | {} |\n", what, one.epochs, percent(one.median),
                     percent(one.p95), percent(one.largest), coverage_text(one));
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
  if (all.empty()) return "No job was run with several settings, so there is no regret to tell.\n";
  const std::string at_pace = regret_figures(regrets_at_pace(log));
  return fmt::format(
      "Regret, what the setting that was predicted to be fastest takes longer than the one that was: {}, "
      "over {} prediction{}{}.\n",
      regret_figures(all), all.size(), all.size() == 1 ? "" : "s",
      at_pace.empty() ? "" : "; at the pace of the epoch " + at_pace);
}

}  // namespace

std::string epoch_log_markdown(const std::vector<LoggedEpoch>& log, const std::string& hash) {
  std::vector<double> taken, busy, steal;
  for (const LoggedEpoch& epoch : log) {
    taken.push_back(epoch.prediction_seconds);
    busy.push_back(epoch.other_busy_share);
    steal.push_back(epoch.steal_share);
  }
  std::string out = "# Predicted epochs against epochs that were run\n\n";
  if (log.empty()) return out + "No epoch was run.\n";
  out += fmt::format(
      "{} whole epochs, {} to {}, commit {}, machine {}. Each was predicted from the first 2 % of its "
      "steps, or 96 of them, trained in short runs that were spread over some seconds, and the hash of the "
      "prediction was printed before the epoch began. A prediction took {} in the median, {} at most. Other "
      "processes took {} of the processors in the median, the host {}.\n\n",
      log.size(), log.front().date, log.back().date, log.back().commit, code(log.back().machine),
      seconds_text(median(taken)), seconds_text(std::ranges::max(taken)), percent_text(median(busy)),
      percent_text(median(steal)));
  out +=
      "| what was predicted | epochs | median error | p95 | largest | inside the 90 % interval |\n"
      "|---|--:|--:|--:|--:|---|\n";
  for (const ErrorSummary& one : same_setting_errors(log))
    out += error_row("the same setting, " + one.model, one);
  if (const ErrorSummary one = errors_with_experience(log); one.epochs > 0) {
    out += error_row("the same setting, M4 with the epochs before it", one);
  }
  const std::string at_pace = " at the pace of the epoch";
  if (const ErrorSummary one = errors_at_pace(log); one.epochs > 0) {
    out += error_row("the same setting, M4" + at_pace, one);
  }
  for (const ErrorSummary& one : segment_errors(log)) out += error_row(one.model + " alone", one);
  if (const ErrorSummary unrun = unrun_errors(log); unrun.epochs > 0) {
    out += error_row("a setting that had not been run, M4", unrun);
  }
  if (const ErrorSummary one = unrun_errors_at_pace(log); one.epochs > 0) {
    out += error_row("a setting that had not been run, M4" + at_pace, one);
  }
  out += "\n" + regret_text(log);
  if (errors_at_pace(log).epochs > 0) {
    out +=
        "\nAt the pace of the epoch: the machine is shared, and its pace in the epoch is not known before. "
        "These rows take all predicted times as many times as long as steps without loading took in the "
        "epoch by what they took in the calibration, so that what is left is what the model does not know "
        "of loading, start-up and cold pages. Epochs whose source waits by the clock are not among them.\n";
  }
  if (errors_with_experience(log).epochs > 0) {
    out +=
        "\nWith the epochs before it: the interval of a calibration holds the luck of its runs, not what the "
        "machine does afterwards. Here its ends are moved by as much as would have held nine of ten of the "
        "earlier epochs in the log, of any job on that machine; the first nine have no such interval.\n";
  }
  out += "\n## Every epoch\n\n| job | measured |";
  for (const LoggedModel& model : log.front().models) out += fmt::format(" {} |", model.model);
  out += "\n|---|--:|";
  for (std::size_t i = 0; i < log.front().models.size(); ++i) out += "--:|";
  out += "\n";
  for (const LoggedEpoch& epoch : log) {
    out +=
        fmt::format("| {}: {} | {} |", epoch.job.name, in_words(epoch.job.plan), seconds_text(epoch.seconds));
    for (const LoggedModel& column : log.front().models) {
      const auto own = std::ranges::find(epoch.models, column.model, &LoggedModel::model);
      out += own == epoch.models.end()
                 ? " - |"
                 : fmt::format(" {} |", signed_percent(own->seconds.middle / epoch.seconds - 1));
    }
    out += "\n";
  }
  return out + fmt::format("\nAll epochs with their predictions: FNV-1a {}\n", hash);
}

}  // namespace assay
