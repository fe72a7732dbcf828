#include "compare/paired_launches.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay {
namespace {

enum : std::size_t { base_side, head_side, control_side };

/// One number for both sides: unchanged functions then lie at the same place in both, as often as can be.
std::size_t link_of(std::uint64_t draw, std::size_t links) {
  return static_cast<std::size_t>(draw >> 32) % links;
}

PairRequest request_for(const TwoBuilds& run, const std::vector<std::size_t>& trials, int launch,
                        const PairedPrograms& programs) {
  PairRequest request{.policy = programs.policy,
                      .draw = draw_of(run.seed, launch),
                      .check = launch == 0,
                      .shared_bytes = programs.shared_bytes};
  request.policy.seed = run.seed;
  const auto& base = programs.base[link_of(request.draw, programs.base.size())];
  const auto& head = programs.head[link_of(request.draw, programs.head.size())];
  request.sides = {{"base", base}, {"head", head}, {"control", base}};
  request.slowdowns.assign(request.sides.size(), std::vector<double>(trials.size(), 0));
  for (std::size_t i = 0; i < trials.size(); ++i) {
    request.trials.push_back(run.trials[trials[i]].trial);
    request.patience.push_back(run.trials[trials[i]].patience);
    const auto planted = programs.planted.find(request.trials.back().key);
    if (planted != programs.planted.end()) request.slowdowns[head_side][i] = planted->second;
  }
  return request;
}

void note_agreement(PairedTrial& trial, const TurnSample& base, const TurnSample& head) {
  if (!head.agrees) {
    trial.left_out = Standing::wrong;
    trial.why_left_out = "disagrees with the oracle: " + head.disagreement;
  } else if (!base.agrees) {
    trial.left_out = Standing::not_comparable;
    trial.why_left_out = "the base disagrees with the oracle: " + base.disagreement;
  }
}

}  // namespace

PairedSample paired_launches(PairedPrograms programs, const Hooks& hooks) {
  return [programs = std::move(programs), hooks](TwoBuilds& run, const std::vector<std::size_t>& trials,
                                                 int launch) {
    hooks.say(fmt::format("launch {}: {} of {} trials", launch + 1, trials.size(), run.trials.size()));
    const PairRequest request = request_for(run, trials, launch, programs);
    auto sides = sample_sides(request, hooks);
    if (sides.empty()) return;
    for (std::size_t i = 0; i < trials.size(); ++i) {
      PairedTrial& trial = run.trials[trials[i]];
      TurnSample& base = sides[base_side][i];
      TurnSample& head = sides[head_side][i];
      if (request.check) note_agreement(trial, base, head);
      if (!trial.tested()) continue;
      trial.base_allocations = base.allocations_per_call;
      trial.base_allocated_bytes = base.allocated_bytes_per_call;
      trial.head_allocations = head.allocations_per_call;
      trial.head_allocated_bytes = head.allocated_bytes_per_call;
      trial.launches.push_back({.base = std::move(base.seconds),
                                .head = std::move(head.seconds),
                                .control = std::move(sides[control_side][i].seconds),
                                .base_link = link_of(request.draw, programs.base.size()),
                                .head_link = link_of(request.draw, programs.head.size())});
    }
  };
}

void note_occurrences(std::vector<PairedTrial>& trials, const std::vector<Suite>& suites) {
  for (PairedTrial& trial : trials) {
    for (const Suite& suite : suites) {
      double per_step = 0;
      for (const Case& row : suite.cases) {
        if (row.operation == trial.trial.operation && row.problem == trial.trial.problem)
          per_step += row.per_step;
      }
      const double per_epoch = per_step * suite.steps_per_epoch;
      if (per_epoch > 0) trial.occurrences.push_back({suite.name, per_epoch});
    }
  }
}

std::size_t shared_bytes_for(const Registry& registry, const std::vector<Case>& cases) {
  constexpr double slack = 64 * 1024 * 1024;
  double largest = 0;
  for (const Case& row : cases)
    largest = std::max(largest, registry.at(row.operation).footprint(row.problem));
  return static_cast<std::size_t>(1.25 * largest + slack);
}

}  // namespace assay
