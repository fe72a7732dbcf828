#include "assay/suite.hpp"

#include "assay/error.hpp"
#include "core/plan/shapes.hpp"
#include "core/plan/suite_fields.hpp"
#include "core/plan/traces.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <set>
#include <system_error>
#include <vector>

namespace assay {
namespace {

constexpr Index suite_schema = 1;

std::string contents(const std::filesystem::path& file) {
  std::ifstream stream;
  if (!std::filesystem::is_directory(file)) stream.open(file, std::ios::binary);
  if (!stream.is_open()) {
    throw Error(
        file.string(), "cannot be read",
        "give the path of a suite, for example suites/smoke.json, or cases as gemm/m=512,n=512,k=512");
  }
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The folders in which suites of the project lie, below this program or where it is installed.
std::vector<std::filesystem::path> folders_of_suites() {
  std::error_code unknown;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path();
  return {"suites", program / "../../suites", program / "../share/assay/suites"};
}

/// The suite of the project that a word names, such as `smoke`, or `resnet18` for resnet18_cifar10; the word
/// itself where there is none. Throws Error where there are several.
std::filesystem::path of_that_name(const std::filesystem::path& word) {
  const std::string name = word.string();
  if (name.empty() || name.find('/') != std::string::npos || word.has_extension()) return word;
  for (const std::filesystem::path& folder : folders_of_suites()) {
    std::set<std::filesystem::path> found;
    std::error_code missing;
    for (const auto& entry : std::filesystem::directory_iterator(folder, missing)) {
      const std::string stem = entry.path().stem().string();
      if (entry.path().extension() != ".json") continue;
      if (stem == name) return entry.path();
      if (stem.starts_with(name + "_")) found.insert(entry.path());
    }
    if (found.size() > 1) {
      throw Error("'" + name + "'", "names several suites",
                  fmt::format("choose one: {} or {}", found.begin()->stem().string(),
                              found.rbegin()->stem().string()));
    }
    if (!found.empty()) return *found.begin();
  }
  return word;
}

/// The field of a problem, as text.
std::string value_text(const JsonField& field) {
  if (field.value().is_string()) {
    if (field.text().find(',') != std::string::npos) field.refuse("has a comma, which ends fields in keys");
    return field.text();
  }
  if (!field.value().is_integer())
    field.refuse("is " + field.value().dump() + ", must be an integer or a word");
  return field.value().dump();
}

const Operation& operation_of(const Registry& registry, const Case& row, const std::string& where) {
  try {
    return registry.at(row.operation);
  } catch (const Error& failure) {
    throw Error(where, failure.what(), "");
  }
}

}  // namespace

// In the namespace of the types, so that argument-dependent lookup finds them.
void describe(Fields& f, Case& row) {
  f("op", row.operation);
  f("per_step", row.per_step,
    {.optional = true, .least = 0, .most = most_amount, .about = "occurrences in one training step"});
  f("note", row.note, {.optional = true});
  // Every other key is a field of the problem, which the operation checks.
  for (const auto& [key, field] : f.others({{"type", Json::array({"integer", "string"})}})) {
    row.problem += fmt::format("{}{}={}", row.problem.empty() ? "" : ",", key, value_text(field));
  }
}

void describe(Fields& f, Suite& suite) {
  Index schema = suite_schema;
  f("schema", schema, {.low = suite_schema, .high = suite_schema});
  f.only<Suite>();
  f("name", suite.name, {.about = "as the file is called"});
  f("about", suite.about, {.about = "model, batch, and where the shapes come from"});
  f("steps_per_epoch", suite.steps_per_epoch,
    {.optional = true, .least = 0, .most = most_amount, .about = "0: no network"});
  f("cases", suite.cases);
  if (f.reads() && suite.cases.empty()) f.refuse("cases", "is empty: add a case");
}

Suite load_suite(const std::filesystem::path& asked, const Registry& registry) {
  const bool is_there = std::filesystem::exists(asked);
  if (!is_there && names_shapes(asked.string())) return suite_of_shapes(asked.string(), registry);
  const std::filesystem::path path = is_there ? asked : of_that_name(asked);
  const Json json = parse_json(contents(path), path.string());
  const JsonField file(json, path.string(), "see suites/README.md for the format");
  auto suite = value_from<Suite>(file);
  if (suite.name != path.stem().string()) {
    file.at("name").refuse(
        fmt::format("is \"{}\", must be \"{}\" as the file is called: baselines and reports are "
                    "found by name",
                    suite.name, path.stem().string()));
  }
  const std::vector<JsonField> cases = file.at("cases").items();
  std::set<std::string> seen;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Case& row = suite.cases[i];
    const std::string where = fmt::format("{}: cases[{}]", path.string(), i);
    make_canonical(row, operation_of(registry, row, where), fmt::format("{} ({})", where, row.operation),
                   std::filesystem::absolute(path).parent_path());
    if (!seen.insert(row.operation + "/" + row.problem).second) {
      cases[i].refuse(
          fmt::format("repeats {}/{}: add up their per_step in one case", row.operation, row.problem));
    }
  }
  return suite;
}

}  // namespace assay
