/// Progress on standard error: one rewritten line on a terminal, a line now and then elsewhere; and
/// interrupts of the program, and crashes of a kernel.
#pragma once

#include "assay/hooks.hpp"

#include <optional>
#include <string>
#include <string_view>

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

/// "  12 s, about 40 s left  process start 2 of 6". What is left is told where it is known and all takes more
/// than five seconds.
std::string progress_line(double seconds, std::optional<double> left, std::string_view what);

/// Hooks that show progress, remember what is running for crash reports, and stop on an interrupt. The
/// destructor clears the line. With `quiet` nothing is shown.
class Progress {
 public:
  explicit Progress(bool quiet = false);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  Hooks hooks();

 private:
  void say(std::string_view what, std::optional<double> done);
  /// Shows how far it is, unless that was shown within so many seconds.
  void show_after(double seconds);
  bool quiet_, terminal_;
  double started_, shown_at_;
  RemainingTime remaining_;
  std::string what_;
};

/// From now on SIGINT, SIGTERM and SIGHUP ask for a stop instead of ending the process; a later one ends
/// it, with `code`.
void catch_interrupts(int code);
bool interrupted();

/// From now on a crash names what was running, on standard error, and exits with `code`.
void report_crashes(int code);
/// Notes what is running now, where a signal handler can read it.
void now_running(std::string_view what);

}  // namespace assay
