#include "app/output.hpp"
#include "app/progress.hpp"
#include "app/verbs.hpp"
#include "assay/error.hpp"
#include "assay/files.hpp"
#include "core/check/passed_corners.hpp"
#include "core/code/calls.hpp"
#include "core/files/scratch.hpp"
#include "core/json/fields.hpp"
#include "core/machine/fields.hpp"
#include "core/plan/suite.hpp"
#include "core/text/figures.hpp"
#include "core/text/utf8.hpp"
#include "training/job/read_job.hpp"
#include "training/job/trace.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace assay {
namespace {

constexpr std::size_t details_shown = 3;
constexpr std::size_t widest_row = 80, after_counts = 33;

/// One check, of a corner case or of a suite's trial.
struct Row {
  CornerCheck check;
  std::string what;  ///< problem, and fill, placement and threads where they vary
};

void describe(Fields& f, Row& row) {
  constexpr Fields::Rule if_checked{.optional = true};
  CornerCheck& check = row.check;
  Checked& found = check.agreement;
  ASSAY_FIELDS(f, check, operation, variant);
  f("what", row.what, {.about = "problem, and fill, placement and threads where they vary"});
  f("skipped", check.skipped, {.terse = true, .about = "why it was not checked"});
  if (f.writes() && !check.skipped.empty()) return;
  f("agrees", found.agrees, if_checked);
  f("worst_error", found.worst_error, {.optional = true, .about = "in units of the bound"});
  f("compared", found.compared, if_checked);
  f("total", found.total, if_checked);
  f.derived("detail", found.agrees ? std::string() : found.detail, {.terse = true});
  f.derived("failure", found.failure ? std::string(to_string(found.failure->kind)) : std::string(),
            {.terse = true, .about = "crashed or timed out"});
  f("remark", check.remark, {.terse = true, .about = "what it printed, or how its process ended once"});
  f("figures", found.figures,
    {.terse = true, .about = "what a right output is worth besides its time, such as the height of a plan"});
  f("seconds", check.seconds, {.terse = true, .about = "of single calls on what a file holds"});
}

/// "4.12 ms [4.05, 4.40] a call"
std::string call_text(const std::vector<double>& seconds) {
  TrialResult calls{.launches = {{}}};
  for (const double one : seconds) calls.launches.front().push_back({.seconds = one, .cpu_seconds = one});
  return seconds_text(time_of(calls)) + " a call";
}

struct Tally {
  std::size_t agree = 0, disagree = 0, failed = 0, skipped = 0;
  double worst = 0;
  std::string reason, failure;
  std::string worth;  ///< of the last that agreed: its figures, and the time of a call
  std::vector<std::string> details;
  std::string remark;
  void add(const Row& row) {
    if (!row.check.remark.empty()) remark = fmt::format("{}: {}", row.what, row.check.remark);
    const Checked& found = row.check.agreement;
    if (!row.check.skipped.empty()) {
      ++skipped;
      reason = row.check.skipped;
    } else if (found.failure) {
      ++failed;
      failure = fmt::format("{}: it {}", row.what, found.failure->reason);
    } else if (found.agrees) {
      ++agree;
      worst = std::max(worst, found.worst_error);
      worth = in_words(found.figures);
      if (!row.check.seconds.empty()) worth += (worth.empty() ? "" : "; ") + call_text(row.check.seconds);
    } else {
      ++disagree;
      details.push_back(fmt::format("{}\n        {}", row.what, found.detail));
    }
  }
};

/// All checks of this process, and which part of a suite they are.
struct Checks {
  std::vector<Row> rows;
  std::optional<ShardRecord> shard;
  std::uint64_t seed = 0;
  bool partial = false;
  Tally all;
  int exit_code = exit_code::passed;
  std::string about;  ///< what the problem is, in lines of text; empty for none
};

void describe(Fields& f, Checks& checks) {
  f.schema("assay.check/1");
  f("seed", checks.seed);
  f("partial", checks.partial, {.about = "interrupted"});
  f("about", checks.about, {.terse = true, .about = "what the trace says of its allocator"});
  f("checks", checks.rows);
  ASSAY_FIELDS(f, checks.all, agree, disagree, failed, skipped);
  f.derived("shard", checks.shard ? std::optional(to_options(checks.shard->shard)) : std::nullopt);
  f("exit_code", checks.exit_code);
}

Containment containment_of(const CheckOptions& options) {
  return {.own_process = true, .time_limit = options.time_limit};
}

Checks check_corner_cases(const CheckOptions& options, const Registry& registry, const Hooks& hooks) {
  const Machine machine = this_machine();
  PassedCorners passed(usual_passed_corners(), machine);
  const std::vector<CornerCheck> checks = check_corners(registry, options.filter, machine.cores, options.seed,
                                                        hooks, Kin::sound, containment_of(options));
  if (!hooks.stopped()) {
    passed.note(registry.operations(), checks);
    passed.save();
  }
  Checks out;
  for (const CornerCheck& c : checks) out.rows.push_back({c, in_words(c)});
  return out;
}

/// Returns the need of the trace's allocator, in the words of the figures that plans of its requests have.
std::string allocator_text(const MemoryEvents& events) {
  std::string out = fmt::format(
      "trace: {} of {}", quantity_text(static_cast<Index>(events.lives.size()), "block"), events.device);
  if (events.from_before > 0) out += fmt::format(", {} of them from before it", events.from_before);
  if (events.never_freed > 0) out += fmt::format(", {} never freed", events.never_freed);
  for (const std::string& other : events.others) out += fmt::format("; events of {} were passed over", other);
  out += fmt::format("\n  {} bytes lived at once at most", count_text(events.most_live));
  const Index needed = std::max(events.most_reserved, events.most_allocated);
  if (needed == 0) return out + "; the trace does not say what its allocator held\n";
  const char* how = events.most_reserved > 0 ? "reserved" : "counted as allocated";
  out += fmt::format("; its allocator {} {} bytes", how, count_text(needed));
  if (needed <= events.most_live) return out + "\n";
  const double gap = static_cast<double>(needed) / static_cast<double>(events.most_live) - 1;
  return out + fmt::format(", gap {:.2f} %:\n  a plan of gap 0 would have saved {:.1f} % of that\n",
                           100 * gap, 100 * gap / (1 + gap));
}

/// The file is the problem itself, or a trace of the PyTorch profiler, whose requests become a file that
/// memory-pool contracts read.
Checks check_trace(const CheckTraceOptions& options, const Registry& registry, const Hooks& hooks) {
  const bool is_trace = std::filesystem::is_regular_file(options.trace) && is_chrome_trace(options.trace);
  if (!is_trace && !options.requests.empty()) {
    throw Error("--requests", options.trace.string() + " is no trace of the PyTorch profiler",
                "leave it out");
  }
  Checks out;
  std::filesystem::path problem = options.trace;
  std::optional<ScratchFolder> folder;
  if (is_trace) {
    const MemoryEvents events = read_memory_events(options.trace);
    const std::string csv = requests_csv(events);
    problem = folder.emplace().path() / "requests.csv";
    write_file(problem, csv);
    if (!options.requests.empty()) write_file(options.requests, csv);
    out.about = allocator_text(events);
  }
  const auto checks = check_file(registry, options.check.filter, problem, options.check.seed, hooks,
                                 containment_of(options.check));
  for (const CornerCheck& c : checks)
    out.rows.push_back({c, fmt::format("{} ({})", options.trace.string(), c.problem)});
  return out;
}

Checks check_suite(const CheckSuiteOptions& options, const Registry& registry, const Hooks& hooks) {
  const Suite suite = load_suite(options.suite, registry);
  const Selection selection{.filter = options.check.filter,
                            .threads = options.threads,
                            .seed = options.check.seed,
                            .shard = shard_of_this_process(options.shard),
                            .durations = durations_in(options.shard.durations)};
  const Machine machine = this_machine();
  const auto plan = make_plan(registry, suite, selection, machine);
  auto agreements = check(plan, options.check.seed, hooks, containment_of(options.check), Sizes::and_beside);
  Checks out{.shard = shard_record(registry, suite, selection, machine)};
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const bool reached = !plan[i].skipped.empty() || !agreements[i].agrees || agreements[i].compared > 0;
    out.rows.push_back({.check = {.operation = std::string(plan[i].operation->name()),
                                  .variant = plan[i].operation->variants()[plan[i].variant].name,
                                  .problem = plan[i].row.problem,
                                  .threads = plan[i].context.threads,
                                  .skipped = reached ? plan[i].skipped : "interrupted before it was checked",
                                  .seconds = {},
                                  .agreement = std::move(agreements[i])},
                        .what = fmt::format("{}, threads {}", plan[i].row.problem, plan[i].context.threads)});
  }
  return out;
}

std::string tally_text(const std::string& variant, const Tally& tally) {
  std::string out = fmt::format("  {:<14}", variant);
  if (tally.agree > 0) {
    const std::string closeness = tally.worst == 0
                                      ? "same value everywhere"
                                      : fmt::format("worst error {:.3g} of the bound", tally.worst);
    const bool alone = tally.agree == 1 && tally.skipped == 0 && !tally.worth.empty();
    out += fmt::format("{:>6} agree     {}", tally.agree, alone ? tally.worth : closeness);
  }
  if (tally.disagree > 0) out += fmt::format("{:>6} DISAGREE", tally.disagree);
  if (tally.failed > 0) out += fmt::format("{:>6} FAILED    {}", tally.failed, tally.failure);
  if (tally.skipped > 0) out += fmt::format("{:>6} skipped   {}", tally.skipped, tally.reason);
  out = wrapped(out, widest_row, std::string(after_counts, ' ')) + '\n';
  for (std::size_t i = 0; i < std::min(details_shown, tally.details.size()); ++i) {
    out += fmt::format("      {}\n", tally.details[i]);
  }
  if (tally.details.size() > details_shown) {
    out += fmt::format("      and {} more\n", tally.details.size() - details_shown);
  }
  if (!tally.remark.empty()) out += fmt::format("      {}\n", tally.remark);
  return out;
}

/// Returns a line on libraries that a variant declares in vain, which is no fault; else nothing.
std::string remark_on(const Operation& operation, const std::string& variant) {
  const auto found = operation.variant_named(variant);
  if (!found) return "";
  const std::vector<std::string> unreached = unreached_libraries(operation.variants()[*found]);
  if (unreached.empty()) return "";
  return fmt::format("      declares {}, which its code does not reach\n", fmt::join(unreached, ", "));
}

CheckOptions& common(CheckOptions& options) { return options; }
CheckOptions& common(auto& options) { return options.check; }

/// Performs checks and tells what they found. `end` is what follows the name of a variant in the regular
/// expression that selects its checks alone.
template <class Options>
Outcome told(Options given, Checks (*perform)(const Options&, const Registry&, const Hooks&),
             const Registry& registry, const char* end = "$") {
  const CheckOptions options = common(given);
  Checks checks = perform(given, registry, Progress(options.quiet).hooks());
  checks.partial = interrupted();
  std::map<std::string, std::map<std::string, Tally>> tallies;
  checks.seed = options.seed;
  Tally& all = checks.all;
  for (const Row& row : checks.rows) {
    tallies[row.check.operation][row.check.variant].add(row);
    all.add(row);
  }
  std::string text = fmt::format("reference: naive in double; seed {}\n{}", options.seed, checks.about),
              rejected;
  std::vector<std::string> wrong, failed, bad;
  for (const auto& [operation, variants] : tallies) {
    std::string sound_rows, bad_rows;
    for (const auto& [variant, tally] : variants) {
      (tally.disagree + tally.failed > 0 ? bad_rows : sound_rows) +=
          tally_text(variant, tally) + remark_on(registry.at(operation), variant);
      const std::string name = operation + "/" + variant;
      if (tally.disagree > 0) wrong.push_back(name);
      if (tally.failed > 0) failed.push_back(fmt::format("{} at {}", name, tally.failure));
      if (tally.disagree + tally.failed > 0) bad.push_back(name);
    }
    if (!sound_rows.empty()) text += operation + '\n' + sound_rows;
    if (!bad_rows.empty()) rejected += operation + '\n' + bad_rows;
  }
  // Right above the verdict: a terminal shows the end of a long text.
  text += rejected;
  const std::string counts =
      fmt::format("{} agree, {} disagree, {}{} skipped", all.agree, all.disagree,
                  all.failed > 0 ? fmt::format("{} crashed or timed out, ", all.failed) : "", all.skipped);
  Outcome outcome{Word::agree, counts};
  if (checks.shard && checks.rows.empty()) {
    outcome = {Word::nothing_to_do, in_words(*checks.shard)};
  } else if (all.agree + all.disagree + all.failed == 0) {
    outcome = {Word::skipped, fmt::format("nothing selected runs on this machine ({})", counts)};
  } else if (checks.shard) {
    text += in_words(*checks.shard) + "\n";
  }
  if (!wrong.empty()) outcome.add(Word::wrong, fmt::format("{} ({})", fmt::join(wrong, ", "), counts));
  if (!failed.empty()) outcome.add(Word::crashed, fmt::format("{} ({})", fmt::join(failed, "; "), counts));
  if (checks.partial)
    outcome.add(Word::interrupted, fmt::format("after {} checks: {}", checks.rows.size(), counts));
  common(given).filter = bad.empty() ? "" : "^" + bad.front() + end;
  text = options.quiet ? rejected + ending("", outcome)
                       : text + ending(bad.empty() ? "" : command_of("check", given), outcome);
  checks.exit_code = outcome.exit_code();
  put(options.json, text, json_text(to_value(checks)));
  return outcome;
}

}  // namespace

Json check_schema() { return schema_of<Checks>(); }

Outcome check_verb(const CheckOptions& options, const Registry& registry) {
  if (names_shapes(options.filter)) {
    CheckSuiteOptions of_cases{.check = options, .suite = options.filter, .threads = {}, .shard = {}};
    of_cases.check.filter.clear();
    return check_suite_verb(of_cases, registry);
  }
  say_undivided("checks without a suite");
  return told(options, check_corner_cases, registry);
}

Outcome check_trace_verb(const CheckTraceOptions& options, const Registry& registry) {
  say_undivided("checks without a suite");
  return told(options, check_trace, registry);
}

Outcome check_suite_verb(const CheckSuiteOptions& options, const Registry& registry) {
  return told(options, check_suite, registry, "/");
}

}  // namespace assay
