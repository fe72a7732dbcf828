#include "bench/measure/description.hpp"

#include "assay/check.hpp"
#include "assay/error.hpp"
#include "bench/measure/planted.hpp"
#include "bench/measure/results_fields.hpp"
#include "core/machine/build_info.hpp"

#include <algorithm>
#include <set>

namespace assay {
namespace {

/// A case without what a suite says of it.
struct CaseName {
  std::string operation, problem;
  std::filesystem::path file{};
};

void describe(Fields& f, CaseName& name) {
  f("operation", name.operation);
  f("problem", name.problem);
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

/// The slow-down of a build for a test of the gate lies in the harness, not in the variant: its code counts
/// as unknown, and so as changed.
std::string code_of(const Operation& operation, const VariantInfo& variant) {
  return slowdown_of_build(operation.name(), variant.name) > 0 ? "" : variant.code;
}

}  // namespace

// Beside the types, where argument-dependent lookup finds them.
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
  describe_trial(f, trial);
  f("file", trial.file, {.terse = true});
  f("workload", trial.workload);
  f("code", trial.code);
  f("skipped", trial.skipped);
  f("wrong", trial.wrong, {.terse = true});
  f("failure", trial.failure, {.terse = true});
}

void describe(Fields& f, Description& description) {
  f("commit", description.commit);
  f("facts", description.facts);
  f("trials", description.trials);
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
    out.trials.push_back({.key = trial.key,
                          .operation = std::string(trial.operation->name()),
                          .variant = variant.name,
                          .problem = trial.row.problem,
                          .threads = trial.context.threads,
                          .file = trial.row.file,
                          .workload = trial.workload,
                          .code = code_of(*trial.operation, variant),
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
  return value_from<Description>(text, where, "build both programs anew");
}

void serve_description(const Registry& registry, const std::filesystem::path& request,
                       const std::filesystem::path& answer, const std::filesystem::path& passed_corners,
                       const Hooks& hooks) {
  const auto asked = value_from<DescriptionRequest>(
      read_file(request), request.string(), "`describe` is for the program itself; use `assay gate --base`");
  write_file(answer, json_text(to_value(describe(registry, asked, passed_corners, hooks))));
}

}  // namespace assay
