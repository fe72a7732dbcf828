#include "bench/gate/builds_gate.hpp"

#include "assay/error.hpp"
#include "bench/gate/benchmark_programs.hpp"
#include "bench/gate/impossible_trials.hpp"
#include "bench/gate/paired_launches.hpp"
#include "bench/gate/pointers.hpp"
#include "core/files/child_process.hpp"
#include "core/plan/trial_key.hpp"
#include "core/text/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace assay {
namespace {

/// Launches of every trial where sums since a release are tested: five steps of 1 % are then told from 3 %,
/// which is the limit, through launches that deviate by 1 %.
constexpr std::size_t launches_for_sums = 16;

/// The commit of the revision that was built, if there was one.
std::string commit_of(const Programs& programs, const Description& description) {
  constexpr std::size_t digits = 12;
  if (!programs.commit.empty()) return programs.commit.substr(0, digits);
  return programs.foreign ? "" : description.commit;
}

Build build_of(const Programs& programs, const Description& description) {
  return {.name = programs.name,
          .commit = commit_of(programs, description),
          .facts = description.facts,
          .links = programs.links.size(),
          .layout_remark = programs.layout_remark};
}

void require_recordable_step(const GateRules& rules, const std::optional<StoredLedger>& ledger,
                             const TwoBuilds& run) {
  const std::string base = run.base.commit;
  require_recordable(ledger, suite_in_commands(rules.suite, rules.baselines, ledger),
                     ledger ? step_end(*ledger, base) : base, run.head.commit);
}

/// Has each side check the corner cases of what is about to be timed. Programs from before they could answer
/// without verdicts.
void ask_for_corners(std::vector<PairedTrial>& trials, const BuildsGateRequest& request,
                     DescriptionRequest question, const Hooks& hooks) {
  for (const PairedTrial& trial : trials) {
    if (trial.tested()) question.corners.push_back(trial.trial.key);
  }
  if (question.corners.empty()) return;
  question.time_limit = request.time_limit;
  hooks.say("check corner cases");
  const Description of_head = described_by(request.head.links.front(), question, hooks);
  const bool both = request.base.links == request.head.links;
  leave_out_wrong(trials, both ? of_head : described_by(request.base.links.front(), question, hooks),
                  of_head);
}

/// Leaves out what is tested: builds that were configured differently are not compared.
void leave_out_different_builds(std::vector<PairedTrial>& trials, const Programs& base) {
  if (base.differences.empty()) return;
  for (PairedTrial& trial : trials) {
    if (trial.tested())
      trial.left_out = {Standing::not_comparable, fmt::format("{}", fmt::join(base.differences, "; "))};
  }
}

BenchmarkProgram asked_or_error(const Programs& side, const std::string& filter, const Hooks& hooks) {
  const std::filesystem::path& program = side.links.front();
  if (auto out = asked(program, side.arguments, filter, hooks)) return *std::move(out);
  throw Error(program.string(), "is no program of Google Benchmark: it does not know --benchmark_list_tests",
              "without --suite, --base and --head name such programs; builds of assay need --suite, and any "
              "other command `assay wrap`");
}

/// Says why launches of these programs differ by more than they would elsewhere.
std::string restriction_on(const BenchmarkProgram& base, const BenchmarkProgram& head) {
  if (!can_fix_addresses()) return addresses_move;
  for (const BenchmarkProgram* program : {&base, &head}) {
    if (program->runs_copied) continue;
    return fmt::format(
        "{} runs where it lies alone, so that launches share where the pages of both files are",
        program->program.string());
  }
  return "";
}

/// Steps begin and end at commits; a build with `+changes` is none.
std::vector<std::string> applied(Comparison& comparison, const TwoBuilds& run,
                                 const std::optional<StoredLedger>& ledger, const std::string& base,
                                 const GateRules& rules) {
  if (!ledger || run.partial || !comparison.unfit.empty()) return {};
  // Stored samples know the suite's name; its file is the user's.
  const std::string suite = rules.suite.empty() ? run.suite + ".json" : rules.suite;
  return apply(comparison, ledger->ledger,
               {.today = rules.today,
                .base = is_commit(base) ? base : "",
                .suite = suite_in_commands(suite, rules.baselines, ledger),
                .drift_limit = rules.drift_limit,
                .part = run.shard.has_value()});
}

Outcome outcome_of(const TwoBuilds& run, const Comparison& comparison, const FailurePolicy& policy) {
  const auto measured =
      std::ranges::count_if(run.trials, [](const PairedTrial& trial) { return !trial.launches.empty(); });
  ComparisonRun compared{.against = Against::base,
                         .measured = static_cast<std::size_t>(measured),
                         .partial = run.partial,
                         .seconds = run.seconds};
  if (run.shard && run.trials.empty()) {
    compared.nothing_to_do = fmt::format("this shard holds none of the {} trials", run.shard->trials);
  }
  return outcome_of(comparison, compared, policy);
}

}  // namespace

TwoBuilds gate_of_builds(BuildsGateRequest request, const Registry& registry, const Hooks& hooks) {
  TwoBuilds run = std::move(request.run);
  const Suite& suite = request.suite;
  const Programs &base = request.base, &head = request.head;
  const Filter filter(run.filter, registry);
  const DescriptionRequest question{.cases = suite.cases, .threads = request.threads, .seed = run.seed};
  const Description of_base = described_by(base.links.front(), question, hooks),
                    of_head = described_by(head.links.front(), question, hooks);
  run.suite = suite.name;
  run.base = build_of(base, of_base);
  run.head = build_of(head, of_head);
  const auto ledger = find_ledger(request.rules.baselines, suite.name);
  if (ledger) run.policy.screen = launches_for_sums;
  if (request.rules.record_step) require_recordable_step(request.rules, ledger, run);
  run.trials = matched(
      of_base, of_head, [&](const std::string& key) { return filter.selects(key); }, request.identical_too);
  if (run.trials.empty()) filter.throw_selects_nothing("suite '" + suite.name + "'");
  leave_out_different_builds(run.trials, base);
  note_occurrences(run.trials, request.suites_around);
  if (request.shard) keep_shard(run, *request.shard, request.durations);
  ask_for_corners(run.trials, request, question, hooks);
  const PairedPrograms sampled{
      .base = base.links,
      .head = head.links,
      .policy = {.time_limit = request.time_limit, .audited = of_base.renews && of_head.renews},
      .shared_bytes = shared_bytes_for(registry, suite.cases)};
  sample_two_builds(run, paired_launches(sampled, hooks), hooks);
  if (run.partial) return run;
  std::vector<Roof> roofs;
  leave_out_impossible(run, roofs, registry, roof_of_one_thread(run.machine));
  note_pointers(run, base.links.front(), head.links.front(), registry, hooks);
  return run;
}

TwoBuilds gate_of_benchmarks(const ProgramsGateRequest& request, TwoBuilds run, const Hooks& hooks) {
  const std::filesystem::path& head = request.head.links.front();
  run.suite = request.name.empty() ? head.filename().string() : request.name;
  BenchmarkProgram of_base = asked_or_error(request.base, run.filter, hooks);
  require_time_for(of_base, run);
  BenchmarkProgram of_head = asked_or_error(request.head, run.filter, hooks);
  run.trials = matched(of_base.benchmarks, of_head.benchmarks);
  if (run.trials.empty()) {
    throw Error("filter '" + run.filter + "'", "selects nothing that both programs have",
                head.string() + " --benchmark_list_tests shows its benchmarks");
  }
  const bool alike = of_base.arguments == of_head.arguments && load_alike(of_base.program, of_head.program);
  for (PairedTrial& trial : run.trials) {
    trial.trial.threads = settings_of(trial.trial.key).threads;
    if (alike && trial.tested())
      trial.left_out = {Standing::same, "both programs are identical in all that is loaded"};
  }
  run.timing = timing_of(run.trials);
  run.restriction = restriction_on(of_base, of_head);
  run.base.layout_remark = run.head.layout_remark = layout_of_programs;
  leave_out_different_builds(run.trials, request.base);
  if (request.shard) keep_shard(run, *request.shard, request.durations);
  sample_two_builds(
      run, benchmark_launches(std::move(of_base), std::move(of_head), request.time_limit, hooks), hooks);
  return run;
}

TwoBuilds gate_of_built_commands(const ProgramsGateRequest& request, CommandTiming timing, TwoBuilds run,
                                 const Hooks& hooks) {
  timing.name = request.name;
  const auto command = [](const Programs& side) {
    WrappedCommand out{.words = {side.links.front().string()}, .text = side.name};
    for (const std::string& word : side.arguments) {
      out.words.push_back(word);
      out.text += " " + shell_word(word);
    }
    return out;
  };
  TwoBuilds out = gate_of_commands(command(request.base), command(request.head), timing, std::move(run),
                                   hooks, [&](TwoBuilds& matched) {
                                     leave_out_different_builds(matched.trials, request.base);
                                     if (request.shard)
                                       keep_shard(matched, *request.shard, request.durations);
                                   });
  out.base.layout_remark = out.head.layout_remark = layout_of_programs;
  return out;
}

TwoBuildsOutcome judged(const TwoBuilds& run, const std::optional<StoredLedger>& ledger,
                        const GateRules& rules) {
  TwoBuildsOutcome out{.findings = findings_of(run)};
  Comparison& comparison = out.findings.comparison;
  const std::string base = ledger ? step_end(*ledger, run.base.commit) : run.base.commit;
  const Step step = step_of(comparison, base, run.head.commit, rules.today);
  out.ledger = applied(comparison, run, ledger, base, rules);
  out.outcome = outcome_of(run, comparison, rules.failing);
  if (rules.record_step && out.outcome.exit_code() == exit_code::passed) {
    out.outcome = recorded(*ledger, step, std::move(out.outcome));
  }
  return out;
}

}  // namespace assay
