#include "core/json/fields.hpp"

#include "core/text/parts.hpp"

#include <fmt/format.h>

#include <cmath>

namespace assay {
namespace {

bool bounded(const Fields::Rule& rule) {
  return std::isfinite(rule.above) || std::isfinite(rule.least) || std::isfinite(rule.most);
}

bool within(double value, const Fields::Rule& rule) {
  return !bounded(rule) ||
         (value > rule.above && value >= rule.least && value <= rule.most && std::isfinite(value));
}

void require_range(const JsonField& field, double value, const Fields::Rule& rule) {
  if (within(value, rule)) return;
  constexpr double beyond = std::numeric_limits<double>::max();
  const bool has_low = rule.least > -beyond, has_high = rule.most < beyond;
  std::string range = "a finite number";
  if (std::isfinite(rule.above)) {
    range = fmt::format("a number above {}", rule.above);
  } else if (has_low) {
    range = fmt::format("a number from {}", rule.least);
  }
  if (has_high) range += fmt::format(" to {}", rule.most);
  field.refuse(fmt::format("is {}, must be {}", value, range));
}

}  // namespace

Json Form<double>::schema(const Fields::Rule& rule) {
  constexpr double beyond = std::numeric_limits<double>::max();
  Json out{{"type", "number"}};
  // Numbers that JSON cannot write stand as words.
  if (!bounded(rule)) return {{"anyOf", Json::array({out, {{"enum", Json::array({"inf", "-inf", "nan"})}}})}};
  if (std::isfinite(rule.above)) out["exclusiveMinimum"] = rule.above;
  if (rule.least > -beyond) out["minimum"] = rule.least;
  if (rule.most < beyond) out["maximum"] = rule.most;
  return out;
}

Json Form<double>::json(double value, const Fields::Rule& rule) {
  return json_number(rule.seven_digits ? shortened(value) : value);
}

void Form<double>::read(const JsonField& field, double& value, const Fields::Rule& rule) {
  value = field.number();
  require_range(field, value, rule);
}

std::vector<double> numbers_from(const JsonField& field, const Fields::Rule& rule) {
  std::vector<double> values = field.numbers();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!within(values[i], rule)) require_range(field.items()[i], values[i], rule);
  }
  return values;
}

std::optional<JsonField> Fields::member(std::string_view name, const Rule& rule) {
  names_.push_back(name);
  return rule.optional || rule.terse ? in_->find(name) : in_->at(name);
}

void Fields::tell(std::string_view name, Json type, const Rule& rule) {
  if (rule.null) type = {{"anyOf", Json::array({std::move(type), {{"type", "null"}}})}};
  if (!rule.about.empty()) type["description"] = rule.about;
  (*out_)["properties"][name] = std::move(type);
  if (!rule.optional && !rule.terse) (*out_)["required"].push_back(name);
}

void Fields::word(std::string_view name, int& position, std::span<const std::string_view> words,
                  const Rule& rule) {
  if (tells_) {
    return tell(name, {{"enum", Json(std::vector<std::string_view>(words.begin(), words.end()))}}, rule);
  }
  if (writes()) {
    if (!(rule.terse && position == 0)) (*out_)[name] = words[static_cast<std::size_t>(position)];
    return;
  }
  const auto found = member(name, rule);
  if (!found) return;
  const std::string text = found->text();
  const auto known = std::ranges::find(words, text);
  if (known == words.end()) {
    found->refuse(fmt::format("is \"{}\", must be one of {}", text, fmt::join(words, ", ")));
  }
  position = static_cast<int>(known - words.begin());
}

void Fields::schema(std::string_view name) {
  if (tells_) {
    (*out_)["properties"]["schema"] = {{"const", name}};
    (*out_)["required"].push_back("schema");
  } else if (writes()) {
    (*out_)["schema"] = name;
  } else {
    names_.push_back("schema");
    require_schema(*in_, name);
  }
}

void Fields::require_known(const Json& properties) const {
  for (const auto& [key, value] : in_->value().members()) {
    if (properties.contains(key)) continue;
    std::vector<std::string> names;
    for (const auto& [name, type] : properties.members()) names.push_back(name);
    in_->refuse(fmt::format("has an unknown key \"{}\"; is it \"{}\"?", key,
                            fmt::join(near_names(key, names, 2), "\" or \"")));
  }
}

std::vector<std::pair<std::string, JsonField>> Fields::others(Json type) {
  if (tells_) (*out_)["additionalProperties"] = std::move(type);
  std::vector<std::pair<std::string, JsonField>> out;
  if (!reads()) return out;
  for (const auto& [key, field] : in_->members()) {
    if (std::ranges::find(names_, key) == names_.end()) out.emplace_back(key, field);
  }
  return out;
}

void Fields::refuse(std::string_view name, const std::string& what) const {
  (in_->find(name) ? in_->at(name) : *in_).refuse(what);
}

}  // namespace assay
