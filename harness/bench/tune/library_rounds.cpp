#include "bench/tune/library_rounds.hpp"

#include "assay/error.hpp"
#include "core/machine/openblas_cores.hpp"
#include "core/text/near_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace assay {
namespace {

const OpenBlasCore& core_named(const std::string& name) {
  std::vector<std::string> known;
  for (const OpenBlasCore& core : openblas_cores()) {
    if (same_core(core.name, name)) return core;
    known.push_back(core.name);
  }
  constexpr std::size_t shown = 3;
  throw Error("--core-types " + name, "is no core type whose instructions are known here",
              fmt::format("near it: {}; all: {}", fmt::join(near_names(name, known, shown), ", "),
                          fmt::join(known, ", ")));
}

/// Each once, the least demanding first.
std::vector<OpenBlasCore> cores_to_try(const std::vector<std::string>& wanted,
                                       const std::vector<std::string>& features) {
  std::vector<std::string> names;
  for (const std::string& name : wanted) {
    const OpenBlasCore& core = core_named(name);
    const std::vector<std::string> missing = lacking(core, features);
    if (!missing.empty()) {
      throw Error("--core-types " + name, fmt::format("this processor lacks {}", fmt::join(missing, ", ")),
                  "leave it out");
    }
    names.push_back(core.name);
  }
  std::vector<OpenBlasCore> out;
  for (const OpenBlasCore& core : openblas_cores()) {
    const bool asked = names.empty() || std::ranges::find(names, core.name) != names.end();
    if (asked && lacking(core, features).empty()) out.push_back(core);
  }
  return out;
}

class CoreTypeRounds {
 public:
  CoreTypeRounds(std::vector<CoreAttempt>& attempts, std::span<const TrialRequest> trials,
                 const LibraryPolicy& policy, const SampleSides& sample)
      : attempts_(attempts), trials_(trials), policy_(policy), sample_(sample) {}

  void measure(const Hooks& hooks) {
    for (int round = 0; round < policy_.rounds && attempts_.front().wrong.empty(); ++round) {
      const std::vector<CoreAttempt*> taking_part = still_measured();
      hooks.say(fmt::format("round {} of {}: {} core types", round + 1, policy_.rounds, taking_part.size()),
                static_cast<double>(round) / policy_.rounds);
      const PairRequest request = request_for(taking_part, round);
      const auto sides = sample_(request, hooks);
      if (sides.empty() || hooks.stopped()) return;
      if (request.check) note_agreement(taking_part, sides);
      if (!attempts_.front().wrong.empty()) return;
      for (std::size_t i = 0; i < taking_part.size(); ++i) {
        if (taking_part[i]->measured()) store(*taking_part[i], sides.front(), sides[i], sides.back());
      }
    }
  }

 private:
  std::vector<CoreAttempt*> still_measured() {
    std::vector<CoreAttempt*> out;
    for (CoreAttempt& attempt : attempts_) {
      if (attempt.measured()) out.push_back(&attempt);
    }
    return out;
  }

  /// The default is the first side, which calibrates, and the last one, the control.
  PairRequest request_for(const std::vector<CoreAttempt*>& taking_part, int round) const {
    PairRequest out{.trials = {trials_.begin(), trials_.end()},
                    .policy = {.seed = policy_.seed},
                    .draw = draw_of(policy_.seed, round),
                    .check = round == 0,
                    .shared_bytes = policy_.shared_bytes};
    for (const CoreAttempt* attempt : taking_part) {
      out.sides.push_back({name_of(*attempt), policy_.program, environment_of(*attempt)});
    }
    out.sides.push_back({"control", policy_.program, environment_of(attempts_.front())});
    return out;
  }

  void note_agreement(const std::vector<CoreAttempt*>& taking_part,
                      const std::vector<std::vector<TurnSample>>& sides) const {
    for (std::size_t i = 0; i < taking_part.size(); ++i) {
      const auto wrong = std::ranges::find(sides[i], false, &TurnSample::agrees);
      if (wrong == sides[i].end()) continue;
      taking_part[i]->wrong = fmt::format("{}: {}", wrong->key, wrong->disagreement);
      taking_part[i]->trials.clear();
    }
  }

  void store(CoreAttempt& attempt, const std::vector<TurnSample>& base, const std::vector<TurnSample>& head,
             const std::vector<TurnSample>& control) const {
    attempt.trials.resize(trials_.size());
    for (std::size_t t = 0; t < trials_.size(); ++t) {
      attempt.trials[t].trial = trials_[t];
      attempt.trials[t].launches.push_back(
          {.base = base[t].seconds, .head = head[t].seconds, .control = control[t].seconds});
    }
  }

  std::vector<CoreAttempt>& attempts_;
  std::span<const TrialRequest> trials_;
  const LibraryPolicy& policy_;
  const SampleSides& sample_;
};

}  // namespace

Variables environment_of(const CoreAttempt& attempt) {
  std::optional<std::string> value;
  if (!attempt.core_type.empty()) value = attempt.core_type;
  return {{core_type_variable, std::move(value)}};
}

std::vector<CoreAttempt> core_attempts(const std::vector<std::string>& wanted,
                                       const std::vector<std::string>& features,
                                       const ReportedCore& reported) {
  std::vector<CoreAttempt> out(1);
  out.front().reported = reported(environment_of(out.front()));
  for (const OpenBlasCore& core : cores_to_try(wanted, features)) {
    CoreAttempt next{.core_type = core.name};
    next.reported = reported(environment_of(next));
    if (!same_core(next.reported, core.name)) {
      next.left_out = fmt::format("NOT TAKEN: OpenBLAS uses {} instead", next.reported);
    } else if (same_core(next.reported, out.front().reported)) {
      next.left_out = "what the default uses";
    }
    out.push_back(std::move(next));
  }
  return out;
}

void measure_core_types(std::vector<CoreAttempt>& attempts, std::span<const TrialRequest> trials,
                        const LibraryPolicy& policy, const SampleSides& sample, const Hooks& hooks) {
  CoreTypeRounds(attempts, trials, policy, sample).measure(hooks);
}

}  // namespace assay
