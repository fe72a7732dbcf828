/// A launch, by processes that each sample some of its trials: who is accused is sampled alone, and only who
/// is at fault there is named. Figures of several launches are joined.
#pragma once

#include "assay/measure.hpp"
#include "core/check/contained.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// The figure of a kernel that is timed by its own clock: what ours says.
inline constexpr std::string_view tag_of_other_clock = "seconds_by_our_clock";

/// Joins the value of another launch to that of `launches` before it.
double joined(Figure::Join join, double all, double more, double launches);

/// Joins the figures of another launch to those of `launches` before it, each as measured_figures() says.
void join(FigureValues& all, const FigureValues& more, std::size_t launches);

/// The findings of one process of a launch: samples by key, how it failed, or why none of its answers counts.
struct LaunchPart {
  std::map<std::string, TrialSample> samples;
  std::optional<FailedStep> failed{};
  std::string unsound{};
};

/// Samples these trials in a process of their own.
using SamplePart = std::function<LaunchPart(const LaunchRequest&)>;

std::vector<TrialSample> sample_in_parts(const LaunchRequest& request, const SamplePart& sample,
                                         const Hooks& hooks);

}  // namespace assay
