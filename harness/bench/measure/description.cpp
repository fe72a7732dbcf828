#include "bench/measure/description.hpp"

#include "assay/error.hpp"
#include "assay/results.hpp"
#include "bench/measure/planted.hpp"
#include "core/json/json.hpp"
#include "core/machine/build_info.hpp"

#include <algorithm>

namespace assay {
namespace {

constexpr const char* remedy = "`describe` is for the program itself; use `assay gate --base`";

/// Whether this program knows the operation, with all fields of the problem.
bool knows(const Registry& registry, const Case& row) {
  const auto operations = registry.operations();
  const auto found = std::ranges::find(operations, row.operation, &Operation::name);
  if (found == operations.end()) return false;
  try {
    return (*found)->canonical(row.operation, row.problem) == row.problem;
  } catch (const Error&) {
    return false;
  }
}

Json to_value(const DescribedTrial& trial) {
  return {{"key", trial.key},         {"operation", trial.operation}, {"variant", trial.variant},
          {"problem", trial.problem}, {"threads", trial.threads},     {"workload", trial.workload},
          {"code", trial.code},       {"skipped", trial.skipped}};
}

std::string to_json(const Description& description) {
  Json facts = Json::array(), trials = Json::array();
  for (const Fact& fact : description.facts) {
    facts.push_back({{"name", fact.name}, {"value", fact.value}, {"decides", fact.decides}});
  }
  for (const DescribedTrial& trial : description.trials) trials.push_back(to_value(trial));
  return json_text({{"commit", description.commit}, {"facts", facts}, {"trials", trials}});
}

DescriptionRequest request_from(const JsonField& field) {
  DescriptionRequest out{.seed = field.at("seed").unsigned_integer()};
  for (const JsonField& count : field.at("threads").items()) {
    out.threads.push_back(static_cast<int>(count.integer(1, 4096)));
  }
  for (const JsonField& row : field.at("cases").items()) {
    out.cases.push_back({.operation = row.at("operation").text(), .problem = row.at("problem").text()});
  }
  return out;
}

/// What slows a build down for a test of the gate lies in the harness, not in the variant: its code counts as
/// unknown, and so as changed.
std::string code_of(const Operation& operation, const VariantInfo& variant) {
  return slowdown_of_build(operation.name(), variant.name) > 0 ? "" : variant.code;
}

}  // namespace

Description describe(const Registry& registry, const DescriptionRequest& request) {
  require_known_plants(build_info().planted, registry);
  const Machine machine = this_machine();
  Description out{.commit = build_info().commit, .facts = machine.facts};
  Suite known;
  std::ranges::copy_if(request.cases, std::back_inserter(known.cases),
                       [&](const Case& row) { return knows(registry, row); });
  if (known.cases.empty()) return out;
  const Selection all{.threads = request.threads, .seed = request.seed};
  for (const Trial& trial : make_plan(registry, known, all, machine)) {
    const VariantInfo& variant = trial.operation->variants()[trial.variant];
    out.trials.push_back({.key = trial.key,
                          .operation = std::string(trial.operation->name()),
                          .variant = variant.name,
                          .problem = trial.row.problem,
                          .threads = trial.context.threads,
                          .workload = trial.workload,
                          .code = code_of(*trial.operation, variant),
                          .skipped = trial.skipped});
  }
  return out;
}

std::string to_json(const DescriptionRequest& request) {
  Json cases = Json::array();
  for (const Case& row : request.cases) {
    cases.push_back({{"operation", row.operation}, {"problem", row.problem}});
  }
  return json_text({{"threads", request.threads}, {"seed", request.seed}, {"cases", std::move(cases)}});
}

Description description_from_json(const std::string& text, const std::string& where) {
  const Json value = parse_json(text, where);
  const JsonField field(value, where, "build both programs anew");
  Description out{.commit = field.at("commit").text()};
  for (const JsonField& fact : field.at("facts").items()) {
    out.facts.push_back({.name = fact.at("name").text(),
                         .value = fact.at("value").text(),
                         .decides = fact.at("decides").boolean()});
  }
  for (const JsonField& trial : field.at("trials").items()) {
    out.trials.push_back({.key = trial.at("key").text(),
                          .operation = trial.at("operation").text(),
                          .variant = trial.at("variant").text(),
                          .problem = trial.at("problem").text(),
                          .threads = static_cast<int>(trial.at("threads").integer(1, 4096)),

                          .workload = trial.at("workload").text(),
                          .code = trial.at("code").text(),
                          .skipped = trial.at("skipped").text()});
  }
  return out;
}

void serve_description(const Registry& registry, const std::filesystem::path& request,
                       const std::filesystem::path& answer) {
  const Json value = parse_json(read_file(request), request.string());
  write_file(answer, to_json(describe(registry, request_from(JsonField(value, request.string(), remedy)))));
}

}  // namespace assay
