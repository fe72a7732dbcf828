/// The outcome of every verb that measures or judges, from the standings of its rows.
#pragma once

#include "assay/compare.hpp"
#include "assay/outcome.hpp"

#include <cstddef>
#include <string>

namespace assay {

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

}  // namespace assay
