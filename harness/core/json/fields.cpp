#include "core/json/fields.hpp"

#include "core/text/near_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

Json of_type(std::string_view type) { return {{"type", type}}; }

Json integer_type(Index low, Index high) {
  Json out = of_type("integer");
  if (low != std::numeric_limits<Index>::min()) out["minimum"] = low;
  if (high != std::numeric_limits<Index>::max()) out["maximum"] = high;
  return out;
}

Json number_type(double least, double most) {
  // Numbers that JSON cannot write stand as words.
  if (std::isinf(least) && std::isinf(most)) {
    return {{"anyOf", Json::array({of_type("number"), {{"enum", Json::array({"inf", "-inf", "nan"})}}})}};
  }
  Json out = of_type("number");
  if (std::isfinite(least)) out["minimum"] = least;
  if (std::isfinite(most)) out["maximum"] = most;
  return out;
}

Json list_type(Json item) { return {{"type", "array"}, {"items", std::move(item)}}; }

void require_range(const JsonField& field, double value, const Fields::Rule& rule) {
  const bool bounded = std::isfinite(rule.least) || std::isfinite(rule.most);
  if (!bounded || (value >= rule.least && value <= rule.most && std::isfinite(value))) return;
  if (std::isinf(rule.most)) field.refuse(fmt::format("is {}, must be a number from {}", value, rule.least));
  field.refuse(fmt::format("is {}, must be a number from {} to {}", value, rule.least, rule.most));
}

}  // namespace

std::optional<JsonField> Fields::member(std::string_view name, const Rule& rule) {
  names_.push_back(name);
  return rule.optional || rule.terse ? in_->find(name) : in_->at(name);
}

void Fields::put(std::string_view name, Json value, bool is_nothing, const Rule& rule) {
  if (!(rule.terse && is_nothing)) (*out_)[name] = std::move(value);
}

void Fields::tell(std::string_view name, Json type, const Rule& rule) {
  if (!rule.about.empty()) type["description"] = rule.about;
  (*out_)["properties"][name] = std::move(type);
  if (!rule.optional && !rule.terse) (*out_)["required"].push_back(name);
}

void Fields::operator()(std::string_view name, bool& value, const Rule& rule) {
  if (tells_) return tell(name, of_type("boolean"), rule);
  if (writes()) return put(name, value, !value, rule);
  if (const auto found = member(name, rule)) value = found->boolean();
}

void Fields::operator()(std::string_view name, int& value, const Rule& rule) {
  constexpr Index least = std::numeric_limits<int>::min(), most = std::numeric_limits<int>::max();
  const Index low = std::max(rule.low, least), high = std::min(rule.high, most);
  if (tells_) return tell(name, integer_type(low, high), rule);
  if (writes()) return put(name, value, value == 0, rule);
  if (const auto found = member(name, rule)) value = static_cast<int>(found->integer(low, high));
}

void Fields::operator()(std::string_view name, Index& value, const Rule& rule) {
  if (tells_) return tell(name, integer_type(rule.low, rule.high), rule);
  if (writes()) return put(name, value, value == 0, rule);
  if (const auto found = member(name, rule)) value = found->integer(rule.low, rule.high);
}

void Fields::operator()(std::string_view name, std::uint64_t& value, const Rule& rule) {
  if (tells_) return tell(name, integer_type(0, rule.high), rule);
  if (writes()) return put(name, value, value == 0, rule);
  if (const auto found = member(name, rule)) value = found->unsigned_integer();
}

void Fields::operator()(std::string_view name, double& value, const Rule& rule) {
  if (tells_) return tell(name, number_type(rule.least, rule.most), rule);
  if (writes()) return put(name, json_number(value), value == 0, rule);
  if (const auto found = member(name, rule)) {
    value = found->number();
    require_range(*found, value, rule);
  }
}

void Fields::operator()(std::string_view name, std::string& value, const Rule& rule) {
  if (tells_) return tell(name, of_type("string"), rule);
  if (writes()) return put(name, value, value.empty(), rule);
  if (const auto found = member(name, rule)) value = found->text();
}

void Fields::operator()(std::string_view name, std::filesystem::path& value, const Rule& rule) {
  std::string text = value.string();
  (*this)(name, text, rule);
  if (reads()) value = text;
}

void Fields::operator()(std::string_view name, std::vector<double>& values, const Rule& rule) {
  if (tells_) return tell(name, list_type(number_type(rule.least, rule.most)), rule);
  if (writes()) {
    Json items = Json::array();
    for (const double value : values) items.push_back(json_number(value));
    return put(name, std::move(items), values.empty(), rule);
  }
  const auto found = member(name, rule);
  if (!found) return;
  values = found->numbers();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(values[i] >= rule.least && values[i] <= rule.most)) require_range(found->items()[i], values[i], rule);
  }
}

void Fields::operator()(std::string_view name, std::vector<Index>& values, const Rule& rule) {
  if (tells_) return tell(name, list_type(integer_type(rule.low, rule.high)), rule);
  if (writes()) return put(name, Json(values), values.empty(), rule);
  const auto found = member(name, rule);
  if (!found) return;
  values.clear();
  for (const JsonField& item : found->items()) values.push_back(item.integer(rule.low, rule.high));
}

void Fields::operator()(std::string_view name, std::vector<std::string>& values, const Rule& rule) {
  if (tells_) return tell(name, list_type(of_type("string")), rule);
  if (writes()) return put(name, Json(values), values.empty(), rule);
  const auto found = member(name, rule);
  if (!found) return;
  values.clear();
  for (const JsonField& item : found->items()) values.push_back(item.text());
}

void Fields::operator()(std::string_view name, std::map<std::string, double>& values, const Rule& rule) {
  if (tells_) {
    return tell(name, {{"type", "object"}, {"additionalProperties", number_type(rule.least, rule.most)}}, rule);
  }
  if (writes()) {
    Json members = Json::object();
    for (const auto& [key, value] : values) members[key] = json_number(value);
    return put(name, std::move(members), values.empty(), rule);
  }
  const auto found = member(name, rule);
  if (!found) return;
  if (!found->value().is_object()) found->refuse("must be an object of numbers");
  values.clear();
  for (const auto& [key, value] : found->value().members()) {
    const JsonField item = found->at(key);
    values[key] = item.number();
    require_range(item, values[key], rule);
  }
}

void Fields::operator()(std::string_view name, Json& value, const Rule& rule) {
  if (tells_) return tell(name, Json::object(), rule);
  if (writes()) return put(name, value, value.is_null(), rule);
  if (const auto found = member(name, rule)) value = found->value();
}

void Fields::word(std::string_view name, int& position, std::span<const std::string_view> words,
                  const Rule& rule) {
  if (tells_) {
    Json items = Json::array();
    for (const std::string_view one : words) items.push_back(one);
    return tell(name, {{"enum", std::move(items)}}, rule);
  }
  if (writes()) return put(name, words[static_cast<std::size_t>(position)], position == 0, rule);
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

void Fields::no_others() {
  if (tells_) {
    (*out_)["additionalProperties"] = false;
  } else if (reads()) {
    for (const auto& [key, value] : in_->value().members()) {
      if (std::ranges::find(names_, key) != names_.end()) continue;
      const std::vector<std::string> names(names_.begin(), names_.end());
      in_->refuse(fmt::format("has an unknown key \"{}\"; is it \"{}\"?", key,
                              fmt::join(near_names(key, names, 2), "\" or \"")));
    }
  }
}

}  // namespace assay
