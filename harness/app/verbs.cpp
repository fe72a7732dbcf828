#include "app/verbs.hpp"

#include "app/verb_functions.hpp"

#include <memory>

namespace assay {
namespace {

/// Binds a verb's function to options of its own; the list and the function share them.
template <class T, class... OfRegistry>
Call bound(Outcome (*function)(const T&, OfRegistry...)) {
  const auto options = std::make_shared<T>();
  return {listed(*options), [=](const Registry& registry) {
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
      {"gate --base --head", "measure and judge two programs of Google Benchmark", call<two_programs_verb>},
      {"gate --base", "judge two builds in the suite that assay.json names", call<two_builds_verb>},
      {"gate --bundle", "judge two builds that `prepare` made", call<bundle_verb>},
      {"gate", "check, measure, compare with this machine's baseline", call<gate_verb>},
      {"prepare", "build both sides of a gate for jobs elsewhere", call<prepare_verb>},
      {"wrap --base --head", "time and judge any two commands in turns", call<commands_verb>},
      {"wrap", "time any command, and say what a gate of it could see", call<command_verb>},
      {"compare", "two result files: ours, or those of five other programs", call<compare_verb>},
      {"merge", "results of all shards of one selection into one file", call<merge_verb>},
      {"predict", "seconds of an epoch: of a suite, or of any training job", call<predict_verb>},
      {"epoch --score", "sum up a log of epochs", call<score_verb>},
      {"epoch", "train an epoch that was predicted before: how far off, and why", call<epoch_verb>},
      {"tune loader", "workers and batches ahead", call<tune_loader_verb>},
      {"tune batch", "samples of a step", call<tune_batch_verb>},
      {"tune threads", "threads of a step", call<tune_threads_verb>},
      {"tune threshold", "the size from which one variant is faster than another", call<tune_threshold_verb>},
      {"tune library", "the core type of OpenBLAS", call<tune_library_verb>},
      {"tune kernels", "the sizes of caches that our kernels reckon with", call<tune_kernels_verb>},
      {"report claims", "verdicts on what public write-ups claim", call<claims_verb>},
      {"report audit", "what an epoch gains by the fastest variants, ranked", call<audit_verb>},
      {"report history", "times over several runs of a suite, also for other tools", call<history_verb>},
      {"report", "the report of a results file", call<report_verb>},
      {"doctor --openblas-remedy", "the setting that gives OpenBLAS its best kernels", call<remedy_verb>},
      {"doctor", "this machine: roofs, noise, what could spoil a measurement", call<doctor_verb>},
      {"init", "a project with a first kernel, its suite and its gate", call<init_verb>},
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
