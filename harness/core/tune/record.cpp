#include "core/tune/record.hpp"

#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace assay {
namespace {

constexpr const char* record_schema = "assay.tuning/1";

std::string ties_text(const TuneRecord& record) {
  const TuneWords& words = record.words;
  if (record.ruling.tied < 2)
    return fmt::format("no other {} comes within what can be told apart", words.setting);
  return fmt::format("{} {} cannot be told apart from the fastest; the one {} is taken", record.ruling.tied,
                     words.settings, words.preferred);
}

bool is_rated(const TuneRecord& record, const Candidate& one) {
  return !record.rate.empty() && one.seconds > 0;
}

std::string rate_text(const TuneRecord& record, const Candidate& one) {
  return is_rated(record, one) ? fmt::format(", {} {}", count_text(1 / one.seconds), record.rate) : "";
}

std::string decision_sentence(const TuneRecord& record) {
  const TuneRuling& ruling = record.ruling;
  const Candidate &present = ruling.candidates.front(), &chosen = ruling.candidates[ruling.chosen];
  const std::string uses = fmt::format("{}, which uses {}", record.words.present,
                                       present.in_use.empty() ? present.name : present.in_use);
  switch (ruling.advice) {
    case Advice::keep:
      return fmt::format("Keep {}{}: no {} tried is shown to be faster by more than {}.", uses,
                         rate_text(record, present), record.words.setting, percent_text(change_that_matters));
    case Advice::undecided:
      return fmt::format("UNDECIDED: {}. Keep {}, and measure again, longer or on a quiet machine.",
                         ruling.doubt, uses);
    case Advice::take: break;
  }
  return fmt::format("{}{}: {} than {}{}; {}.",
                     record.variable.empty() ? "Take " : fmt::format("Set {}=", record.variable), chosen.name,
                     change_text(chosen.ratio), uses, rate_text(record, chosen), ties_text(record));
}

std::string verdict_of(const Candidate& one) {
  if (!one.left_out.empty()) return "LEFT OUT";
  return fmt::format("{}{}", to_string(one.decision), one.tied_with_best ? " =" : "");
}

/// Whether it was compared with the present setting.
bool has_ratio(const TuneRecord& record, const Candidate& one) {
  return &one != &record.ruling.candidates.front() && one.measured();
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
  for (const Candidate& one : record.ruling.candidates) {
    const bool compared = has_ratio(record, one);
    out.rows.push_back({one.name, one.in_use,
                        is_rated(record, one) ? doc::count(1 / one.seconds) : doc::Text(),
                        compared ? change_text(one.ratio) : "", compared ? change_text(one.control) : "",
                        compared ? doc::amount(one.ratio, "ratio") : doc::Text(), verdict_of(one), one.why});
  }
  return out;
}

/// The speed-ups of each case, where there are several or they have names of their own.
doc::Table cases_table(const TuneRecord& record) {
  doc::Table out{.tag = "cases", .columns = {{.tag = "trial", .folds = false}}};
  for (const std::string& name : record.cases) out.rows.push_back({doc::code(name)});
  for (const Candidate& one : record.ruling.candidates) {
    if (!has_ratio(record, one)) continue;
    out.columns.push_back({.tag = one.name, .folds = false, .left = true});
    // Ratios of times are shown as speed-ups.
    for (std::size_t at = 0; at < out.rows.size(); ++at) {
      Interval speedup = one.cases[at];
      speedup.low = 1 / one.cases[at].high;
      speedup.middle = 1 / one.cases[at].middle;
      speedup.high = 1 / one.cases[at].low;
      out.rows[at].push_back(doc::faster(speedup));
    }
  }
  if (out.columns.size() == 1) out.rows.clear();
  return out;
}

doc::Table reasons_table(const TuneRecord& record) {
  doc::Table out{
      .tag = "reasons",
      .columns = doc::columns("name; expected; memory: Resident, at its peak.; epoch: Start-up and steps.; "
                              "waiting: Share of the steps.; "
                              "processors: Seconds of them for 1,000 samples.; rounds; !verdict; !reason")};
  out.columns.front().name = record.words.setting;
  for (const Candidate& one : record.ruling.candidates) {
    out.rows.push_back(
        {one.name, one.hypothesis, one.peak_bytes > 0 ? doc::bytes(one.peak_bytes) : doc::Text(),
         one.epoch_samples > 0 ? doc::seconds(one.start_up + one.epoch_samples * one.seconds) : doc::Text(),
         one.wait_share > 0 ? doc::share(one.wait_share) : doc::Text(),
         one.processor_seconds > 0 ? doc::seconds(1000 * one.processor_seconds) : doc::Text(),
         doc::count(static_cast<double>(one.turns.size())), verdict_of(one), one.why});
  }
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
  const std::vector<Candidate>& candidates = record.ruling.candidates;
  doc::Section consequences;
  for (const std::string& text : record.consequences) consequences.blocks.push_back(doc::Text(text));
  doc::List rejected, unmeasured{.tag = "not_measured"};
  for (const std::string& text : record.not_here) unmeasured.items.emplace_back("not here: " + text);
  for (const Candidate& one : candidates) {
    const bool lost = has_ratio(record, one) && one.decision == Decision::reject;
    const bool is_wrong = &one != &candidates.front() && !one.wrong.empty();
    if (lost || is_wrong) rejected.items.emplace_back(one.name + ": " + one.why);
    for (const std::string& why : {one.left_out, one.wrong}) {
      if (!why.empty()) unmeasured.items.emplace_back(one.name + ": " + why);
    }
  }
  if (rejected.items.empty()) rejected.items.emplace_back("Nothing was rejected.");
  const std::size_t rounds = rounds_of(candidates);
  const std::string measured =
      fmt::format("{} {} candidates, {} rounds. = marks those that cannot be told from the fastest.",
                  record.method, candidates.size(), rounds);
  doc::Document out = record_document(
      record.title, decision_sentence(record), record.made,
      {std::move(consequences),
       {.tag = "attempts",
        .title = "Attempts",
        .blocks = {doc::Text(measured), attempts_table(record), std::move(unmeasured), cases_table(record)}},
       {.title = "Reasons", .blocks = {reasons_table(record)}},
       {.title = "Not to be tried again here", .blocks = {std::move(rejected)}}});
  out.facts.push_back({"advice", to_string(record.ruling.advice)});
  out.facts.push_back({"chosen", candidates[record.ruling.chosen].name});
  out.facts.push_back({"rounds", doc::count(static_cast<double>(rounds))});
  return out;
}

std::string record_json(const TuneRecord& record) {
  Json out = doc::to_value(record_document(record));
  if (!record.variable.empty()) {
    Json& environment = out["environment"] = Json::object();
    if (record.ruling.chosen != 0)
      environment[record.variable] = record.ruling.candidates[record.ruling.chosen].name;
  }
  return json_text(out);
}

std::string record_text(const doc::Document& document) {
  const auto attempts = std::ranges::find(document.sections, "attempts", &doc::Section::tag);
  return doc::to_text(attempts->blocks) + doc::to_text({document.outcome});
}

}  // namespace assay
