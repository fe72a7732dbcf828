#include "bench/gate/two_builds.hpp"

#include "assay/plan.hpp"
#include "assay/random.hpp"
#include "assay/suite.hpp"
#include "core/files/scratch.hpp"
#include "core/files/this_program.hpp"
#include "core/plugin/library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace assay {
namespace {

class PairedLaunches {
 public:
  PairedLaunches(PairedPrograms programs, Hooks hooks)
      : programs_(std::move(programs)),
        base_(copied(programs_.base, "base")),
        head_(copied(programs_.head, "head")),
        hooks_(std::move(hooks)) {}

  void sample(TwoBuilds& run, std::vector<std::size_t> trials, int launch) const {
    if (launch == 0 && !can_fix_addresses()) run.restriction = addresses_move;
    auto sides = samples_of(run, trials, launch);
    if (sides.empty()) return;
    for (std::size_t i = 0; i < trials.size(); ++i) {
      PairedTrial& trial = run.trials[trials[i]];
      TurnSample& base = sides[base_side][i];
      TurnSample& head = sides[head_side][i];
      if (!head.agrees) {
        trial.left_out = {Standing::wrong, "disagrees with the oracle: " + head.disagreement};
      } else if (!base.agrees) {
        trial.left_out = {Standing::not_comparable,
                          "the base disagrees with the oracle: " + base.disagreement};
      }
      if (!trial.tested()) continue;
      trial.base_allocations = base.allocations;
      trial.head_allocations = head.allocations;
      if (launch == 0) {  // which checks
        trial.base_figures = std::move(base.figures);
        trial.head_figures = std::move(head.figures);
      }
      trial.launches.push_back({.base = std::move(base.seconds),
                                .head = std::move(head.seconds),
                                .control = std::move(sides[control_side][i].seconds),
                                .base_link = link_of(run.seed, launch, programs_.base.size()),
                                .head_link = link_of(run.seed, launch, programs_.head.size())});
    }
  }

 private:
  /// Copies a program, which may be built anew while it is measured. Programs with several links are kept
  /// ones, which nobody overwrites.
  std::vector<std::filesystem::path> copied(const std::vector<std::filesystem::path>& links,
                                            const std::string& name) const {
    if (links.size() != 1 || is_embedded_side(links.front())) return links;
    // A shared library is known by its name.
    const auto copy = folder_.path() / (is_shared_library(links.front()) ? name + ".so" : name);
    std::filesystem::copy_file(links.front(), copy);
    return {copy};
  }

  PairRequest request_for(const TwoBuilds& run, const std::vector<std::size_t>& trials, int launch) const {
    PairRequest request{.policy = programs_.policy,
                        .draw = draw_of(run.seed, launch),
                        .check = launch == 0,
                        .shared_bytes = programs_.shared_bytes};
    request.policy.seed = run.seed;
    const std::size_t base = link_of(run.seed, launch, programs_.base.size()),
                      head = link_of(run.seed, launch, programs_.head.size());
    request.sides = {{.name = "base", .program = base_[base], .known_as = programs_.base[base]},
                     {.name = "head", .program = head_[head], .known_as = programs_.head[head]},
                     {.name = "control", .program = base_[base], .known_as = programs_.base[base]}};
    request.slowdowns.assign(request.sides.size(), std::vector<double>(trials.size(), 0));
    for (std::size_t i = 0; i < trials.size(); ++i) {
      request.trials.push_back(run.trials[trials[i]].trial);
      request.patience.push_back(run.trials[trials[i]].patience);
      const auto planted = programs_.planted.find(request.trials.back().key);
      if (planted != programs_.planted.end()) request.slowdowns[head_side][i] = planted->second;
    }
    return request;
  }

  static void leave_out(TwoBuilds& run, std::vector<std::size_t>& trials, std::size_t one, Standing standing,
                        std::string why) {
    PairedTrial& trial = run.trials[one];
    trial.left_out = {standing, std::move(why)};
    trial.launches.clear();
    std::erase(trials, one);
  }

  /// Returns the one of `trials` that took a side down.
  static std::size_t named_by(const SideFailure& failed, const TwoBuilds& run,
                              const std::vector<std::size_t>& trials) {
    return *std::ranges::find(trials, failed.key, [&](std::size_t i) { return run.trials[i].trial.key; });
  }

  /// Leaves the trial out that took a side down. Where both sides are one program, it is the head's as well.
  void note_failure(TwoBuilds& run, std::vector<std::size_t>& trials, const SideFailure& failed) const {
    const bool of_head = failed.side == head_side;
    leave_out(
        run, trials, named_by(failed, run, trials),
        of_head || programs_.base == programs_.head ? standing_of(failed.failure) : Standing::not_comparable,
        fmt::format("the {} {}", of_head ? "head" : "base", failed.failure.reason));
  }

  /// Samples one trial by itself. If that also ends a side, leaves the trial out and returns true.
  bool fails_alone(TwoBuilds& run, std::vector<std::size_t>& trials, std::size_t one, int launch) const {
    try {
      static_cast<void>(sample_sides(request_for(run, {one}, launch), hooks_));
      return false;
    } catch (const SideFailure& failed) {
      note_failure(run, trials, failed);
    } catch (const ChildCrash& crash) {
      leave_out(run, trials, one, Standing::crashed,
                fmt::format("ended its process while no kernel was called: {}", crash.what()));
    }
    return true;
  }

  /// Looks for the trial that ends a side and leaves it out; returns whether it found one. Tries `suspect`
  /// first, which was running, if it is known: a thread or a timer of another trial can strike at any time.
  bool note_culprit(TwoBuilds& run, std::vector<std::size_t>& trials, std::optional<std::size_t> suspect,
                    int launch) const {
    std::vector<std::size_t> in_turn = trials;
    if (suspect) {
      const auto found = std::ranges::find(in_turn, *suspect);
      std::rotate(in_turn.begin(), found, found + 1);
    }
    return std::ranges::any_of(
        in_turn, [&](std::size_t one) { return !hooks_.stopped() && fails_alone(run, trials, one, launch); });
  }

  /// Returns the samples of all sides; trials that end a side leave `trials`.
  std::vector<std::vector<TurnSample>> samples_of(TwoBuilds& run, std::vector<std::size_t>& trials,
                                                  int launch) const {
    while (!trials.empty()) {
      try {
        return sample_sides(request_for(run, trials, launch), hooks_);
      } catch (const SideFailure& failed) {
        const std::size_t suspect = named_by(failed, run, trials);
        const bool certain = trials.size() == 1 || failed.failure.kind == Failure::Kind::timed_out;
        if (certain || !note_culprit(run, trials, suspect, launch)) note_failure(run, trials, failed);
      } catch (const ChildCrash&) {
        if (!note_culprit(run, trials, std::nullopt, launch)) throw;
      }
    }
    return {};
  }

  PairedPrograms programs_;
  ScratchFolder folder_;
  std::vector<std::filesystem::path> base_, head_;  ///< the files that run
  Hooks hooks_;
};

}  // namespace

std::size_t link_of(std::uint64_t seed, int launch, std::size_t links) {
  const auto turn = static_cast<std::size_t>(launch);
  Rng rng(seed + 7919 * (turn / links + 1));
  return drawn_permutation(links, rng)[turn % links];
}

PairedSample paired_launches(PairedPrograms programs, const Hooks& hooks) {
  const auto launches = std::make_shared<const PairedLaunches>(std::move(programs), hooks);
  return [launches](TwoBuilds& run, const std::vector<std::size_t>& trials, int launch) {
    launches->sample(run, trials, launch);
  };
}

std::size_t shared_bytes_for(const Registry& registry, const std::vector<Case>& cases) {
  double largest = 0;
  for (const Case& row : cases) {
    const Operation& operation = registry.at(row.operation);
    largest = std::max(largest, operation.footprint(fields_of(operation, row.problem, row.file)));
  }
  return static_cast<std::size_t>(memory_for(largest));
}

}  // namespace assay
