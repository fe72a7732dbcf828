/// Tries settings against the present setting in turns: measures rounds and decides, and records the decision
/// for somebody who asks again in a year. Callers make the settings and time the turns.
#pragma once

#include "assay/hooks.hpp"
#include "assay/interval.hpp"
#include "assay/machine.hpp"
#include "core/markup/document.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

enum class Decision {
  baseline,    ///< the present state, with which the others are compared
  retain,      ///< faster
  reject,      ///< slower
  no_change,   ///< not told apart, or by less than what matters
  confounded,  ///< a control that it cannot change moved as well
  wrong,       ///< does something else
  over_bound   ///< faster than is possible: the measurement is at fault
};
std::string_view to_string(Decision decision);  ///< `NO CHANGE`

/// The smallest change that counts. Users do not notice less, and settings within it of the best are as good.
inline constexpr double change_that_matters = 0.01;

/// Below it there is no interval of 95 %.
inline constexpr std::size_t fewest_rounds = 6;

/// A ratio from its logarithms, one for each round.
Interval ratio_from(std::span<const double> logs);

/// RETAIN, REJECT or NO CHANGE, from a ratio of times to the times of the baseline.
Decision decision_on(const Interval& ratio);

/// Says for these three decisions by how much, and why that is no change where it is none.
std::string reason_for(const Interval& ratio);

/// Whether a control, whose ratio ought to be 1, differs beyond doubt and by more than change_that_matters.
inline bool has_moved(const Interval& control) { return decision_on(control) != Decision::no_change; }

/// Writes a ratio of times as `1.12x faster [1.05, 1.15]`: the ends are factors of the same direction.
std::string change_text(const Interval& ratio);

/// Times of one candidate in one round, in seconds, case by case. Slices of one position ran together with
/// those of the other candidates.
struct Turn {
  std::vector<std::vector<double>> seconds;
  std::vector<std::vector<double>>
      control;       ///< of work that no candidate changes, such as the present setting
  double bound = 0;  ///< the least that `seconds` can be; 0: not known
};

/// A setting to try. The first of a list is the present one.
struct Candidate {
  std::string name;           ///< Haswell
  std::string in_use;         ///< the setting that is reported to be in use then
  std::string hypothesis;     ///< the expected effect
  std::vector<double> price;  ///< compared number by number: the cheapest of tied settings is taken
  std::string left_out;       ///< why it is not measured
  std::string wrong;          ///< how its results differ from the right ones
  std::vector<Turn> turns;    ///< by round: fewer than the present setting has, once it has lost
  double peak_bytes = 0;      ///< of resident memory; 0: not known
  /// Of commands; 0 where not known: seconds to the first step, the share of steps that is waiting, seconds
  /// of processors for a sample, samples of an epoch and of a step, seconds of the validation of an epoch.
  double start_up = 0, wait_share = 0, processor_seconds = 0, epoch_samples = 0, step_samples = 0,
         validation = 0;

  // The findings of ruled().
  Decision decision = Decision::no_change;  ///< without meaning for candidates that were left out
  Interval ratio{1, 1, 1};                  ///< time over the time of the present setting, over all cases
  Interval control{1, 1, 1};
  std::vector<Interval> cases;  ///< the ratio of each case
  double seconds = 0;           ///< median, of one case alone
  std::string why;
  bool tied_with_best = false;

  bool measured() const { return left_out.empty() && wrong.empty(); }
  /// Start-up, steps and, where it is known, validation.
  double epoch_seconds() const { return start_up + epoch_samples * seconds + validation; }
};

/// The vocabulary of one kind of settings.
struct TuneWords {
  std::string_view setting, settings;  ///< core type, core types
  std::string_view present;            ///< the default
  std::string_view preferred;          ///< among tied settings: "with the fewest workers"
  std::string_view control;            ///< "the default against itself was {}"
};

struct TuneRounds {
  int rounds = 10;
  std::uint64_t seed = 42;
  /// The rounds after which candidates that have lost are dropped: so many, at even distances. 0 measures
  /// every candidate in every round.
  int looks = 3;
  std::size_t kept = 1;    ///< so many of the first candidates are measured in every round
  std::size_t family = 0;  ///< candidates that share the error, where others of them are measured elsewhere
};

/// Measures a turn of each candidate, named by position, in this order, and returns the turns in the same
/// order; nothing after an interrupt. May set Candidate::wrong: such a candidate takes no further part.
using TakeTurns = std::function<std::vector<Turn>(std::span<const std::size_t> order, int round)>;

/// Returns TakeTurns of candidates that are measured one after the other.
TakeTurns one_by_one(std::function<Turn(std::size_t candidate)> take_turn, const Hooks& hooks);

/// Measures rounds in an order that is drawn anew for each. Ends after an interrupt, without the round that
/// it fell in, and when the present setting is wrong. At a look, candidates that are slower than the present
/// setting by an interval whose error of 5 % is shared by all candidates and looks (Bonferroni) are dropped,
/// unless the control has moved.
void measure_rounds(std::vector<Candidate>& candidates, const TuneRounds& rounds, const TakeTurns& take_turns,
                    const Hooks& hooks);

/// The time of one over that of another: in each round medians over slices, then mean logarithms over cases.
Interval ratio_between(const Candidate& one, const Candidate& other, double coverage = 0.95);

/// Returns the number of rounds that the present setting was measured in.
inline std::size_t rounds_of(const std::vector<Candidate>& candidates) {
  return candidates.front().turns.size();
}

enum class Advice {
  take,      ///< another setting is faster, or as fast and cheaper
  keep,      ///< none is
  undecided  ///< the controls moved, or a setting may be faster by more than could be seen
};
/// A gain that a decision to keep the present setting must exclude.
inline constexpr double gain_that_decides = 0.1;
std::string_view to_string(Advice advice);  ///< `TAKE`

struct TuneRuling {
  std::vector<Candidate> candidates;  ///< with their findings; the first is the present setting
  Advice advice = Advice::keep;
  std::size_t chosen = 0;
  std::size_t best = 0;  ///< the lowest ratio among the present setting and the faster ones
  std::size_t tied = 0;  ///< candidates that cannot be told from the best, itself included
  std::string doubt;     ///< why it is undecided
};

/// Rules on the measured turns, as a pure function, with at least 6 rounds: an interval of 95 % needs them.
/// The error of 5 % is shared by all candidates, so that of a hundred equal settings none is taken. The
/// cheapest is chosen of the candidates that cannot be told from the best; of those that are faster than the
/// present setting, where any is. `family`: as that of TuneRounds.
TuneRuling ruled(const TuneWords& words, std::vector<Candidate> candidates, std::size_t family = 0);

/// When, where and how something was measured.
struct Circumstances {
  std::string date, commit, command;
  Machine machine;
  Weather weather;
};

struct TuneRecord {
  std::string title;
  TuneWords words;
  std::string variable;  ///< of the environment that takes a setting; empty where a job does
  std::string rate;  ///< `samples/s`, where seconds are those of one sample; empty where they mean nothing
  Circumstances made;
  std::string method;
  std::vector<std::string> consequences;  ///< paragraphs below the decision
  std::vector<std::string> not_here;      ///< cases that cannot run here, and why
  std::vector<std::string> cases;         ///< names
  TuneRuling ruling;                      ///< its candidates are there before it is ruled on them
};

/// A document of the schema assay.tuning/1 that ends with the circumstances; sections go before them.
doc::Document record_document(doc::Text title, std::string outcome, const Circumstances& made,
                              std::vector<doc::Section> sections);

/// The decision, its consequences, the attempts, the reasons, and the settings not to try again.
doc::Document record_document(const TuneRecord& record);

/// Its JSON, with "environment" where a variable is set: {"OPENBLAS_CORETYPE": "Haswell"}, and {} for the
/// present setting.
std::string record_json(const TuneRecord& record);

Json tuning_schema();

/// The section `attempts` of a record for a terminal, the decision as its last line.
std::string record_text(const doc::Document& document);

}  // namespace assay
