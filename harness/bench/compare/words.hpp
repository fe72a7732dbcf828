/// The parts of a verdict in words, for tables that give each a column.
#pragma once

#include "assay/compare.hpp"

#include <string>

namespace assay {

/// "1.09x slower", "1.11x faster", "accepted 1.06x", "same", "not comparable".
std::string change_in_words(const ComparedRow& verdict);

/// "1.06 to 1.12", in the direction of change_in_words(); empty where there is no ratio.
std::string interval_in_words(const ComparedRow& verdict);

/// "1.05", or "1.010" where ratios have three decimals as well.
std::string limit_in_words(const ComparedRow& verdict);

/// Whether it is wrong since its program says so. Programs that are not assay's have no oracle, and tell that
/// in words of their own.
bool reports_an_error(const ComparedRow& verdict);

/// "1 of 44 trials is slower than its limit; 3 faster, 2 undecided, 38 same".
std::string verdict_sentence(const Comparison& comparison);

/// "15 slower, 3 faster, 27 same": all standings that a trial has.
std::string counts_sentence(const Comparison& comparison);

/// Returns the standing by which a row is listed: one with a worse figure is listed as one that is slower is.
Standing listed_as(const ComparedRow& verdict);

/// Whether a trial asks for something to be done: it fails, or was left open.
bool is_urgent(const ComparedRow& verdict);

/// The figures of a row in words, the worse ones alone where that is asked for; empty without any.
std::string figures_in_words(const ComparedRow& verdict, bool worse_only = false);

/// What fails a row that is listed as slower: its time with the limit, its worse figures, or both.
std::string slower_in_words(const ComparedRow& verdict);

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
