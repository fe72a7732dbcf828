/// Values of a variable of the environment tried against each other: what was measured, and what follows.
#pragma once

#include "assay/caches.hpp"
#include "bench/gate/two_builds.hpp"
#include "core/statistics/decision.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// A variable of the environment by which variants of one name are told how to run.
struct TunedVariable {
  std::string_view name;     ///< OPENBLAS_CORETYPE
  std::string_view variant;  ///< that reads it, in every operation: openblas
  std::string_view value;    ///< what one of its values is called: core type
  std::string_view values;   ///< core types
  std::string_view
      preferred;            ///< of those that cannot be told apart: which needs the fewest instruction sets
  std::string_view title;   ///< of a record: Core type of OpenBLAS
  std::string_view advice;  ///< of a record: when the variable is read, and where it does not belong
};

/// Tells OpenBLAS which of its kernels to use.
inline constexpr TunedVariable core_type{.name = "OPENBLAS_CORETYPE",
                                         .variant = "openblas",
                                         .value = "core type",
                                         .values = "core types",
                                         .preferred = "which needs the fewest instruction sets",
                                         .title = "Core type of OpenBLAS",
                                         .advice =
                                             "OPENBLAS_CORETYPE is read when OpenBLAS is loaded, by every "
                                             "program that is linked with it. It overrules "
                                             "what OpenBLAS detects, on other machines too: set it for this "
                                             "machine, and measure again with another "
                                             "release."};

/// Tells our kernels the sizes of caches from which they take their blocks and thresholds.
inline constexpr TunedVariable reckoned_caches{.name = caches_variable,
                                               .variant = "auto",
                                               .value = "size of caches",
                                               .values = "sizes of caches",
                                               .preferred = "which differs least from what the system says",
                                               .title = "Caches that kernels reckon with",
                                               .advice =
                                                   "ASSAY_CACHES holds the bytes of the first, the second "
                                                   "and the last cache that kernels take their blocks "
                                                   "and thresholds from. What is chosen is kept for this "
                                                   "machine and this version in the user's cache folder, "
                                                   "where every later run finds it. "
                                                   "Times that were recorded before are not comparable: "
                                                   "record baselines again."};

/// One value, or the default.
struct ValueAttempt {
  std::string value;     ///< what the variable holds; empty for the default, which leaves it unset
  std::string reported;  ///< what is said to be used then: the core of OpenBLAS
  std::string left_out;  ///< why it was not measured; empty when it was
  std::string wrong;     ///< the trial that disagrees with the oracle, and how; empty when all agree
  /// Trials in order: the default as base, this value as head, the default once more as control.
  std::vector<PairedTrial> trials;

  bool measured() const { return left_out.empty() && wrong.empty(); }
};

struct ValueRuling {
  Decision decision = Decision::no_change;  ///< means nothing for what was left out
  Interval ratio{1, 1, 1};       ///< time by that of the default: geometric mean over trials, round by round
  std::vector<Interval> trials;  ///< the same of each trial
  std::string why;
  bool tied_with_best = false;
};

struct VariableRuling {
  std::vector<ValueRuling> attempts;  ///< in order; the first is the default
  Interval control{1, 1, 1};          ///< the default against itself
  std::size_t chosen = 0;
  std::size_t best = 0;  ///< lowest ratio of those that may be chosen
  std::string ties;      ///< whether others cannot be told from the best, and why the chosen one was taken
};

/// Rules on what was measured, as a pure function. The first attempt is the default; those measured have as
/// many rounds, at least 6. Every trial counts alike. The first of those values that cannot be told from the
/// best is chosen, the default before all: a setting that brings nothing is one to be forgotten, and the
/// preferred values stand first.
VariableRuling ruled(const TunedVariable& variable, const std::vector<ValueAttempt>& attempts);

/// Returns the number of rounds that all of them were measured in.
std::size_t rounds_of(const std::vector<ValueAttempt>& attempts);

/// `default` or the value.
std::string name_of(const ValueAttempt& attempt);

}  // namespace assay
