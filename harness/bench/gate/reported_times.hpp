/// Programs and commands that time themselves, or are timed from outside, as sides of a gate: each process
/// start reports times by name.
#pragma once

#include "bench/gate/two_builds.hpp"

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Times that process starts of one side reported by one name.
struct Reported {
  std::vector<double> seconds;
  double resolution = 0;  ///< half of the last digit of a printed number, by that number
  std::string error;      ///< why there are none, as the program said it; empty where it said nothing
  bool failed = false;    ///< the error is a fault; else the benchmark was skipped on purpose
};
using ReportedTimes = std::map<std::string, Reported>;

/// Appends what a later start of the same side reported.
void append(ReportedTimes& all, ReportedTimes later);

/// The names of both as trials. Those that one side lacks, and those that mean several things, are left out
/// with the reason.
std::vector<PairedTrial> matched(const std::vector<std::string>& base, const std::vector<std::string>& head);

/// For messages, in the order of LaunchSide.
inline constexpr std::array<std::string_view, launch_sides> launch_side_names{"base", "head", "control"};

/// Reports of all sides in one launch, in the order of LaunchSide.
using LaunchReports = std::array<ReportedTimes, launch_sides>;

/// Adds a launch to each of these trials that all sides have times of. The others are left out with the
/// reason: one that reports an error in the head alone is wrong.
void add_launch(TwoBuilds& run, const std::vector<std::size_t>& trials, LaunchReports reports);

}  // namespace assay
