#include "app/verbs.hpp"

#include "core/tune/turns.hpp"

#include <array>
#include <memory>

namespace assay {

void describe(OptionList& o, GateRules& rules);

namespace {

constexpr std::array<std::string_view, 2> detections{"", "auto"};
constexpr std::array<std::string_view, 2> meanings_of_exit_codes{"usual", "bisect"};
constexpr std::array<std::string_view, 2> weights_of_undecided{"warn", "fail"};
constexpr std::array<std::string_view, 4> benchmark_formats{"", "json", "console", "csv"};
constexpr std::array<std::string_view, 4> kinds_of_programs{"", "kernels", "google-benchmark", "command"};
constexpr std::array<std::string_view, 3> shells{"bash", "zsh", "fish"};
constexpr std::array<std::string_view, 5> units{"", "s", "ms", "us", "ns"};

void suite(OptionList& o, std::filesystem::path& value, bool required = true) {
  o("--suite,-s,suite", &value,
    "a suite's file or name, such as suites/smoke.json or smoke, or cases: gemm/m=512,n=512,k=64..4096:x2",
    {.required = required, .joined = true});
}
/// Test runners select by a variable, as GoogleTest lets them. Commands that repeat a gate get a filter of
/// their own behind them.
void filter(OptionList& o, std::string& value,
            OptionRule rule = {.repeated = false, .variables = {"TESTBRIDGE_TEST_ONLY"}}) {
  o("-k,--filter", &value, "only trials whose key matches this regular expression", std::move(rule));
}
void threads(OptionList& o, std::vector<int>& value) {
  o("--threads", &value, "thread counts of threaded variants, as 1,2", {.low = 1, .high = 4096});
}
void seed(OptionList& o, std::uint64_t& value) {
  o("--seed", &value, "seed of the inputs (default 42)", {.low = 0});
}
void time_limit(OptionList& o, double& value,
                std::string_view about =
                    "seconds that a kernel may take (default 20 times what naive takes, at least 10)") {
  o("--time-limit", &value, about, {.least = 0.001, .most = 1e6});
}
void strict(OptionList& o, bool& value) {
  o("--strict", &value,
    "a process for each case, in which timed kernels may start no process or thread, and change no signal "
    "handler, priority, processor, timer or code");
}

void launches(OptionList& o, int& value, std::string_view about) {
  o("--launches", &value, about, {.low = 1, .high = 1000});
}
void baselines(OptionList& o, std::vector<std::filesystem::path>& value, OptionRule rule = {}) {
  o("--baselines", &value, "folder of baselines (default baselines); may be repeated", std::move(rule));
}
void limit(OptionList& o, OptionValue value, std::string_view about) {
  o("--limit", std::move(value), about, {.least = 1.001, .most = 100});
}
void undecided(OptionList& o, bool& fails) {
  o("--on-undecided", choice_of(fails, weights_of_undecided),
    "warn (default) or fail: exit 3 for trials that are undecided, not comparable or gone",
    {.repeated = false});
}
void json(OptionList& o, std::string& value) {
  o("--json", &value, "write JSON to this file; - is standard output, and replaces the text", output_file);
}
void quiet(OptionList& o, bool& value) {
  o("-q,--quiet", &value, "print only rows that ask for something to be done, and the outcome; no progress",
    {.repeated = false});
}
/// Where a verb tells what it found.
void findings(OptionList& o, auto& options) {
  json(o, options.json);
  quiet(o, options.quiet);
}
void results(OptionList& o, std::filesystem::path& value) {
  o("-o,--output", &value, "write the results here, as JSON", output_file);
}
void comment(OptionList& o, std::filesystem::path& value) {
  o("--md", &value, "write a comment for a pull request here", output_file);
}
void page(OptionList& o, PageFiles& value) {
  o("--html", &value.html, "write a page with pictures here, a single file", output_file);
  o("--svg", &value.svg, "write the pictures of that page into this folder", output_folder);
}
void markdown(OptionList& o, std::filesystem::path& value) {
  o("--md", &value, "write it as Markdown here, too", output_file);
}
void outputs(OptionList& o, Outputs& value) {
  markdown(o, value.markdown);
  page(o, value.page);
  json(o, value.json);
}
void exit_codes(OptionList& o, bool& bisection) {
  o("--exit-code", choice_of(bisection, meanings_of_exit_codes),
    "usual, or bisect: 125, which `git bisect run` skips, for all but 0 and 1, and while a trial of a gate "
    "is undecided",
    {.repeated = false});
}
void budget(OptionList& o, double& value, std::string_view about) {
  o("--budget", &value, about, {.least = 1, .most = 86400});
}
void shard(OptionList& o, ShardOptions& value, bool is_balanced = true) {
  o("--shard-count", &value.count, "divide cases or settings among this many jobs", {.repeated = false});
  o("--shard-index", &value.index, "which of them this one is, from 0", {.repeated = false});
  o("--shard", choice_of(value.detect, detections),
    "auto: as GitLab, CircleCI, Buildkite, Slurm, Kubernetes or AWS Batch say", {.repeated = false});
  if (!is_balanced) return;
  o("--shard-durations", &value.durations,
    "balance the shards by the times in these earlier results: the same file for all of them",
    {.repeated = false});
}
void record_step(OptionList& o, bool& value) {
  o("--record-step", &value, "add this step to the ledger when the gate passes",
    {.excludes = "--filter", .repeated = false});
}

void describe_tune(OptionList& o, TuneOptions& options) {
  o("--job", &options.job, "a training job, such as suites/jobs/classifier.json", {.required = true});
  o("--rounds", &options.policy.rounds, "interleaved rounds, in each of which every setting runs once",
    {.low = 6, .high = 1000});
  o("--run-seconds", &options.policy.run_seconds, "of each setting in each round, about",
    {.least = 0.01, .most = 3600});
}
void describe_outputs(OptionList& o, RecordOutputs& files, std::string_view about) {
  o("-o,--output", &files.output, about, output_file);
  outputs(o, files);
}
void end_tune(OptionList& o, TuneOptions& options) {
  seed(o, options.policy.seed);
  describe_outputs(o, options.outputs, "write the job with the chosen settings here");
}

/// Options shared by `tune library` and `tune kernels`, around the values to try.
void describe_values(OptionList& o, VariableOptions& options, std::string_view name,
                     std::string_view about_values) {
  suite(o, options.selection.suite);
  filter(o, options.selection.filter, {});
  threads(o, options.selection.threads);
  o(name, &options.values, about_values);
  o("--rounds", &options.rounds, "process starts in which all take turns (default 10)",
    {.low = static_cast<Index>(fewest_rounds), .high = 1000});
  seed(o, options.selection.seed);
  describe_outputs(o, options.outputs,
                   "write what was tried, and the environment that was chosen, here, as JSON");
}

void describe_ledger(OptionList& o, LedgerOptions& options) {
  suite(o, options.suite);
  baselines(o, options.baselines, {.writes = Writes::folder});
  json(o, options.json);
}

void describe_flags(OptionList& o, BenchmarkFlags& flags) {
  const auto flag = [](std::string_view variable) {
    return OptionRule{.variables = {variable}, .hidden = true};
  };
  o("--benchmark_list_tests", &flags.list_tests, "", flag("BENCHMARK_LIST_TESTS"));
  o("--benchmark_repetitions", &flags.repetitions, "",
    {.low = 1, .variables = {"BENCHMARK_REPETITIONS"}, .hidden = true});
  o("--benchmark_min_time", &flags.min_time, "", flag("BENCHMARK_MIN_TIME"));
  o("--benchmark_out", &flags.out, "",
    {.writes = Writes::file, .repeated = false, .variables = {"BENCHMARK_OUT"}, .hidden = true});
  o("--benchmark_out_format", choice_of(flags.out_format, benchmark_formats), "",
    {.repeated = false, .variables = {"BENCHMARK_OUT_FORMAT"}, .hidden = true});
  o("--benchmark_format", choice_of(flags.format, benchmark_formats), "",
    {.repeated = false, .variables = {"BENCHMARK_FORMAT"}, .hidden = true});
  o("--benchmark_enable_random_interleaving", &flags.interleaving, "",
    flag("BENCHMARK_ENABLE_RANDOM_INTERLEAVING"));
  o("--benchmark_color", &flags.ignored, "", {.repeated = false, .hidden = true});
  o("--benchmark_counters_tabular", &flags.ignored, "", {.repeated = false, .hidden = true});
}

void describe_sides(OptionList& o, ProgramsOptions& options, std::string_view base) {
  // Without a base there is a baseline, and without a head this program: neither is what `--base ""` meant.
  o("--base", &options.base, base, {.required = true, .not_empty = true});
  o("--head", &options.head, "the build that is judged, if not this one", {.not_empty = true});
  o("--base-build", &options.base_build,
    "the program of a base that is a revision, or its build folder, instead of building it");
}
void describe_budget(OptionList& o, ProgramsOptions& options, std::string_view about_limit) {
  limit(o, &options.limit, about_limit);
  budget(o, options.budget_seconds, "seconds that both are measured for (default 300)");
  seed(o, options.seed);
}
void describe_built_sides(OptionList& o, BuildsOptions& options) {
  describe_sides(o, options.programs,
                 "another build, interleaved with this one: a program, or a git revision that is built");
  o("--merge-base", &options.merge_base,
    "the last commit that the base has in common with the head, or with HEAD", {.repeated = false});
  o("--layouts", &options.layouts,
    "differently ordered links of each side when one is a revision (default 8)", {.low = 1, .high = 64});
}
void describe_outputs(OptionList& o, OutcomeOptions& options, bool has_comment = true) {
  results(o, options.output);
  findings(o, options);
  if (has_comment) comment(o, options.markdown);
  page(o, options.page);
  o("--junit", &options.junit, "write a JUnit file, a test case per trial",
    {.writes = Writes::file, .repeated = false, .variables = {"XML_OUTPUT_FILE"}});
  o("--code-quality", &options.code_quality, "write what fails as GitLab's Code Quality reads it",
    output_file);
}

/// Options of all gates of two builds, wherever the builds come from.
void describe_builds(OptionList& o, BuildsOptions& options) {
  ProgramsOptions& programs = options.programs;
  suite(o, programs.outcome.suite, /*required=*/false);
  filter(o, programs.filter);
  threads(o, options.threads);
  time_limit(o, programs.time_limit);
  o("--identical", &options.identical_too, "measure variants whose machine code is identical, too");
  describe_budget(o, programs, "time ratio that is still the same (default 1.01)");
  describe(o, programs.outcome.rules);
  record_step(o, programs.outcome.rules.record_step);
  shard(o, options.shard);
  describe_outputs(o, programs.outcome);
}
constexpr std::string_view limit_of_programs = "time ratio that is still the same (default 1.03)";

void describe_timing(OptionList& o, CommandTiming& timing) {
  o("--match", &timing.match,
    "judge a number that the command prints: 'time: ([0-9.]+) ms'; with two groups, a name and its number");
  o("--unit", choice_of(timing.unit, units), "of that number (default: as the command prints it, else s)",
    {.needs = "--match"});
  o("--rate", &timing.rate, "that number is a rate: more of it is better", {.needs = "--match"});
  o("--cpu", &timing.processor,
    "processor time of the command and its children, also where it does more than compute",
    {.excludes = "--match"});
  o("-n,--name", &timing.name, "of what is timed, in results (default: the program's)");
  o("--setup", &timing.setup, "a line of a shell to run once before all");
  o("--prepare", &timing.prepare, "likewise before each run");
  o("--cold", &timing.cold, "drop the pages of the files that the command names before each run");
  o("--warmup", &timing.warmups, "runs that are not counted (default 1)", {.low = 1, .high = 1000});
  time_limit(o, timing.time_limit,
             "seconds that a run may take (default 20 times what the first one took, at least 10)");
}

/// Binds a verb's function to options of its own; the list and the function share them.
template <class T, class... OfRegistry>
Call bound(Outcome (*function)(const T&, OfRegistry...)) {
  const auto options = std::make_shared<T>();
  OptionList list;
  describe(list, *options);
  return {std::move(list), [=](const Registry& registry) {
            if constexpr (sizeof...(OfRegistry) > 0) {
              return function(*options, registry);
            } else {
              return function(*options);
            }
          }};
}
template <auto function>
Call call() {
  return bound(function);
}

}  // namespace

void describe(OptionList& o, ListOptions& options) {
  o("filter", &options.filter,
    "only operation/variant names that match this regular expression; or cases, as gemm/m=64,n=64,k=64, for\n"
    "which it says what `auto` is, and why");
  o("--known", &options.known,
    "instead, the variants that are kept to be rejected by checks, and their like");
  o("--code", &options.code, "the hash of each variant's machine code, and where it is registered");
  json(o, options.json);
}

void describe(OptionList& o, CheckOptions& options) {
  o("-k,--filter,filter", &options.filter,
    "only operation/variant names, or a suite's keys, that match this regular expression; or cases, as "
    "gemm/m=512,n=512,k=512",
    {.joined = true, .variables = {"TESTBRIDGE_TEST_ONLY"}});
  seed(o, options.seed);
  time_limit(o, options.time_limit);
  exit_codes(o, options.bisection);
  findings(o, options);
}
void describe(OptionList& o, KnownBadOptions& options) {
  o("--known-bad", &options.known_bad, "demand that every published optimization that is wrong is rejected");
  describe(o, options.check);
}
void describe(OptionList& o, KnownCheatsOptions& options) {
  o("--known-cheats", &options.known_cheats,
    "demand that kernels which cheat are rejected, and honest ones that look like them are not");
  o("--repeats", &options.repeats, "times that each of them is tried (default 1)", {.low = 1, .high = 1000});
  describe(o, options.check);
}
void describe(OptionList& o, CheckTraceOptions& options) {
  o("--trace", &options.trace,
    "check on the problem in this file: requests of memory as CSV, a trace of the PyTorch profiler with\n"
    "memory events, or a graph of tasks",
    {.required = true});
  o("--requests", &options.requests, "write the requests of such a profiler's trace here, as CSV",
    output_file);
  describe(o, options.check);
}
void describe(OptionList& o, CheckSuiteOptions& options) {
  suite(o, options.suite);
  describe(o, options.check);
  threads(o, options.threads);
  shard(o, options.shard);
}

void describe(OptionList& o, RunOptions& options) {
  SelectionOptions& selection = options.selection;
  suite(o, selection.suite);
  o("-k,--filter,--benchmark_filter", &selection.filter,
    "only trials whose key matches this regular expression",
    {.variables = {"BENCHMARK_FILTER", "TESTBRIDGE_TEST_ONLY"}});
  threads(o, selection.threads);
  launches(o, options.launches, "process starts to sample in (default 1)");
  seed(o, selection.seed);
  time_limit(o, selection.time_limit);
  strict(o, options.strict);
  shard(o, options.shard);
  describe_flags(o, options.benchmark);
  results(o, options.output);
  findings(o, options);
}

void describe(OptionList& o, RecordOptions& options) {
  SelectionOptions& selection = options.selection;
  suite(o, selection.suite);
  threads(o, selection.threads);
  launches(o, options.launches, "process starts to sample in (default 6)");
  seed(o, selection.seed);
  time_limit(o, selection.time_limit);
  strict(o, options.strict);
  o("--reason", &options.reason, "why the baseline changes", {.required = true});
  o("--replace", &options.replace, "retire the recordings that are there");
  baselines(o, options.baselines, {.writes = Writes::folder});
  findings(o, options);
}
void describe(OptionList& o, AcceptOptions& options) {
  o("--accept", &options.key,
    "in the ledger: accept a slow-down of this trial, or a worse figure; measures nothing",
    {.required = true});
  o("--ratio", &options.ratio, "time ratio that is accepted at most (default 1.08)");
  o("--figure", &options.figure,
    "instead of its time, this figure of its output up to this value, as height=1300",
    {.not_empty = true, .excludes = "--ratio"});
  o("--until", &options.until, "last day of the acceptance, as 2026-10-01", {.required = true});
  o("--reason", &options.reason, "why it is accepted", {.required = true});
  describe_ledger(o, options.ledger);
}
void describe(OptionList& o, WithdrawOptions& options) {
  o("--withdraw", &options.key, "in the ledger: this trial has no accepted slow-down any more",
    {.required = true});
  o("--figure", &options.figure, "this figure of its output instead of its time", {.not_empty = true});
  describe_ledger(o, options.ledger);
}
void describe(OptionList& o, ReleaseOptions& options) {
  o("--release", &options.release, "in the ledger: sum steps from this tag or commit on", {.required = true});
  describe_ledger(o, options.ledger);
}

void describe(OptionList& o, GateRules& rules) {
  baselines(o, rules.baselines);
  undecided(o, rules.failing.undecided_fails);
  o("--drift-limit", &rules.drift_limit, "time ratio since the release that is still the same (default 1.03)",
    {.least = 1.001, .most = 100, .repeated = false});
  exit_codes(o, rules.failing.bisection);
}

void describe(OptionList& o, GateOptions& options) {
  SelectionOptions& selection = options.selection;
  suite(o, options.outcome.suite);
  filter(o, selection.filter);
  threads(o, selection.threads);
  launches(o, options.launches, "process starts to sample in (default 6)");
  limit(o, &options.limit, "time ratio that is still the same (default 1.05)");
  seed(o, selection.seed);
  time_limit(o, selection.time_limit);
  describe(o, options.outcome.rules);
  record_step(o, options.outcome.rules.record_step);
  o("--record-missing", &options.record_missing, "record a baseline in this folder when there is none",
    output_folder);
  o("--reports", &options.reports, "write the report under this folder", output_folder);
  shard(o, options.shard);
  describe_outputs(o, options.outcome, /*has_comment=*/false);
}

void describe(OptionList& o, ProgramsOptions& options) {
  describe_sides(
      o, options,
      "a program of Google Benchmark, with its arguments if it takes any, interleaved with the head");
  o("-k,--filter,--benchmark_filter", &options.filter, "only benchmarks that match this regular expression",
    {.repeated = false, .variables = {"TESTBRIDGE_TEST_ONLY"}});
  time_limit(o, options.time_limit, "seconds that a benchmark may take in a process start (default 60)");
  o("--counter", &options.counters,
    "user counters that are judged, too, as hits=higher,misses=lower; a worse one fails");
  describe_budget(o, options, limit_of_programs);
  describe(o, options.outcome.rules);
  describe_outputs(o, options.outcome);
}

void describe(OptionList& o, BuildsOptions& options) {
  describe_built_sides(o, options);
  describe_builds(o, options);
}
void describe(OptionList& o, BundleOptions& options) {
  o("--bundle", &options.bundle, "both builds, as `prepare -o` left them", {.required = true});
  describe_builds(o, options.builds);
}
void describe(OptionList& o, PrepareOptions& options) {
  describe_built_sides(o, options.builds);
  o("-o,--output", &options.output, "the folder that is to hold both builds and their layouts",
    {.required = true, .writes = Writes::folder});
}

void describe(OptionList& o, CommandsOptions& options) {
  ProgramsOptions& programs = options.programs;
  o("--base", &programs.base, "a command as a shell takes it, in turns with the head",
    {.required = true, .not_empty = true});
  o("--head", &programs.head, "the command that is judged", {.required = true, .not_empty = true});
  filter(o, programs.filter);
  describe_timing(o, options.timing);
  describe_budget(o, programs, limit_of_programs);
  describe(o, programs.outcome.rules);
  describe_outputs(o, programs.outcome);
}
void describe(OptionList& o, CommandOptions& options) {
  describe_timing(o, options.timing);
  o("--launches", &options.launches, "runs to time (default 32)", {.low = 1, .high = 100000});
  budget(o, options.budget_seconds, "seconds after which no run is begun (default 300)");
  results(o, options.output);
  findings(o, options);
  o("command", &options.command, "the program and its arguments, behind --",
    {.required = true, .behind_dashes = true});
}

void describe(OptionList& o, ReanalyzeOptions& options) {
  o("results", &options.results, "what `gate --base ... -o` wrote", {.required = true});
  describe(o, options.outcome.rules);
  comment(o, options.outcome.markdown);
  page(o, options.outcome.page);
  findings(o, options.outcome);
}

void describe(OptionList& o, MergeOptions& options) {
  o("shards", &options.shards, "what `run -o`, `gate -o` or `tune command -o` wrote, of every shard",
    {.required = true});
  o("-o,--output", &options.outcome.output, "write the merged results here, as JSON",
    {.required = true, .writes = Writes::file});
  describe(o, options.outcome.rules);
  o("--md", &options.outcome.markdown, "of a gate of two builds: write a comment for a pull request here",
    output_file);
  page(o, options.outcome.page);
  findings(o, options.outcome);
}

void describe(OptionList& o, SelftestOptions& options) {
  SelectionOptions& selection = options.selection;
  suite(o, selection.suite);
  filter(o, selection.filter, {});
  threads(o, selection.threads);
  time_limit(o, selection.time_limit);
  o("--runs", &options.runs, "gates of the unchanged program (default 10)", {.low = 0, .high = 100000});
  o("--planted-runs", &options.planted_runs, "gates with slow-downs planted (default 10)",
    {.low = 0, .high = 100000});
  o("--plant", &options.plants, "slow-downs in time, as 0.02,0.03,0.05,0.1", {.least = 0.001, .most = 10});
  o("--busy", &options.busy, "keep one core busy with something else meanwhile");
  budget(o, options.budget_seconds, "seconds that each gate may measure for (default 300)");
  seed(o, selection.seed);
  quiet(o, options.quiet);
  o("--md", &options.markdown, "write what is printed here, too", output_file);
  o("-o,--output", &options.output, "keep all samples here, one gate per line", output_file);
}
void describe(OptionList& o, SelftestAgainOptions& options) {
  o("--again", &options.again, "judge samples anew that were kept with -o, and take none",
    {.required = true, .several = true});
  o("--busy", &options.busy, "they were taken beside a busy core, where the file is too old to say so");
  quiet(o, options.quiet);
  o("--md", &options.markdown, "write what is printed here, too", output_file);
}

void describe(OptionList& o, CompareOptions& options) {
  o("before", &options.before,
    "results before: of `run -o`, Google Benchmark, hyperfine, pytest-benchmark, NVBench, benchdnn, JMH, "
    "criterion, asv, Go, Catch2 or llama-bench",
    {.required = true});
  o("after", &options.after, "results after", {.required = true});
  o("--md", &options.as_markdown, "print Markdown");
  page(o, options.page);
  filter(o, options.filter, {});
  limit(o, &options.limit, "time ratio that is still the same (default 1.05)");
  o("--limits", &options.limits, "a file with limits of single trials: `assay schema limits`");
  undecided(o, options.undecided_fails);
  findings(o, options);
}

void describe(OptionList& o, ReportOptions& options) {
  o("results", &options.results, "results, as `run -o` or `gate -o` wrote them", {.required = true});
  baselines(o, options.baselines);
  limit(o, &options.limit, "time ratio that is still the same (default 1.05)");
  o("--reports", &options.reports, "write it under this folder instead of printing it", output_folder);
  page(o, options.page);
  json(o, options.json);
}

void describe(OptionList& o, ClaimsOptions& options) {
  o("evidence", &options.evidence,
    "results of suites, what `check --known-bad --json` wrote, jobs with figures as published, logs of "
    "epochs",
    {.required = true});
  o("--claims", &options.claims, "file of claims (default suites/claims.json)");
  markdown(o, options.markdown);
  json(o, options.json);
}

void describe(OptionList& o, AuditOptions& options) {
  o("results", &options.results, "results, as `run -o` wrote them", {.required = true});
  o("before", &options.before, "results of a run before, that say what was expected");
  o("--present", &options.present,
    "regular expression of the keys that are in use now (default: naive in every case)");
  markdown(o, options.outputs.markdown);
  json(o, options.outputs.json);
}

void describe(OptionList& o, StepAuditOptions& options) {
  o("results", &options.audit.results, "results of the suite that `assay suite` made of the trace",
    {.required = true});
  o("--trace", &options.trace, "a trace of the PyTorch profiler with shapes: what a step would gain",
    {.required = true});
  o("--present", &options.audit.present,
    "regular expression of the keys that are in use now (default: variants named torch, else the times in "
    "the trace)");
  outputs(o, options.audit.outputs);
}

void describe(OptionList& o, SuiteOptions& options) {
  o("trace", &options.trace, "a trace of the PyTorch profiler, recorded with record_shapes=True",
    {.required = true});
  o("-o,--output", &options.output, "write the suite here, as JSON", output_file);
  o("--steps-per-epoch", &options.steps_per_epoch, "of the suite (default 1: its epoch is a step)",
    {.low = 1, .high = Index{1} << 40});
  outputs(o, options.outputs);
}

void describe(OptionList& o, HistoryOptions& options) {
  o("results", &options.results, "results of one suite, as `run -o` wrote them, in any order",
    {.required = true});
  baselines(o, options.baselines);
  limit(o, &options.limit, "time ratio that is still the same (default 1.05)");
  markdown(o, options.markdown);
  json(o, options.json);
  o("--csv", &options.csv, "write a column of seconds per trial here, as Apache Otava reads it", output_file);
  o("--bencher", &options.bencher, "write the last run here in the metric format of Bencher", output_file);
  o("--github-action-benchmark", &options.github_action_benchmark,
    "write the last run here as customSmallerIsBetter", output_file);
  o("--openmetrics", &options.openmetrics, "write a sample per trial and run here", output_file);
}

void describe(OptionList& o, DoctorOptions& options) { json(o, options.json); }
void describe(OptionList& o, InitOptions& options) {
  o("folder", &options.folder, "of the project: a new one, or one that lacks these files",
    {.required = true});
  o("--write", &options.write, "write what it lacks, where it holds anything yet");
  o("--kind", choice_of(options.kind, kinds_of_programs),
    "what gates measure: kernels of assay, a program of Google Benchmark, or any command");
  o("--target", &options.target, "of CMake that makes that program", {.not_empty = true});
  o("--configure", &options.configure, "arguments for cmake, as in --configure=-DBUILD_BENCHMARKS=ON");
}
void describe(OptionList& o, SchemaOptions& options) {
  o("format", &options.format, "suite, results, gate, …; all are listed where it is none",
    {.required = true});
}
void describe(OptionList& o, CompletionsOptions& options) {
  o("shell", choice_of(options.shell, shells), "the shell that is to complete", {.required = true});
}
void describe(OptionList& o, CompleteOptions& options) {
  o("words", &options.words, "of the line, the program first", {.required = true, .behind_dashes = true});
}
void describe(OptionList&, ManOptions&) {}
void describe(OptionList& o, RemedyOptions& options) {
  o("--openblas-remedy", &options.openblas_remedy,
    "print only the setting that gives OpenBLAS its best kernels, if one is needed");
}

void describe(OptionList& o, JobFacts& facts) {
  constexpr Index most = Index{1} << 50;
  o("--against", &facts.against,
    "a later measurement of the same job, or its measured epoch: print the error of each model");
  o("--train-size", &facts.train, "samples of an epoch, where the file does not say",
    {.low = 1, .high = most});
  o("--validation-size", &facts.validation, "samples of a validation, likewise", {.low = 0, .high = most});
  o("--batch", &facts.batch, "samples of a step, likewise", {.low = 1, .high = most});
  o("--drop-last", &facts.drop_last, "a last batch that is not full is no step");
  o("--workers", &facts.workers, "worker processes of the loader, likewise", {.low = 0, .high = 4096});
  o("--prefetch", &facts.prefetch, "batches under way for each worker, likewise", {.low = 1, .high = 4096});
  o("--unit", &facts.unit, "s, ms, us or ns, of step times in a CSV that names none");
}
void describe(OptionList& o, PredictOptions& options) {
  o("files", &options.files,
    "results of a suite; or a job: phases as JSON, traces of the PyTorch profiler, step times as CSV",
    {.required = true});
  describe(o, options.facts);
  o("--watch", &options.watch, "go on while the file grows that $ASSAY_STEPS names, and say what is left",
    {.repeated = false});
  outputs(o, options.outputs);
}

void describe(OptionList& o, EpochOptions& options) {
  o("--job", &options.jobs, "training jobs, such as suites/jobs/classifier.json",
    {.required = true, .several = true});
  o("--share", &options.share, "of the steps, that may be trained before the prediction (default 0.02)",
    {.least = 0.0001, .most = 0.5});
  o("--elsewhere", &options.elsewhere, "predict 0, 1 and 2 workers with 1, 2 and 4 batches ahead, too");
  o("--predict-only", &options.predict_only, "stop before the epoch");
  outputs(o, options.outputs);
  o("--frozen", &options.frozen, "write the prediction here before the epoch begins", output_file);
  o("--timeline", &options.timeline, "write the epoch as a trace for Perfetto here", output_file);
  o("--log", &options.log, "add a line per epoch to this file", output_file);
}
void describe(OptionList& o, ScoreOptions& options) {
  o("--score", &options.score, "sum up a file that --log added to, and train nothing", {.required = true});
  markdown(o, options.markdown);
}

void describe(OptionList& o, TuneLoaderOptions& options) {
  describe_tune(o, options.tune);
  o("--workers", &options.tune.grid.workers, "to try (default 0,1,2)", {.low = 0, .high = 256});
  o("--prefetch", &options.tune.grid.prefetch, "batches ahead per worker to try (default 1,2,4)",
    {.low = 1, .high = 1024});
  o("--any-order", &options.tune.grid.any_order, "try delivery out of order as well");
  end_tune(o, options.tune);
}
void describe(OptionList& o, TuneBatchOptions& options) {
  describe_tune(o, options.tune);
  o("--batch", &options.tune.grid.batch, "sizes to try, as 32,64,128",
    {.required = true, .low = 1, .high = Index{1} << 20});
  end_tune(o, options.tune);
}
void describe(OptionList& o, TuneThreadsOptions& options) {
  describe_tune(o, options.tune);
  o("--threads", &options.tune.grid.threads, "of a step, to try (default 1,2)", {.low = 1, .high = 4096});
  end_tune(o, options.tune);
}

void describe(OptionList& o, TuneCommandOptions& options) {
  o("--vary", &options.request.vary,
    "values of {workers} in the command, as workers=0,1,2; env:NAME=1,2 of a variable; may be repeated",
    {.required = true, .several = true});
  o("--present", &options.request.present,
    "the values in use now, as workers=0,batch=32 (default: the first)");
  o("--except", &options.request.except, "values that are not tried together, as workers=4,batch=64",
    {.several = true});
  o("--match", &options.policy.timing.match,
    "seconds of a step that the command prints again and again, where it does not call assay.timed()");
  o("--unit", choice_of(options.policy.timing.unit, units), "of that number", {.needs = "--match"});
  o("--rate", &options.policy.timing.rate, "a rate of samples, or of steps as it/s: more of it is better",
    {.needs = "--match"});
  budget(o, options.policy.budget_seconds, "seconds that all settings are measured for (default 300)");
  o("--fresh", &options.policy.fresh,
    "start each setting anew in every turn, instead of stopping it between");
  o("--confirm", &options.confirm, "run the present and the chosen setting to their ends, too");
  seed(o, options.policy.seed);
  shard(o, options.shard, /*is_balanced=*/false);
  describe_outputs(o, options.outputs,
                   "write what was tried, and what was chosen, here, as JSON; of a shard, results to merge");
  o("program", &options.request.command, "the program and its arguments, behind --",
    {.required = true, .behind_dashes = true});
}

void describe(OptionList& o, ThresholdOptions& options) {
  ThresholdRequest& request = options.request;
  o("case", &request.subject, "an operation and its fields that stay, such as layernorm/cols=768",
    {.required = true});
  o("--vary", &request.vary, "the field that grows", {.required = true});
  o("--from", &request.from, "smallest size", {.required = true, .low = 1, .high = largest_extent});
  o("--to", &request.to, "largest size", {.required = true, .low = 1, .high = largest_extent});
  o("--step", &request.step, "from one size to the next, about (default 1.1)", {.least = 1.01, .most = 16});
  o("--between", &request.between,
    "two variants, the one for small sizes first: naive,simd@avx2 or threaded#1,threaded#2",
    {.required = true});
  o("--threads", &request.threads, "of the two, where their names do not say, as 1,2",
    {.low = 1, .high = 4096});
  o("--header", &options.header, "write the break-even as a constant of C++ here",
    {.needs = "--constant", .writes = Writes::file});
  o("--constant", &options.constant, "name of that constant", {.needs = "--header"});
  o("--rounds", &options.policy.rounds, "process starts at each size (default 12)",
    {.low = static_cast<Index>(fewest_rounds), .high = 1000});
  seed(o, options.policy.seed);
  describe_outputs(o, options.outputs, "write the threshold and every size measured here, as JSON");
}

void describe(OptionList& o, LibraryOptions& options) {
  describe_values(o, options.tune, "--core-types",
                  "of OpenBLAS, to try, as Haswell,SkylakeX (default: all that this processor can execute)");
}

void describe(OptionList& o, KernelsOptions& options) {
  describe_values(
      o, options.tune, "--caches",
      "sizes to try, as 32K/512K/8M,32K/1M/32M (default: halves and doubles of what the system says)");
}

void describe(OptionList& o, ServedOptions& options) {
  o("request", &options.request, "what is asked", {.required = true});
  o("answer", &options.answer, "where the answer goes, unless the request says so");
}

OptionList listed(NamedOptions options) {
  OptionList out;
  std::visit([&](auto* one) { describe(out, *one); }, options);
  return out;
}

std::vector<std::string_view> Verb::chosen_by() const {
  std::vector<std::string_view> out = parts_of(row, ' ');
  std::erase_if(out, [](std::string_view word) { return !word.starts_with("--"); });
  return out;
}

std::string Verb::title() const {
  std::string out = "assay " + std::string(name());
  for (const std::string_view option : chosen_by())
    out += " " + std::string(option.substr(0, option.find(',')));
  return out;
}

std::span<const Verb> verbs() {
  static const std::vector<Verb> all{
      {"list", "operations and variants, and whether each runs here", call<list_verb>},
      {"check --suite,-s", "agreement with the oracle in a suite's cases", call<check_suite_verb>},
      {"check --trace", "agreement on the problem in a file", call<check_trace_verb>},
      {"check --known-bad", "published optimizations that are wrong, and what rejects them",
       call<known_bad_verb>},
      {"check --known-cheats", "kernels that cheat, and what rejects them", call<known_cheats_verb>},
      {"check", "agreement with the oracle in all corner cases", call<check_verb>},
      {"run", "check, measure, print; takes Google Benchmark's --benchmark_* flags too", call<run_verb>},
      {"record --accept", "accept a slow-down, or a worse figure, of one trial for a time",
       call<accept_verb>},
      {"record --withdraw", "withdraw such an acceptance", call<withdraw_verb>},
      {"record --release", "sum steps from a release on", call<release_verb>},
      {"record", "measure and add a recording to this machine's baseline", call<record_verb>},
      {"gate --base --suite,-s", "check, measure and judge two builds in turns", call<two_builds_verb>},
      {"gate --base --head", "measure and judge two programs of Google Benchmark, or what assay.json builds",
       call<two_programs_verb>},
      {"gate --base", "judge two builds of what assay.json names", call<two_builds_verb>},
      {"gate --bundle", "judge two builds that `prepare` made", call<bundle_verb>},
      {"gate", "check, measure, compare with this machine's baseline", call<gate_verb>},
      {"prepare", "build both sides of a gate for jobs elsewhere", call<prepare_verb>},
      {"wrap --base --head", "time and judge any two commands in turns", call<commands_verb>},
      {"wrap", "time any command, and say what a gate of it could see", call<command_verb>},
      {"compare", "two result files: ours, or those of other programs", call<compare_verb>},
      {"merge", "all shards of one run, gate or tuning into one file", call<merge_verb>},
      {"suite", "the operators of a traced training step, as a suite to measure", call<suite_verb>},
      {"predict", "seconds of an epoch: of a suite, or of any training job", call<predict_verb>},
      {"epoch --score", "sum up a log of epochs", call<score_verb>},
      {"epoch", "train an epoch that was predicted before: how far off, and why", call<epoch_verb>},
      {"tune loader", "workers and batches ahead", call<tune_loader_verb>},
      {"tune batch", "samples of a step", call<tune_batch_verb>},
      {"tune threads", "threads of a step", call<tune_threads_verb>},
      {"tune command", "any settings of any training", call<tune_command_verb>},
      {"tune threshold", "the size from which one variant is faster than another", call<tune_threshold_verb>},
      {"tune library", "the core type of OpenBLAS", call<tune_library_verb>},
      {"tune kernels", "the sizes of caches that our kernels reckon with", call<tune_kernels_verb>},
      {"report claims", "verdicts on what public write-ups claim", call<claims_verb>},
      {"report audit --trace", "what a traced training step gains by the fastest variants",
       call<step_audit_verb>},
      {"report audit", "what an epoch gains by the fastest variants, ranked", call<audit_verb>},
      {"report history", "times over several runs of a suite, also for other tools", call<history_verb>},
      {"report", "the report of a results file", call<report_verb>},
      {"doctor --openblas-remedy", "the setting that gives OpenBLAS its best kernels", call<remedy_verb>},
      {"doctor", "this machine: roofs, noise, what could spoil a measurement", call<doctor_verb>},
      {"init", "a first kernel with its gate, or a gate of what a project builds", call<init_verb>},
      {"schema", "the JSON Schema of a file that is read or written", call<schema_verb>},
      {"completions", "verbs and options for bash, zsh or fish to complete", call<completions_verb>},
      {"man", "the manual page", call<man_verb>},
      {"reanalyze", "decide a gate of two builds again, from its samples", call<reanalyze_verb>},
      {"selftest --again", "judge the samples of a self-test anew", call<selftest_again_verb>},
      {"selftest", "how often the gate of two builds is wrong on this machine", call<selftest_verb>},
      {"__complete", "the words that may come next, for the scripts of completions", call<complete_verb>,
       true},
      {"launch", "sample what a request file says, in this process", call<launch_verb>, true},
      {"turns", "take turns with another build, as a request file says", call<turns_verb>, true},
      {"describe", "say which trials this program has of the cases in a request file", call<describe_verb>,
       true},
  };
  return all;
}

}  // namespace assay
