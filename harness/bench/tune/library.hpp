/// Core types of OpenBLAS tried against each other: what was measured, and what follows.
#pragma once

#include "bench/gate/two_builds.hpp"
#include "core/statistics/decision.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// The variable by which OpenBLAS is told which of its kernels to use.
inline constexpr const char* core_type_variable = "OPENBLAS_CORETYPE";
/// Variants that call OpenBLAS have this name in every operation.
inline constexpr std::string_view library_variant = "openblas";

/// One core type, or the default.
struct CoreAttempt {
  std::string core_type;  ///< what the variable holds; empty for the default, which leaves it unset
  std::string reported;   ///< the core that OpenBLAS says it uses then
  std::string left_out;   ///< why it was not measured; empty when it was
  std::string wrong;      ///< the trial that disagrees with the oracle, and how; empty when all agree
  /// Trials in order: the default as base, this core type as head, the default once more as control.
  std::vector<PairedTrial> trials;

  bool measured() const { return left_out.empty() && wrong.empty(); }
};

struct CoreRuling {
  Decision decision = Decision::no_change;  ///< means nothing for what was left out
  Interval ratio{1, 1, 1};       ///< time by that of the default: geometric mean over trials, round by round
  std::vector<Interval> trials;  ///< the same of each trial
  std::string why;
  bool tied_with_best = false;
};

struct LibraryRuling {
  std::vector<CoreRuling> attempts;  ///< in order; the first is the default
  Interval control{1, 1, 1};         ///< the default against itself
  std::size_t chosen = 0;
  std::size_t best = 0;  ///< lowest ratio of those that may be chosen
  std::string ties;      ///< whether others cannot be told from the best, and why the chosen one was taken
};

/// Rules on what was measured, as a pure function. The first attempt is the default; those measured have as
/// many rounds, at least 6. Every trial counts alike. The first of those core types that cannot be told from
/// the best is chosen, the default before all: a setting that brings nothing is one to be forgotten, and the
/// less demanding core types stand first.
LibraryRuling ruled(const std::vector<CoreAttempt>& attempts);

/// Returns the number of rounds that all of them were measured in.
std::size_t rounds_of(const std::vector<CoreAttempt>& attempts);

/// `default` or the name of the core type.
std::string name_of(const CoreAttempt& attempt);

}  // namespace assay
