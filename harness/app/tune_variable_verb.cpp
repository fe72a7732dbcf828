#include "app/interrupt.hpp"
#include "app/output.hpp"
#include "app/progress.hpp"
#include "app/tuned_kernels.hpp"
#include "app/verb_functions.hpp"
#include "assay/error.hpp"
#include "assay/pipeline.hpp"
#include "bench/gate/paired_launches.hpp"
#include "bench/tune/cache_attempts.hpp"
#include "bench/tune/core_types.hpp"
#include "bench/tune/variable_record.hpp"
#include "bench/tune/variable_rounds.hpp"
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

/// The trials of the variant that reads it, and in `not_here` those that cannot run.
std::vector<TrialRequest> trials_of(const TunedVariable& variable, const SelectionOptions& options,
                                    const Suite& suite, const Registry& registry, const Machine& machine,
                                    std::vector<std::string>& not_here) {
  const Selection selection{.filter = options.filter, .threads = options.threads, .seed = options.seed};
  std::vector<TrialRequest> out;
  for (const Trial& trial : make_plan(registry, suite, selection, machine)) {
    const std::string& name = trial.operation->variants()[trial.variant].name;
    if (name != variable.variant) continue;
    if (trial.skipped.empty()) {
      out.push_back(
          {trial.key, trial.row.operation, name, trial.row.problem, trial.context.threads, trial.row.file});
    } else {
      not_here.push_back(fmt::format("{}: {}", trial.key, trial.skipped));
    }
  }
  if (out.empty() && not_here.empty()) {
    throw Error(options.suite.string(),
                fmt::format("nothing that is selected has a variant {}", variable.variant),
                fmt::format("`assay list /{}` shows the operations that have one", variable.variant));
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
Outcome end_with_wrong_default(const std::string& json, const TunedVariable& variable,
                               const ValueAttempt& usual) {
  const std::string text = fmt::format("WRONG: {} without {}, with {} {}: {}\n", variable.variant,
                                       variable.name, variable.value, usual.reported, usual.wrong);
  fmt::print(json == "-" ? stderr : stdout, "{}", text);
  return {Word::wrong};
}

void require_something_to_try(const TunedVariable& variable, const std::vector<ValueAttempt>& attempts) {
  if (std::any_of(attempts.begin() + 1, attempts.end(),
                  [](const ValueAttempt& one) { return one.measured(); }))
    return;
  std::string why;
  for (std::size_t i = 1; i < attempts.size(); ++i) {
    why += fmt::format("\n  {}: {}", attempts[i].value, attempts[i].left_out);
  }
  throw Error("tune", "there is nothing to try beside the default, " + attempts.front().reported + why,
              fmt::format("name other {}, or none", variable.values));
}

/// Measures what `attempts` returns, and fills the record but for its ruling. Returns the outcome to end with
/// at once, where nothing can be decided.
std::optional<Outcome> measured(
    VariableRecord& record, const SelectionOptions& selection, int rounds, const std::string& json,
    const Registry& registry,
    const std::function<std::vector<ValueAttempt>(const VariablePolicy&)>& attempts) {
  const Suite suite = load_suite(selection.suite, registry);
  record.suite = suite.name;
  record.date = utc_now();
  record.commit = build_info().commit;
  record.machine = this_machine();
  const auto trials = trials_of(record.variable, selection, suite, registry, record.machine, record.not_here);
  if (trials.empty()) {
    fmt::print("SKIPPED: no trial of {} runs here: {}\n", record.variable.variant, record.not_here.front());
    return Outcome{Word::skipped};
  }
  const VariablePolicy policy{.rounds = rounds,
                              .seed = selection.seed,
                              .program = this_program(),
                              .shared_bytes = shared_bytes_for(registry, cases_of(trials))};
  record.attempts = attempts(policy);
  require_something_to_try(record.variable, record.attempts);
  const WeatherStation station;
  {
    Progress progress;
    measure_values(record.variable, record.attempts, trials, policy, sample_sides, progress.hooks());
  }
  record.weather = station.since();
  if (!record.attempts.front().wrong.empty())
    return end_with_wrong_default(json, record.variable, record.attempts.front());
  const std::size_t whole = rounds_of(record.attempts);
  if (whole < fewest_rounds) {
    fmt::print("INTERRUPTED after {} rounds: nothing is decided\n", whole);
    return Outcome{Word::interrupted};
  }
  record.ruling = ruled(record.variable, record.attempts);
  return std::nullopt;
}

/// Writes the record where it is wanted, and returns the outcome.
Outcome told(const VariableRecord& record, const RecordOutputs& outputs, const std::string& ending = "") {
  if (!outputs.markdown.empty()) write_file(outputs.markdown, variable_markdown(record));
  if (!outputs.output.empty()) write_file(outputs.output, to_json(record) + "\n");
  put(outputs.json, variable_text(record) + ending, to_json(record));
  const bool wrong =
      std::ranges::any_of(record.attempts, [](const ValueAttempt& one) { return !one.wrong.empty(); });
  return {wrong ? Word::wrong : Word::done};
}

}  // namespace

Outcome tune_library_verb(const LibraryOptions& options, const Registry& registry) {
  VariableRecord record{.variable = core_type,
                        .command = command_of("tune library", options),
                        .about = openblas_that_chooses().configuration};
  const auto attempts = [&](const VariablePolicy& policy) {
    return core_attempts(options.core_types, this_processor().features, [&](const Variables& environment) {
      return reported_core(policy.program, environment);
    });
  };
  const auto ended =
      measured(record, options.selection, options.rounds, options.outputs.json, registry, attempts);
  return ended ? *ended : told(record, options.outputs);
}

Outcome tune_kernels_verb(const KernelsOptions& options, const Registry& registry) {
  const CacheSizes system = caches_of_the_system();
  VariableRecord record{.variable = reckoned_caches,
                        .command = command_of("tune kernels", options),
                        .about = "The system says " + to_text(system)};
  const auto ended = measured(record, options.selection, options.rounds, options.outputs.json, registry,
                              [&](const VariablePolicy&) { return cache_attempts(options.caches, system); });
  if (ended) return *ended;
  const std::string& chosen = record.attempts[record.ruling.chosen].value;
  return told(record, options.outputs, kept_in_words(keep_tuned(chosen, record)));
}

}  // namespace assay
