/// Compared rows in words: the order in which every document lists them, the spelling of every part, and the
/// outcome of every verb that measures or judges, from the standings of its rows. And baselines and
/// comparisons as files hold them.
#pragma once

#include "assay/compare.hpp"
#include "assay/outcome.hpp"
#include "core/json/fields.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

inline constexpr std::size_t standing_count = static_cast<std::size_t>(Standing::impossible) + 1;

/// Rows that readers must see first come first. A terminal shows the end of a long text, so this is the order
/// from its bottom up.
inline constexpr std::array<Standing, standing_count> standings_by_weight{
    Standing::crashed,         Standing::timed_out, Standing::wrong,
    Standing::impossible,      Standing::slower,    Standing::accepted,
    Standing::probably_slower, Standing::undecided, Standing::faster,
    Standing::not_slower,      Standing::gone,      Standing::added,
    Standing::not_comparable,  Standing::skipped,   Standing::same};
/// The position in that order, from 0.
std::size_t weight_of(Standing standing);

/// Slower, accepted, faster, not slower or open: readers want to see its ratio.
bool may_have_moved(Standing standing);

/// Compared without a verdict: undecided, or probably slower.
bool is_open(Standing standing);

/// Whether two times were compared; the other standings say why not.
inline bool is_judged(Standing standing) { return standing == Standing::same || may_have_moved(standing); }

/// Returns the standing by which a row is listed: a row with a worse figure is listed as slower.
Standing listed_as(const ComparedRow& row);
inline Standing standing_of_time(const ComparedRow& row) { return row.standing; }

/// Marks differ in shape and not in colour alone.
std::string_view mark(Standing standing);

/// Text from an untrusted change for a line of a terminal: visible(), and of at most `width` bytes.
std::string printable(std::string_view text, std::size_t width);

/// Each finding once with the number of rows that share it, in the order of the first row. Its key is that of
/// the first row, and `why` is without times. Rows without a reason have none.
std::vector<std::pair<Finding, std::size_t>> shared_findings(const std::vector<const ComparedRow*>& rows);

/// Positions of the rows that `standing_of` gives this standing. Those that moved are sorted, the largest
/// change first.
std::vector<std::size_t> rows_of(const Comparison& comparison, Standing standing,
                                 Standing (*standing_of)(const ComparedRow&) = listed_as);

/// "1.09", or "1.010" if the limit lies below 1.05, where tenths of a percent matter; with `more` decimals.
std::string factor_text(double ratio, double limit, int more = 0);

/// "1.09x slower", "1.11x faster", "accepted 1.06x", "same", "not comparable".
std::string change_in_words(const ComparedRow& row);

/// "1.06 to 1.12", in the direction of change_in_words(); empty where there is no ratio.
std::string interval_in_words(const ComparedRow& row);

std::string limit_in_words(const ComparedRow& row);

/// Whether the program itself reported the error that makes it wrong. Programs that are not assay's have no
/// oracle.
bool reports_an_error(const ComparedRow& row);

/// "1 of 44 trials is slower than its limit; 3 faster, 2 undecided, 38 same".
std::string comparison_sentence(const Comparison& comparison);

/// "15 slower, 3 faster, 27 same": all standings that a trial has.
std::string counts_sentence(const Comparison& comparison);

/// The figures of a row in words, the worse ones alone where that is asked for; empty without any.
std::string figures_in_words(const ComparedRow& row, bool worse_only = false);

/// Returns the largest slow-down of one step; null where there is none. `crept_too`: also those that only
/// several steps add up to.
const ComparedRow* largest_slow_down(const Comparison& comparison, bool crept_too);

/// The findings that fail beside slower, impossible, wrong and crashed rows.
struct FailurePolicy {
  /// Nothing may be left unjudged.
  bool undecided_fails = false;
  /// A bisection asks whether this commit is good. That is not known while a trial is undecided or not
  /// comparable; one that is gone cannot be slower; and a day that is past says nothing of a commit.
  bool bisection = false;
};

/// The rows were compared with these, if with anything.
enum class Against { nothing, baseline, base };

/// The facts about a comparison that its outcome needs besides the rows.
struct ComparisonRun {
  Against against = Against::nothing;
  std::size_t measured = 0;  ///< trials that have times
  bool partial = false;
  std::string nothing_to_do{};  ///< why no case was to be run; empty where there was one
  double seconds = 0;           ///< that were spent; 0 where they say nothing
};

Outcome outcome_of(const Comparison& comparison, const ComparisonRun& run, const FailurePolicy& policy = {});

/// Rows for results that are compared with nothing: wrong, impossible, crashed and skipped ones say so, and
/// others are not comparable because of `why`.
Comparison not_compared(const Results& results, const std::string& why);

/// The outcome of a run that was compared with nothing.
Outcome outcome_of(const Results& results);
/// The outcome of a run whose rows were judged `against` something, or stand for themselves.
Outcome outcome_of(const Results& results, const Comparison& rows, Against against,
                   const FailurePolicy& policy = {});

/// "2 undecided, 1 not comparable, 1 gone"; empty when all trials were judged.
std::string unjudged_text(const Comparison& comparison);

/// Limits of single trials, as a file holds them: the first whose filter selects a trial is its limit.
struct TrialLimit {
  std::string filter;
  double limit = 0;
};
struct TrialLimits {
  std::vector<TrialLimit> limits;
};
void describe(Fields& f, TrialLimits& limits);
void describe(Fields& f, Baseline& baseline);
void describe(Fields& f, Comparison& comparison);

/// Writes a file of a folder of baselines, which it makes as needed. Throws Error.
void write_into_baselines(const std::filesystem::path& file, const std::string& json);

}  // namespace assay
