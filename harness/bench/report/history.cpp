// Joins runs of one suite, and writes them in the forms of other tools.
#include "bench/report/history.hpp"

#include "assay/error.hpp"
#include "bench/compare/words.hpp"
#include "core/machine/clock.hpp"
#include "core/machine/fields.hpp"
#include "core/markup/document.hpp"
#include "core/text/figures.hpp"
#include "core/text/parts.hpp"
#include "core/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <map>
#include <utility>

namespace assay {
namespace {

void require_one_suite(const std::vector<NamedRun<Results>>& runs) {
  for (const NamedRun<Results>& run : runs) {
    if (run.run.suite != runs.front().run.suite) {
      throw Error(run.name,
                  fmt::format("holds suite {}, and {} holds {}", run.run.suite, runs.front().name,
                              runs.front().run.suite),
                  "give results of one suite");
    }
    if (!run.run.mixed_machines.empty())
      throw Error(run.name, "has times of several machines: " + run.run.mixed_machines, "leave it out");
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

std::pair<std::ptrdiff_t, double> order_of(const HistoryRow& row) {
  if (!row.verdict) return {-std::ssize(standings_by_weight), 0};
  const double ratio = row.verdict->ratio.middle;
  return {-static_cast<std::ptrdiff_t>(weight_of(row.verdict->standing)),
          ratio > 0 ? std::max(ratio, 1 / ratio) : 0};
}

/// The times of a trial in columns, one per run, and the trend.
std::string text_of(const HistoryRow& row) {
  constexpr std::size_t most_of_a_key = 400, column = 10, indent = 3;
  constexpr std::size_t columns = (terminal_width - indent) / column;
  const std::string_view sign = row.verdict ? mark(row.verdict->standing) : " ";
  std::string out = fmt::format("{} {}", sign, printable(row.key, most_of_a_key));
  for (std::size_t i = 0; i < row.seconds.size(); ++i) {
    if (i % columns == 0) out += "\n" + std::string(indent, ' ');
    out += fmt::format(" {:>9}", row.seconds[i] ? seconds_text(row.seconds[i]->middle) : "-");
  }
  std::string words = "  " + row.trend + (row.accepted.empty() ? "" : "; accepted: " + row.accepted);
  words = printable(words, 4 * terminal_width);
  const std::size_t used = indent + column * ((row.seconds.size() - 1) % columns + 1);
  if (used + display_width(words) <= terminal_width) return out + words + "\n";
  return out + "\n" + wrapped("  " + words, terminal_width, "      ") + "\n";
}

constexpr double nanoseconds = 1e9;

/// Label values as OpenMetrics escapes them.
std::string label(const std::string& text) {
  return spelled(text, {{'\n', "\\n"}, {'"', "\\\""}, {'\\', "\\\\"}});
}

}  // namespace

History history_of(std::vector<NamedRun<Results>> runs, const GatePolicy& policy,
                   const std::vector<Acceptance>& acceptances) {
  require_one_suite(runs);
  std::ranges::stable_sort(runs, {}, [](const NamedRun<Results>& run) { return run.run.date; });
  History out{.suite = runs.front().run.suite};
  std::vector<std::string> keys;
  std::map<std::string_view, std::vector<std::optional<Interval>>> times;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Results& results = runs[i].run;
    HistoryRun run{
        .file = runs[i].name, .date = results.date, .commit = results.commit, .machine = results.machine.key};
    if (i > 0) {
      run.changes = differences(runs[i - 1].run.machine.facts, results.machine.facts, /*deciding_only=*/true);
      if (!run.changes.empty()) out.compared_from = i;
    }
    out.runs.push_back(std::move(run));
    for (const TrialResult& trial : results.trials) {
      if (!is_measured(trial)) continue;
      auto& of_runs = times[trial.key];
      if (of_runs.empty()) keys.push_back(trial.key);
      of_runs.resize(runs.size());
      of_runs[i] = time_of(trial);
    }
  }
  const Comparison comparison = compare(runs[out.compared_from].run, runs.back().run, policy);
  std::map<std::string_view, const ComparedRow*> verdicts;
  for (const ComparedRow& verdict : comparison.rows) verdicts.emplace(verdict.key, &verdict);
  for (const std::string& key : keys) {
    HistoryRow row{.key = key, .seconds = times.at(key), .accepted = accepted_text(key, acceptances)};
    if (out.compared_from + 1 == runs.size()) {
      row.trend = "one run since the machine changed";
    } else if (const auto found = verdicts.find(key); found != verdicts.end()) {
      row.verdict = *found->second;
      row.trend = in_words(*row.verdict);
    }
    out.rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(out.rows, std::greater{}, order_of);
  return out;
}

std::string to_text(const History& history) {
  std::string out;
  const auto add = [&](const std::string& line) {
    out += wrapped(printable(line, 4 * terminal_width), terminal_width, "    ") + "\n";
  };
  for (const HistoryRun& run : history.runs) {
    for (const std::string& change : run.changes) add(fmt::format("changed before {}: {}", run.date, change));
    add(fmt::format("{}  {}  {}", run.date, run.commit, run.machine));
  }
  std::size_t slower = 0;
  for (auto row = history.rows.rbegin(); row != history.rows.rend(); ++row) {
    if (row->verdict && row->verdict->standing == Standing::slower) ++slower;
    out += text_of(*row);
  }
  add(fmt::format("HISTORY: {} trials in {} runs, {} slower than in the first on this machine",
                  history.rows.size(), history.runs.size(), slower));
  return out;
}

std::string to_markdown(const History& history) {
  doc::Table runs{.columns = doc::columns("run; !date; !commit; machine; !file")};
  doc::Table rows{.columns = doc::columns("trial")};
  doc::Document out{.title = "History of suite " + doc::code(history.suite), .sections = {doc::Section{}}};
  std::vector<doc::Block>& blocks = out.sections[0].blocks;
  for (std::size_t i = 0; i < history.runs.size(); ++i) {
    const HistoryRun& run = history.runs[i];
    runs.rows.push_back({doc::count(static_cast<double>(i + 1)), run.date, doc::code(run.commit),
                         doc::code(run.machine), doc::code(run.file)});
    rows.columns.push_back({.tag = fmt::format("run {}", i + 1), .unit = "s", .folds = false});
  }
  blocks.push_back(std::move(runs));
  for (std::size_t i = 0; i < history.runs.size(); ++i) {
    if (history.runs[i].changes.empty()) continue;
    blocks.push_back(fmt::format(
        "Before run {} the machine or the build changed, so that times on either side are not compared:",
        i + 1));
    blocks.push_back(doc::list_of(history.runs[i].changes));
  }
  blocks.push_back(
      fmt::format("The trend compares the last run with run {}, the first since the machine changed. "
                  "Slower trials come first.",
                  history.compared_from + 1));
  rows.columns.insert(rows.columns.end(), {{.tag = "trend", .folds = false}, {.tag = "accepted"}});
  for (const HistoryRow& row : history.rows) {
    auto& cells = rows.rows.emplace_back(std::vector<doc::Text>{doc::code(row.key)});
    for (const auto& seconds : row.seconds)
      cells.push_back(seconds ? doc::Text(doc::seconds(*seconds)) : "-");
    cells.insert(cells.end(), {row.trend, row.accepted});
  }
  blocks.push_back(std::move(rows));
  return to_markdown(out);
}

void describe(Fields& f, HistoryRun& run) {
  ASSAY_FIELDS(f, run, file, date, commit, machine);
  f("changes", run.changes, {.about = "deciding facts that differ from those of the run before"});
}

void describe(Fields& f, HistoryRow& row) {
  f("key", row.key);
  std::vector<TimeOfRun> times;
  for (std::size_t i = 0; i < row.seconds.size(); ++i) {
    if (row.seconds[i]) times.push_back({i, *row.seconds[i]});
  }
  f("times", times, {.about = "of the runs in which it was measured"});
  f.derived("standing", std::string(row.verdict ? to_string(row.verdict->standing) : ""));
  f("trend", row.trend);
  f("accepted", row.accepted, {.terse = true});
}

void describe(Fields& f, History& history) {
  f.schema("assay.history/1");
  ASSAY_FIELDS(f, history, suite, runs);
  f("compared_from", history.compared_from, {.about = "the first run since the machine changed, from 0"});
  f("rows", history.rows);
}

std::string history_csv(const History& history) {
  doc::Table out{.columns = doc::columns("time; commit; machine")};
  for (const HistoryRow& row : history.rows) out.columns.push_back({.tag = row.key});
  for (std::size_t i = 0; i < history.runs.size(); ++i) {
    const HistoryRun& run = history.runs[i];
    auto& cells = out.rows.emplace_back(std::vector<doc::Text>{run.date, run.commit, run.machine});
    for (const HistoryRow& row : history.rows)
      cells.push_back(row.seconds[i] ? doc::Text(doc::seconds(row.seconds[i]->middle)) : doc::Text());
  }
  return doc::to_csv(out);
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
      std::tm date{};
      const bool is_dated = strptime(run.date.c_str(), "%Y-%m-%dT%H:%M:%S", &date) != nullptr;
      out += fmt::format("assay_call_seconds{{key=\"{}\",suite=\"{}\",machine=\"{}\"}} {:.9g}{}\n",
                         label(row.key), label(history.suite), label(run.machine), row.seconds[i]->middle,
                         is_dated ? fmt::format(" {}", timegm(&date)) : "");
    }
  }
  return out + "# EOF\n";
}

}  // namespace assay
