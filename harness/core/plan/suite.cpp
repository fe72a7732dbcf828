#include "assay/suite.hpp"

#include "assay/error.hpp"
#include "core/json/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

namespace assay {
namespace {

constexpr int suite_schema = 1;

std::string contents(const std::filesystem::path& file) {
  std::ifstream stream;
  if (!std::filesystem::is_directory(file)) stream.open(file, std::ios::binary);
  if (!stream.is_open()) {
    throw Error(file.string(), "cannot be read", "give the path of a suite, for example suites/smoke.json");
  }
  return {std::istreambuf_iterator<char>(stream), {}};
}

void require_keys(const std::string& where, const Json& object, const std::set<std::string>& known) {
  for (const auto& [key, value] : object.members()) {
    if (known.contains(key)) continue;
    throw Error(where, fmt::format("unknown key '{}'", key),
                fmt::format("keys here: {}", fmt::join(known, ", ")));
  }
}

const Json& require(std::string_view where, const Json& object, std::string_view key) {
  if (const Json* found = object.find(key)) return *found;
  throw Error(std::string(where), fmt::format("key '{}' is missing", key), "add it");
}

std::string text_of(const std::string& where, const std::string& key, const Json& value) {
  if (value.is_string()) return value.text();
  throw Error(where, fmt::format("key '{}' is {}, not a text", key, value.dump()), "put it in quotes");
}

double count_of(const std::string& where, const std::string& key, const Json& value) {
  if (value.is_number() && value.number() >= 0) return value.number();
  throw Error(where, fmt::format("key '{}' is {}, not a count", key, value.dump()),
              "give a number that is not negative");
}

/// All keys that are not the suite's own are fields of the problem; the operation knows which there are.
std::string problem_text(const std::string& where, const Json& row) {
  std::string text;
  for (const auto& [key, value] : row.members()) {
    if (key == "op" || key == "per_step" || key == "note") continue;
    if (!value.is_integer() && !value.is_string()) {
      throw Error(where, fmt::format("field '{}' is {}, not an integer", key, value.dump()),
                  fmt::format("write \"{}\": <integer>", key));
    }
    const std::string item = value.is_string() ? value.text() : value.dump();
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", key, item);
  }
  return text;
}

Case case_from(const std::string& file, std::size_t index, const Json& row, const Registry& registry) {
  const std::string place = fmt::format("{}: cases[{}]", file, index);
  if (!row.is_object()) throw Error(place, "is not an object", "write {\"op\": …, …}");
  const std::string name = text_of(place, "op", require(place, row, "op"));
  const std::string where = fmt::format("{} ({})", place, name);
  const Operation& operation = [&]() -> const Operation& {
    try {
      return registry.at(name);
    } catch (const Error& failure) {
      throw Error(place, failure.what(), "");
    }
  }();
  Case out{.operation = name, .problem = operation.canonical(where, problem_text(where, row))};
  if (row.contains("per_step")) out.per_step = count_of(where, "per_step", row.at("per_step"));
  if (row.contains("note")) out.note = text_of(where, "note", row.at("note"));
  return out;
}

}  // namespace

Suite load_suite(const std::filesystem::path& file, const Registry& registry) {
  const std::string where = file.string();
  const Json json = parse_json(contents(file), where);
  if (!json.is_object()) throw Error(where, "is not an object", "see suites/README.md for the format");
  require_keys(where, json, {"schema", "name", "about", "steps_per_epoch", "cases"});
  const Json& schema = require(where, json, "schema");
  if (schema != suite_schema) {
    throw Error(where,
                fmt::format("has schema {}, this program reads schema {}", schema.dump(), suite_schema),
                "convert the suite, or use the program it was written for");
  }
  Suite suite{.name = text_of(where, "name", require(where, json, "name")),
              .about = text_of(where, "about", require(where, json, "about"))};
  if (suite.name != file.stem().string()) {
    throw Error(where, fmt::format("its name is '{}'", suite.name),
                "name and file must agree, since baselines and reports are found by name");
  }
  if (json.contains("steps_per_epoch")) {
    suite.steps_per_epoch = count_of(where, "steps_per_epoch", json.at("steps_per_epoch"));
  }
  const Json& cases = require(where, json, "cases");
  if (!cases.is_array() || cases.empty())
    throw Error(where, "'cases' is not a list with entries", "add a case");
  std::set<std::string> seen;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Case next = case_from(where, i, cases[i], registry);
    if (!seen.insert(next.operation + "/" + next.problem).second) {
      throw Error(fmt::format("{}: cases[{}]", where, i),
                  fmt::format("repeats {}/{}", next.operation, next.problem),
                  "add up their per_step in one case");
    }
    suite.cases.push_back(std::move(next));
  }
  return suite;
}

}  // namespace assay
