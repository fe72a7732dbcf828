/// Decides how many slices the launches of a trial are given.
///
/// A launch says one number per trial, the median over its pairs of slices. A call of microseconds gives 50
/// pairs in the usual time; a call of milliseconds gives six, and with six the luck within a launch is most
/// of what launches disagree about: 3 % between launches of a matrix product of 2 ms, 2.9 % of it from
/// within. A launch that costs a tenth of a second to start is then worth less than it could be. So trials
/// whose pairs vary more get more pairs, as far as the time left allows.
///
/// Trials get more by how much their pairs vary in earlier launches, never by which side was slower: if the
/// sides are equal, the next launch still lies above or below with equal chance, which is all that the sign
/// tests ask for.
///
/// The screen has all trials and decides most of them with the usual slices; the few that it leaves open get
/// far more for the same seconds. So its launches are made longer only within a share of the budget.
#pragma once

#include "bench/gate/two_builds.hpp"

#include <vector>

namespace assay {

struct PatiencePolicy {
  double luck = 0.008;            ///< deviation of a launch's number by its slices alone that is good enough
  double most = 32;               ///< times the usual number of slices
  std::size_t learning = 3;       ///< launches from which the variation of pairs is known
  double screen = 0.18;           ///< share of the budget by whose end the screen is to be over
  double screen_of_others = 0.5;  ///< likewise of programs that are not assay's, which take no turns
};

/// Times the usual number of slices with which luck within a launch is as small as asked; 1 while launches
/// are too few to tell.
double wanted_patience(const PairedTrial& trial, const PatiencePolicy& policy);

/// Seconds that all sides spend in the slices of a launch. A slice is one call, or as many as last `shortest`
/// seconds.
double slice_seconds(const PairedLaunch& launch, double shortest);

/// Seconds that all sides spend in the usual slices of a launch.
double usual_slice_seconds(const PairedTrial& trial);

/// Gives these trials the patience they want. Where that would take more than `spare` seconds, all get the
/// same share of what they want beyond the usual. Returns the seconds that it takes.
double grant_patience(std::vector<PairedTrial>& trials, const std::vector<std::size_t>& which, double spare,
                      const PatiencePolicy& policy);

/// Grants patience and seconds launch by launch, so that the screen ends within its share of the budget, and
/// the budget lasts until a trial can be told that has a few stray launches: the third look, and after that
/// the next.
class PatiencePlan {
 public:
  explicit PatiencePlan(const PatiencePolicy& policy = {}) : policy_(policy) {}
  /// Before a launch of these trials, with `launches` behind them and so much of the budget left.
  void plan(TwoBuilds& run, const std::vector<std::size_t>& which, std::size_t launches, double seconds_left);
  /// After it.
  void took(double seconds);

 private:
  PatiencePolicy policy_;
  double slice_seconds_ = 0;  ///< planned for the slices of this launch
  /// The cost of a launch for each second of slices, by the last one: starting, filling inputs, handing over,
  /// and on a busy machine the time that others take.
  double per_slice_second_ = 1;
};

}  // namespace assay
