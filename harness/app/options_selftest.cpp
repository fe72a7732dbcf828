#include "app/options_selftest.hpp"

#include "app/options_checks.hpp"

#include <CLI/CLI.hpp>

namespace assay {

void add_selftest_options(CLI::App& selftest, Options& options) {
  selftest.add_option("--runs", options.runs, "gates of the unchanged program (default 10)")
      ->check(CLI::Range(0, 100000));
  selftest.add_option("--planted-runs", options.planted_runs, "gates with slow-downs planted (default 10)")
      ->check(CLI::Range(0, 100000));
  selftest.add_option("--plant", options.plants, "slow-downs in time, as 0.02,0.03,0.05,0.1")
      ->delimiter(',')
      ->check(between(0.001, 10.0));
  selftest.add_flag("--busy", options.busy, "keep one core busy with something else meanwhile");
  selftest
      .add_option("--budget", options.budget_seconds, "seconds that each gate may measure for (default 300)")
      ->check(between(1.0, 86400.0));
  selftest.add_option("--md", options.markdown, "write what is printed here, too");
  selftest.add_option("-o,--output", options.output, "keep all samples here, one gate per line");
  CLI::Option* again = selftest.add_option("--again", options.again,
                                           "judge samples anew that were kept with -o, and take none");
  for (const char* name : {"--suite", "--filter", "--threads", "--seed", "--runs", "--planted-runs",
                           "--plant", "--budget", "--output"}) {
    again->excludes(selftest.get_option(name));  // how the samples were taken is settled
  }
}

}  // namespace assay
