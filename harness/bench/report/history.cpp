// Joins runs of one suite, and writes them in the forms of other tools.
#include "bench/report/history.hpp"

#include "assay/error.hpp"
#include "bench/ledger/date.hpp"
#include "core/json/fields.hpp"
#include "core/machine/fields.hpp"
#include "core/markup/template.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>

namespace assay {
namespace {

void require_one_suite(const std::vector<NamedResults>& runs) {
  for (const NamedResults& run : runs) {
    if (run.results.suite != runs.front().results.suite) {
      throw Error(run.file,
                  fmt::format("holds suite {}, and {} holds {}", run.results.suite, runs.front().file,
                              runs.front().results.suite),
                  "give results of one suite");
    }
    if (!run.results.mixed_machines.empty())
      throw Error(run.file, "has times of several machines: " + run.results.mixed_machines, "leave it out");
  }
}

std::string accepted_text(const std::string& key, const std::vector<Acceptance>& acceptances) {
  const auto found = std::ranges::find_if(
      acceptances, [&](const Acceptance& one) { return one.key == key && one.figure.empty(); });
  if (found == acceptances.end()) return "";
  return fmt::format("{} times as long until {}: {}", figure(found->ratio), date_text(found->until),
                     found->reason);
}

/// A time as files hold it.
struct TimeOfRun {
  std::size_t run = 0;
  Interval seconds;
};

void describe(Fields& f, TimeOfRun& one) {
  f("run", one.run, {.about = "its place among the runs, from 0"});
  f("seconds", one.seconds);
}

/// What is slower comes first.
int place_of(const HistoryRow& row) {
  return row.standing == to_string(Standing::slower)   ? 0
         : row.standing == to_string(Standing::faster) ? 2
                                                       : 1;
}

constexpr double nanoseconds = 1e9;

std::string csv_cell(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

/// Label values as OpenMetrics escapes them.
std::string label(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

/// Seconds since 1970 of `2026-11-26T15:06:21Z`; nothing for what is no such text.
std::optional<std::int64_t> unix_seconds(const std::string& date) {
  const std::size_t end_of_day = date.find('T');
  const std::optional<Date> day = date_from(std::string_view(date).substr(0, end_of_day));
  unsigned hour = 0, minute = 0, second = 0;
  if (!day || end_of_day == std::string::npos ||
      std::sscanf(date.c_str() + end_of_day, "T%u:%u:%uZ", &hour, &minute, &second) != 3) {
    return std::nullopt;
  }
  return std::int64_t{day->time_since_epoch().count()} * 86400 + hour * 3600 + minute * 60 + second;
}

}  // namespace

History history_of(std::vector<NamedResults> runs, const GatePolicy& policy,
                   const std::vector<Acceptance>& acceptances) {
  require_one_suite(runs);
  std::ranges::stable_sort(runs, {}, [](const NamedResults& run) { return run.results.date; });
  History out{.suite = runs.front().results.suite};
  std::vector<std::string> keys;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Results& results = runs[i].results;
    HistoryRun run{
        .file = runs[i].file, .date = results.date, .commit = results.commit, .machine = results.machine.key};
    if (i > 0) {
      run.changes =
          differences(runs[i - 1].results.machine.facts, results.machine.facts, /*deciding_only=*/true);
      if (!run.changes.empty()) out.compared_from = i;
    }
    out.runs.push_back(std::move(run));
    for (const TrialResult& trial : results.trials) {
      if (is_measured(trial) && seen.insert(trial.key).second) keys.push_back(trial.key);
    }
  }
  const Comparison comparison = compare(runs[out.compared_from].results, runs.back().results, policy);
  for (const std::string& key : keys) {
    HistoryRow row{.key = key, .accepted = accepted_text(key, acceptances)};
    for (const NamedResults& run : runs) {
      const auto trial = std::ranges::find(run.results.trials, key, &TrialResult::key);
      const bool has_time = trial != run.results.trials.end() && is_measured(*trial);
      row.seconds.push_back(has_time ? std::optional(time_of(*trial)) : std::nullopt);
    }
    const auto verdict = std::ranges::find(comparison.verdicts, key, &Verdict::key);
    if (out.compared_from + 1 == runs.size()) {
      row.trend = "one run since the machine changed";
    } else if (verdict != comparison.verdicts.end()) {
      row.standing = to_string(verdict->standing);
      row.trend = in_words(*verdict);
    }
    out.rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(out.rows, {}, place_of);
  return out;
}

std::string to_text(const History& history) {
  std::string out;
  for (const HistoryRun& run : history.runs) {
    for (const std::string& change : run.changes)
      out += fmt::format("changed before {}: {}\n", run.date, change);
    out += fmt::format("{}  {}  {}\n", run.date, run.commit, run.machine);
  }
  std::size_t slower = 0;
  for (const HistoryRow& row : history.rows) {
    if (row.standing == to_string(Standing::slower)) ++slower;
    out += fmt::format("{}\n  ", row.key);
    for (const auto& seconds : row.seconds)
      out += fmt::format(" {}", seconds ? seconds_text(seconds->middle) : "-");
    out += fmt::format("  {}{}\n", row.trend, row.accepted.empty() ? "" : "; accepted: " + row.accepted);
  }
  return out + fmt::format("HISTORY: {} trials in {} runs, {} slower than in the first on this machine\n",
                           history.rows.size(), history.runs.size(), slower);
}

std::string to_markdown(const History& history) {
  Json runs = Json::array(), rows = Json::array();
  for (std::size_t i = 0; i < history.runs.size(); ++i) {
    const HistoryRun& run = history.runs[i];
    runs.push_back(Json{{"number", fmt::format("{}", i + 1)},
                        {"file", run.file},
                        {"date", run.date},
                        {"commit", run.commit},
                        {"machine", run.machine},
                        {"changes", run.changes}});
  }
  for (const HistoryRow& row : history.rows) {
    Json times = Json::array();
    for (const auto& seconds : row.seconds) times.push_back(seconds ? seconds_text(*seconds) : "-");
    rows.push_back(Json{
        {"key", row.key}, {"times", std::move(times)}, {"trend", row.trend}, {"accepted", row.accepted}});
  }
  return document("history.md", Json{{"suite", history.suite},
                                     {"compared_from", fmt::format("{}", history.compared_from + 1)},
                                     {"runs", std::move(runs)},
                                     {"rows", std::move(rows)}});
}

// Beside the types, where argument-dependent lookup finds them.
void describe(Fields& f, HistoryRun& run) {
  f("file", run.file);
  f("date", run.date);
  f("commit", run.commit);
  f("machine", run.machine);
  f("changes", run.changes, {.about = "deciding facts that differ from those of the run before"});
}

void describe(Fields& f, HistoryRow& row) {
  f("key", row.key);
  std::vector<TimeOfRun> times;
  for (std::size_t i = 0; i < row.seconds.size(); ++i) {
    if (row.seconds[i]) times.push_back({i, *row.seconds[i]});
  }
  f("times", times, {.about = "of the runs in which it was measured"});
  f("standing", row.standing);
  f("trend", row.trend);
  f("accepted", row.accepted, {.terse = true});
}

void describe(Fields& f, History& history) {
  f.schema("assay.history/1");
  f("suite", history.suite);
  f("runs", history.runs);
  f("compared_from", history.compared_from, {.about = "the first run since the machine changed, from 0"});
  f("rows", history.rows);
}

std::string to_json(const History& history) { return json_text(to_value(history)); }

std::string history_csv(const History& history) {
  std::string out = "time,commit,machine";
  for (const HistoryRow& row : history.rows) out += "," + csv_cell(row.key);
  out += "\n";
  for (std::size_t i = 0; i < history.runs.size(); ++i) {
    const HistoryRun& run = history.runs[i];
    out += fmt::format("{},{},{}", csv_cell(run.date), csv_cell(run.commit), csv_cell(run.machine));
    for (const HistoryRow& row : history.rows)
      out += row.seconds[i] ? fmt::format(",{:.9g}", row.seconds[i]->middle) : std::string(",");
    out += "\n";
  }
  return out;
}

std::string history_bencher(const History& history) {
  Json::Object members;
  for (const HistoryRow& row : history.rows) {
    const std::optional<Interval>& last = row.seconds.back();
    if (!last) continue;
    members.emplace_back(row.key, Json{{"latency", Json{{"value", nanoseconds * last->middle},
                                                        {"lower_value", nanoseconds * last->low},
                                                        {"upper_value", nanoseconds * last->high}}}});
  }
  return json_text(Json::object(std::move(members))) + "\n";
}

std::string history_github_action_benchmark(const History& history) {
  Json out = Json::array();
  for (const HistoryRow& row : history.rows) {
    const std::optional<Interval>& last = row.seconds.back();
    if (!last) continue;
    out.push_back(
        Json{{"name", row.key},
             {"unit", "ns"},
             {"value", nanoseconds * last->middle},
             {"range", fmt::format("{:.6g} to {:.6g}", nanoseconds * last->low, nanoseconds * last->high)},
             {"extra", fmt::format("{} on {}", history.runs.back().commit, history.runs.back().machine)}});
  }
  return json_text(out) + "\n";
}

std::string history_openmetrics(const History& history) {
  std::string out =
      "# HELP assay_call_seconds Median seconds of a call.\n# TYPE assay_call_seconds gauge\n# UNIT "
      "assay_call_seconds seconds\n";
  for (const HistoryRow& row : history.rows) {
    for (std::size_t i = 0; i < history.runs.size(); ++i) {
      if (!row.seconds[i]) continue;
      const HistoryRun& run = history.runs[i];
      const std::optional<std::int64_t> when = unix_seconds(run.date);
      out += fmt::format("assay_call_seconds{{key=\"{}\",suite=\"{}\",machine=\"{}\"}} {:.9g}{}\n",
                         label(row.key), label(history.suite), label(run.machine), row.seconds[i]->middle,
                         when ? fmt::format(" {}", *when) : "");
    }
  }
  return out + "# EOF\n";
}

}  // namespace assay
