#include "app/interrupt.hpp"
#include "app/output.hpp"
#include "app/progress.hpp"
#include "app/verb_functions.hpp"
#include "assay/error.hpp"
#include "assay/pipeline.hpp"
#include "bench/gate/paired_launches.hpp"
#include "bench/tune/library_record.hpp"
#include "bench/tune/library_rounds.hpp"
#include "core/files/this_program.hpp"
#include "core/machine/build_info.hpp"
#include "core/machine/clock.hpp"
#include "core/machine/openblas.hpp"
#include "core/machine/processor.hpp"
#include "core/statistics/decision.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace assay {
namespace {

/// Returns the linked OpenBLAS, which has to choose a core when it is loaded, or it does not read the
/// variable.
OpenBlas openblas_that_chooses() {
  OpenBlas out = linked_openblas();
  if (!out.linked) {
    throw Error("OpenBLAS", "is not linked into this program",
                "install it (apt install libopenblas-dev) and build again");
  }
  if (!out.chooses_core) {
    throw Error("OpenBLAS", fmt::format("was built for one core type, {}", out.core),
                "use one that was built with DYNAMIC_ARCH");
  }
  return out;
}

/// The trials that call it, and in `not_here` those that cannot run.
std::vector<TrialRequest> trials_of(const SelectionOptions& options, const Suite& suite,
                                    const Registry& registry, const Machine& machine,
                                    std::vector<std::string>& not_here) {
  const Selection selection{.filter = options.filter, .threads = options.threads, .seed = options.seed};
  std::vector<TrialRequest> out;
  for (const Trial& trial : make_plan(registry, suite, selection, machine)) {
    const VariantInfo& variant = trial.operation->variants()[trial.variant];
    if (variant.name != library_variant) continue;
    if (trial.skipped.empty()) {
      out.push_back({trial.key, trial.row.operation, variant.name, trial.row.problem, trial.context.threads,
                     trial.row.file});
    } else {
      not_here.push_back(fmt::format("{}: {}", trial.key, trial.skipped));
    }
  }
  if (out.empty() && not_here.empty()) {
    throw Error(options.suite.string(),
                fmt::format("nothing that is selected has a variant {}", library_variant),
                fmt::format("`assay list /{}` shows the operations that have one", library_variant));
  }
  return out;
}

std::vector<Case> cases_of(const std::vector<TrialRequest>& trials) {
  std::vector<Case> out;
  for (const TrialRequest& trial : trials)
    out.push_back({.operation = trial.operation, .problem = trial.problem, .file = trial.file});
  return out;
}

std::string reported_core(const std::filesystem::path& program, const Variables& environment) {
  const Description description = described_by(program, {}, {.stop = interrupted}, environment);
  const auto fact = std::ranges::find(description.facts, "OpenBLAS core", &Fact::name);
  return fact == description.facts.end() ? "" : fact->value;
}

/// A default that disagrees leaves nothing to compare with.
int end_with_wrong_default(const std::string& json, const CoreAttempt& usual) {
  const std::string text =
      fmt::format("WRONG: OpenBLAS as it is, with its core {}: {}\n", usual.reported, usual.wrong);
  fmt::print(json == "-" ? stderr : stdout, "{}", text);
  return exit_code::found;
}

void require_something_to_try(const std::vector<CoreAttempt>& attempts) {
  if (std::any_of(attempts.begin() + 1, attempts.end(),
                  [](const CoreAttempt& one) { return one.measured(); }))
    return;
  std::string why;
  for (std::size_t i = 1; i < attempts.size(); ++i) {
    why += fmt::format("\n  {}: {}", attempts[i].core_type, attempts[i].left_out);
  }
  throw Error("tune", "there is nothing to try beside the default, " + attempts.front().reported + why,
              "name other --core-types, or leave the option out");
}

}  // namespace

int tune_library_verb(const LibraryOptions& options, const Registry& registry) {
  const Suite suite = load_suite(options.selection.suite, registry);
  LibraryRecord record{.suite = suite.name,
                       .date = utc_now(),
                       .commit = build_info().commit,
                       .command = command_of("tune library", options),
                       .machine = this_machine(),
                       .library = openblas_that_chooses().configuration};
  const auto trials = trials_of(options.selection, suite, registry, record.machine, record.not_here);
  if (trials.empty()) {
    fmt::print("SKIPPED: no trial of OpenBLAS runs here: {}\n", record.not_here.front());
    return exit_code::all_skipped;
  }
  const LibraryPolicy policy{.rounds = options.rounds,
                             .seed = options.selection.seed,
                             .program = this_program(),
                             .shared_bytes = shared_bytes_for(registry, cases_of(trials))};
  record.attempts =
      core_attempts(options.core_types, this_processor().features,
                    [&](const Variables& environment) { return reported_core(policy.program, environment); });
  require_something_to_try(record.attempts);
  const WeatherStation station;
  {
    Progress progress;
    measure_core_types(record.attempts, trials, policy, sample_sides, progress.hooks());
  }
  record.weather = station.since();
  if (!record.attempts.front().wrong.empty()) {
    return end_with_wrong_default(options.outputs.json, record.attempts.front());
  }
  const std::size_t rounds = rounds_of(record.attempts);
  if (rounds < fewest_rounds) {
    fmt::print("INTERRUPTED after {} rounds: nothing is decided\n", rounds);
    return exit_code::interrupted;
  }
  record.ruling = ruled(record.attempts);
  if (!options.outputs.markdown.empty()) write_file(options.outputs.markdown, library_markdown(record));
  if (!options.outputs.output.empty()) write_file(options.outputs.output, to_json(record) + "\n");
  put(options.outputs.json, library_text(record), to_json(record));
  const bool wrong =
      std::ranges::any_of(record.attempts, [](const CoreAttempt& one) { return !one.wrong.empty(); });
  return wrong ? exit_code::found : exit_code::passed;
}

}  // namespace assay
