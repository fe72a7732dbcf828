/// The rules by which a row is called slower, faster, the same or undecided; and the launches of both sides,
/// with the movement of witness rows in the same launches.
///
/// On shared machines the time of unchanged code drifts by 8 to 61 % within a minute. Three witnesses must
/// agree before a row is called slower:
///   1. the whole interval of its time relative to the naive variants of all other cases, measured in the
///      same launches, lies above the limit: drift that all kernels share cancels.
///   2. its time relative to the naive variant of its own case, which takes turns with it, lies above the
///      limit. Its estimate must, not its interval, which one stray launch would widen.
///   3. its time as measured is longer by more than the plain limit. A row that merely did not get faster
///      together with the machine (bound by memory while the clock rose) passes 1 and 2.
/// Kernels drift apart where other work used more of the machine on one side than on the other, and by where
/// their data lie; those of several threads most. Only what that does not explain is called slower.
/// Where there are no other cases, the interval of 2 takes the place of 1. Faster is the mirror image. Same
/// means that the interval of 1 lies within the plain limits. Not slower means that it ends within them, and
/// neither 2 nor 3 is slower. What drift or its own spread may explain is probably slower, all else undecided.
/// Results of foreign programs have no naive variants. The other rows take their place: those that stood
/// still, where they are a quarter, else all. These are under test as well, so a move of all of them alike is
/// undecided; and a row moved by the least of its time and its time beside them. It is slower where its
/// interval lies beyond what its own spread may do; or beyond the plain limit with a confidence that all rows
/// share, and beyond how far the other rows moved apart.
#pragma once

#include "assay/compare.hpp"

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Fewer launches decide nothing: the widest interval of two against two covers 67 %.
inline constexpr std::size_t fewest_launches = 3;

/// Drift of unchanged code stayed below 1.61 where it was observed. A larger move is no drift: without
/// witnesses only such a ratio is believed, and when all naive variants move so far together, this is another
/// machine state, or another build, and nothing can be judged.
inline constexpr double farthest_drift = 2;

/// Kernels that live in memory drifted by up to 1.24 between two quiet runs of unchanged code, minutes apart:
/// pages lie elsewhere, and neighbours use the same memory. A single recording shows nothing of that; two say
/// more, by their spread.
inline constexpr double drift_of_memory = 1.3;

/// Seconds by which waking other threads drifted per call between quiet runs of unchanged code, minutes
/// apart, while naive variants, which have one thread, took as long as before: of OpenBLAS 38 µs, of ours 8
/// µs.
inline constexpr double drift_of_waking = 40e-6;

/// The drift of kernels where one or two rows that stood still say that the machine did: what they would not
/// have shown.
inline constexpr double drift_of_few = 1.24;

/// Deviations of a case's own spread that count as the same. The spread is estimated from few numbers and has
/// heavy tails; two keep 60 rows of unchanged code green together
/// with the confirmation (judge_simulation_test).
inline constexpr double deviations_allowed = 2;

/// The chance that the interval of any row of a comparison of unchanged samples misses 1. It must miss the
/// limit to be slower: that was seen in none of 5,495 simulated comparisons.
inline constexpr double chance_of_false_alarm = 0.05;

/// How far other rows lie apart counts beyond this many times what their own samples explain, since it is
/// estimated from few; and a row must lie beyond this many deviations of it. See foreign_comparison_test.
inline constexpr double explained_deviations = 1.5, deviations_of_rows = 4;

/// A ratio of up to `times`, or down to its inverse, may be caused by `of`.
struct Drift {
  double times = 1;
  std::string of;
};

/// The evidence about one row. A missing witness is empty.
struct Evidence {
  std::size_t launches_before = 0, launches_after = 0;
  Interval time;
  std::optional<Interval> beside_case;
  std::optional<Interval> beside_suite;
  std::optional<Interval> sure{};  ///< the same with the confidence that all rows need together
  double of_spread = 1;            ///< ratio that its own spread explains, unless it is sure
  std::string case_witness;        ///< "the naive variant of its case"
  bool suite_is_naive = true;  ///< else the witnesses of the suite are all other rows, which may have changed
  double limit = 1;            ///< tolerance of this case
  double plain_limit = 1;      ///< tolerance of a case that shows no spread of its own
  Drift drift = {};
};

Finding judge(const Evidence& evidence);

/// The chance that it is slower than its limit, if what may explain it lies two deviations away.
double chance_of_slower(const Evidence& evidence);

/// The ratio that is shown: of measures that contradict each other the one that is least like a change; what
/// was measured, where witnesses that may have changed themselves say otherwise.
Interval shown_ratio(const Evidence& evidence);

bool is_within(double ratio, double limit);

/// Returns the finding about a trial that needs no comparison: it was skipped, failed, is wrong, or its time
/// is impossible. Nothing for other trials.
std::optional<Finding> found_alone(const TrialResult& trial);

using TrialsByKey = std::map<std::string_view, const TrialResult*>;
TrialsByKey by_key(const std::vector<TrialResult>& trials);

/// One trial on one side: the logarithm of its time in every launch, NaN where it was not measured.
using Logs = std::vector<double>;

struct LoggedTrial {
  Logs logs;
  double usual = 0;  ///< median over the launches it was measured in
};

/// All launches of one or several recordings, one after the other.
struct Side {
  std::vector<std::size_t> recording;       ///< of each launch
  std::map<std::string, LoggedTrial> rows;  ///< by key; each as long as `recording`
};

/// Trials of `recordings` that are measured and have the same workload as the trial of that key in `current`.
///
/// The time of a launch is the lower quartile of its slices. Interruptions only add time, so low quantiles
/// spread less than the median; the minimum is a matter of luck again.
Side side_of(std::span<const Results* const> recordings, const Results& current);

/// Launches of both sides as logarithms of times relative to `witnesses`, those without a number left out.
struct Paired {
  std::vector<double> before, after;
  std::vector<std::size_t> recording;  ///< of each number in `before`
};

/// The rows to which others are related: the distance of each from its own usual time in every launch,
/// ascending. A launch lacks the rows that were not measured in it.
struct Witnesses {
  std::set<std::string> keys;
  std::vector<std::vector<double>> before, after;  ///< by launch

  /// The number of witnesses for a row; no row is its own witness.
  std::size_t beside(const std::string& key) const { return keys.size() - keys.count(key); }
};
Witnesses witnesses_of(const Side& before, const Side& after, std::set<std::string> keys);

/// The times of a row relative to its witnesses, without itself: in each launch, the median deviation of the
/// witnesses from their own usual time is subtracted. Drift that they share with the row cancels, between the
/// sides and from launch to launch. Without witnesses these are the times themselves.
Paired relative(const Side& before, const Side& after, const std::string& key, const Witnesses& witnesses);

/// Coverage of the intervals that standings rest on. A standing answers a one-sided question, so this is 95
/// % confidence; and with six launches on either side, one stray launch does not yet widen such an interval.
inline constexpr double standing_coverage = 0.9;

/// From the middle of a normal interval of standing_coverage to either end, in deviations.
inline constexpr double deviations_of_end = 1.645;

/// Estimates how far launches of a side lie apart by themselves, as a standard deviation of the logarithm:
/// between the recordings when there are several, else between the launches before. Those after count only
/// where there is none before to tell: a regression that is noisy as well must not widen its own limit.
double spread_of(const Paired& paired);

}  // namespace assay
