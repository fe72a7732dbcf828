#include "bench/tune/library_record.hpp"

#include "bench/compare/row_text.hpp"
#include "core/json/json.hpp"
#include "core/machine/record.hpp"
#include "core/text/figures.hpp"
#include "core/text/wrapped.hpp"

#include <fmt/format.h>

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
        "| {} | {} | {} | {} |\n", name_of(record.attempts[i]), inert(record.attempts[i].reported),
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
    out += fmt::format("| {} |", inert(trials[t].trial.key));
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
                       inert(record.ruling.attempts[i].why));
  }
  return out;
}

std::string not_again(const LibraryRecord& record) {
  std::string out;
  for (std::size_t i = 1; i < record.attempts.size(); ++i) {
    const CoreRuling& ruling = record.ruling.attempts[i];
    const bool rejected = has_ratio(record, i) && ruling.decision == Decision::reject;
    if (!rejected && record.attempts[i].wrong.empty()) continue;
    out += fmt::format("- {}: {}\n", record.attempts[i].core_type, inert(ruling.why));
  }
  return out.empty() ? "- Nothing was rejected.\n" : out;
}

Json attempt_json(const LibraryRecord& record, std::size_t i) {
  const CoreAttempt& attempt = record.attempts[i];
  const CoreRuling& ruling = record.ruling.attempts[i];
  Json out{{"core_type", attempt.core_type.empty() ? Json(nullptr) : Json(attempt.core_type)},
           {"reported", attempt.reported},
           {"decision", attempt.left_out.empty() ? to_string(ruling.decision) : "LEFT OUT"},
           {"why", ruling.why},
           {"tied_with_best", ruling.tied_with_best}};
  if (!has_ratio(record, i)) return out;
  out["ratio"] = interval_json(ruling.ratio);
  out["coverage"] = ruling.ratio.coverage;
  Json trials = Json::array();
  for (std::size_t t = 0; t < ruling.trials.size(); ++t) {
    trials.push_back(Json{{"key", attempt.trials[t].trial.key}, {"ratio", interval_json(ruling.trials[t])}});
  }
  out["trials"] = std::move(trials);
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
  std::string out = fmt::format("# Core type of OpenBLAS for suite {}\n\n", inert(record.suite));
  out += status_paragraph(record.date, record.commit, record.machine);
  out += fmt::format(
      "## Context\n\n{}. In each of {} rounds every core type was a process of its own, and they took turns "
      "slice by slice on one core and the same data. Of each trial the median ratio of a round counts; the "
      "time of a core type is the geometric mean over {} trials. The default once more, the control, took "
      "{}. {}\n\n",
      inert(record.library), rounds_of(record.attempts), record.attempts.front().trials.size(),
      change_text(record.ruling.control), weather_sentence(record.weather));
  for (const std::string& line : record.not_here) out += "- Not here: " + inert(line) + "\n";
  if (!record.not_here.empty()) out += "\n";
  out += "## Attempts\n\n" + attempts_table(record) + "\n" + reasons(record) + "\n" + trials_table(record);
  out += "\n## Decision\n\n" + decision_sentence(record) + "\n\n";
  out += fmt::format(
      "## Consequences\n\n{} is read when OpenBLAS is loaded, by every program that is linked with it. It "
      "overrules what OpenBLAS detects, on other machines too: set it for this machine, and measure again "
      "with "
      "another release.\n\n",
      core_type_variable);
  out += "## Not to be tried again here\n\n" + not_again(record) + "\n";
  return out + how_to_reproduce(record.command);
}

std::string to_json(const LibraryRecord& record) {
  const CoreAttempt& chosen = record.attempts[record.ruling.chosen];
  Json environment = Json::object(), attempts = Json::array();
  if (!chosen.core_type.empty()) environment[core_type_variable] = chosen.core_type;
  for (std::size_t i = 0; i < record.attempts.size(); ++i) attempts.push_back(attempt_json(record, i));
  const Json out{{"schema", "assay.library/1"},
                 {"environment", std::move(environment)},
                 {"reason", decision_sentence(record)},
                 {"suite", record.suite},
                 {"library", record.library},
                 {"machine", record.machine.key},
                 {"date", record.date},
                 {"commit", record.commit},
                 {"command", record.command},
                 {"rounds", rounds_of(record.attempts)},
                 {"control", interval_json(record.ruling.control)},
                 {"attempts", std::move(attempts)},
                 {"not_here", record.not_here}};
  return json_text(out);
}

}  // namespace assay
