/// Variants that are kept to be rejected, as verbs try them; and the program `assay-teeth`: `assay` with
/// kernels that are wrong or cheat on purpose.
#pragma once

#include "app/verbs.hpp"
#include "assay/outcome.hpp"
#include "assay/registry.hpp"
#include "bench/gate/rejected_trials.hpp"
#include "bench/report/claims.hpp"
#include "core/json/fields.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// All variants that a verb tried, as its file holds them.
template <class One>
struct TriedVariants {
  std::uint64_t seed = 0;
  bool partial = false;
  std::vector<One> variants;
  int exit_code = exit_code::passed;
};
template <class One>
void describe(Fields& f, TriedVariants<One>& all) {
  f.schema(One::schema);
  f("seed", all.seed);
  f("partial", all.partial, {.about = "interrupted"});
  ASSAY_FIELDS(f, all, variants, exit_code);
}

/// How trials are sampled: in processes of this program, but for tests.
struct CheatSampling {
  Sample run = sample_in_new_process;
  SampleSides sides = sample_sides;
};

Outcome try_known_cheats(const KnownCheatsOptions& options, const Registry& registry,
                         const CheatSampling& sampling);

/// Returns if the registry has variants that are kept to be rejected. Otherwise runs `assay-teeth` with the
/// arguments of this process in its place. Throws Error where there is none, and where the one that there is
/// belongs to another build. `request` names the verb in messages.
void require_teeth(const Registry& registry, std::string_view request);

/// Looks for an executable `assay-teeth` beside `program`, then in the folders of `path`, a list like PATH.
/// Returns an empty path where there is none.
std::filesystem::path find_teeth(const std::filesystem::path& program, std::string_view path);

/// Says how to build `assay-teeth` where `program` lies in a build folder, else how to install it.
std::string way_to_teeth(const std::filesystem::path& program);

}  // namespace assay
