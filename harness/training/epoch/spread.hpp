/// Estimates how well the mean of step times is known, whether it changed while they were taken, and what an
/// epoch costs once. Steps that follow each other are alike, so they are judged in groups of consecutive
/// ones. Pure functions; times are seconds.
#pragma once

#include "assay/interval.hpp"
#include "training/job/job.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay {

inline constexpr double predicted_coverage = 0.9;

/// The mean of one value or more.
double mean_of(std::span<const double> values);

/// Whether the interval holds the value; nothing where it has no width.
std::optional<bool> holds(const Interval& interval, double value);

Interval shifted(Interval interval, double by);

std::vector<double> scaled(std::vector<double> values, double factor);

/// Consecutive steps, and the mean of their times.
struct Group {
  Index steps = 0;
  double mean = 0;
};

/// Groups of equal numbers of consecutive steps, 20 to 39 of them; single steps where there are fewer than
/// 40. Batch means: 10 to 30 groups are enough for an interval, and more make them alike again (Schmeiser
/// 1982, Batch Size Effects in the Analysis of Simulation Output). Steps beyond the last whole group join it.
std::vector<Group> grouped(std::span<const double> seconds);

/// The groups of all windows, one window after the other; a window without times of single steps is a group.
std::vector<Group> groups_of(const std::vector<TimedWindow>& windows);

/// Whether these are runs from the start, one window each with times of single steps, and enough of them to
/// be groups by themselves. Steps of a run are correlated, so the variance between runs is used.
bool are_runs(const std::vector<TimedWindow>& windows);
inline constexpr std::size_t enough_runs = 6;

/// The mean over all steps of the groups, and the variance of one step's time as it adds up over many steps:
/// the sum over k groups of steps * (mean - overall mean)^2, by k - 1.
struct Spread {
  double mean = 0;
  double variance = 0;  ///< 0 with one group, of which nothing follows
  Index steps = 0;
  int freedom = 0;  ///< k - 1
};
Spread spread_of(std::span<const Group> groups);

/// The correlation r of each group with the next, 0 at least. The mean of n such groups is known as well as
/// the mean of n (1 - r) / (1 + r) independent groups.
double persistence_of(std::span<const Group> groups);

/// Seconds of `steps` more steps like these: their number times the mean, with Student's interval for the
/// error of the mean and the luck of the steps themselves, t sqrt(variance (steps^2 / measured + steps)).
/// Times are above 0: the lower end is as many times shorter as the upper one is longer. Coverage 0 and no
/// width with a single group.
Interval sum_of_steps(const Spread& spread, double steps);

/// A place where the mean moved.
struct Change {
  std::size_t group = 0;         ///< the first of those after it
  Index step = 0;                ///< the same as a step
  double before = 0, after = 0;  ///< means
  double chance = 0;             ///< of such a move, or a larger one, if there was none
};

/// The most convincing of all places: Student's test between the groups before and after it, times the number
/// of places (Bonferroni). Nothing with fewer than four groups or when no place convinces.
std::optional<Change> change_in(std::span<const Group> groups);

/// Tells whether the second of two measurements has another mean. Without any spread on either side there is
/// no test, and a difference above 1.5 % counts, with an unknown chance of 0. The chance is multiplied by
/// `tests`, the number of tests together.
std::optional<Change> change_between(std::span<const Group> before, std::span<const Group> after,
                                     std::size_t tests = 1);

/// Wall time of the first `steps` steps of an epoch, or of steps later in it.
struct Stretch {
  double steps = 0;
  double seconds = 0;
  bool from_start = true;  ///< A is in it
  int run = 0;
};

/// The time that an epoch costs once, told from the time of each step: T(n) = A + b n.
struct LineFit {
  std::string impossible;  ///< why A and b cannot be told; nothing below is set then
  double one_off = 0;      ///< A
  double period = 0;       ///< b
  int freedom = 0;         ///< stretches less two
  /// Variances and covariance of A and b, and of the time of one step; 0 without freedom.
  double one_off_variance = 0, period_variance = 0, covariance = 0, step_variance = 0;

  /// A + b n with Student's 90 % interval: of the line, and of the luck of n steps. Coverage 0 without
  /// freedom.
  Interval at(double steps) const;
};

/// Least squares over pieces of runs that share no steps, each weighted by the inverse of its number of
/// steps: the times of steps vary independently with one variance. This is the generalized least squares of
/// Aitken (1935) over the stretches themselves, where two of one run share all steps of the shorter. For
/// stretches of one run alone it is b = (T(last) - T(first)) / (n(last) - n(first)). Needs two different
/// lengths, one of them from the start.
LineFit fit_line(const std::vector<Stretch>& stretches);

/// Makes stretches of windows: those that begin with step 0 are stretches from the start, the others are not.
/// A window with times of single steps that begins with step 0 is cut at eighths of its length, unless there
/// are runs enough without.
std::vector<Stretch> stretches_of(const std::vector<TimedWindow>& windows);

}  // namespace assay
