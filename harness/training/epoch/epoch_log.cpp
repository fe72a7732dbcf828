#include "training/epoch/epoch_log.hpp"

#include "core/json/json.hpp"
#include "core/statistics/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <tuple>

namespace assay {
namespace {

LoaderSetting setting_of(const TrainingPlan& plan) {
  return {plan.workers, plan.workers == 0 ? 1 : plan.prefetch};
}

/// Returns the part of a job that all its settings share.
std::string family_of(const LoggedEpoch& epoch) {
  TrainingJob job = epoch.job;
  job.name.clear();
  job.plan.workers = 0;
  job.plan.prefetch = 1;
  return to_json(job);
}

ErrorSummary summary_of(std::string model, const std::vector<double>& errors) {
  ErrorSummary out{.model = std::move(model), .epochs = errors.size()};
  if (errors.empty()) return out;
  out.median = median(errors);
  out.p95 = quantile(errors, 0.95);
  out.largest = std::ranges::max(errors);
  return out;
}

/// Errors of predictions by name, each against what was measured.
class Errors {
 public:
  void add(const std::string& name, const Interval& predicted, double measured) {
    errors_[name].push_back(std::abs(predicted.middle / measured - 1));
    if (!(predicted.low < predicted.high) || predicted.coverage <= 0) return;
    auto& [with, inside] = coverage_[name];
    ++with;
    if (predicted.low <= measured && measured <= predicted.high) ++inside;
  }
  std::vector<ErrorSummary> summaries() {
    std::vector<ErrorSummary> out;
    for (const auto& [name, values] : errors_) {
      out.push_back(summary_of(name, values));
      std::tie(out.back().with_interval, out.back().inside) = coverage_[name];
    }
    return out;
  }

 private:
  std::map<std::string, std::vector<double>> errors_;
  std::map<std::string, std::pair<std::size_t, std::size_t>> coverage_;
};

using Family = std::vector<const LoggedEpoch*>;

std::map<std::string, Family> families(const std::vector<LoggedEpoch>& log) {
  std::map<std::string, Family> out;
  for (const LoggedEpoch& epoch : log) out[family_of(epoch)].push_back(&epoch);
  return out;
}

/// Returns the seconds of an epoch, as they are or divided by those of a step in it; 0 where that is not
/// known.
using Taken = double (*)(const LoggedEpoch&);
double in_seconds(const LoggedEpoch& epoch) { return epoch.seconds; }

/// The delay of a slow source is one of the clock: it goes with no pace of the machine.
bool goes_with_the_machine(const LoggedEpoch& epoch) { return epoch.job.plan.batch_delay == 0; }

double at_pace(const LoggedEpoch& epoch) {
  return epoch.measured_step > 0 && goes_with_the_machine(epoch) ? epoch.seconds / epoch.measured_step : 0;
}

/// Median over the epochs of a setting; 0 without any.
double measured(const Family& family, const LoaderSetting& setting, Taken taken = in_seconds) {
  std::vector<double> all;
  for (const LoggedEpoch* epoch : family) {
    if (setting_of(epoch->job.plan) == setting && taken(*epoch) > 0) all.push_back(taken(*epoch));
  }
  return all.empty() ? 0 : median(all);
}

std::vector<Regret> regrets_of(const std::vector<LoggedEpoch>& log, Taken taken) {
  std::vector<Regret> out;
  for (const auto& [name, family] : families(log)) {
    for (const LoggedEpoch* from : family) {
      const Elsewhere* recommended = nullptr;
      double best = 0;
      LoaderSetting fastest;
      std::size_t known = 0;
      for (const Elsewhere& one : from->elsewhere) {
        const double time = measured(family, one.setting, taken);
        if (time <= 0) continue;
        ++known;
        if (recommended == nullptr || one.seconds < recommended->seconds) recommended = &one;
        if (best == 0 || time < best) {
          best = time;
          fastest = one.setting;
        }
      }
      if (known < 2) continue;
      out.push_back({from->job.name, recommended->setting, fastest,
                     measured(family, recommended->setting, taken) / best - 1});
    }
  }
  return out;
}

/// Visits each prediction for a setting that is not its epoch's own.
template <class Visit>
void each_unrun(const std::vector<LoggedEpoch>& log, Visit visit) {
  for (const auto& [name, family] : families(log)) {
    for (const LoggedEpoch* from : family) {
      for (const Elsewhere& one : from->elsewhere) {
        if (!(one.setting == setting_of(from->job.plan))) visit(family, *from, one);
      }
    }
  }
}

/// Returns how much slower the machine was in that epoch than when it was predicted; 0 where nobody said.
double pace_of(const LoggedEpoch& predicted, const LoggedEpoch& run) {
  return predicted.predicted_step > 0 && goes_with_the_machine(run)
             ? run.measured_step / predicted.predicted_step
             : 0;
}

Interval logged_interval(const JsonField& field, const char* middle) {
  return {field.at("low").number(), field.at(middle).number(), field.at("high").number(),
          field.at("coverage").number()};
}

}  // namespace

std::string to_line(const LoggedEpoch& epoch) {
  Json models = Json::array(), segments = Json::array(), others = Json::array();
  for (const LoggedModel& one : epoch.models) {
    models.push_back({{"model", one.model},
                      {"seconds", one.seconds.middle},
                      {"low", one.seconds.low},
                      {"high", one.seconds.high},
                      {"coverage", one.seconds.coverage}});
  }
  for (const LoggedSegment& one : epoch.segments) {
    segments.push_back({{"segment", one.name},
                        {"predicted_seconds", one.predicted.middle},
                        {"low", one.predicted.low},
                        {"high", one.predicted.high},
                        {"coverage", one.predicted.coverage},
                        {"seconds", one.seconds}});
  }
  for (const Elsewhere& one : epoch.elsewhere) {
    others.push_back(
        {{"workers", one.setting.workers}, {"prefetch", one.setting.prefetch}, {"seconds", one.seconds}});
  }
  return Json({{"schema", epoch_log_schema},
               {"job", parse_json(to_json(epoch.job), "job")},
               {"date", epoch.date},
               {"commit", epoch.commit},
               {"machine", epoch.machine},
               {"frozen", epoch.frozen},
               {"seconds", epoch.seconds},
               {"prediction_seconds", epoch.prediction_seconds},
               {"predicted_step_seconds", epoch.predicted_step},
               {"measured_step_seconds", epoch.measured_step},
               {"other_busy_share", epoch.other_busy_share},
               {"steal_share", epoch.steal_share},
               {"experience",
                {{"epochs", epoch.experience.epochs},
                 {"seconds", epoch.experience.seconds.middle},
                 {"low", epoch.experience.seconds.low},
                 {"high", epoch.experience.seconds.high},
                 {"coverage", epoch.experience.seconds.coverage}}},
               {"models", models},
               {"segments", segments},
               {"elsewhere", others}})
      .dump();
}

std::vector<LoggedEpoch> epoch_log_from(const std::string& text, const std::string& where) {
  std::vector<LoggedEpoch> out;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty()) continue;
    const std::string place = fmt::format("{}, line {}", where, number);
    const Json value = parse_json(line, place);
    const JsonField field(value, place, "`assay epoch --log` writes such lines");
    require_schema(field, epoch_log_schema);
    LoggedEpoch& epoch = out.emplace_back();
    epoch.job = training_job_from_json(field.at("job").value().dump(), place);
    epoch.date = field.at("date").text();
    epoch.commit = field.at("commit").text();
    epoch.machine = field.at("machine").text();
    epoch.frozen = field.at("frozen").text();
    epoch.seconds = field.at("seconds").number();
    if (!(epoch.seconds > 0)) field.at("seconds").refuse("is no time");
    epoch.prediction_seconds = field.at("prediction_seconds").number();
    // Lines from before the pace was kept have none.
    if (const auto step = field.find("predicted_step_seconds")) epoch.predicted_step = step->number();
    if (const auto step = field.find("measured_step_seconds")) epoch.measured_step = step->number();
    // Lines from before earlier epochs were asked have none.
    if (const auto earlier = field.find("experience")) {
      epoch.experience.epochs = static_cast<std::size_t>(earlier->at("epochs").integer(0, 1'000'000'000));
      epoch.experience.seconds = logged_interval(*earlier, "seconds");
    }
    epoch.other_busy_share = field.at("other_busy_share").number();
    epoch.steal_share = field.at("steal_share").number();
    for (const JsonField& one : field.at("models").items()) {
      epoch.models.push_back({one.at("model").text(), logged_interval(one, "seconds")});
    }
    // Lines from before jobs had any have none.
    if (const auto segments = field.find("segments")) {
      for (const JsonField& one : segments->items()) {
        epoch.segments.push_back({one.at("segment").text(), logged_interval(one, "predicted_seconds"),
                                  one.at("seconds").number()});
        if (!(epoch.segments.back().seconds > 0)) one.at("seconds").refuse("is no time");
      }
    }
    for (const JsonField& one : field.at("elsewhere").items()) {
      epoch.elsewhere.push_back({{one.at("workers").integer(0, 4096), one.at("prefetch").integer(1, 4096)},
                                 one.at("seconds").number()});
    }
  }
  return out;
}

std::vector<ErrorSummary> same_setting_errors(const std::vector<LoggedEpoch>& log) {
  Errors errors;
  for (const LoggedEpoch& epoch : log) {
    for (const LoggedModel& one : epoch.models) errors.add(one.model, one.seconds, epoch.seconds);
  }
  return errors.summaries();
}

std::vector<double> earlier_errors(const std::vector<LoggedEpoch>& log, const std::string& machine,
                                   std::string_view model) {
  std::vector<double> out;
  for (const LoggedEpoch& epoch : log) {
    const auto one = std::ranges::find(epoch.models, model, &LoggedModel::model);
    if (epoch.machine == machine && one != epoch.models.end())
      out.push_back(beyond(one->seconds, epoch.seconds));
  }
  return out;
}

ErrorSummary errors_with_experience(const std::vector<LoggedEpoch>& log) {
  Errors errors;
  for (const LoggedEpoch& epoch : log) {
    if (epoch.experience.seconds.coverage > 0) errors.add("M4", epoch.experience.seconds, epoch.seconds);
  }
  const auto all = errors.summaries();
  return all.empty() ? ErrorSummary{} : all.front();
}

ErrorSummary errors_at_pace(const std::vector<LoggedEpoch>& log) {
  std::vector<double> errors;
  for (const LoggedEpoch& epoch : log) {
    const auto m4 = std::ranges::find(epoch.models, "M4", &LoggedModel::model);
    const double pace = pace_of(epoch, epoch);
    if (m4 == epoch.models.end() || pace <= 0) continue;
    errors.push_back(std::abs(pace * m4->seconds.middle / epoch.seconds - 1));
  }
  return summary_of("M4", errors);
}

std::vector<ErrorSummary> segment_errors(const std::vector<LoggedEpoch>& log) {
  Errors errors;
  for (const LoggedEpoch& epoch : log) {
    for (const LoggedSegment& one : epoch.segments) errors.add(one.name, one.predicted, one.seconds);
  }
  return errors.summaries();
}

ErrorSummary unrun_errors(const std::vector<LoggedEpoch>& log) {
  std::vector<double> errors;
  each_unrun(log, [&](const Family& family, const LoggedEpoch&, const Elsewhere& one) {
    const double seconds = measured(family, one.setting);
    if (seconds > 0) errors.push_back(std::abs(one.seconds / seconds - 1));
  });
  return summary_of("M4", errors);
}

ErrorSummary unrun_errors_at_pace(const std::vector<LoggedEpoch>& log) {
  std::vector<double> errors;
  each_unrun(log, [&](const Family& family, const LoggedEpoch& from, const Elsewhere& one) {
    for (const LoggedEpoch* run : family) {
      const double pace = pace_of(from, *run);
      if (!(setting_of(run->job.plan) == one.setting) || pace <= 0) continue;
      errors.push_back(std::abs(pace * one.seconds / run->seconds - 1));
    }
  });
  return summary_of("M4", errors);
}

std::vector<Regret> regrets(const std::vector<LoggedEpoch>& log) { return regrets_of(log, in_seconds); }
std::vector<Regret> regrets_at_pace(const std::vector<LoggedEpoch>& log) { return regrets_of(log, at_pace); }

}  // namespace assay
