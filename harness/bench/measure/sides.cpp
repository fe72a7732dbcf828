#include "bench/measure/sides.hpp"

#include "assay/check.hpp"
#include "assay/error.hpp"
#include "bench/measure/placing.hpp"
#include "bench/measure/planted.hpp"
#include "bench/measure/results_fields.hpp"
#include "core/check/contained.hpp"
#include "core/code/differing_functions.hpp"
#include "core/files/answers.hpp"
#include "core/files/scratch.hpp"
#include "core/files/this_program.hpp"
#include "core/machine/build_info.hpp"
#include "core/plugin/library.hpp"

#include <fmt/format.h>

#include <signal.h>

#include <algorithm>
#include <deque>
#include <numeric>
#include <set>

namespace assay {
namespace {

constexpr const char* build_anew = "build both programs anew";

/// A case without what a suite says of it.
struct CaseName {
  std::string operation, problem;
  std::filesystem::path file{};
};

void describe(Fields& f, CaseName& name) {
  ASSAY_FIELDS(f, name, operation, problem);
  f("file", name.file, {.terse = true});
}

/// Whether this program knows the operation, with all fields of the problem.
bool knows(const Registry& registry, const Case& row) {
  const auto operations = registry.operations();
  const auto found = std::ranges::find(operations, row.operation, &Operation::name);
  if (found == operations.end()) return false;
  try {
    const std::string fields = fields_of(**found, row.problem, row.file);
    return !row.file.empty() || (*found)->canonical(row.operation, fields) == row.problem;
  } catch (const Error&) {
    return false;
  }
}

/// Returns the bytes of the stack that these variables take: name, value, and a pointer to both.
std::size_t stack_bytes(const Variables& environment) {
  std::size_t out = 0;
  for (const auto& [name, value] : environment) {
    if (value) out += name.size() + value->size() + sizeof "=" + sizeof(char*);
  }
  return out;
}

/// Joins the common environment and that of this side, padded to `bytes` of the latter, since the sizes of
/// environments are equal on all sides.
Variables environment_for(const SideProgram& side, Variables common, std::size_t bytes) {
  for (auto& [name, value] : common) {
    if (name == padding_variable) value->append(bytes - stack_bytes(side.environment), 'x');
  }
  common.insert(common.end(), side.environment.begin(), side.environment.end());
  return common;
}

/// The trials of one case stay together; cases come in another order in each launch.
std::vector<std::size_t> drawn_order(const std::vector<TrialRequest>& trials, Rng& rng) {
  std::vector<std::vector<std::size_t>> cases;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (i == 0 || !trials[i].same_case(trials[i - 1])) cases.emplace_back();
    cases.back().push_back(i);
  }
  std::vector<std::size_t> out;
  for (const std::size_t i : drawn_permutation(cases.size(), rng)) {
    out.insert(out.end(), cases[i].begin(), cases[i].end());
  }
  return out;
}

TurnsRequest turns_of(const PairRequest& request, std::size_t side, const std::vector<std::size_t>& order) {
  TurnsRequest out{.side = static_cast<int>(side),
                   .sides = static_cast<int>(request.sides.size()),
                   .order = request.draw,
                   .check = request.check && request.sides[side].name != "control",
                   .policy = request.policy};
  for (const std::size_t i : order) {
    out.trials.push_back({.trial = request.trials[i],
                          .slowdown = request.slowdowns.empty() ? 0 : request.slowdowns[side][i],
                          .patience = request.patience.empty() ? 1 : request.patience[i]});
  }
  return out;
}

std::string output_of(const std::filesystem::path& file) {
  std::error_code none;
  if (!std::filesystem::exists(file, none)) return "";
  std::string text = read_file(file);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  constexpr std::size_t longest = 1000;
  return text.size() > longest ? "..." + text.substr(text.size() - longest) : text;
}

/// Executes `file`, a copy of `program`.
pid_t start_side(const std::filesystem::path& program, const std::filesystem::path& file,
                 const std::vector<std::string>& arguments, const ChildSetting& setting) {
  if (is_embedded_side(program)) return start_this_program(arguments, setting);
  Command command{.words = {file.string()}, .folder = {}};
  command.words.insert(command.words.end(), arguments.begin(), arguments.end());
  return start_child(command, setting);
}

/// Back from the order of the launch to the order asked for.
std::vector<TurnSample> in_order(std::vector<TurnSample> samples, const std::vector<std::size_t>& order,
                                 const std::string& side) {
  if (samples.size() != order.size()) {
    throw Error(side, fmt::format("answered for {} of {} trials", samples.size(), order.size()), build_anew);
  }
  std::vector<TurnSample> out(samples.size());
  for (std::size_t i = 0; i < order.size(); ++i) out[order[i]] = std::move(samples[i]);
  return out;
}

/// The first side is the base: who is far less precise than that computes with fewer digits.
void compare_precision(const PairRequest& request, std::vector<std::vector<TurnSample>>& sides) {
  for (std::size_t side = 1; side < sides.size(); ++side) {
    for (std::size_t i = 0; i < sides[side].size(); ++i) {
      const TurnSample& base = sides[0][i];
      TurnSample& own = sides[side][i];
      if (!own.agrees) continue;
      own.disagreement = fewer_digits(std::min(own.rounded, base.rounded), own.rms_error, base.rms_error,
                                      request.sides[0].name);
      own.agrees = own.disagreement.empty();
    }
  }
}

ChildCrash crash_of(const SideProgram& side, const std::string& what) {
  return {(side.known_as.empty() ? side.program : side.known_as).string(),
          fmt::format("as {} {}", side.name, what), "run `check` with that program"};
}

/// Where a kernel of a side answered in its place, or changed the code that judges and times it, no answer of
/// the side counts: throws SideFailure where there is one trial, else ChildCrash, since any may have done so.
[[noreturn]] void refuse_answers(const PairRequest& request, std::size_t side, const std::string& what) {
  const ChildCrash crash = crash_of(request.sides[side], what);
  if (request.trials.size() > 1) throw crash;
  throw SideFailure(side, request.trials.at(0).key, {.reason = "its process " + what}, crash);
}

/// The samples that a side sent, one for each trial in the order of the launch.
std::vector<TurnSample> sound_samples(const PairRequest& request, std::size_t side,
                                      const std::vector<std::size_t>& order, const Answers& answers,
                                      const ChildEnd& end) {
  if (const std::string why = why_unsound(answers, end); !why.empty()) refuse_answers(request, side, why);
  std::vector<TurnSample> out;
  for (const std::string& answer : answers.all()) {
    try {
      out.push_back(value_from<TurnSample>(answer, request.sides[side].name, build_anew));
    } catch (const Error&) {
      refuse_answers(request, side, answered_nonsense);
    }
    if (out.size() > order.size() || out.back().key != request.trials[order[out.size() - 1]].key)
      refuse_answers(request, side, answered_twice);
  }
  return out;
}

/// Where a trial was found out on any side, it is left out of the next launch: others are looked at then.
void require_own_code(const PairRequest& request, const std::vector<std::vector<TurnSample>>& samples,
                      const std::vector<std::string>& changed) {
  const auto all_agree = [](const std::vector<TurnSample>& side) {
    return std::ranges::all_of(side, &TurnSample::agrees);
  };
  if (!std::ranges::all_of(samples, all_agree)) return;
  for (std::size_t side = 0; side < changed.size(); ++side) {
    if (!changed[side].empty()) refuse_answers(request, side, changed_in_memory(changed[side]));
  }
}

/// The samples of each side, of all trials in one process for each.
std::vector<std::vector<TurnSample>> sample_together(const PairRequest& request, const Hooks& hooks) {
  const ScratchFolder scratch;
  const SharedRegion region = SharedRegion::made(request.shared_bytes);
  Rng rng(request.draw);
  const auto order = drawn_order(request.trials, rng);
  // A pool that looked on for work would run on the cores of the side whose turn it is.
  Variables common = pools_that_rest();
  common.push_back(drawn_padding(rng));
  std::vector<SideProgram> sides = request.sides;
  for (std::size_t side = 0; side < sides.size(); ++side) {
    if (is_embedded_side(sides[side].program)) {
      sides[side].environment.emplace_back(side_variable, sides[side].program.string().substr(1));
    }
    if (!is_shared_library(sides[side].program)) continue;
    const auto library = scratch.file('l', side);
    std::filesystem::copy_file(sides[side].program, library);
    sides[side].program = this_program();
    sides[side].environment.emplace_back(plugins_variable, library.string());
  }
  std::size_t largest = 0;
  for (const SideProgram& side : sides) largest = std::max(largest, stack_bytes(side.environment));
  const int core = freest_core();
  // No side is always the first to be copied and started.
  const auto start = drawn_permutation(request.sides.size(), rng);
  const Inheritance inheritance;
  std::deque<Printed> printed(sides.size());
  std::deque<Answers> answers(sides.size());
  std::vector<std::string> changed(sides.size());  // code of each in memory
  // Records of their own, and those in the region for builds that know no others: what no build uses, others
  // could write to.
  std::deque<SharedRecord> records(sides.size());
  std::deque<StepWatch> own_watches, watches;
  for (std::size_t side = 0; side < sides.size(); ++side) {
    own_watches.emplace_back(*records[side], &printed[side]);
    if (const StepRecord* record = record_of_side(region, side))
      watches.emplace_back(*record, &printed[side]);
  }
  for (const std::size_t side : start) {
    TurnsRequest turns = turns_of(request, side, order);
    turns.descriptor = region.descriptor();
    turns.answers = answers[side].descriptor();
    turns.record = records[side].descriptor();
    turns.core = core;
    write_file(scratch.file('q', side), to_value(turns).dump());
    if (!is_embedded_side(sides[side].program)) {
      std::filesystem::copy_file(sides[side].program, scratch.file('p', side));
    }
  }
  std::vector<pid_t> child_of(sides.size());
  for (const std::size_t side : start) {
    const ChildSetting own{.environment = environment_for(sides[side], common, largest),
                           .fixed_addresses = true,
                           .printed = &printed[side],
                           .answers = &answers[side],
                           .record = records[side].descriptor()};
    const std::vector<std::string> arguments{"turns", scratch.file('q', side).string(),
                                             scratch.file('a', side).string()};
    child_of[side] = start_side(sides[side].program, scratch.file('p', side), arguments, own);
  }
  for (std::deque<StepWatch>* all : {&own_watches, &watches}) {
    for (std::size_t side = 0; side < all->size(); ++side) (*all)[side].follow(child_of[side]);
  }
  const auto watch_of = [&](std::size_t side) -> StepWatch* {
    if ((*records[side]).since.load(std::memory_order_relaxed) != 0) return &own_watches[side];
    return side < watches.size() ? &watches[side] : nullptr;
  };
  for (std::size_t side = 0; side < sides.size(); ++side) {
    answers[side].when_sealed([&changed, &child_of, side] { changed[side] = changed_code(child_of[side]); });
  }
  // A kernel that exits with 0 ends its side as if all were well; the others would wait for their turn.
  const auto has_left = [&](std::size_t side) {
    return kill(child_of[side], 0) != 0 && !answers[side].sealed() &&
           !std::filesystem::exists(scratch.file('a', side));
  };
  std::optional<std::size_t> left, late;  // told before the others are killed
  const auto held_up = [&] {
    for (auto side = start.rbegin(); side != start.rend(); ++side) {  // the first to be started counts
      if (has_left(*side)) left = *side;
      StepWatch* const watch = watch_of(*side);
      if (watch != nullptr && watch->is_overdue()) late = *side;
    }
    return left || late;
  };
  Patience patience{.stopped = hooks.stop, .overdue = held_up};
  for (Printed& one : printed) patience.printed.push_back(&one);
  for (Answers& one : answers) patience.answers.push_back(&one);
  ChildEnd end = wait_for_children(child_of, patience);
  if (hooks.stopped()) return {};
  if (end.passed()) held_up();  // all may have ended before anybody looked
  if (left) end = {.child = child_of[*left]};
  if (!end.passed() || left) {
    const std::size_t failed =
        left   ? *left
        : late ? *late
               : static_cast<std::size_t>(std::ranges::find(child_of, end.child) - child_of.begin());
    const ChildCrash crash = crash_of(request.sides[failed], end.text() + printed[failed].in_words("; "));
    const StepWatch* const watch = watch_of(failed);
    if (const auto step = watch != nullptr ? watch->failed_step(end) : std::nullopt) {
      throw SideFailure(failed, request.trials.at(order.at(step->step)).key, step->failure, crash);
    }
    if (const std::string why = why_unsound(answers[failed], end); !why.empty())
      refuse_answers(request, failed, why);
    if (const std::size_t answered = answers[failed].all().size(); left && answered < order.size()) {
      // The record of the step is wiped out. It answers trial by trial.
      throw SideFailure(failed, request.trials[order[answered]].key, {.reason = "left without its answers"},
                        crash);
    }
    if (end.crashed()) throw crash;
    throw Error(crash);
  }
  std::vector<std::vector<TurnSample>> out;
  for (std::size_t side = 0; side < request.sides.size(); ++side) {
    std::vector<TurnSample> samples;
    if (answers[side].sealed() || answers[side].spoilt()) {
      samples = sound_samples(request, side, order, answers[side], end);
    } else {  // a program from before there was more than a file
      const auto file = scratch.file('a', side);
      samples = value_from<std::vector<TurnSample>>(read_file(file), file.string(), build_anew);
    }
    out.push_back(in_order(std::move(samples), order, request.sides[side].name));
  }
  require_own_code(request, out, changed);
  compare_precision(request, out);
  return out;
}

}  // namespace

PairRequest with_one_trial(const PairRequest& request, std::size_t trial) {
  PairRequest out = request;
  out.trials = {request.trials[trial]};
  for (std::vector<double>& side : out.slowdowns) side = {side[trial]};
  if (!out.patience.empty()) out.patience = {request.patience[trial]};
  return out;
}

void describe(Fields& f, DescriptionRequest& request) {
  f("threads", request.threads, {.low = 1, .high = most_threads});
  f("seed", request.seed);
  f("corners", request.corners, {.terse = true});
  f("time_limit", request.time_limit, {.terse = true});
  std::vector<CaseName> names;
  for (const Case& row : request.cases) names.push_back({row.operation, row.problem, row.file});
  f("cases", names);
  if (!f.reads()) return;
  request.cases.clear();
  for (const CaseName& name : names) {
    request.cases.push_back({.operation = name.operation, .problem = name.problem, .file = name.file});
  }
}

void describe(Fields& f, DescribedTrial& trial) {
  describe(f, trial.trial);
  ASSAY_FIELDS(f, trial, workload, code, skipped);
  f("wrong", trial.wrong, {.terse = true});
  f("failure", trial.failure, {.terse = true});
}

void describe(Fields& f, Description& description) {
  ASSAY_FIELDS(f, description, commit, facts, trials);
  if (f.reads()) description.renews = false;
  f("renews", description.renews, {.optional = true});
}

Description describe(const Registry& registry, const DescriptionRequest& request,
                     const std::filesystem::path& passed_corners, const Hooks& hooks) {
  require_known_plants(build_info().planted, registry);
  const Machine machine = this_machine();
  Description out{.commit = build_info().commit, .facts = machine.facts};
  Suite known;
  std::ranges::copy_if(request.cases, std::back_inserter(known.cases),
                       [&](const Case& row) { return knows(registry, row); });
  if (known.cases.empty()) return out;
  const Selection all{.threads = request.threads, .seed = request.seed};
  std::vector<Trial> trials = make_plan(registry, known, all, machine);
  if (!request.corners.empty()) {
    const std::set<std::string> asked(request.corners.begin(), request.corners.end());
    std::erase_if(trials, [&](const Trial& trial) { return !asked.contains(trial.key); });
  }
  for (const Trial& trial : trials) {
    const VariantInfo& variant = trial.operation->variants()[trial.variant];
    // The slow-down of a build for a test of the gate lies in the harness, not in the variant: its code
    // counts as unknown, and so as changed.
    const bool slowed = slowdown_of_build(trial.operation->name(), variant.name) > 0;
    out.trials.push_back({.trial = {trial.key, trial.row.operation, variant.name, trial.row.problem,
                                    trial.context.threads, trial.row.file},
                          .workload = trial.workload,
                          .code = slowed ? "" : variant.code,
                          .skipped = trial.skipped});
  }
  if (request.corners.empty()) return out;
  const auto corners = check_corners(trials, machine, request.seed, passed_corners, hooks,
                                     {.own_process = true, .time_limit = request.time_limit});
  for (std::size_t i = 0; i < trials.size(); ++i) {
    out.trials[i].wrong = corners[i].agrees ? "" : corners[i].detail;
    out.trials[i].failure = corners[i].failure;
  }
  return out;
}

std::string to_json(const DescriptionRequest& request) { return json_text(to_value(request)); }

Description description_from_json(const std::string& text, const std::string& where) {
  return value_from<Description>(text, where, build_anew);
}

void serve_description(const Registry& registry, const std::filesystem::path& request,
                       const std::filesystem::path& answer, const std::filesystem::path& passed_corners,
                       const Hooks& hooks) {
  const auto asked = value_from<DescriptionRequest>(
      read_file(request), request.string(), "`describe` is for the program itself; use `assay gate --base`");
  write_file(answer, json_text(to_value(describe(registry, asked, passed_corners, hooks))));
}

std::uint64_t draw_of(std::uint64_t seed, int launch) {
  Rng rng(seed + 1000003 * static_cast<std::uint64_t>(launch));
  return rng.next();
}

std::vector<std::size_t> drawn_permutation(std::size_t count, Rng& rng) {
  std::vector<std::size_t> out(count);
  std::iota(out.begin(), out.end(), std::size_t{0});
  return shuffled(std::move(out), rng);
}

std::pair<std::string, std::string> drawn_padding(Rng& rng) {
  constexpr Index most = 4096;  // bytes: a page
  return {padding_variable, std::string(static_cast<std::size_t>(rng.integer(0, most)), 'x')};
}

std::vector<std::vector<TurnSample>> sample_sides(const PairRequest& request, const Hooks& hooks) {
  return sample_accused_alone(request, sample_together, hooks);
}

std::vector<std::vector<TurnSample>> sample_accused_alone(const PairRequest& request,
                                                          const SampleSides& sample, const Hooks& hooks) {
  std::vector<std::vector<TurnSample>> out = sample(request, hooks);
  if (request.trials.size() < 2 || out.empty()) return out;
  const auto is_accused = [&](std::size_t trial) {
    return std::ranges::any_of(out, [&](const auto& side) { return !side[trial].agrees; });
  };
  const auto accuse = [&](std::size_t side, std::size_t trial, const std::string& failure) {
    out[side][trial].agrees = false;
    out[side][trial].disagreement = failure;
  };
  // Returns whether it is at fault in one of so many tries.
  const auto is_at_fault_alone = [&](std::size_t trial, int at_most) {
    for (int i = 0; i < at_most && !hooks.stopped(); ++i) {
      try {
        std::vector<std::vector<TurnSample>> alone = sample(with_one_trial(request, trial), hooks);
        if (alone.empty()) return false;
        for (std::size_t side = 0; side < out.size(); ++side)
          out[side][trial] = std::move(alone[side].front());
      } catch (const SideFailure& failed) {
        accuse(failed.side, trial, "it " + failed.failure.reason);
      } catch (const ChildCrash& crash) {
        for (std::size_t side = 0; side < out.size(); ++side) accuse(side, trial, crash.what());
      }
      if (is_accused(trial)) return true;
    }
    return false;
  };
  std::vector<std::size_t> others;
  bool named = false, suspected = false;
  for (std::size_t trial = 0; trial < request.trials.size(); ++trial) {
    if (!is_accused(trial)) {
      others.push_back(trial);
      continue;
    }
    suspected = true;
    named = is_at_fault_alone(trial, tries_alone) || named;
  }
  if (others.size() > most_tried_alone) others.resize(most_tried_alone);
  for (std::size_t i = 0; i < others.size() && suspected && !named; ++i)
    named = is_at_fault_alone(others[i], 1);
  if (hooks.stopped()) return {};
  return out;
}

Description described_by(const std::filesystem::path& program, const DescriptionRequest& request,
                         const Hooks& hooks, const Variables& environment) {
  const ScratchFolder scratch;
  const auto question = scratch.path() / "question.json", answer = scratch.path() / "answer.json",
             output = scratch.path() / "output.txt";
  write_file(question, to_json(request));
  const bool plugin = is_shared_library(program);
  Variables variables = environment;
  if (plugin) variables.emplace_back(plugins_variable, std::filesystem::absolute(program).string());
  if (is_embedded_side(program)) variables.emplace_back(side_variable, program.string().substr(1));
  const pid_t child =
      start_side(program, plugin ? this_program() : program, {"describe", question.string(), answer.string()},
                 {.environment = variables, .output = output});
  const ChildEnd end = wait_for_children({child}, {.stopped = hooks.stop});
  if (hooks.stopped()) throw Stopped{};
  if (!end.passed() || !std::filesystem::exists(answer)) {
    throw Error(
        program.string(), fmt::format("asked to describe itself, it {}: {}", end.text(), output_of(output)),
        "name a program of assay that knows `gate --base`; older ones must be built from a newer commit");
  }
  return description_from_json(read_file(answer), program.string());
}

}  // namespace assay
