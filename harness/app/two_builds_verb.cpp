#include "app/date.hpp"
#include "app/output.hpp"
#include "app/progress.hpp"
#include "app/this_program.hpp"
#include "app/two_builds_ending.hpp"
#include "app/verbs.hpp"
#include "assay/error.hpp"
#include "compare/paired_launches.hpp"
#include "plan/filter.hpp"

#include <fmt/format.h>

namespace assay {
namespace {

Build build_of(std::string name, const Description& description) {
  return {.name = std::move(name), .commit = description.commit, .facts = description.facts};
}

std::string command_of(const Options& options) {
  std::string out = fmt::format("assay gate --base {} --suite {}", options.base, options.suite.string());
  if (!options.head.empty()) out += fmt::format(" --head {}", options.head);
  if (!options.filter.empty()) out += fmt::format(" -k '{}'", options.filter);
  if (!options.threads.empty()) out += fmt::format(" --threads {}", fmt::join(options.threads, ","));
  return out + fmt::format(" --budget {:g} --seed {}", options.budget_seconds, options.seed);
}

SequentialPolicy policy_of(const Options& options) {
  SequentialPolicy out;
  if (options.two_builds_limit > 0) {
    out.margin = options.two_builds_limit;
    out.same_limit = out.margin + 0.01;
  }
  return out;
}

}  // namespace

int two_builds_verb(const Options& options, const Registry& registry) {
  const Suite suite = load_suite(options.suite, registry);
  const Filter filter(options.filter, registry);
  const std::filesystem::path base = options.base;
  const std::filesystem::path head = options.head.empty() ? this_program() : std::filesystem::path(options.head);
  const DescriptionRequest question{.cases = suite.cases, .threads = options.threads, .seed = options.seed};
  const Description of_base = described_by(base, question), of_head = described_by(head, question);

  TwoBuilds run{.suite = suite.name,
                .steps_per_epoch = suite.steps_per_epoch,
                .base = build_of(options.base, of_base),
                .head = build_of(options.head.empty() ? "this program" : options.head, of_head),
                .machine = this_machine(),
                .date = utc_now(),
                .seed = options.seed,
                .command = command_of(options),
                .policy = policy_of(options),
                .budget_seconds = options.budget_seconds,
                .trials = matched(
                    of_base, of_head, [&](const std::string& key) { return filter.selects(key); },
                    options.identical_too)};
  if (run.trials.empty()) {
    throw Error("filter '" + options.filter + "'", "selects nothing in suite '" + suite.name + "'",
                "`assay list` shows operations and variants; keys look like gemm/packed/m=64,n=64,k=64#1");
  }
  {
    Progress progress;
    const Hooks hooks = progress.hooks();
    sample_two_builds(
        run,
        paired_launches(
            {.base = {base}, .head = {head}, .shared_bytes = shared_bytes_for(registry, suite.cases)}, hooks),
        hooks);
  }
  if (!options.output.empty()) write_file(options.output, to_json(run) + "\n");
  return end_two_builds(options, run);
}

int reanalyze_verb(const Options& options) {
  return end_two_builds(options, two_builds_from_json(read_file(options.first), options.first.string()));
}

}  // namespace assay
