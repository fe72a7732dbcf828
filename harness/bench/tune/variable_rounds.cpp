#include "bench/tune/variable_rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace assay {
namespace {

class ValueRounds {
 public:
  ValueRounds(const TunedVariable& variable, std::vector<ValueAttempt>& attempts,
              std::span<const TrialRequest> trials, const VariablePolicy& policy, const SampleSides& sample)
      : variable_(variable), attempts_(attempts), trials_(trials), policy_(policy), sample_(sample) {}

  void measure(const Hooks& hooks) {
    for (int round = 0; round < policy_.rounds && attempts_.front().wrong.empty(); ++round) {
      const std::vector<ValueAttempt*> taking_part = still_measured();
      hooks.say(fmt::format("round {} of {}: {} {}", round + 1, policy_.rounds, taking_part.size(),
                            variable_.values),
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
  std::vector<ValueAttempt*> still_measured() {
    std::vector<ValueAttempt*> out;
    for (ValueAttempt& attempt : attempts_) {
      if (attempt.measured()) out.push_back(&attempt);
    }
    return out;
  }

  /// The default is the first side, which calibrates, and the last one, the control.
  PairRequest request_for(const std::vector<ValueAttempt*>& taking_part, int round) const {
    PairRequest out{.trials = {trials_.begin(), trials_.end()},
                    .policy = {.seed = policy_.seed},
                    .draw = draw_of(policy_.seed, round),
                    .check = round == 0,
                    .shared_bytes = policy_.shared_bytes};
    for (const ValueAttempt* attempt : taking_part) {
      out.sides.push_back({name_of(*attempt), policy_.program, environment_of(variable_, *attempt)});
    }
    out.sides.push_back({"control", policy_.program, environment_of(variable_, attempts_.front())});
    return out;
  }

  void note_agreement(const std::vector<ValueAttempt*>& taking_part,
                      const std::vector<std::vector<TurnSample>>& sides) const {
    for (std::size_t i = 0; i < taking_part.size(); ++i) {
      const auto wrong = std::ranges::find(sides[i], false, &TurnSample::agrees);
      if (wrong == sides[i].end()) continue;
      taking_part[i]->wrong = fmt::format("{}: {}", wrong->key, wrong->disagreement);
      taking_part[i]->trials.clear();
    }
  }

  void store(ValueAttempt& attempt, const std::vector<TurnSample>& base, const std::vector<TurnSample>& head,
             const std::vector<TurnSample>& control) const {
    attempt.trials.resize(trials_.size());
    for (std::size_t t = 0; t < trials_.size(); ++t) {
      attempt.trials[t].trial = trials_[t];
      attempt.trials[t].launches.push_back(
          {.base = base[t].seconds, .head = head[t].seconds, .control = control[t].seconds});
    }
  }

  const TunedVariable& variable_;
  std::vector<ValueAttempt>& attempts_;
  std::span<const TrialRequest> trials_;
  const VariablePolicy& policy_;
  const SampleSides& sample_;
};

}  // namespace

Variables environment_of(const TunedVariable& variable, const ValueAttempt& attempt) {
  std::optional<std::string> value;
  if (!attempt.value.empty()) value = attempt.value;
  return {{std::string(variable.name), std::move(value)}};
}

void measure_values(const TunedVariable& variable, std::vector<ValueAttempt>& attempts,
                    std::span<const TrialRequest> trials, const VariablePolicy& policy,
                    const SampleSides& sample, const Hooks& hooks) {
  ValueRounds(variable, attempts, trials, policy, sample).measure(hooks);
}

}  // namespace assay
