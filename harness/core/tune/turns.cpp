#include "core/tune/turns.hpp"

#include "assay/random.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace assay {
namespace {

using CaseTimes = std::vector<std::vector<double>> Turn::*;

/// Clocks and calls cost time: a turn may be so much faster than its bound.
constexpr double bound_slack = 0.02;

/// Logarithms of the ratio of one case, round by round. A disturbance of both cancels within a pair of
/// slices, and a disturbance of one slice does not move the median.
std::vector<double> logs_of_case(const Candidate& one, const Candidate& other, CaseTimes times,
                                 std::size_t at) {
  std::vector<double> out;
  for (std::size_t i = 0; i < std::min(one.turns.size(), other.turns.size()); ++i)
    out.push_back(median(log_ratios((one.turns[i].*times)[at], (other.turns[i].*times)[at])));
  return out;
}

std::size_t case_count(const Candidate& candidate) {
  return candidate.turns.empty() ? 0 : candidate.turns.front().seconds.size();
}

/// Logarithms of the ratio, round by round: the mean over cases.
std::vector<double> logs_of_all(const Candidate& one, const Candidate& other, CaseTimes times) {
  std::vector<double> out(std::min(one.turns.size(), other.turns.size()));
  const std::size_t cases = case_count(one);
  for (std::size_t at = 0; at < cases; ++at) {
    const std::vector<double> logs = logs_of_case(one, other, times, at);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += logs[i] / static_cast<double>(cases);
  }
  return out;
}

bool is_look(int done, const TuneRounds& rounds) {
  if (done < static_cast<int>(fewest_rounds) || done == rounds.rounds) return false;
  for (int look = 1; look <= rounds.looks; ++look)
    if (done == rounds.rounds * look / (rounds.looks + 1)) return true;
  return false;
}

/// The error of 5 %, shared by so many tests (Bonferroni).
double shared_coverage(std::size_t tests) {
  return 1 - (1 - wanted_coverage) / static_cast<double>(std::max<std::size_t>(1, tests));
}

/// Removes candidates that have lost; the present setting stays.
void drop_losers(std::vector<std::size_t>& taking_part, const std::vector<Candidate>& candidates,
                 const TuneRounds& rounds) {
  const double coverage = shared_coverage(std::max(rounds.family, candidates.size() - 1) *
                                          static_cast<std::size_t>(rounds.looks));
  std::erase_if(taking_part, [&](std::size_t i) {
    if (i < rounds.kept) return false;
    if (has_moved(ratio_from(logs_of_all(candidates[i], candidates.front(), &Turn::control)))) return false;
    const Interval log = centre(logs_of_all(candidates[i], candidates.front(), &Turn::seconds), coverage);
    return log.coverage >= coverage && decision_on(exponential(log)) == Decision::reject;
  });
}

double median_seconds(const Candidate& candidate) {
  std::vector<double> all;
  for (const Turn& turn : candidate.turns) all.push_back(median(turn.seconds.front()));
  return median(all);
}

/// The median bound where turns were faster than their bounds beyond doubt, else 0.
double beaten_bound(const Candidate& candidate) {
  std::vector<double> logs, bounds;
  for (const Turn& turn : candidate.turns) {
    if (turn.bound <= 0) return 0;
    logs.push_back(std::log(median(turn.seconds.front()) / turn.bound));
    bounds.push_back(turn.bound);
  }
  return centre(logs).high < std::log1p(-bound_slack) ? median(bounds) : 0;
}

void rule_on(Candidate& one, const Candidate& present, const TuneWords& words, double coverage) {
  if (one.measured()) {
    one.ratio = ratio_between(one, present, coverage);
    one.control = ratio_from(logs_of_all(one, present, &Turn::control));
    for (std::size_t at = 0; at < case_count(one); ++at)
      one.cases.push_back(ratio_from(logs_of_case(one, present, &Turn::seconds, at)));
    if (one.cases.size() == 1) one.seconds = median_seconds(one);
  }
  const double bound = one.measured() ? beaten_bound(one) : 0;
  if (!one.left_out.empty()) {
    one.why = one.left_out;
  } else if (!one.wrong.empty()) {
    one.decision = Decision::wrong;
    one.why = one.wrong;
  } else if (bound > 0) {
    one.decision = Decision::over_bound;
    one.why =
        fmt::format("takes {}, and cannot take less than {}", seconds_text(one.seconds), seconds_text(bound));
  } else if (&one == &present) {
    one.decision = Decision::baseline;
    one.why = "what the others are compared with";
  } else if (has_moved(one.control)) {
    one.decision = Decision::confounded;
    one.why = fmt::format(fmt::runtime(words.control), change_text(one.control));
  } else {
    one.decision = decision_on(one.ratio);
    one.why = reason_for(one.ratio);
  }
}

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

doc::Picture attempts_picture(const TuneRecord& record) {
  std::vector<PlottedInterval> rows;
  for (const Candidate& one : record.ruling.candidates) {
    if (!has_ratio(record, one)) continue;
    rows.push_back({.name = fmt::format("{}: {}", one.name, change_text(one.ratio)),
                    .title = fmt::format("{}: {}, {}", one.name, change_text(one.ratio), verdict_of(one)),
                    .value = one.ratio,
                    .look = one.decision == Decision::retain   ? Look::better
                            : one.decision == Decision::reject ? Look::worse
                                                               : Look::open});
  }
  return {.name = "attempts",
          .plot = forest_plot(
              fmt::format("Times of {} against {}", record.words.settings, record.words.present),
              "time by that of the present setting: left of 1x is faster", rows, PlotScale::ratios)};
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
      const Interval& ratio = one.cases[at];
      const Interval speedup{1 / ratio.high, 1 / ratio.middle, 1 / ratio.low, ratio.coverage, ratio.basis};
      out.rows[at].push_back(doc::faster(speedup));
    }
  }
  if (out.columns.size() == 1) out.rows.clear();
  return out;
}

doc::Table reasons_table(const TuneRecord& record) {
  doc::Table out{
      .tag = "reasons",
      .columns = doc::columns("name; expected; memory: Resident, at its peak.; "
                              "epoch: With start-up and seen validation.; waiting: Share of the steps.; "
                              "processors: Seconds of them for 1,000 samples.; rounds; !verdict; !reason")};
  out.columns.front().name = record.words.setting;
  for (const Candidate& one : record.ruling.candidates) {
    out.rows.push_back({one.name, one.hypothesis,
                        one.peak_bytes > 0 ? doc::bytes(one.peak_bytes) : doc::Text(),
                        one.epoch_samples > 0 ? doc::seconds(one.epoch_seconds()) : doc::Text(),
                        one.wait_share > 0 ? doc::share(one.wait_share) : doc::Text(),
                        one.processor_seconds > 0 ? doc::seconds(1000 * one.processor_seconds) : doc::Text(),
                        doc::count(static_cast<double>(one.turns.size())), verdict_of(one), one.why});
  }
  return out;
}

}  // namespace

std::string_view to_string(Decision decision) {
  static constexpr std::array<std::string_view, 7> words{"AS IT IS",   "RETAIN", "REJECT",    "NO CHANGE",
                                                         "CONFOUNDED", "WRONG",  "OVER BOUND"};
  return words[static_cast<std::size_t>(decision)];
}

Interval ratio_from(std::span<const double> logs) { return exponential(centre(logs)); }

Decision decision_on(const Interval& ratio) {
  if (!(std::abs(std::log(ratio.middle)) > std::log1p(change_that_matters))) return Decision::no_change;
  if (ratio.high < 1) return Decision::retain;
  return ratio.low > 1 ? Decision::reject : Decision::no_change;
}

std::string reason_for(const Interval& ratio) {
  if (decision_on(ratio) != Decision::no_change) return change_text(ratio);
  const bool noise = ratio.low <= 1 && ratio.high >= 1;
  return change_text(ratio) + (noise ? ": within the noise" : ": too little to matter");
}

std::string change_text(const Interval& ratio) {
  const auto figure = [](double factor) { return fmt::format("{:.{}f}", factor, factor < 1.1 ? 3 : 2); };
  const bool faster = ratio.middle < 1;
  const std::string factor = figure(faster ? 1 / ratio.middle : ratio.middle);
  return fmt::format(
      "{} [{}, {}]", factor == "1.000" ? "equally fast" : factor + (faster ? "x faster" : "x slower"),
      figure(faster ? 1 / ratio.high : ratio.low), figure(faster ? 1 / ratio.low : ratio.high));
}

TakeTurns one_by_one(std::function<Turn(std::size_t candidate)> take_turn, const Hooks& hooks) {
  return [take_turn = std::move(take_turn), hooks](std::span<const std::size_t> order, int) {
    std::vector<Turn> out;
    for (const std::size_t i : order) {
      out.push_back(take_turn(i));
      if (hooks.stopped()) return std::vector<Turn>();
    }
    return out;
  };
}

void measure_rounds(std::vector<Candidate>& candidates, const TuneRounds& rounds, const TakeTurns& take_turns,
                    const Hooks& hooks) {
  Rng rng(rounds.seed);
  std::vector<std::size_t> taking_part(candidates.size());
  std::iota(taking_part.begin(), taking_part.end(), std::size_t{0});
  for (int round = 0; round < rounds.rounds; ++round) {
    std::erase_if(taking_part, [&](std::size_t i) { return !candidates[i].measured(); });
    if (!candidates.front().measured()) return;
    hooks.say(fmt::format("round {} of {}: {} settings", round + 1, rounds.rounds, taking_part.size()),
              static_cast<double>(round) / rounds.rounds);
    const std::vector<std::size_t> order = shuffled(taking_part, rng);
    std::vector<Turn> turns = take_turns(order, round);
    if (turns.empty() || hooks.stopped()) return;
    for (std::size_t i = 0; i < order.size(); ++i) candidates[order[i]].turns.push_back(std::move(turns[i]));
    for (Candidate& candidate : candidates) {
      if (!candidate.measured()) candidate.turns.clear();
    }
    if (is_look(round + 1, rounds)) drop_losers(taking_part, candidates, rounds);
  }
}

Interval ratio_between(const Candidate& one, const Candidate& other, double coverage) {
  return exponential(centre(logs_of_all(one, other, &Turn::seconds), coverage));
}

std::string_view to_string(Advice advice) {
  constexpr std::array<std::string_view, 3> words{"TAKE", "KEEP", "UNDECIDED"};
  return words[static_cast<std::size_t>(advice)];
}

TuneRuling ruled(const TuneWords& words, std::vector<Candidate> candidates, std::size_t family) {
  TuneRuling out{.candidates = std::move(candidates)};
  const auto measured = std::ranges::count_if(out.candidates, &Candidate::measured);
  const double coverage =
      shared_coverage(std::max(family, static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, measured) - 1)));
  for (Candidate& one : out.candidates) rule_on(one, out.candidates.front(), words, coverage);
  const auto is = [&](std::size_t i, Decision decision) {
    return out.candidates[i].measured() && out.candidates[i].decision == decision;
  };
  const bool sound = is(0, Decision::baseline);
  bool faster = false, told = false;
  for (std::size_t i = 1; i < out.candidates.size(); ++i) {
    told = told || is(i, Decision::retain) || is(i, Decision::reject) || is(i, Decision::no_change);
    if (!is(i, Decision::retain)) continue;
    if (!(sound || faster) || out.candidates[i].ratio.middle < out.candidates[out.best].ratio.middle)
      out.best = i;
    faster = true;
  }
  out.chosen = out.best;
  for (std::size_t i = 0; i < out.candidates.size(); ++i) {
    if (!is(i, Decision::baseline) && !is(i, Decision::retain) && !is(i, Decision::no_change)) continue;
    Candidate& one = out.candidates[i];
    const Interval behind = ratio_between(one, out.candidates[out.best]);
    if (i != out.best && decision_on(behind) == Decision::reject) continue;
    one.tied_with_best = true;
    ++out.tied;
    // A candidate as fast as can be told, and cheaper, is not shown to be faster than the present setting.
    if (faster && !is(i, Decision::retain)) continue;
    if (one.price < out.candidates[out.chosen].price) out.chosen = i;
  }
  for (std::size_t i = 0; i < out.candidates.size() && out.chosen == 0 && out.doubt.empty(); ++i) {
    const Candidate& one = out.candidates[i];
    if (!told && (is(i, Decision::confounded) || is(i, Decision::over_bound))) out.doubt = one.why;
    if (is(i, Decision::no_change) && one.ratio.low * (1 + gain_that_decides) < 1)
      out.doubt = fmt::format("{} may be faster by a factor of {:.2f}", one.name, 1 / one.ratio.low);
  }
  out.advice = out.chosen != 0 ? Advice::take : out.doubt.empty() ? Advice::keep : Advice::undecided;
  return out;
}

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
  doc::Document out =
      record_document(record.title, decision_sentence(record), record.made,
                      {std::move(consequences),
                       {.tag = "attempts",
                        .title = "Attempts",
                        .blocks = {doc::Text(measured), attempts_picture(record), attempts_table(record),
                                   std::move(unmeasured), cases_table(record)}},
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
