// The verbs `assay tune …`: each measures candidates in turns, rules on them and writes one record.

#include "app/output.hpp"
#include "app/progress.hpp"
#include "app/verbs.hpp"
#include "assay/caches.hpp"
#include "assay/error.hpp"
#include "assay/files.hpp"
#include "assay/machine.hpp"
#include "bench/tune/variable.hpp"
#include "core/check/passed_corners.hpp"
#include "core/files/this_program.hpp"
#include "core/json/fields.hpp"
#include "core/machine/build_info.hpp"
#include "core/machine/processor.hpp"
#include "core/text/figures.hpp"
#include "core/text/utf8.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <utility>

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

/// Returns the trials of the variant that reads the variable; puts the trials that cannot run into
/// `not_here`.
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

std::string reported_core(const Variables& environment) {
  return fact_value(described_by(this_program(), {}, {.stop = interrupted}, environment).facts,
                    "OpenBLAS core", "");
}

/// Measures with hooks that show progress, and notes the weather meanwhile.
void under_way(Circumstances& made, const std::function<void(const Hooks&)>& measure) {
  const WeatherStation station;
  measure(Progress().hooks());
  made.weather = station.since();
}

Circumstances now(std::string command) {
  return {.date = utc_now(),
          .commit = build_info().commit,
          .command = std::move(command),
          .machine = this_machine()};
}

void write_record(const RecordOutputs& outputs, const doc::Document& document, const std::string& words,
                  const std::string& json) {
  if (!outputs.output.empty()) write_file(outputs.output, json + "\n");
  publish(outputs, document, words, json);
}

std::string present_of(const TuneRecord& record) {
  const Candidate& present = record.ruling.candidates.front();
  return fmt::format("{}, {}", record.words.present, present.in_use.empty() ? present.name : present.in_use);
}

/// Lines for the terminal that follow from a ruling, and JSON where a file does not hold the record.
struct Told {
  std::string lines, json;
};

/// Rules on the measured candidates, and writes the record, to which `told` may add. A present setting that
/// is wrong leaves nothing to compare with. `family`: as that of TuneRounds.
Outcome end_record(TuneRecord& record, const RecordOutputs& outputs, const std::function<Told()>& told,
                   std::size_t family = 0) {
  std::vector<Candidate>& candidates = record.ruling.candidates;
  if (const std::string& wrong = candidates.front().wrong; !wrong.empty()) {
    print_visible(outputs.json == "-" ? stderr : stdout, "WRONG: {}: {}\n", present_of(record), wrong);
    return {Word::wrong};
  }
  if (const std::size_t rounds = rounds_of(candidates); rounds < fewest_rounds) {
    print_visible(stdout, "INTERRUPTED after {} rounds: nothing is decided\n", rounds);
    return {Word::interrupted};
  }
  record.ruling = ruled(record.words, std::move(candidates), family);
  const auto [lines, json] = told();
  const doc::Document document = record_document(record);
  write_record(outputs, document, record_text(document) + lines, json.empty() ? record_json(record) : json);
  const bool wrong =
      std::ranges::any_of(record.ruling.candidates, [](const Candidate& one) { return !one.wrong.empty(); });
  if (wrong) return {Word::wrong};
  return {record.ruling.advice == Advice::undecided ? Word::undecided : Word::done};
}

void require_something_to_try(const TuneRecord& record) {
  std::string why;
  for (const Candidate& one : std::span(record.ruling.candidates).subspan(1)) {
    if (one.measured()) return;
    why += fmt::format("\n  {}: {}", one.name, one.left_out);
  }
  throw Error("tune", fmt::format("there is nothing to try beside {}{}", present_of(record), why),
              fmt::format("name other {}, or none", record.words.settings));
}

/// `about` describes the reader of the variable. `told` is called with the ruling and returns a line for the
/// terminal.
Outcome tuned_variable(const TunedVariable& variable, std::string command, const VariableOptions& options,
                       const std::string& about, const Registry& registry,
                       const std::function<std::vector<Candidate>()>& candidates,
                       const std::function<std::string(const TuneRuling&, const Circumstances&)>& told) {
  const SelectionOptions& selection = options.selection;
  const Suite suite = load_suite(selection.suite, registry);
  TuneRecord record{.title = fmt::format("{} for suite {}", variable.title, suite.name),
                    .words = variable.words,
                    .variable = std::string(variable.name),
                    .made = now(std::move(command)),
                    .consequences = {std::string(variable.advice)}};
  const auto trials = trials_of(variable, selection, suite, registry, record.made.machine, record.not_here);
  if (trials.empty()) {
    print_visible(stdout, "SKIPPED: no trial of {} runs here: {}\n", variable.variant,
                  record.not_here.front());
    return {Word::skipped};
  }
  std::vector<Case> cases;
  for (const TrialRequest& trial : trials) {
    record.cases.push_back(trial.key);
    cases.push_back({.operation = trial.operation, .problem = trial.problem, .file = trial.file});
  }
  record.method = fmt::format(
      "{}. In each round every value was a process of its own, and they took turns slice by slice on the "
      "same cores and data. Of each trial the median ratio of a round counts; the time of a value is the "
      "geometric mean over {}.",
      about, quantity_text(std::ssize(trials), "trial"));
  const VariablePolicy policy{.rounds = {.rounds = options.rounds, .seed = selection.seed},
                              .program = this_program(),
                              .shared_bytes = shared_bytes_for(registry, cases)};
  record.ruling.candidates = candidates();
  require_something_to_try(record);
  const Description checked = described_by(this_program(),
                                           {.cases = cases,
                                            .threads = selection.threads,
                                            .seed = selection.seed,
                                            .corners = record.cases,
                                            .time_limit = selection.time_limit},
                                           {.stop = interrupted});
  for (const DescribedTrial& trial : checked.trials) {
    if (trial.wrong.empty()) continue;
    print_visible(options.outputs.json == "-" ? stderr : stdout, "WRONG: {}: {}\n", trial.trial.key,
                  trial.wrong);
    return {Word::wrong};
  }
  under_way(record.made, [&](const Hooks& hooks) {
    measure_values(variable, record.ruling.candidates, trials, policy, sample_sides, hooks);
  });
  return end_record(record, options.outputs, [&] { return Told{told(record.ruling, record.made), ""}; });
}

/// The chosen settings are written as a job.
Outcome tuned_job(const TuneOptions& tune, std::string command) {
  TrainingJob job = training_job_from_json(read_file(tune.job), tune.job);
  TuneRecord record{.title = "Settings of " + job.name,
                    .words = setting_words,
                    .rate = "samples/s",
                    .made = now(std::move(command)),
                    .method = in_words(job.plan) + ". Times are per sample."};
  const std::vector<TrainingPlan> plans = plans_of(job.plan, tune.grid);
  record.ruling.candidates = candidates_of(plans);
  require_something_to_try(record);
  for (const TrainingPlan& plan : plans)
    require_memory(plan, tune.job.string() + ", " + in_words(plan), record.made.machine.memory_bytes);
  under_way(record.made, [&](const Hooks& hooks) {
    measure_settings(plans, record.ruling.candidates, tune.policy, hooks);
  });
  return end_record(record, tune.outputs, [&] {
    record.consequences = consequences_of(plans, record.ruling);
    job.plan = plans[record.ruling.chosen];
    return Told{"", to_json(job)};
  });
}

constexpr TuneWords command_words{.setting = "setting",
                                  .settings = "settings",
                                  .present = "the present setting",
                                  .preferred = "with the fewest workers, then the least memory",
                                  .control = "the present setting against itself was {} meanwhile"};

/// Adds to the record the consequences of a choice, what the measurement could not see, and what whole runs
/// confirmed. Returns them in lines. Where a shard had a control that moved, nothing shows that none is
/// faster.
std::string concluded(TuneRecord& record, const std::string& confirmed) {
  TuneRuling& ruling = record.ruling;
  const Candidate &present = ruling.candidates.front(), &chosen = ruling.candidates[ruling.chosen];
  std::vector<std::string>& out = record.consequences;
  const auto moved = std::ranges::find(ruling.candidates, Decision::confounded, &Candidate::decision);
  if (ruling.advice == Advice::keep && moved != ruling.candidates.end()) {
    ruling.advice = Advice::undecided;
    ruling.doubt = fmt::format("{}: {}", moved->name, moved->why);
  }
  double unseen = 0;
  for (const Candidate& one : ruling.candidates)
    if (one.measured()) unseen = std::max(unseen, one.ratio.middle / one.ratio.low - 1);
  out.push_back(fmt::format("A gain of less than {} could not have been seen.", percent_text(unseen)));
  if (chosen.epoch_samples > 0) {
    const bool seen = chosen.validation > 0 && present.validation > 0;
    const auto epoch = [&](const Candidate& one) {
      return seconds_text(one.epoch_seconds() - (seen ? 0 : one.validation));
    };
    out.push_back(fmt::format("An epoch of {} samples takes {} instead of {}, start-up included, {}.",
                              assay::count_text(chosen.epoch_samples), epoch(chosen), epoch(present),
                              seen ? "and validation" : "without validation, which was not seen"));
  }
  std::vector<std::string_view> others;
  for (const Candidate& one : ruling.candidates)
    if (one.measured() && one.step_samples != present.step_samples) others.emplace_back(one.name);
  if (!others.empty())
    out.push_back(fmt::format("Another batch trains differently, and its loss was not compared: {}.",
                              fmt::join(others, "; ")));
  if (!confirmed.empty()) out.push_back(confirmed);
  return fmt::format("{}\n", fmt::join(out, "\n"));
}

std::filesystem::path tuned_kernels_file() {
  const std::filesystem::path folder = cache_folder();
  return folder.empty() ? folder : folder / "kernels.json";
}

/// Keeps the choice in the file. The default needs no file: one from before is removed. Returns a line that
/// says what was done, or nothing.
std::string keep_tuned(const std::string& caches, const Circumstances& made) {
  const std::filesystem::path file = tuned_kernels_file();
  if (file.empty()) return "There is no folder to keep it in: set HOME, or XDG_CACHE_HOME.\n";
  if (caches.empty()) {
    std::error_code failed;
    const bool removed = std::filesystem::remove(file, failed);
    if (failed) throw Error(file.string(), failed.message(), "remove it: it is not what was chosen");
    return removed ? wrapped("Removed " + file.string(), terminal_width) + "\n" : "";
  }
  std::filesystem::create_directories(file.parent_path());
  TunedKernels tuned{.machine = made.machine.key,
                     .version = build_info().version,
                     .caches = caches,
                     .date = made.date,
                     .command = made.command};
  write_file(file, json_text(to_value(tuned)) + "\n");
  return wrapped("Kept for later runs in " + file.string(), terminal_width) + "\n";
}

/// DONE for a threshold, and for a range that surely holds none.
Word word_of(const ThresholdRecord& record) {
  if (!record.wrong.empty()) return Word::wrong;
  const ThresholdOutcome outcome = record.threshold.outcome;
  if (outcome == ThresholdOutcome::stopped) return Word::interrupted;
  const bool open = outcome == ThresholdOutcome::not_monotone || outcome == ThresholdOutcome::undecided;
  return open ? Word::undecided : Word::done;
}

/// Without a constant an old header stays: a noisy day must not take it from sources that include it.
std::string header_line(const ThresholdRecord& record, const ThresholdOptions& tune) {
  if (tune.header.empty()) return "";
  const auto constant = record.threshold.constant();
  if (!constant) return fmt::format("{} was not written\n", tune.header.string());
  write_file(tune.header, header_text(record, tune.constant));
  return fmt::format("{} has {} = {}\n", tune.header.string(), tune.constant, *constant);
}

}  // namespace

Outcome tune_command_verb(const TuneCommandOptions& tune) {
  std::vector<CommandSetting> settings = settings_of(tune.request);
  CommandPolicy policy = tune.policy;
  TuneRecord record{.title = fmt::format("Settings of {}", fmt::join(tune.request.command, " ")),
                    .words = command_words,
                    .made = now(command_of("tune command", tune))};
  std::optional<ShardRecord> part;
  if (const auto shard = shard_of_this_process(tune.shard)) {
    if (tune.confirm) require_whole(shard, "--confirm", "leave it out, and run what is chosen of all");
    part = keep_shard(settings, *shard, record.made);
    policy.family = static_cast<std::size_t>(part->cases);
  }
  std::vector<Candidate>& candidates = record.ruling.candidates = candidates_of(settings);
  under_way(record.made, [&](const Hooks& hooks) {
    record.method = measure_commands(settings, candidates, policy, hooks);
  });
  if (candidates.front().epoch_samples > 0) record.rate = "samples/s";
  if (part) record.method += fmt::format(" Here, {}.", in_words(*part));
  const auto told = [&] {
    const std::string confirmed =
        tune.confirm ? confirm(settings, record.ruling, policy.budget_seconds, Progress().hooks()) : "";
    return Told{concluded(record, confirmed), part ? to_json(results_of(record, *part)) : ""};
  };
  return end_record(record, tune.outputs, told, policy.family);
}

Outcome end_settings(const OutcomeOptions& options, const Results& results) {
  const std::string& mixed = results.mixed_machines;
  TuneRecord record{
      .title = results.about,
      .words = command_words,
      .made = {results.date, results.commit, results.command, results.machine, results.weather},
      .method = fmt::format("Each of {} shards had the present setting beside its own: ratios are "
                            "within a shard, and seconds are withheld{}.",
                            results.merged_shards, mixed.empty() ? "" : "; " + mixed),
      .ruling = {.candidates = candidates_of(results)}};
  return end_record(record, {{options.markdown, options.page, options.json}, options.output}, [&] {
    return Told{concluded(record, ""), ""};
  });
}

Outcome tune_library_verb(const LibraryOptions& options, const Registry& registry) {
  const std::string about = openblas_that_chooses().configuration;
  const auto candidates = [&] {
    return core_candidates(options.tune.values, this_processor().features, reported_core);
  };
  return tuned_variable(core_type, command_of("tune library", options), options.tune, about, registry,
                        candidates, [](const TuneRuling&, const Circumstances&) { return ""; });
}

Outcome tune_kernels_verb(const KernelsOptions& options, const Registry& registry) {
  const CacheSizes system = caches_of_the_system();
  const auto keep = [](const TuneRuling& ruling, const Circumstances& made) {
    return keep_tuned(ruling.chosen == 0 ? "" : ruling.candidates[ruling.chosen].name, made);
  };
  return tuned_variable(
      reckoned_caches, command_of("tune kernels", options), options.tune,
      "The system says " + to_text(system), registry,
      [&] { return cache_candidates(options.tune.values, system); }, keep);
}

Outcome tune_loader_verb(const TuneLoaderOptions& options) {
  return tuned_job(options.tune, command_of("tune loader", options));
}

Outcome tune_batch_verb(const TuneBatchOptions& options) {
  return tuned_job(options.tune, command_of("tune batch", options));
}

Outcome tune_threads_verb(const TuneThreadsOptions& options) {
  return tuned_job(options.tune, command_of("tune threads", options));
}

Outcome tune_threshold_verb(const ThresholdOptions& tune, const Registry& registry) {
  if (!tune.header.empty()) require_identifier(tune.constant);
  ThresholdRecord record{.made = now(command_of("tune threshold", tune)), .policy = tune.policy};
  record.question = question_of(tune.request, registry, record.made.machine);
  if (record.question.sizes.empty()) {
    const RefusedSizes& first = record.question.refused.front();
    print_visible(stdout, "SKIPPED: {} does not run here: {}\n", first.by, first.why);
    return {Word::skipped};
  }
  under_way(record.made, [&](const Hooks& hooks) {
    ThresholdRounds rounds(record.question, record.policy, sample_in_new_process, hooks,
                           usual_passed_corners());
    record.threshold = find_threshold(
        record.question.sizes, [&](Index size) { return rounds.measured_at(size); },
        [&] { return rounds.ended(); });
    record.wrong = rounds.wrong();
  });
  const Word word = word_of(record);
  if (word == Word::interrupted) {
    print_visible(stdout, "INTERRUPTED after {} sizes: nothing is decided\n", record.threshold.sizes.size());
    return {word};
  }
  const doc::Document document = record_document(record);
  const std::string header = header_line(record, tune);
  write_record(tune.outputs, document, header + record_text(document), doc::to_json(document));
  return {word};
}

void describe(Fields& f, TunedKernels& tuned) {
  f.schema("assay.kernels/1");
  ASSAY_FIELDS(f, tuned, machine, version);
  f("caches", tuned.caches, {.about = "bytes of the first, the second and the last cache: 32K/512K/32M"});
  ASSAY_FIELDS(f, tuned, date, command);
}

std::string use_tuned_kernels() {
  if (std::getenv(caches_variable) != nullptr) {
    static_cast<void>(caches());
    return "";
  }
  const std::filesystem::path file = tuned_kernels_file();
  std::error_code failed;
  if (file.empty() || !std::filesystem::exists(file, failed)) return "";
  std::string why;
  try {
    const auto tuned =
        value_from<TunedKernels>(read_file(file), file.string(), "run `assay tune kernels` again");
    if (tuned.machine != this_machine().key) {
      why = fmt::format("it is of the machine {}", tuned.machine);
    } else if (tuned.version != build_info().version) {
      why = fmt::format("it is of version {}", tuned.version);
    } else {
      static_cast<void>(cache_sizes_from(tuned.caches, file.string() + ": caches"));
      setenv(caches_variable, tuned.caches.c_str(), 1);
      return "";
    }
  } catch (const Error& fault) {
    why = fault.what();
  }
  return fmt::format("{} is ignored: {}; `assay tune kernels` writes it anew\n", file.string(), why);
}

}  // namespace assay
