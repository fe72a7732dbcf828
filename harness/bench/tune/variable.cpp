#include "bench/tune/variable.hpp"

#include "assay/error.hpp"
#include "core/machine/processor.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace assay {
namespace {

constexpr const char* default_uses_it = "the default uses it already";

/// Values are tried in their order of preference, the default before all.
void add(std::vector<Candidate>& candidates, Candidate next) {
  next.price = {static_cast<double>(candidates.size())};
  candidates.push_back(std::move(next));
}

/// Each core type once, the least demanding first.
std::vector<OpenBlasCore> cores_to_try(const std::vector<std::string>& wanted,
                                       const std::vector<std::string>& features) {
  std::vector<std::string> known;
  for (const OpenBlasCore& core : openblas_cores()) known.push_back(core.name);
  for (const std::string& name : wanted) {
    const auto core = std::ranges::find_if(
        openblas_cores(), [&](const OpenBlasCore& one) { return same_core(one.name, name); });
    if (core == openblas_cores().end()) {
      throw Error("--core-types " + name, "is no core type whose instructions are known here",
                  fmt::format("near it: {}; all: {}", fmt::join(near_names(name, known, 3), ", "),
                              fmt::join(known, ", ")));
    }
    if (const std::vector<std::string> missing = lacking(*core, features); !missing.empty()) {
      throw Error("--core-types " + name, fmt::format("this processor lacks {}", fmt::join(missing, ", ")),
                  "leave it out");
    }
  }
  std::vector<OpenBlasCore> out;
  for (const OpenBlasCore& core : openblas_cores()) {
    const bool asked = wanted.empty() || std::ranges::any_of(wanted, [&](const std::string& name) {
                         return same_core(core.name, name);
                       });
    if (asked && lacking(core, features).empty()) out.push_back(core);
  }
  return out;
}

/// Sizes that differ least stand first.
std::vector<CacheSizes> near(const CacheSizes& system) {
  std::vector<CacheSizes> out;
  const auto try_size = [&](double CacheSizes::*of, double factor) {
    CacheSizes next = system;
    next.*of *= factor;
    if (next.first <= next.second && next.second <= next.last) out.push_back(next);
  };
  for (double CacheSizes::*of : {&CacheSizes::first, &CacheSizes::second, &CacheSizes::last}) {
    try_size(of, 0.5);
    try_size(of, 2);
  }
  try_size(&CacheSizes::last, 0.25);
  return out;
}

/// The environment of a candidate by position: the variable set, or taken out for the default.
Variables environment_of(const TunedVariable& variable, const std::vector<Candidate>& candidates,
                         std::size_t at) {
  return {{std::string(variable.name), at == 0 ? std::nullopt : std::optional(candidates[at].name)}};
}

}  // namespace

std::vector<Candidate> core_candidates(const std::vector<std::string>& wanted,
                                       const std::vector<std::string>& features,
                                       const ReportedCore& reported) {
  std::vector<Candidate> out;
  const std::string variable(core_type.name);
  add(out, {.name = "default", .in_use = reported({{variable, std::nullopt}})});
  for (const OpenBlasCore& core : cores_to_try(wanted, features)) {
    Candidate next{.name = core.name, .in_use = reported({{variable, core.name}})};
    if (!same_core(next.in_use, core.name)) {
      next.left_out = fmt::format("NOT TAKEN: OpenBLAS uses {} instead", next.in_use);
    } else if (same_core(next.in_use, out.front().in_use)) {
      next.left_out = default_uses_it;
    }
    add(out, std::move(next));
  }
  return out;
}

std::vector<Candidate> cache_candidates(const std::vector<std::string>& wanted, const CacheSizes& system) {
  std::vector<CacheSizes> sizes;
  for (const std::string& text : wanted) sizes.push_back(cache_sizes_from(text, "--caches"));
  if (wanted.empty()) sizes = near(system);
  std::vector<Candidate> out;
  add(out, {.name = "default", .in_use = to_text(system)});
  for (const CacheSizes& one : sizes) {
    add(out,
        {.name = to_text(one), .in_use = to_text(one), .left_out = one == system ? default_uses_it : ""});
  }
  return out;
}

void measure_values(const TunedVariable& variable, std::vector<Candidate>& candidates,
                    std::span<const TrialRequest> trials, const VariablePolicy& policy,
                    const SampleSides& sample, const Hooks& hooks) {
  const TakeTurns take_turns = [&](std::span<const std::size_t> order, int round) {
    PairRequest request{.trials = {trials.begin(), trials.end()},
                        .policy = {.seed = policy.rounds.seed},
                        .draw = draw_of(policy.rounds.seed, round),
                        .check = round == 0,
                        .shared_bytes = policy.shared_bytes};
    // The sides draw the order of their turns. The first side calibrates: the default.
    std::vector<std::size_t> by_side(order.begin(), order.end());
    std::ranges::sort(by_side);
    for (const std::size_t i : by_side)
      request.sides.push_back({candidates[i].name, policy.program, environment_of(variable, candidates, i)});
    request.sides.push_back({"control", policy.program, environment_of(variable, candidates, 0)});
    const auto sides = sample(request, hooks);
    std::vector<Turn> out;
    if (sides.empty()) return out;
    for (const std::size_t i : order) {
      const auto& own =
          sides[static_cast<std::size_t>(std::ranges::lower_bound(by_side, i) - by_side.begin())];
      const auto wrong = std::ranges::find(own, false, &TurnSample::agrees);
      if (wrong != own.end() && request.check)
        candidates[i].wrong = fmt::format("{}: {}", wrong->key, wrong->disagreement);
      Turn& turn = out.emplace_back();
      for (const TurnSample& trial : own) turn.seconds.push_back(trial.seconds);
      for (const TurnSample& trial : i == 0 ? own : sides.back()) turn.control.push_back(trial.seconds);
    }
    return out;
  };
  measure_rounds(candidates, policy.rounds, take_turns, hooks);
}

}  // namespace assay
