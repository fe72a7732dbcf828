/// The rules of a gate of two builds: which trials are slower, decided while launches come in, with a stated
/// chance of a false alarm for the whole suite.
///
/// The launch is the sample: slices share its luck. All tests are sign tests on the logarithm of head / base
/// per launch, so that nothing is assumed about how launches are distributed.
///
/// 1. A screen of a few launches of every trial. What is `same` there needs no more: its median is within the
/// margin,
///    and a slow-down of `same_limit` is rejected.
/// 2. The others, m of them, go on with fresh launches only, since they were chosen by those of the screen.
/// They are
///    looked at after fixed numbers of launches. At a look a trial is `slower` when "the slow-down is at most
///    `margin`" is rejected at level / looks / m, m counting down as trials are decided (Holm's step-down
///    procedure on each look).
/// 3. A byte-identical copy of the base ran in every launch as well. When it moves against the base by the
/// same rule,
///    or all of its trials together do, the machine or the method is at fault, and nothing else is believed.
#pragma once

#include "assay/compare.hpp"

#include <span>
#include <string>
#include <vector>

namespace assay {

struct SequentialPolicy {
  double margin = 1.01;      ///< a slow-down up to here is none
  double same_limit = 1.02;  ///< what `same` excludes
  double level = 0.01;       ///< chance of any false alarm in a run of the whole suite
  double same_level =
      0.05;  ///< chance that a trial slower by `same_limit` passes as same: in the screen, and later
  double control_margin = 1.005;  ///< how far all trials of the control may move together
  std::size_t screen = 8;
  std::vector<std::size_t> looks{8, 12, 18, 27, 40, 60, 90, 135};
};

/// Logarithms of head / base, and of control / base, one per launch.
struct TrialLogs {
  std::vector<double> head, control;
};

struct SequentialRuling {
  Standing standing = Standing::undecided;  ///< same, slower, faster, undecided
  bool screened = false;                    ///< decided by the screen
  bool control_moved = false;
  std::size_t launches = 0;  ///< that the ruling rests on
};

struct Rulings {
  std::vector<SequentialRuling> trials;  ///< in the order given
  std::size_t family = 0;                ///< m: trials that the screen left open
  std::string unfit;                     ///< why the machine cannot be judged on; empty when it can
};

/// What the launches so far say. Of each trial the first `screen` launches are its screen, the others are
/// fresh. The same launches give the same rulings, at once or one by one.
Rulings rule(std::span<const TrialLogs> trials, const SequentialPolicy& policy);

/// The smallest slow-down, as a ratio, that these rules would have called slower 19 times in 20, given time
/// for all their launches, were those spread as the control's are. 0 when there is no control or no number
/// could do it.
double smallest_visible(const TrialLogs& trial, std::size_t family, const SequentialPolicy& policy);

}  // namespace assay
