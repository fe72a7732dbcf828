#include "app/measuring.hpp"
#include "app/output.hpp"
#include "app/sharding.hpp"
#include "app/verbs.hpp"
#include "assay/compare.hpp"
#include "assay/report.hpp"
#include "bench/exchange/google_benchmark.hpp"

#include <fmt/format.h>

namespace assay {
namespace {

int list_keys(const Registry& registry, const RunRequest& request) {
  const Machine machine = this_machine();
  const auto plan = make_plan(registry, request.suite, request.selection, machine);
  if (plan.empty()) {
    const auto shard = shard_record(registry, request.suite, request.selection, machine);
    fmt::print(stderr, "{}\n", nothing_to_do(*shard));
  }
  for (const Trial& trial : plan) {
    if (trial.skipped.empty()) fmt::print("{}\n", trial.key);
  }
  return exit_code::passed;
}

std::string in_benchmark_format(const std::string& format, const Results& results) {
  if (format == "json") return google_benchmark_json(results);
  if (format == "csv") return google_benchmark_csv(results);
  return google_benchmark_console(results);
}

void write_samples(const Options& options, const Results& results) {
  const BenchmarkFlags& flags = options.benchmark;
  if (!options.output.empty()) write_file(options.output, to_json(results) + "\n");
  if (!flags.out.empty()) write_file(flags.out, in_benchmark_format(flags.out_format, results));
}

}  // namespace

int run_verb(const Options& options, const Registry& registry) {
  RunRequest request = run_request(options, registry, 1);
  divide(request, shard_of_this_process(options));
  const BenchmarkFlags& flags = options.benchmark;
  if (flags.list_tests) return list_keys(registry, request);

  const Results results = run_with_progress(registry, request);
  const Ending ending = ending_of(results);
  if (!flags.format.empty()) {
    fmt::print("{}", in_benchmark_format(flags.format, results));
    if (!ending.text.empty()) fmt::print(stderr, "{}\n", ending.text);
    write_samples(options, results);
    return ending.code;
  }
  std::string text = results.trials.empty() ? std::string() : to_table(results);
  if (results.shard) {
    text +=
        "next: when all shards are done, put them together with  assay merge SHARD.json ... -o ALL.json\n";
  } else if (!options.output.empty()) {
    text +=
        fmt::format("next: change the code, run again with another -o, then  assay compare {} AFTER.json\n",
                    options.output.string());
  } else {
    text += "next: -o before.json keeps the samples, for  assay compare before.json after.json\n";
  }
  text += ending.text.empty()
              ? fmt::format("MEASURED: {} trials of suite {}{}", results.trials.size(), results.suite,
                            results.shard ? "; " + in_words(*results.shard) : std::string())
              : ending.text;
  put(options, text + "\n", to_json(results));
  write_samples(options, results);
  return ending.code;
}

}  // namespace assay
