/// Compared rows in words: the one order in which they are told, and the one spelling of each part.
#pragma once

#include "assay/compare.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace assay {

/// Rows that readers must see first come first. A terminal shows the end of a long text, so this is the order
/// from its bottom up.
inline constexpr std::array standings_by_weight{
    Standing::crashed,        Standing::timed_out, Standing::wrong,  Standing::impossible, Standing::slower,
    Standing::accepted,       Standing::undecided, Standing::faster, Standing::gone,       Standing::added,
    Standing::not_comparable, Standing::skipped,   Standing::same};
/// The place in that order, from 0.
std::size_t weight_of(Standing standing);

/// Slower, accepted, faster or undecided: its ratio is news.
bool may_have_moved(Standing standing);

/// Returns the standing by which a row is listed: a row with a worse figure is listed as slower.
Standing listed_as(const ComparedRow& row);

/// Positions of the rows that `standing_of` gives this standing. Those that moved are sorted, the largest
/// change first.
std::vector<std::size_t> rows_of(const Comparison& comparison, Standing standing,
                                 Standing (*standing_of)(const ComparedRow&) = listed_as);
/// The same for a terminal: the largest change last.
std::vector<std::size_t> rows_upwards(const Comparison& comparison, Standing standing);

/// "1.09", or "1.010" where the limit is a few percent and asks for tenths of one.
std::string factor_text(double ratio, double limit);

/// "1.09x slower", "1.11x faster", "accepted 1.06x", "same", "not comparable".
std::string change_in_words(const ComparedRow& row);

/// "1.06 to 1.12", in the direction of change_in_words(); empty where there is no ratio.
std::string interval_in_words(const ComparedRow& row);

std::string limit_in_words(const ComparedRow& row);

/// Whether it is wrong since its program says so. Programs that are not assay's have no oracle, and tell that
/// in words of their own.
bool reports_an_error(const ComparedRow& row);

/// "1 of 44 trials is slower than its limit; 3 faster, 2 undecided, 38 same".
std::string comparison_sentence(const Comparison& comparison);

/// "15 slower, 3 faster, 27 same": all standings that a trial has.
std::string counts_sentence(const Comparison& comparison);

/// Whether a trial asks for something to be done: it fails, or was left open.
bool is_urgent(const ComparedRow& row);

/// The figures of a row in words, the worse ones alone where that is asked for; empty without any.
std::string figures_in_words(const ComparedRow& row, bool worse_only = false);

/// Says why a row that is listed as slower fails: its time with the limit, its worse figures, or both.
std::string slower_in_words(const ComparedRow& row);

/// "1 figure worse, 2 better, 9 as before"; empty where no figure was compared.
std::string figures_sentence(const Comparison& comparison);

/// The rows of comparison_text() that are urgent, and nothing else.
std::string urgent_text(const Comparison& comparison, const Results& before, const Results& after);

/// Returns the largest slow-down of one step; null where there is none. `crept_too`: also those that only
/// several steps add up to.
const ComparedRow* largest_slow_down(const Comparison& comparison, bool crept_too);

/// Says what the machine, or all of the code, did by itself; empty below one percent.
std::string machine_sentence(const Comparison& comparison);

/// Says why there is a side without times; empty where both have them.
std::string withheld_sentence(const Results& before, const Results& after);

}  // namespace assay
