/// JSON Schema as far as `assay schema` uses it, for tests.
#pragma once

#include "core/json/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace assay::testing {

inline bool is_of_type(const Json& value, std::string_view type) {
  if (type == "integer") return value.is_integer();
  if (type == "number") return value.is_number();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  return type == "null" && value.is_null();
}

/// Returns a line for each place where a value breaks a schema. Keys that the schema does not name are faults
/// as well, though JSON Schema lets them pass: stored files have none. So are keywords that are not known
/// here.
inline std::vector<std::string> schema_faults(const Json& schema, const Json& value,
                                              const std::string& place = "") {
  static constexpr std::array<std::string_view, 15> keywords{
      "$schema", "title",      "description",      "format",
      "type",    "properties", "required",         "additionalProperties",
      "items",   "anyOf",      "exclusiveMinimum", "const",
      "enum",    "minimum",    "maximum"};
  std::vector<std::string> out;
  const auto fault = [&](const std::string& what) { out.push_back(place + ": " + what); };
  const auto descend = [&](const Json& inner, const Json& inside, const std::string& step) {
    for (std::string& one : schema_faults(inner, inside, place + step)) out.push_back(std::move(one));
  };
  for (const auto& [keyword, rule] : schema.members()) {
    if (std::ranges::find(keywords, keyword) == keywords.end()) fault("unknown keyword " + keyword);
  }
  const auto is_one_of = [&](const Json& types) {
    return std::ranges::any_of(types.items(), [&](const Json& one) { return is_of_type(value, one.text()); });
  };
  if (const Json* type = schema.find("type")) {
    if (!(type->is_array() ? is_one_of(*type) : is_of_type(value, type->text())))
      fault("is no " + type->dump());
  }
  if (const Json* only = schema.find("const"); only != nullptr && !(value == *only)) fault("is not constant");
  if (const Json* words = schema.find("enum"); words != nullptr) {
    if (std::ranges::find(words->items(), value) == words->items().end())
      fault("is none of " + words->dump());
  }
  if (const Json* choices = schema.find("anyOf")) {
    const auto fits = [&](const Json& one) { return schema_faults(one, value, place).empty(); };
    if (std::ranges::none_of(choices->items(), fits)) fault("is as no choice has it");
    return out;
  }
  if (value.is_number()) {
    const Json *least = schema.find("minimum"), *most = schema.find("maximum"),
               *above = schema.find("exclusiveMinimum");
    if (least != nullptr && value.number() < least->number()) fault("is too small");
    if (most != nullptr && value.number() > most->number()) fault("is too large");
    if (above != nullptr && value.number() <= above->number()) fault("is too small");
  }
  if (const Json* item = schema.find("items"); item != nullptr && value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) descend(*item, value[i], fmt::format("[{}]", i));
  }
  if (!value.is_object()) return out;
  const Json *fields = schema.find("properties"), *others = schema.find("additionalProperties");
  for (const auto& [key, inside] : value.members()) {
    const Json* known = fields == nullptr ? nullptr : fields->find(key);
    if (known == nullptr && others != nullptr && others->is_object()) known = others;
    if (known == nullptr) {
      fault("unknown key " + key);
    } else {
      descend(*known, inside, "." + key);
    }
  }
  if (const Json* required = schema.find("required")) {
    for (const Json& key : required->items()) {
      if (!value.contains(key.text())) fault("lacks " + key.text());
    }
  }
  return out;
}

}  // namespace assay::testing
