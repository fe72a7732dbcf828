/// Foretells how long something still takes, by the share of it that is done. Pure functions; times are
/// seconds.
#pragma once

#include <optional>
#include <string>

namespace assay {

/// Estimates the time that is left from the pace so far. (The pace of the last half would forget how slow a
/// beginning was; in runs and checks of suites it was off as far, and jumped five times as much, since shares
/// come in fits and starts.) A later end is believed at once, an earlier one within a tenth of the time so
/// far.
class RemainingTime {
 public:
  /// At `time`, which never falls, `share` of the whole was done, from 0 to 1. A share that is smaller than
  /// one before changes nothing, unless it is below a half of that: then there is work that nobody foresaw,
  /// and all begins anew.
  void note(double time, double share);

  /// Seconds that are left at `time`: nothing as long as nobody can tell. Where a share is overdue they are a
  /// quarter of the time since the last one, so that the end is not at hand for minutes.
  std::optional<double> left(double time) const;

 private:
  struct Point {
    double time, share;
  };
  std::optional<Point> first_, last_;
  std::optional<double> whole_;  ///< when all will be done, as foretold at the last point
};

/// "about 40 s left", no finer than anybody can tell.
std::string remaining_text(double seconds);

}  // namespace assay
