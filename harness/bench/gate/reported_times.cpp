#include "bench/gate/reported_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace assay {
namespace {

/// Says why the reports of a name make no launch. At least one side has no times.
Finding why_unusable(const std::array<Reported, launch_sides>& sides) {
  const Reported &base = sides[base_side], &head = sides[head_side], &control = sides[control_side];
  const auto timed = [](const Reported& one) { return !one.seconds.empty(); };
  const Reported& either_base = base.error.empty() ? control : base;
  if (!head.error.empty() && !either_base.error.empty()) {
    return {Standing::skipped, "did not run here, in either program: " + head.error};
  }
  if (!either_base.error.empty()) return {Standing::not_comparable, "the base " + either_base.error};
  if (head.failed && timed(base) && timed(control)) return {Standing::wrong, head.error};
  if (!head.error.empty()) return {Standing::not_comparable, "the head " + head.error};
  if (!timed(head) && !timed(base)) {
    return {Standing::not_comparable, "neither program reported a time for it"};
  }
  return {Standing::not_comparable,
          fmt::format("the {} reported no time for it", timed(head) ? "base" : "head")};
}

}  // namespace

void append(ReportedTimes& all, ReportedTimes later) {
  for (auto& [name, more] : later) {
    Reported& one = all[name];
    std::ranges::move(more.seconds, std::back_inserter(one.seconds));
    one.resolution = std::max(one.resolution, more.resolution);
    one.failed = one.failed || more.failed;
    if (!more.error.empty()) one.error = std::move(more.error);
    if (!one.error.empty()) one.seconds.clear();
  }
}

std::vector<PairedTrial> matched(const std::vector<std::string>& base, const std::vector<std::string>& head) {
  std::vector<PairedTrial> out;
  const auto add = [&](const std::string& name, Standing left_out, const char* why) {
    if (std::ranges::find(out, name, [](const PairedTrial& one) { return one.trial.key; }) != out.end())
      return;
    PairedTrial& trial = out.emplace_back();
    trial.trial.key = trial.trial.operation = name;
    trial.left_out = {left_out, why};
  };
  for (const std::string& name : head) {
    const auto in_base = std::ranges::count(base, name), in_head = std::ranges::count(head, name);
    if (in_base == 0) {
      add(name, Standing::added, "the base does not have it");
    } else if (in_base > 1 || in_head > 1) {
      add(name, Standing::not_comparable, "several have this name, and cannot be told apart");
    } else {
      add(name, Standing::undecided, "");
    }
  }
  for (const std::string& name : base) {
    if (std::ranges::find(head, name) == head.end()) add(name, Standing::gone, "the head does not have it");
  }
  return out;
}

void add_launch(TwoBuilds& run, const std::vector<std::size_t>& trials, LaunchReports reports) {
  for (const std::size_t i : trials) {
    PairedTrial& trial = run.trials[i];
    std::array<Reported, launch_sides> sides;
    for (std::size_t side = 0; side < launch_sides; ++side) sides[side] = reports[side][trial.trial.key];
    if (std::ranges::none_of(sides, [](const Reported& one) { return one.seconds.empty(); })) {
      trial.resolution = std::max(trial.resolution, std::log1p(sides[base_side].resolution) +
                                                        std::log1p(sides[head_side].resolution));
      trial.launches.push_back({.base = std::move(sides[base_side].seconds),
                                .head = std::move(sides[head_side].seconds),
                                .control = std::move(sides[control_side].seconds)});
      continue;
    }
    trial.left_out = why_unusable(sides);
    trial.launches.clear();
  }
}

}  // namespace assay
