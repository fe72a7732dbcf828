// The verbs that measure a suite: run; record, which keeps the results as a baseline, and changes of the
// ledger that are decided and not measured; and those that the program, or another build of it, starts it
// with.

#include "app/output.hpp"
#include "app/progress.hpp"
#include "app/verbs.hpp"
#include "assay/error.hpp"
#include "assay/report.hpp"
#include "bench/compare/words.hpp"
#include "bench/exchange/read_results.hpp"
#include "bench/measure/sides.hpp"
#include "bench/measure/turns.hpp"
#include "bench/report/content.hpp"
#include "core/check/passed_corners.hpp"
#include "core/machine/build_info.hpp"
#include "core/plan/trial_key.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace assay {
namespace {

Outcome list_keys(const Registry& registry, const RunRequest& request) {
  const Machine machine = this_machine();
  const auto plan = make_plan(registry, request.suite, request.selection, machine);
  if (plan.empty()) {
    const auto shard = shard_record(registry, request.suite, request.selection, machine);
    print_visible(stderr, "{}\n", in_words(*shard));
  }
  for (const Trial& trial : plan) {
    if (trial.skipped.empty()) print_visible(stdout, "{}\n", trial.key);
  }
  return {};
}

std::string in_benchmark_format(BenchmarkFormat format, const Results& results) {
  if (format == BenchmarkFormat::json) return google_benchmark_json(results);
  if (format == BenchmarkFormat::csv) return google_benchmark_csv(results);
  return google_benchmark_console(results);
}

void write_samples(const RunOptions& options, const Results& results) {
  const BenchmarkFlags& flags = options.benchmark;
  if (!options.output.empty()) write_file(options.output, to_json(results) + "\n");
  if (!flags.out.empty()) write_file(flags.out, in_benchmark_format(flags.out_format, results));
}

/// Reads the least seconds of a slice, `0.1s`, or the number of its calls, `100x`.
void apply_min_time(MeasurePolicy& policy, std::string_view text) {
  const char unit = text.back();
  const std::string_view digits = unit == 's' || unit == 'x' ? text.substr(0, text.size() - 1) : text;
  if (unit == 'x') {
    if (const auto calls = number_from<Index>(digits); calls && *calls >= 1) {
      policy.calls_per_slice = *calls;
      return;
    }
  } else if (const auto seconds = number_from<double>(digits); seconds && *seconds >= 0) {
    policy.slice_seconds = *seconds;
    policy.trial_seconds = std::max(policy.trial_seconds, *seconds * policy.slices);
    return;
  }
  throw Error("--benchmark_min_time", fmt::format("\"{}\" is not a finite number", text),
              "write 0.1s for seconds of a slice, or 100x for its calls");
}

RunRequest request_of(const RunOptions& options, const Registry& registry) {
  RunRequest out = run_request(options.selection, options.launches, registry);
  out.measuring.strict = options.strict;
  out.command = command_of("run", options);
  const BenchmarkFlags& flags = options.benchmark;
  if (!flags.interleaving) {
    throw Error("--benchmark_enable_random_interleaving", "cannot be turned off",
                "trials are always sampled in mixed order");
  }
  if (flags.repetitions) out.measuring.slices = *flags.repetitions;
  if (!flags.min_time.empty()) apply_min_time(out.measuring, flags.min_time);
  out.selection.shard = shard_of_this_process(options.shard);
  out.selection.durations = durations_in(options.shard.durations);
  return out;
}

void require_planned(const std::string& key, const Suite& suite, const Registry& registry) {
  std::vector<int> threads{1};
  // Keys of other machines have other counts, and are as good: a ledger is for all machines.
  if (const auto named = trial_key(key); named && named->threads > 1)
    threads.push_back(std::min(named->threads, 4096));
  // No machine in particular: what does not fit in this one's memory may be accepted for another.
  std::vector<std::string> keys;
  for (const Trial& trial : make_plan(registry, suite, {.threads = threads}, Machine{})) {
    keys.push_back(trial.key);
  }
  if (std::ranges::find(keys, key) != keys.end()) return;
  throw Error("--accept " + key, fmt::format("is no trial of suite {}", suite.name),
              fmt::format("did you mean\n    {}\n  `assay run` prints all keys",
                          fmt::join(near_names(key, keys, 3), "\n    ")));
}

/// `height=1300`, as the part of an acceptance that it is.
Acceptance figure_from(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals != std::string::npos && equals > 0) {
    if (const auto value = number_from<double>(std::string_view(text).substr(equals + 1)))
      return {.figure = text.substr(0, equals), .value = *value};
  }
  throw Error("--figure " + text, "is no figure with a value",
              "write its name and the worst value that is accepted, without unit, as height=1300");
}

/// Changes the ledger of a suite and prints the sentence that `change` returns.
Outcome changed(const LedgerOptions& options, const Registry& registry,
                const std::function<std::string(Ledger&, const Suite&)>& change) {
  const Suite suite = load_suite(options.suite, registry);
  const auto file = ledger_path(options.baselines.front(), suite.name);
  Ledger ledger = load_ledger(file).value_or(Ledger{.suite = suite.name});
  const std::string done = change(ledger, suite);
  save_ledger(file, ledger);
  put(options.json, fmt::format("next: commit {} by itself\n{}\n", file.string(), done), to_json(ledger));
  return {};
}

/// Nobody looks at these processes: what runs is noted for crash reports alone.
Hooks served_hooks() {
  return {.progress = [](std::string_view what, std::optional<double>) { now_running(what); },
          .stop = interrupted};
}

}  // namespace

std::optional<Shard> shard_of_this_process(const ShardOptions& options) {
  const ShardChoice choice = chosen_shard(options, std::getenv);
  for (const std::string& file : choice.status_files) {
    if (std::ofstream(file, std::ios::app)) continue;
    throw Error(file, "cannot be made, and a test runner waits for it",
                "check the folder named by GTEST_SHARD_STATUS_FILE or TEST_SHARD_STATUS_FILE");
  }
  if (choice.shard) {
    print_visible(stderr, "shard {} of 0 to {}, by {}\n", choice.shard->index, choice.shard->count - 1,
                  choice.source);
  }
  return choice.shard;
}

void say_undivided(const std::string& what) {
  const ShardChoice choice = chosen_shard({}, std::getenv);
  if (!choice.shard || choice.shard->count == 1) return;
  print_visible(stderr, "{} are not divided among shards: this process takes all, whatever {} say\n", what,
                choice.source);
}

void require_whole(const std::optional<Shard>& shard, const std::string& option, const std::string& remedy) {
  if (!shard || shard->count == 1) return;
  throw Error(option, fmt::format("speaks for the whole suite, and this is one of {} shards", shard->count),
              remedy);
}

RunRequest run_request(const SelectionOptions& selection, int launches, const Registry& registry) {
  return {.suite = load_suite(selection.suite, registry),
          .selection = {.filter = selection.filter, .threads = selection.threads, .seed = selection.seed},
          .measuring = {.launches = launches, .seed = selection.seed, .time_limit = selection.time_limit},
          .checking = {.own_process = true, .time_limit = selection.time_limit},
          .passed_corners = usual_passed_corners(),
          .command = command_of("run", RunOptions{.selection = selection, .launches = launches})};
}

Outcome run_verb(const RunOptions& options, const Registry& registry) {
  const RunRequest request = request_of(options, registry);
  const BenchmarkFlags& flags = options.benchmark;
  if (flags.list_tests) return list_keys(registry, request);

  const Results results = run(registry, request, sample_in_new_process, Progress(options.quiet).hooks());
  const Outcome outcome = outcome_of(results);
  if (flags.format != BenchmarkFormat::own) {
    print_visible(stdout, "{}", in_benchmark_format(flags.format, results));
    if (outcome.word != Word::measured) print_visible(stderr, "{}", outcome.text());
    write_samples(options, results);
    return outcome;
  }
  std::string text = results.trials.empty() ? std::string() : to_table(results);
  if (results.shard && !results.trials.empty()) text += in_words(*results.shard) + "\n";
  const std::string next =
      results.shard
          ? "when all shards are done, put them together with  assay merge SHARD.json ... -o ALL.json"
      : !options.output.empty()
          ? fmt::format("change the code, run again with another -o, then  assay compare {} AFTER.json",
                        options.output.string())
          : "-o before.json keeps the samples, for  assay compare before.json after.json";
  put(options.json, options.quiet ? faults_text(results) + ending("", outcome) : text + ending(next, outcome),
      to_json(results));
  write_samples(options, results);
  return outcome;
}

Outcome record_verb(const RecordOptions& options, const Registry& registry) {
  RunRequest request = run_request(options.selection, options.launches, registry);
  request.measuring.strict = options.strict;
  const Machine machine = this_machine();
  const auto file = baseline_path(options.baselines.front(), machine.key, request.suite.name);
  const auto stored = [&] {
    auto found = load_baseline(file);
    if (found && !options.replace) return *std::move(found);
    return Baseline{.suite = request.suite.name, .machine_key = machine.key};
  };
  stored();  // a baseline that cannot be read must not cost the user a measurement
  Results results = run(registry, request, sample_in_new_process, Progress(options.quiet).hooks());
  const std::string json = to_json(results);
  const Outcome outcome = outcome_of(results);
  std::string text = options.quiet ? faults_text(results) : to_table(results);
  const bool measured =
      std::ranges::any_of(results.trials, [](const TrialResult& trial) { return !trial.launches.empty(); });
  // A kernel that crashed has no row, and takes none from the others.
  const bool crashed_only = outcome.word == Word::crashed && outcome.besides.empty();
  if (!measured || (outcome.word != Word::measured && !crashed_only)) {
    put(options.json, text + "nothing was recorded\n" + ending("", outcome), json);
    return outcome;
  }
  // Another job may have recorded meanwhile.
  Baseline baseline = stored();
  const std::size_t trials = results.trials.size();
  baseline.recordings.push_back({.reason = options.reason, .results = std::move(results)});
  save_baseline(file, baseline);
  const std::string next = fmt::format(
      "assay gate --suite {}", suite_in_commands(options.selection.suite.string(), options.baselines, {}));
  const Outcome recorded{Word::recorded, fmt::format("{} trials as recording {} of {}", trials,
                                                     baseline.recordings.size(), file.string())};
  // A crash weighs more, and is the outcome then.
  if (outcome.word != Word::measured) text += recorded.text();
  text += ending(options.quiet ? "" : next, outcome.word == Word::measured ? recorded : outcome);
  put(options.json, text, json);
  return outcome;
}

Outcome accept_verb(const AcceptOptions& options, const Registry& registry) {
  return changed(options.ledger, registry, [&](Ledger& ledger, const Suite& suite) {
    require_planned(options.key, suite, registry);
    Acceptance one = options.figure.empty() ? Acceptance{} : figure_from(options.figure);
    const auto last_day = date_from(options.until);
    if (!last_day) throw Error("--until " + options.until, "is no day", "write it as 2026-10-01");
    one.key = options.key;
    one.ratio = options.ratio;
    one.reason = options.reason;
    one.until = *last_day;
    one.accepted_on = today();
    one.commit = build_info().commit;
    accept(ledger, one);
    return fmt::format("ACCEPTED: {} until {}", in_words(one), date_text(one.until));
  });
}

Outcome withdraw_verb(const WithdrawOptions& options, const Registry& registry) {
  return changed(options.ledger, registry, [&](Ledger& ledger, const Suite&) {
    withdraw(ledger, options.key, options.figure);
    return fmt::format("WITHDRAWN: {} has no accepted {} any more", options.key,
                       options.figure.empty() ? "slow-down" : options.figure);
  });
}

Outcome release_verb(const ReleaseOptions& options, const Registry& registry) {
  return changed(options.ledger, registry, [&](Ledger& ledger, const Suite&) {
    begin_release(ledger, options.release, build_info().commit, today());
    return fmt::format(
        "RELEASED: steps are summed from {} ({}) on; {} acceptances still run out on their day, and "
        "cover nothing that is compared with this release or a later commit",
        ledger.release, ledger.release_commit, ledger.acceptances.size());
  });
}

Outcome launch_verb(const ServedOptions& options, const Registry& registry) {
  serve_launch(registry, options.request, options.answer, served_hooks());
  return {};
}

Outcome turns_verb(const ServedOptions& options, const Registry& registry) {
  serve_turns(registry, options.request, options.answer, served_hooks());
  return {};
}

Outcome describe_verb(const ServedOptions& options, const Registry& registry) {
  serve_description(registry, options.request, options.answer, usual_passed_corners(), served_hooks());
  return {};
}

}  // namespace assay
