#include "bench/tune/variable_record.hpp"

#include "bench/compare/row_text.hpp"
#include "core/json/fields.hpp"
#include "core/machine/record.hpp"
#include "core/markup/template.hpp"
#include "core/text/figures.hpp"
#include "core/text/wrapped.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>

namespace assay {
namespace {

std::string verdict_of(const VariableRecord& record, std::size_t i) {
  if (!record.attempts[i].left_out.empty()) return "LEFT OUT";
  const ValueRuling& ruling = record.ruling.attempts[i];
  return fmt::format("{}{}", to_string(ruling.decision), ruling.tied_with_best ? " =" : "");
}

bool has_ratio(const VariableRecord& record, std::size_t i) { return i > 0 && record.attempts[i].measured(); }

std::string decision_sentence(const VariableRecord& record) {
  const VariableRuling& ruling = record.ruling;
  const std::string& usual = record.attempts.front().reported;
  if (ruling.chosen == 0) {
    return fmt::format("Keep the default, which uses {}: no {} tried is faster by more than {}.", usual,
                       record.variable.value, percent_text(change_that_matters));
  }
  return fmt::format("Set {}={}: {} than the default, which uses {}; {}.", record.variable.name,
                     record.attempts[ruling.chosen].value,
                     change_text(ruling.attempts[ruling.chosen].ratio), usual, ruling.ties);
}

// Attempts as files hold them.
struct TrialRatio {
  std::string key;
  Interval ratio;
};
struct AttemptRow {
  std::optional<std::string> value;
  std::string reported, decision;
  ValueRuling ruling;
  bool has_ratio = false;
  std::vector<TrialRatio> trials;
};

void describe(Fields& f, TrialRatio& one) {
  f("key", one.key);
  f.derived("ratio", triple(one.ratio));
}

void describe(Fields& f, AttemptRow& row) {
  f("value", row.value, {.null = true, .about = "null: the default"});
  f("reported", row.reported, {.about = "what is said to be used then: the core of OpenBLAS, or sizes of caches"});
  f("decision", row.decision);
  f("why", row.ruling.why);
  f("tied_with_best", row.ruling.tied_with_best);
  if (f.writes() && !row.has_ratio) return;
  constexpr Fields::Rule if_measured{.optional = true};
  f.derived("ratio", triple(row.ruling.ratio), {.about = "low, middle, high, against the default"});
  f("coverage", row.ruling.ratio.coverage, if_measured);
  f("trials", row.trials, if_measured);
}

AttemptRow row_of(const VariableRecord& record, std::size_t i) {
  const ValueAttempt& attempt = record.attempts[i];
  AttemptRow out{.reported = attempt.reported,
                 .decision = "LEFT OUT",
                 .ruling = record.ruling.attempts[i],
                 .has_ratio = has_ratio(record, i)};
  if (!attempt.value.empty()) out.value = attempt.value;
  if (attempt.left_out.empty()) out.decision = to_string(out.ruling.decision);
  if (!out.has_ratio) return out;
  for (std::size_t t = 0; t < out.ruling.trials.size(); ++t) {
    out.trials.push_back({attempt.trials[t].trial.key, out.ruling.trials[t]});
  }
  return out;
}

}  // namespace

std::string variable_text(const VariableRecord& record) {
  std::string out = fmt::format("{:<16} {:<16} {:<28} {}\n", record.variable.value, "reported", "time", "verdict");
  for (std::size_t i = 0; i < record.attempts.size(); ++i) {
    const ValueAttempt& attempt = record.attempts[i];
    const ValueRuling& ruling = record.ruling.attempts[i];
    out += fmt::format("{:<16} {:<16} {:<28} {}\n", name_of(attempt), printable(attempt.reported, 16),
                       has_ratio(record, i) ? change_text(ruling.ratio) : "", verdict_of(record, i));
    if (i > 0 && !attempt.measured()) out += wrapped("  " + ruling.why, terminal_width) + "\n";
    for (std::size_t t = 0; has_ratio(record, i) && t < ruling.trials.size(); ++t) {
      out += fmt::format("  {:<46} {}\n", printable(attempt.trials[t].trial.key, 46),
                         change_text(ruling.trials[t]));
    }
  }
  out += fmt::format("{:<33} {}\n", "control: the default once more", change_text(record.ruling.control));
  for (const std::string& line : record.not_here) out += wrapped("not here: " + line, terminal_width) + "\n";
  return out + "= cannot be told from the fastest\n" + wrapped(decision_sentence(record), terminal_width) +
         "\n";
}

std::string variable_markdown(const VariableRecord& record) {
  const auto& attempts = record.attempts;
  const std::vector<ValueRuling>& rulings = record.ruling.attempts;
  Json out = record_values(record.date, record.commit, record.machine, record.weather, record.command);
  out["suite"] = record.suite;
  out["reason"] = decision_sentence(record);
  out["title"] = record.variable.title;
  out["variable"] = record.variable.name;
  out["value"] = record.variable.value;
  out["advice"] = record.variable.advice;
  out["library"] = record.about;
  out["rounds"] = rounds_of(attempts);
  const std::size_t trial_count = attempts.front().trials.size();
  out["trial_count"] = fmt::format("{} trial{}", trial_count, trial_count == 1 ? "" : "s");
  out["control_text"] = change_text(record.ruling.control);
  out["not_here"] = record.not_here;
  Json rows = Json::array(), tried = Json::array(), compared = Json::array(), rejected = Json::array();
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    Json row{{"number", i},
             {"name", name_of(attempts[i])},
             {"reported", attempts[i].reported},
             {"change", has_ratio(record, i) ? change_text(rulings[i].ratio) : "-"},
             {"verdict", verdict_of(record, i)},
             {"why", rulings[i].why}};
    if (i > 0) tried.push_back(row);
    if (has_ratio(record, i)) compared.push_back(attempts[i].value);
    const bool lost = has_ratio(record, i) && rulings[i].decision == Decision::reject;
    if (i > 0 && (lost || !attempts[i].wrong.empty())) rejected.push_back(row);
    rows.push_back(std::move(row));
  }
  Json trials = Json::array();
  for (std::size_t t = 0; t < trial_count; ++t) {
    Json changes = Json::array();
    for (std::size_t i = 1; i < attempts.size(); ++i) {
      if (has_ratio(record, i)) changes.push_back(change_text(rulings[i].trials[t]));
    }
    trials.push_back(Json{{"key", attempts.front().trials[t].trial.key}, {"changes", std::move(changes)}});
  }
  out["rows"] = std::move(rows);
  out["tried"] = std::move(tried);
  out["compared"] = std::move(compared);
  out["rejected"] = std::move(rejected);
  out["trials"] = std::move(trials);
  return document("tune_variable.md", out);
}

void describe(Fields& f, VariableRecord& record) {
  std::map<std::string, std::string> environment;
  std::vector<AttemptRow> attempts;
  std::string reason;
  std::size_t rounds = 0;
  if (f.writes()) {
    const std::string& chosen = record.attempts[record.ruling.chosen].value;
    if (!chosen.empty()) environment.emplace(record.variable.name, chosen);
    for (std::size_t i = 0; i < record.attempts.size(); ++i) attempts.push_back(row_of(record, i));
    reason = decision_sentence(record);
    rounds = rounds_of(record.attempts);
  }
  f.schema("assay.variable/1");
  f("environment", environment, {.about = "to be set; empty keeps the default"});
  f("reason", reason);
  f("suite", record.suite);
  f("about", record.about, {.about = "what reads the variable, in its own words"});
  f("machine", record.machine.key);
  f("date", record.date);
  f("commit", record.commit);
  f("command", record.command);
  f("rounds", rounds);
  f.derived("control", triple(record.ruling.control), {.about = "the default against itself"});
  f("attempts", attempts);
  f("not_here", record.not_here);
}

std::string to_json(const VariableRecord& record) { return json_text(to_value(record)); }

}  // namespace assay
