#include "measure/json_file.hpp"

#include "assay/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay {
namespace {

constexpr std::size_t widest_line = 110;

std::string compact(const Json& value) {
  // Texts come from command lines and files; one that is no UTF-8 must not cost the results of a long run.
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool holds_plain_values(const Json& value) {
  return std::ranges::none_of(value, [](const Json& item) { return item.is_structured(); });
}

void append(std::string& out, const Json& value, std::size_t indent) {
  if (!value.is_structured() || holds_plain_values(value)) {
    out += compact(value);
    return;
  }
  if (std::string line = compact(value); line.size() + indent <= widest_line) {
    out += line;
    return;
  }
  const bool object = value.is_object();
  out += object ? "{" : "[";
  bool first = true;
  for (const auto& item : value.items()) {
    out += first ? "\n" : ",\n";
    first = false;
    out.append(indent + 1, ' ');
    if (object) out += compact(Json(item.key())) + ": ";
    append(out, item.value(), indent + 1);
  }
  out += '\n';
  out.append(indent, ' ');
  out += object ? "}" : "]";
}

/// What is written here nests less than ten deep. Reading, writing and comparing values descend by calls, and
/// a hostile file would use up the stack.
constexpr std::size_t deepest = 200;

void require_shallow(std::string_view text, const std::string& where) {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if ((c == '{' || c == '[') && ++depth > deepest) {
      throw Error(where, fmt::format("nests more than {} deep at byte {}", deepest, i + 1),
                  "write it again, or name another file");
    }
    if ((c == '}' || c == ']') && depth > 0) --depth;
  }
}

std::string_view kind(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  if (value.is_string()) return "a string";
  if (value.is_boolean()) return "a boolean";
  if (value.is_number()) return "a number";
  return "null";
}

/// For messages: the value itself, but what holds others only by its kind.
std::string shown(const Json& value) {
  return value.is_structured() ? std::string(kind(value)) : compact(value);
}

/// Nothing when `value` stands for no number.
std::optional<double> as_number(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  const auto& word = value.get_ref<const std::string&>();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (word == "inf") return infinity;
  if (word == "-inf") return -infinity;
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

}  // namespace

Json json_number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

std::string json_text(const Json& value) {
  std::string out;
  append(out, value, 0);
  return out;
}

Json parse_json(const std::string& text, const std::string& where) {
  require_shallow(text, where);
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw Error(where, "is empty", "write it again, or name another file");
  }
  try {
    return Json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    const std::size_t byte = std::min(error.byte > 0 ? error.byte - 1 : 0, text.size());
    if (text.find_first_not_of(" \t\r\n", byte) == std::string::npos) {
      throw Error(where, fmt::format("ends in the middle, after {} bytes", text.size()),
                  "the file is cut off: write it again");
    }
    const auto before = std::string_view(text).substr(0, byte);
    const auto line = std::ranges::count(before, '\n') + 1;
    const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    std::string_view detail = error.what();
    if (const auto at = detail.find("syntax error"); at != std::string_view::npos) detail.remove_prefix(at);
    throw Error(where,
                fmt::format("invalid JSON at line {}, column {}: {}", line, byte - line_start + 1, detail),
                "mend the file or write it again");
  } catch (const nlohmann::json::exception& error) {
    throw Error(where, fmt::format("invalid JSON: {}", error.what()), "mend the file or write it again");
  }
}

JsonField::JsonField(const Json& value, std::string where, std::string remedy)
    : value_(&value), where_(std::move(where)), remedy_(std::move(remedy)) {}

JsonField::JsonField(const Json& value, const JsonField& parent, const std::string& step)
    : value_(&value),
      where_(parent.where_),
      path_(parent.path_.empty() || step.starts_with('[') ? parent.path_ + step : parent.path_ + '.' + step),
      remedy_(parent.remedy_) {}

void JsonField::refuse(const std::string& what) const {
  throw Error(path_.empty() ? where_ : where_ + ": " + path_, what, remedy_);
}

std::optional<JsonField> JsonField::find(std::string_view key) const {
  if (!value_->is_object()) refuse(fmt::format("is {}, must be an object", kind(*value_)));
  const auto member = value_->find(key);
  if (member == value_->end() || member->is_null()) return std::nullopt;
  return JsonField(*member, *this, std::string(key));
}

JsonField JsonField::at(std::string_view key) const {
  auto member = find(key);
  if (!member) refuse(fmt::format("has no \"{}\"", key));
  return *std::move(member);
}

std::vector<JsonField> JsonField::items() const {
  if (!value_->is_array()) refuse(fmt::format("is {}, must be an array", kind(*value_)));
  std::vector<JsonField> out;
  out.reserve(value_->size());
  for (const Json& item : *value_) out.push_back(JsonField(item, *this, fmt::format("[{}]", out.size())));
  return out;
}

std::string JsonField::text() const {
  if (!value_->is_string()) refuse(fmt::format("is {}, must be a string", kind(*value_)));
  return value_->get<std::string>();
}

double JsonField::number() const {
  const auto number = as_number(*value_);
  if (!number) refuse(fmt::format("is {}, must be a number", kind(*value_)));
  return *number;
}

Index JsonField::integer(Index low, Index high) const {
  const bool beyond = value_->is_number_unsigned() &&
                      value_->get<std::uint64_t>() > std::uint64_t{std::numeric_limits<Index>::max()};
  if (!value_->is_number_integer() || beyond || value_->get<Index>() < low || value_->get<Index>() > high) {
    refuse(fmt::format("is {}, must be an integer from {} to {}", shown(*value_), low, high));
  }
  return value_->get<Index>();
}

std::uint64_t JsonField::unsigned_integer() const {
  if (!value_->is_number_unsigned()) refuse(fmt::format("is {}, must be an integer from 0", shown(*value_)));
  return value_->get<std::uint64_t>();
}

bool JsonField::boolean() const {
  if (!value_->is_boolean()) refuse(fmt::format("is {}, must be true or false", kind(*value_)));
  return value_->get<bool>();
}

std::vector<double> JsonField::numbers() const {
  if (!value_->is_array()) refuse(fmt::format("is {}, must be an array", kind(*value_)));
  std::vector<double> out;
  out.reserve(value_->size());
  for (const Json& item : *value_) {
    const auto number = as_number(item);
    // The place is spelled out only here: files hold tens of thousands of samples.
    if (!number) JsonField(item, *this, fmt::format("[{}]", out.size())).number();
    out.push_back(*number);
  }
  return out;
}

std::string JsonField::text_or(std::string_view key, std::string fallback) const {
  const auto member = find(key);
  return member ? member->text() : fallback;
}

double JsonField::number_or(std::string_view key, double fallback) const {
  const auto member = find(key);
  return member ? member->number() : fallback;
}

void require_schema(const JsonField& file, std::string_view expected) {
  const std::string schema = file.text_or("schema", "");
  if (schema == expected) return;
  file.refuse(schema.empty() ? fmt::format("has no \"schema\", so it is no {} file", expected)
                             : fmt::format("is of schema {}; this program reads {} here", schema, expected));
}

}  // namespace assay
