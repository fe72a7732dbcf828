#include "core/tune/record.hpp"

#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace assay {
namespace {

constexpr const char* record_schema = "assay.tuning/1";

/// Ratios of times are shown as speed-ups.
doc::Text speedup_cell(const Interval& ratio) {
  return doc::faster(Interval{.low = 1 / ratio.high,
                              .middle = 1 / ratio.middle,
                              .high = 1 / ratio.low,
                              .coverage = ratio.coverage,
                              .basis = ratio.basis});
}

std::string ties_text(const TuneRecord& record) {
  const TuneWords& words = record.words;
  if (record.ruling.tied < 2)
    return fmt::format("no other {} comes within what can be told apart", words.setting);
  return fmt::format("{} {} cannot be told apart from the fastest; the one {} is taken", record.ruling.tied,
                     words.settings, words.preferred);
}

std::string rate_text(const TuneRecord& record, std::size_t i) {
  const double seconds = record.ruling.candidates[i].seconds;
  return record.rate.empty() || seconds <= 0 ? ""
                                             : fmt::format(", {} {}", count_text(1 / seconds), record.rate);
}

std::string decision_sentence(const TuneRecord& record) {
  const TuneRuling& ruling = record.ruling;
  const Candidate& present = record.candidates.front();
  const std::string& usual = present.in_use.empty() ? present.name : present.in_use;
  switch (ruling.advice) {
    case Advice::keep:
      return fmt::format("Keep {}, which uses {}{}: no {} tried is faster by more than {}.",
                         record.words.present, usual, rate_text(record, 0), record.words.setting,
                         percent_text(change_that_matters));
    case Advice::undecided:
      return fmt::format("UNDECIDED: {}. Keep {}, which uses {}, and measure again on a quiet machine.",
                         ruling.candidates[1].why, record.words.present, usual);
    case Advice::take: break;
  }
  const std::string& chosen = record.candidates[ruling.chosen].name;
  return fmt::format(
      "{}: {} than {}, which uses {}{}; {}.",
      record.variable.empty() ? "Take " + chosen : fmt::format("Set {}={}", record.variable, chosen),
      change_text(ruling.candidates[ruling.chosen].ratio), record.words.present, usual,
      rate_text(record, ruling.chosen), ties_text(record));
}

std::string verdict_of(const TuneRecord& record, std::size_t i) {
  if (!record.candidates[i].left_out.empty()) return "LEFT OUT";
  const CandidateRuling& ruling = record.ruling.candidates[i];
  return fmt::format("{}{}", to_string(ruling.decision), ruling.tied_with_best ? " =" : "");
}

bool has_ratio(const TuneRecord& record, std::size_t i) { return i > 0 && record.candidates[i].measured(); }

/// With the digits that a change of 1 % needs.
std::string change_cell(const TuneRecord& record, std::size_t i, const Interval& ratio) {
  return has_ratio(record, i) ? change_text(ratio) : "";
}

doc::Table attempts_table(const TuneRecord& record) {
  doc::Table out{
      .tag = "attempts",
      .columns = {{.tag = "name", .name = std::string(record.words.setting)},
                  {.tag = "in_use", .about = "the setting that is reported to be in use then"},
                  {.tag = "rate", .name = record.rate},
                  {.tag = "change", .name = fmt::format("against {}", record.words.present)},
                  {.tag = "control", .about = "the same ratio of work that no setting changes"},
                  {.tag = "ratio", .about = "time by that of the present setting", .data_only = true},
                  {.tag = "verdict", .about = "= cannot be told from the fastest", .folds = false},
                  {.tag = "why", .data_only = true}}};
  for (std::size_t i = 0; i < record.candidates.size(); ++i) {
    const CandidateRuling& ruling = record.ruling.candidates[i];
    const bool rated = !record.rate.empty() && ruling.seconds > 0;
    out.rows.push_back({record.candidates[i].name, record.candidates[i].in_use,
                        rated ? doc::count(1 / ruling.seconds) : doc::Text(),
                        change_cell(record, i, ruling.ratio), change_cell(record, i, ruling.control),
                        has_ratio(record, i) ? doc::amount(ruling.ratio, "ratio") : doc::Text(),
                        verdict_of(record, i), ruling.why});
  }
  return out;
}

/// The speed-ups of each case, where there are several or they have names of their own.
doc::Table cases_table(const TuneRecord& record) {
  doc::Table out{.tag = "cases", .columns = {{.tag = "trial", .folds = false}}};
  for (std::size_t i = 0; i < record.candidates.size(); ++i) {
    if (has_ratio(record, i))
      out.columns.push_back({.tag = record.candidates[i].name, .folds = false, .left = true});
  }
  for (std::size_t at = 0; at < record.cases.size() && out.columns.size() > 1; ++at) {
    auto& row = out.rows.emplace_back();
    row.push_back(doc::code(record.cases[at]));
    for (std::size_t i = 0; i < record.candidates.size(); ++i) {
      if (has_ratio(record, i)) row.push_back(speedup_cell(record.ruling.candidates[i].cases[at]));
    }
  }
  return out;
}

doc::Table reasons_table(const TuneRecord& record) {
  doc::Table out{
      .tag = "reasons",
      .columns = doc::columns("name; expected; memory: Resident, at its peak.; rounds; !verdict; !reason")};
  out.columns.front().name = record.words.setting;
  for (std::size_t i = 0; i < record.candidates.size(); ++i) {
    const Candidate& candidate = record.candidates[i];
    const CandidateRuling& ruling = record.ruling.candidates[i];
    const doc::Text memory = candidate.peak_bytes > 0 ? doc::bytes(candidate.peak_bytes) : doc::Text();
    out.rows.push_back({candidate.name, candidate.hypothesis, memory,
                        doc::count(static_cast<double>(candidate.turns.size())), verdict_of(record, i),
                        ruling.why});
  }
  return out;
}

doc::List items(const std::vector<std::string>& texts, std::string_view before = "") {
  doc::List out;
  for (const std::string& text : texts) out.items.emplace_back(doc::Text(before) + text);
  return out;
}

}  // namespace

Json tuning_schema() {
  Json out = doc::schema_of({.schema = record_schema,
                             .facts = {"date", "commit", "machine", "rounds"},
                             .optional_facts = {"advice", "chosen", "answer", "case", "vary", "first",
                                                "second", "low", "high", "constant", "seed"},
                             .lists = {"command", "not_measured"},
                             .tables = {},
                             .optional_tables = {"attempts", "cases", "reasons", "sizes"}});
  out["properties"]["environment"] = {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}};
  return out;
}

doc::Document record_document(doc::Text title, std::string outcome, const Circumstances& made,
                              std::vector<doc::Section> sections) {
  const doc::Text where =
      fmt::format("Measured {}, commit {}, machine ", made.date, made.commit) + doc::code(made.machine.key) +
      fmt::format(". Other processes took {} of the processors, the host {}.",
                  percent_text(made.weather.other_busy_share), percent_text(made.weather.steal_share));
  sections.push_back(
      {.title = "How to reproduce",
       .blocks = {doc::Fence{.tag = "command", .lines = {made.command}, .language = ""}, where}});
  return {.schema = record_schema,
          .title = std::move(title),
          .facts = {{"date", made.date}, {"commit", made.commit}, {"machine", made.machine.key}},
          .outcome = std::move(outcome),
          .sections = std::move(sections)};
}

doc::Document record_document(const TuneRecord& record) {
  doc::List rejected;
  for (std::size_t i = 1; i < record.candidates.size(); ++i) {
    const CandidateRuling& ruling = record.ruling.candidates[i];
    const bool lost = has_ratio(record, i) && ruling.decision == Decision::reject;
    if (lost || !record.candidates[i].wrong.empty())
      rejected.items.emplace_back(fmt::format("{}: {}", record.candidates[i].name, ruling.why));
  }
  if (rejected.items.empty()) rejected.items.emplace_back("Nothing was rejected.");
  doc::Section consequences;
  for (const std::string& text : record.consequences) consequences.blocks.push_back(doc::Text(text));
  doc::List unmeasured = items(record.not_here, "not here: ");
  for (const Candidate& candidate : record.candidates) {
    if (!candidate.left_out.empty())
      unmeasured.items.emplace_back(candidate.name + ": " + candidate.left_out);
    if (!candidate.wrong.empty()) unmeasured.items.emplace_back(candidate.name + ": " + candidate.wrong);
  }
  unmeasured.tag = "not_measured";
  const std::size_t rounds = rounds_of(record.candidates);
  const std::string measured =
      fmt::format("{} {} candidates, {} rounds. = marks those that cannot be told from the fastest.",
                  record.method, record.candidates.size(), rounds);
  doc::Document out = record_document(
      record.title, decision_sentence(record), record.made,
      {std::move(consequences),
       {.tag = "attempts",
        .title = "Attempts",
        .blocks = {doc::Text(measured), attempts_table(record), std::move(unmeasured), cases_table(record)}},
       {.title = "Reasons", .blocks = {reasons_table(record)}},
       {.title = "Not to be tried again here", .blocks = {std::move(rejected)}}});
  out.facts.push_back({"advice", to_string(record.ruling.advice)});
  out.facts.push_back({"chosen", record.candidates[record.ruling.chosen].name});
  out.facts.push_back({"rounds", doc::count(static_cast<double>(rounds))});
  return out;
}

std::string record_json(const TuneRecord& record) {
  Json out = doc::to_value(record_document(record));
  if (!record.variable.empty()) {
    Json& environment = out["environment"] = Json::object();
    if (record.ruling.chosen != 0)
      environment[record.variable] = record.candidates[record.ruling.chosen].name;
  }
  return json_text(out);
}

std::string record_text(const doc::Document& document) {
  const auto attempts = std::ranges::find(document.sections, "attempts", &doc::Section::tag);
  return doc::to_text(attempts->blocks) + doc::to_text({document.outcome});
}

}  // namespace assay
