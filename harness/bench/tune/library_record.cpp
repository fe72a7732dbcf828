#include "bench/tune/library_record.hpp"

#include "bench/compare/row_text.hpp"
#include "core/json/fields.hpp"
#include "core/machine/record.hpp"
#include "core/markup/escaping.hpp"
#include "core/text/figures.hpp"
#include "core/text/wrapped.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>

namespace assay {
namespace {

std::string verdict_of(const LibraryRecord& record, std::size_t i) {
  if (!record.attempts[i].left_out.empty()) return "LEFT OUT";
  const CoreRuling& ruling = record.ruling.attempts[i];
  return fmt::format("{}{}", to_string(ruling.decision), ruling.tied_with_best ? " =" : "");
}

bool has_ratio(const LibraryRecord& record, std::size_t i) { return i > 0 && record.attempts[i].measured(); }

std::string decision_sentence(const LibraryRecord& record) {
  const LibraryRuling& ruling = record.ruling;
  const std::string& usual = record.attempts.front().reported;
  if (ruling.chosen == 0) {
    return fmt::format("Keep the default, which uses {}: no core type tried is faster by more than {}.",
                       usual, percent_text(change_that_matters));
  }
  return fmt::format("Set {}={}: {} in time against the default, which uses {}; {}.", core_type_variable,
                     record.attempts[ruling.chosen].core_type,
                     change_text(ruling.attempts[ruling.chosen].ratio), usual, ruling.ties);
}

std::string attempts_table(const LibraryRecord& record) {
  std::string out =
      "| core type | OpenBLAS reports | time against the default | verdict |\n|---|---|---|---|\n";
  for (std::size_t i = 0; i < record.attempts.size(); ++i) {
    out += fmt::format(
        "| {} | {} | {} | {} |\n", name_of(record.attempts[i]), escaped(record.attempts[i].reported),
        has_ratio(record, i) ? change_text(record.ruling.attempts[i].ratio) : "-", verdict_of(record, i));
  }
  return out;
}

/// A column for each core type that has times.
std::string trials_table(const LibraryRecord& record) {
  std::string head = "| trial |", rule = "|---|";
  for (std::size_t i = 1; i < record.attempts.size(); ++i) {
    if (!has_ratio(record, i)) continue;
    head += fmt::format(" {} |", record.attempts[i].core_type);
    rule += "---|";
  }
  std::string out = head + "\n" + rule + "\n";
  const auto& trials = record.attempts.front().trials;
  for (std::size_t t = 0; t < trials.size(); ++t) {
    out += fmt::format("| {} |", code(trials[t].trial.key));
    for (std::size_t i = 1; i < record.attempts.size(); ++i) {
      if (has_ratio(record, i)) out += fmt::format(" {} |", change_text(record.ruling.attempts[i].trials[t]));
    }
    out += "\n";
  }
  return out;
}

std::string reasons(const LibraryRecord& record) {
  std::string out;
  for (std::size_t i = 1; i < record.attempts.size(); ++i) {
    out += fmt::format("{}. **{}**: {}: {}.\n", i, record.attempts[i].core_type, verdict_of(record, i),
                       escaped(record.ruling.attempts[i].why));
  }
  return out;
}

std::string not_again(const LibraryRecord& record) {
  std::string out;
  for (std::size_t i = 1; i < record.attempts.size(); ++i) {
    const CoreRuling& ruling = record.ruling.attempts[i];
    const bool rejected = has_ratio(record, i) && ruling.decision == Decision::reject;
    if (!rejected && record.attempts[i].wrong.empty()) continue;
    out += fmt::format("- {}: {}\n", record.attempts[i].core_type, escaped(ruling.why));
  }
  return out.empty() ? "- Nothing was rejected.\n" : out;
}

// Attempts as files hold them.
struct TrialRatio {
  std::string key;
  Interval ratio;
};
struct AttemptRow {
  std::optional<std::string> core_type;
  std::string reported, decision;
  CoreRuling ruling;
  bool has_ratio = false;
  std::vector<TrialRatio> trials;
};

void describe(Fields& f, TrialRatio& one) {
  f("key", one.key);
  f.derived("ratio", triple(one.ratio));
}

void describe(Fields& f, AttemptRow& row) {
  f("core_type", row.core_type, {.null = true, .about = "null: the default"});
  f("reported", row.reported, {.about = "the core that OpenBLAS says it uses"});
  f("decision", row.decision);
  f("why", row.ruling.why);
  f("tied_with_best", row.ruling.tied_with_best);
  if (f.writes() && !row.has_ratio) return;
  constexpr Fields::Rule if_measured{.optional = true};
  f.derived("ratio", triple(row.ruling.ratio), {.about = "low, middle, high, against the default"});
  f("coverage", row.ruling.ratio.coverage, if_measured);
  f("trials", row.trials, if_measured);
}

AttemptRow row_of(const LibraryRecord& record, std::size_t i) {
  const CoreAttempt& attempt = record.attempts[i];
  AttemptRow out{.reported = attempt.reported,
                 .decision = "LEFT OUT",
                 .ruling = record.ruling.attempts[i],
                 .has_ratio = has_ratio(record, i)};
  if (!attempt.core_type.empty()) out.core_type = attempt.core_type;
  if (attempt.left_out.empty()) out.decision = to_string(out.ruling.decision);
  if (!out.has_ratio) return out;
  for (std::size_t t = 0; t < out.ruling.trials.size(); ++t) {
    out.trials.push_back({attempt.trials[t].trial.key, out.ruling.trials[t]});
  }
  return out;
}

}  // namespace

std::string library_text(const LibraryRecord& record) {
  std::string out = fmt::format("{:<16} {:<16} {:<28} {}\n", "core type", "reported", "time", "verdict");
  for (std::size_t i = 0; i < record.attempts.size(); ++i) {
    const CoreAttempt& attempt = record.attempts[i];
    const CoreRuling& ruling = record.ruling.attempts[i];
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

std::string library_markdown(const LibraryRecord& record) {
  std::string out = fmt::format("# Core type of OpenBLAS for suite {}\n\n", escaped(record.suite));
  out += status_paragraph(record.date, record.commit, record.machine);
  out += fmt::format(
      "## Context\n\n{}. In each of {} rounds every core type was a process of its own, and they took turns "
      "slice by slice on one core and the same data. Of each trial the median ratio of a round counts; the "
      "time of a core type is the geometric mean over {} trials. The default once more, the control, took "
      "{}. {}\n\n",
      escaped(record.library), rounds_of(record.attempts), record.attempts.front().trials.size(),
      change_text(record.ruling.control), weather_sentence(record.weather));
  for (const std::string& line : record.not_here) out += "- Not here: " + escaped(line) + "\n";
  if (!record.not_here.empty()) out += "\n";
  out += "## Attempts\n\n" + attempts_table(record) + "\n" + reasons(record) + "\n" + trials_table(record);
  out += "\n## Decision\n\n" + escaped(decision_sentence(record)) + "\n\n";
  out += fmt::format(
      "## Consequences\n\n{} is read when OpenBLAS is loaded, by every program that is linked with it. It "
      "overrules what OpenBLAS detects, on other machines too: set it for this machine, and measure again "
      "with "
      "another release.\n\n",
      core_type_variable);
  out += "## Not to be tried again here\n\n" + not_again(record) + "\n";
  return out + how_to_reproduce(record.command);
}

void describe(Fields& f, LibraryRecord& record) {
  std::map<std::string, std::string> environment;
  std::vector<AttemptRow> attempts;
  std::string reason;
  std::size_t rounds = 0;
  if (f.writes()) {
    const std::string& chosen = record.attempts[record.ruling.chosen].core_type;
    if (!chosen.empty()) environment.emplace(core_type_variable, chosen);
    for (std::size_t i = 0; i < record.attempts.size(); ++i) attempts.push_back(row_of(record, i));
    reason = decision_sentence(record);
    rounds = rounds_of(record.attempts);
  }
  f.schema("assay.library/1");
  f("environment", environment, {.about = "to be set; empty keeps the default"});
  f("reason", reason);
  f("suite", record.suite);
  f("library", record.library);
  f("machine", record.machine.key);
  f("date", record.date);
  f("commit", record.commit);
  f("command", record.command);
  f("rounds", rounds);
  f.derived("control", triple(record.ruling.control), {.about = "the default against itself"});
  f("attempts", attempts);
  f("not_here", record.not_here);
}

std::string to_json(const LibraryRecord& record) { return json_text(to_value(record)); }

}  // namespace assay
