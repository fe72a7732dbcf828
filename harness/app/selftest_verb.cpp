#include "app/interrupt.hpp"
#include "app/output.hpp"
#include "app/progress.hpp"
#include "app/verb_functions.hpp"
#include "assay/error.hpp"
#include "assay/files.hpp"
#include "assay/outcome.hpp"
#include "assay/pipeline.hpp"
#include "bench/gate/selftest.hpp"
#include "bench/measure/sides.hpp"
#include "core/files/this_program.hpp"
#include "core/plan/filter.hpp"

#include <fmt/format.h>

#include <utility>

namespace assay {
namespace {

SelfTestRequest request_of(const SelftestOptions& options, const Registry& registry) {
  const SelectionOptions& selection = options.selection;
  SelfTestRequest out{.suite = load_suite(selection.suite, registry),
                      .filter = selection.filter,
                      .program = this_program(),
                      .seed = selection.seed,
                      .runs = options.runs,
                      .planted_runs = options.planted_runs,
                      .plants = options.plants,
                      .budget_seconds = options.budget_seconds,
                      .time_limit = selection.time_limit,
                      .busy = options.busy,
                      .command = command_of("selftest", options)};
  const std::vector<int> one{1};
  DescriptionRequest question{.cases = out.suite.cases,
                              .threads = selection.threads.empty() ? one : selection.threads,
                              .seed = selection.seed,
                              .time_limit = selection.time_limit};
  const auto answer = [&] { return described_by(out.program, question, {.stop = interrupted}); };
  const Filter filter(selection.filter, registry);
  for (const DescribedTrial& trial : answer().trials) {
    if (filter.selects(trial.key)) question.corners.push_back(trial.key);
  }
  out.description = answer();
  return out;
}

Outcome outcome_of(const SelfTest& found) {
  std::size_t alarms = 0;
  for (const SelfTestRun& run : found.runs) alarms += run.alarms.size();
  Outcome out{Word::passed,
              fmt::format("in {} gates no trial without a plant was called slower", found.runs.size())};
  if (const std::string nothing = why_nothing_is_shown(found); !nothing.empty())
    out = {Word::undecided, nothing};
  if (alarms > 0)
    out.add(Word::wrong, fmt::format("{} times a trial without a plant was called slower", alarms));
  for (const Finding& fault : found.faults) {
    out.add(has_failed(fault.standing)               ? Word::crashed
            : fault.standing == Standing::impossible ? Word::impossible
                                                     : Word::wrong,
            fmt::format("{}: {}", fault.key, fault.why));
  }
  if (interrupted()) out.add(Word::interrupted, fmt::format("after {} gates", found.runs.size()));
  return out;
}

Outcome told(const SelfTest& found, const std::filesystem::path& markdown, bool quiet) {
  const std::string text = selftest_markdown(found);
  const Outcome outcome = outcome_of(found);
  put("", (quiet ? "" : text + "\n") + ending("", outcome), "");
  if (!markdown.empty()) write_file(markdown, text);
  return outcome;
}

}  // namespace

Outcome selftest_verb(const SelftestOptions& options, const Registry& registry) {
  if (options.runs + options.planted_runs == 0)
    throw Error("--runs and --planted-runs", "are both 0", "ask for at least one gate");
  SelfTestRequest request = request_of(options, registry);
  if (!options.output.empty()) {
    // Gates are written as they come: an interrupt loses nothing that was finished. The old content of the
    // file stays until there is a finished gate to replace it.
    request.keep = [&options, begun = false](const std::string& line) mutable {
      if (!std::exchange(begun, true)) write_file(options.output, "");
      append_to_file(options.output, line, "free space on that disk, or name another file with -o");
    };
  }
  const SelfTest found = run_selftest(request, registry, Progress(options.quiet).hooks());
  return told(found, options.markdown, options.quiet);
}

Outcome selftest_again_verb(const SelftestAgainOptions& options, const Registry& registry) {
  std::vector<KeptGates> kept;
  for (const auto& file : options.again) kept.push_back({file.string(), read_file(file)});
  SelfTest found = judged_anew(kept, registry);
  found.busy = found.busy || options.busy;
  SelftestAgainOptions named = options;
  for (auto& file : named.again) file = file.filename();  // where they lie is of no concern to a report
  found.command = command_of("selftest", named);
  return told(found, options.markdown, options.quiet);
}

}  // namespace assay
