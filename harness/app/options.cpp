#include "app/options.hpp"

#include "app/options_checks.hpp"
#include "app/options_selftest.hpp"
#include "app/options_two_builds.hpp"
#include "assay/error.hpp"
#include "assay/pipeline.hpp"
#include "core/machine/build_info.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

namespace assay {
namespace {

class Parser {
 public:
  Parser() {
    app_.set_version_flag("--version", "assay " + build_info().version);
    app_.require_subcommand(1);
    app_.get_formatter()->column_width(34);
    add_list();
    add_check();
    add_run();
    add_record();
    add_gate();
    add_compare();
    add_merge();
    add_predict();
    add_epoch();
    add_tune();
    add_report();
    add_doctor();
    add_reanalyze();
    add_selftest();
    add_served(Verb::launch, "launch", "sample what a request file says, in this process");
    add_served(Verb::turns, "turns", "take turns with another build, as a request file says");
    add_served(Verb::describe, "describe",
               "say which trials this program has of the cases in a request file");
  }

  CommandLine parse(std::vector<std::string> arguments) {
    CommandLine out;
    std::ostringstream text, errors;
    try {
      require_known_verb(arguments);
      const bool runs = !arguments.empty() && arguments.front() == "run";
      if (runs) options_.benchmark = take_benchmark_flags(arguments, std::getenv);
      std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
      app_.parse(arguments);
      require_suite_or_base();
      take_runner_variables();
      out.options = options_;
    } catch (const CLI::ParseError& failure) {
      // CLI11's own codes are 100 to 127, which shells and git bisect take for something else.
      out.exit_code = app_.exit(failure, text, errors) == 0 ? exit_code::passed : exit_code::unusable;
    } catch (const Error& failure) {
      errors << failure.what() << '\n';
      out.exit_code = exit_code::unusable;
    }
    out.output = text.str();
    out.errors = errors.str();
    return out;
  }

 private:
  /// CLI11 says of a mistyped verb only that one is required.
  void require_known_verb(const std::vector<std::string>& arguments) {
    if (arguments.empty() || arguments.front().starts_with('-')) return;
    std::string names;
    for (const CLI::App* sub : app_.get_subcommands([](CLI::App*) { return true; })) {
      if (sub->get_name() == arguments.front()) return;
      if (!sub->get_group().empty()) names += " " + sub->get_name();
    }
    throw Error(arguments.front(), "is no verb of assay", "verbs:" + names);
  }

  void require_suite_or_base() const {
    if (options_.verb == Verb::gate && options_.suite.empty() && options_.base.empty()) {
      throw CLI::RequiredError("--suite, or --base and --head,");
    }
  }
  /// What test runners ask by variables, where no option says otherwise. GoogleTest does the same.
  void take_runner_variables() {
    const auto variable = [](const char* name) {
      const char* value = std::getenv(name);
      return std::string(value == nullptr ? "" : value);
    };
    const bool selects =
        options_.verb == Verb::check || options_.verb == Verb::run || options_.verb == Verb::gate;
    if (selects && options_.filter.empty() && options_.benchmark.filter.empty()) {
      options_.filter = variable("TESTBRIDGE_TEST_ONLY");
    }
    // What `--record-step excludes --filter` says of the command line holds for the variable as well.
    if (options_.record_step && !options_.filter.empty()) {
      throw Error("TESTBRIDGE_TEST_ONLY",
                  "selects trials, and --record-step writes down a step of all of them",
                  "unset it, or gate without --record-step");
    }
    if (options_.verb == Verb::gate && options_.junit.empty()) options_.junit = variable("XML_OUTPUT_FILE");
  }

  CLI::App* verb(Verb verb, const std::string& name, const std::string& about) {
    CLI::App* sub = app_.add_subcommand(name, about);
    sub->callback([this, verb] { options_.verb = verb; });
    return sub;
  }
  void add_filter(CLI::App* sub) {
    sub->add_option("-k,--filter", options_.filter, "only trials whose key matches this regular expression");
  }
  void add_threads(CLI::App* sub) {
    sub->add_option("--threads", options_.threads, "thread counts of threaded variants, as 1,2")
        ->delimiter(',')
        ->check(CLI::Range(1, 4096));
  }
  void add_inputs(CLI::App* sub) {
    add_threads(sub);
    sub->add_option("--seed", options_.seed, "seed of the inputs (default 42)");
    sub->add_option("--time-limit", options_.time_limit,
                    "seconds that a kernel may take (default 20 times what naive takes, at least 10)")
        ->check(between(0.001, 1e6));
  }
  void add_suite(CLI::App* sub, bool required) {
    CLI::Option* option =
        sub->add_option("-s,--suite", options_.suite, "suite file, such as suites/smoke.json");
    if (required) option->required();
  }
  void add_shards(CLI::App* sub) {
    sub->add_option("--shard-count", options_.shard.count, "divide the suite's cases among this many jobs");
    sub->add_option("--shard-index", options_.shard.index, "which of them this one is, from 0");
    const std::map<std::string, bool> choices{{"auto", true}};
    sub->add_option("--shard", options_.shard.detect,
                    "auto: as GitLab, CircleCI, Buildkite, Slurm, Kubernetes or AWS Batch say")
        ->transform(CLI::CheckedTransformer(choices));
  }
  void add_exit_code(CLI::App* sub) {
    const std::map<std::string, ExitCodes> choices{{"usual", ExitCodes::usual},
                                                   {"bisect", ExitCodes::bisect}};
    sub->add_option("--exit-code", options_.exit_codes,
                    "usual, or bisect: 125, which `git bisect run` skips, for all but 0 and 1, and while a "
                    "trial of a gate is undecided")
        ->transform(CLI::CheckedTransformer(choices));
  }
  void add_launches(CLI::App* sub, const std::string& usual) {
    sub->add_option("--launches", options_.launches, "process starts to sample in (default " + usual + ")")
        ->check(CLI::Range(1, 1000));
  }
  void add_baselines(CLI::App* sub) {
    sub->add_option("--baselines", options_.baselines,
                    "folder of baselines (default baselines); may be repeated")
        ->expected(1)
        ->take_all();
  }
  void add_json(CLI::App* sub) {
    sub->add_option("--json", options_.json,
                    "write JSON to this file; - is standard output, and replaces the text");
  }
  void add_output(CLI::App* sub) {
    sub->add_option("-o,--output", options_.output, "write the results here, as JSON");
  }
  void add_limit(CLI::App* sub) {
    sub->add_option("--limit", options_.limit,
                    "time ratio that is still the same (default 1.05; of two builds 1.01)")
        ->check(between(1.001, 100.0));
  }

  void add_drift_limit(CLI::App* sub) {
    sub->add_option("--drift-limit", options_.drift_limit,
                    "time ratio since the release that is still the same (default 1.03)")
        ->check(between(1.001, 100.0));
  }

  void add_list() {
    CLI::App* sub = verb(Verb::list, "list", "operations and variants, and whether each runs here");
    sub->add_option("filter", options_.filter,
                    "only operation/variant names that match this regular expression");
    sub->add_flag("--code", options_.code,
                  "the hash of each variant's machine code, and where it is registered");
    add_json(sub);
  }
  void add_check() {
    CLI::App* sub =
        verb(Verb::check, "check", "agreement with the oracle: all corner cases, or a suite's cases");
    sub->add_option("-k,--filter,filter", options_.filter,
                    "only operation/variant names, or a suite's keys, that match this regular expression");
    add_suite(sub, false);
    sub->add_flag("--known-bad", options_.known_bad,
                  "demand that every published optimization that is wrong is rejected");
    sub->add_option("--trace", options_.trace,
                    "check on the problem in this file, such as an allocator trace")
        ->excludes("--suite")
        ->excludes("--known-bad");
    sub->get_option("--known-bad")->excludes("--suite");
    add_inputs(sub);
    add_shards(sub);
    for (const char* name : {"--shard-count", "--shard-index", "--shard"}) {
      sub->get_option(name)->needs("--suite");  // corner cases are not divided
    }
    add_exit_code(sub);
    add_json(sub);
  }
  void add_run() {
    CLI::App* sub =
        verb(Verb::run, "run", "check, measure, print; takes Google Benchmark's --benchmark_* flags too");
    add_suite(sub, true);
    add_filter(sub);
    add_inputs(sub);
    add_launches(sub, "1");
    add_shards(sub);
    add_output(sub);
    add_json(sub);
  }
  void add_record() {
    CLI::App* sub = verb(Verb::record, "record", "measure and add a recording to this machine's baseline");
    add_suite(sub, true);
    add_inputs(sub);  // no filter: half a baseline would leave the other half uncompared without a word
    add_launches(sub, "6");
    add_baselines(sub);
    sub->add_flag("--replace", options_.replace, "retire the recordings that are there");
    add_ledger_edits(sub);
    add_json(sub);
  }
  /// Every change but these two needs a reason.
  void add_ledger_edits(CLI::App* sub) {
    LedgerEdit& edit = options_.ledger;
    CLI::Option_group* group = sub->add_option_group("what changes");
    CLI::Option* reason = group->add_option("--reason", options_.reason,
                                            "why the baseline changes, or a slow-down is accepted");
    group->add_option("--withdraw", edit.withdraw,
                      "in the ledger: this trial has no accepted slow-down any more");
    group->add_option("--release", edit.release, "in the ledger: sum steps from this tag or commit on");
    group->require_option(1);
    CLI::Option* until = sub->add_option("--until", edit.until, "last day of an acceptance, as 2026-10-01");
    CLI::Option* accept = sub->add_option(
        "--accept", edit.accept, "in the ledger: accept a slow-down of this trial; measures nothing");
    accept->needs(reason)->needs(until)->excludes("--replace");
    until->needs(accept);
    sub->add_option("--ratio", edit.ratio, "time ratio that is accepted at most (default 1.08)")
        ->needs(accept);
  }
  void add_gate() {
    CLI::App* sub =
        verb(Verb::gate, "gate", "check, measure, compare with this machine's baseline, or with --base");
    add_suite(sub, false);
    add_filter(sub);
    add_inputs(sub);
    add_launches(sub, "6");
    add_baselines(sub);
    add_limit(sub);
    sub->add_option("--record-missing", options_.record_missing,
                    "record a baseline in this folder when there is none");
    sub->add_option("--reports", options_.reports, "write the report under this folder");
    add_undecided(sub);
    add_two_builds_options(*sub, options_);
    add_drift_limit(sub);
    sub->add_flag("--record-step", options_.record_step, "add this step to the ledger when the gate passes")
        ->excludes("--filter");
    add_shards(sub);
    add_exit_code(sub);
    sub->add_option("--junit", options_.junit, "write a JUnit file, a test case per trial");
    add_output(sub);
    add_json(sub);
  }
  void add_compare() {
    CLI::App* sub = verb(Verb::compare, "compare", "two result files: ours, or Google Benchmark's JSON");
    sub->add_option("before", options_.first, "results before")->required();
    sub->add_option("after", options_.second, "results after")->required();
    sub->add_flag("--md", options_.as_markdown, "print Markdown");
    add_limit(sub);
    add_json(sub);
  }
  void add_merge() {
    CLI::App* sub = verb(Verb::merge, "merge", "results of all shards of one selection into one file");
    sub->add_option("shards", options_.shards, "results of every shard, as `run -o` or `gate -o` wrote them")
        ->required();
    sub->add_option("-o,--output", options_.output, "write the merged results here, as JSON")->required();
    sub->add_option("--md", options_.markdown,
                    "of a gate of two builds: write a comment for a pull request here");
    add_undecided(sub);
    add_baselines(sub);
    add_drift_limit(sub);
    add_json(sub);
  }
  void add_predict() {
    CLI::App* sub = verb(Verb::predict, "predict", "seconds of an epoch: of a suite, or of any training job");
    add_predict_options(*sub, options_.predict);
    sub->add_option("--md", options_.markdown, "write it as Markdown here, too");
    add_json(sub);
  }
  void add_epoch() {
    CLI::App* sub =
        verb(Verb::epoch, "epoch", "train an epoch that was predicted before: how far off, and why");
    add_epoch_options(*sub, options_.epoch);
    sub->add_option("--md", options_.markdown, "write it as Markdown here, too");
    add_json(sub);
  }
  void add_tune() {
    CLI::App* tune = app_.add_subcommand("tune", "settings tried against each other in rounds");
    tune->require_subcommand(1);
    const auto add = [&](Verb what, const char* name, const char* about, const char* output) {
      CLI::App* sub = tune->add_subcommand(name, about);
      sub->callback([this, what] { options_.verb = what; });
      sub->add_option("--seed", options_.seed, "of inputs and orders (default 42)");
      sub->add_option("--md", options_.markdown, "write the decision record here");
      sub->add_option("-o,--output", options_.output, output);
      add_json(sub);
      return sub;
    };
    const char* const job = "write the job with the chosen settings here";
    add_tune_loader_options(*add(Verb::tune_loader, "loader", "workers and batches ahead", job),
                            options_.tune);
    add_tune_batch_options(*add(Verb::tune_batch, "batch", "samples of a step", job), options_.tune);
    add_tune_threads_options(*add(Verb::tune_threads, "threads", "threads of a step", job), options_.tune);
    add_tune_threshold_options(
        *add(Verb::tune_threshold, "threshold", "the size from which one variant is faster than another",
             "write the threshold and every size measured here, as JSON"),
        options_.tune_threshold);
    CLI::App* library = add(Verb::tune_library, "library", "the core type of OpenBLAS",
                            "write the environment that was chosen here, as JSON");
    add_suite(library, true);
    add_filter(library);
    add_threads(library);
    add_tune_library_options(*library, options_.tune_library);
  }
  void add_report() {
    CLI::App* sub = verb(Verb::report, "report", "the report of a results file");
    sub->add_option("results", options_.first, "results, as `run -o` or `gate -o` wrote them")->required();
    add_baselines(sub);
    add_limit(sub);
    sub->add_option("--reports", options_.reports, "write it under this folder instead of printing it");
    add_json(sub);
  }
  void add_doctor() {
    CLI::App* sub =
        verb(Verb::doctor, "doctor", "this machine: roofs, noise, what could spoil a measurement");
    sub->add_flag("--openblas-remedy", options_.openblas_remedy,
                  "print only the setting that gives OpenBLAS its best kernels, if one is needed");
    add_json(sub);
  }
  void add_reanalyze() {
    CLI::App* sub =
        verb(Verb::reanalyze, "reanalyze", "the verdicts of a gate of two builds again, from its samples");
    sub->add_option("results", options_.first, "what `gate --base ... -o` wrote")->required();
    sub->add_option("--md", options_.markdown, "write a comment for a pull request here");
    add_undecided(sub);
    add_baselines(sub);
    add_drift_limit(sub);
    add_json(sub);
  }
  void add_selftest() {
    CLI::App* sub =
        verb(Verb::selftest, "selftest",
             "how often `gate --base` is wrong here: this program against itself, and slowed down");
    add_suite(sub, false);
    add_filter(sub);
    add_inputs(sub);
    add_selftest_options(*sub, options_);
  }
  /// Verbs that the program starts itself with: not for the help.
  void add_served(Verb served, const std::string& name, const std::string& about) {
    CLI::App* sub = verb(served, name, about);
    sub->group("");
    sub->add_option("request", options_.first)->required();
    sub->add_option("answer", options_.second)->required();
  }
  void add_undecided(CLI::App* sub) {
    const std::map<std::string, bool> choices{{"warn", false}, {"fail", true}};
    sub->add_option("--on-undecided", options_.undecided_fails,
                    "warn (default) or fail: exit 3 for trials that are undecided, not comparable or gone")
        ->transform(CLI::CheckedTransformer(choices));
  }

  Options options_;
  CLI::App app_{"Checks, times and compares the hot paths of neural-network training.", "assay"};
};

}  // namespace

std::vector<std::filesystem::path> usual_baselines() { return {"baselines"}; }

CommandLine parse_command_line(int argc, const char* const* argv) {
  std::vector<std::string> arguments;
  for (int i = 1; i < argc; ++i) arguments.emplace_back(argv[i]);
  CommandLine out = Parser().parse(std::move(arguments));
  if (out.options && out.options->baselines.empty()) out.options->baselines = usual_baselines();
  return out;
}

}  // namespace assay
