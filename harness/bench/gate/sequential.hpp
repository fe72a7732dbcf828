/// The rules of a gate of two builds: which trials are slower, decided while launches come in, with a stated
/// chance of a false alarm for the whole suite. bench/README.md argues them ("A gate of two builds").
///
/// The launch is the sample: slices share its luck. All tests are sign tests on the logarithm of head / base
/// per launch, so that nothing is assumed about how launches are distributed. A screen of a few launches is
/// followed by looks after fixed numbers of them, and one more when time runs out, which does not depend on
/// what was found: at whatever number that is. At a look a trial is `slower` when "the slow-down is at most
/// `margin`" is rejected at level / looks / m, where m is the number of all trials, less those that were
/// found slower before (Holm's step-down procedure on each look). That a trial which looks the same goes on
/// no more can only make false alarms rarer. So can what is asked besides of what is `slower` or `faster`:
/// that it moved against the copy of the base as well, at `level` (at the level of a look, trials that
/// scatter would need half as many launches again), and in each of several layouts.
#pragma once

#include "assay/compare.hpp"

#include <span>
#include <string>
#include <vector>

namespace assay {

struct SequentialPolicy {
  double margin = 1.01;      ///< a slow-down up to here is none
  double same_limit = 1.01;  ///< the interval of what is `same` ends here; older files have a larger one
  double level = 0.01;       ///< chance of any false alarm in a run of the whole suite
  double same_level = 0.05;  ///< chance that the interval of a look ends too low, and that it begins too high
  double control_margin = 1.005;  ///< how far all trials of the control may move together
  std::size_t screen = 8;
  /// Trials in all shards together, where those at hand are one shard's: the level holds for the whole suite.
  std::size_t family = 0;
  /// After so many launches, the screen's included. The first is where 38 trials that all lie above the
  /// margin can be told; with fewer the level of a look would be spent on nothing.
  std::vector<std::size_t> looks{16, 21, 28, 42, 63, 95, 143};
};

SequentialPolicy policy_with(double margin);

/// Logarithms of head / base, and of control / base, one per launch.
struct TrialLogs {
  std::vector<double> head, control;
  std::vector<double> to_control;    ///< of head / control; empty without a control
  std::vector<std::size_t> layouts;  ///< which one each launch ran; empty where there is one
  /// How far head / base may be off, since their numbers are known to so many digits: it widens the interval.
  double resolution = 0;
};

struct SequentialDecision {
  Standing standing = Standing::undecided;  ///< same, (not or probably) slower, faster, undecided
  bool screened = false;                    ///< decided by the screen
  bool control_moved = false;
  bool goes_on = false;      ///< more launches may tell more
  bool by_layout = false;    ///< undecided since it did not move in all layouts
  std::size_t launches = 0;  ///< the decision rests on so many
  double chance = 0;         ///< that a trial which is probably slower is so
};

struct SequentialDecisions {
  std::vector<SequentialDecision> trials;  ///< in the order given
  std::size_t family = 0;                  ///< m: trials that were tested, those of other shards included
  std::string unfit;                       ///< why the machine cannot be judged on; empty when it can
};

/// The interval that so many launches decide by, at least one.
Interval deciding_interval(const TrialLogs& trial, std::size_t launches, const SequentialPolicy& policy);

/// Decides by the launches so far. The same launches give the same decisions, at once or one by one.
SequentialDecisions rule(std::span<const TrialLogs> trials, const SequentialPolicy& policy);

/// The smallest slow-down, as a ratio, that these rules would have called slower 19 times in 20 with so many
/// launches, were those spread as the control's are, and `by_layout`, a deviation, beyond that. 0 when there
/// is no control, when the screen was not completed, or with too few launches for any.
double smallest_visible(const TrialLogs& trial, std::size_t family, std::size_t launches,
                        const SequentialPolicy& policy, double by_layout = 0);

}  // namespace assay
