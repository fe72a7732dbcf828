/// Measuring values of a variable against each other, in rounds in which all of them take turns.
#pragma once

#include "assay/hooks.hpp"
#include "bench/measure/sides.hpp"
#include "bench/tune/variable.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// The environment of an attempt: the variable set, or taken out for the default.
Variables environment_of(const TunedVariable& variable, const ValueAttempt& attempt);

struct VariablePolicy {
  int rounds = 10;
  std::uint64_t seed = 42;
  std::filesystem::path program;  ///< every side runs it
  std::size_t shared_bytes = 0;   ///< the most that a case may take
};

/// The signature of sample_sides().
using SampleSides =
    std::function<std::vector<std::vector<TurnSample>>(const PairRequest& request, const Hooks& hooks)>;

/// Runs each attempt as a process of its own in every round, with a second default as the control. They take
/// turns slice by slice, in an order that is drawn, on the same core and the same data. The first round
/// checks every variant in its process: what disagrees with the oracle has no part in the others. Rounds are
/// whole: an interrupt leaves out the one it fell in. Ends when the default itself is wrong.
void measure_values(const TunedVariable& variable, std::vector<ValueAttempt>& attempts,
                    std::span<const TrialRequest> trials, const VariablePolicy& policy,
                    const SampleSides& sample, const Hooks& hooks);

}  // namespace assay
