#include "core/json/json.hpp"

#include "assay/error.hpp"
#include "core/text/utf8.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <istream>
#include <limits>
#include <numeric>
#include <ostream>

namespace assay {
namespace {

using Library = nlohmann::json;

constexpr std::size_t widest_line = 110;

/// Ends early, with part of the text, once `out` is longer than `most`.
void dump_to(std::string& out, const Json& value, std::size_t most = std::numeric_limits<std::size_t>::max());

bool holds_plain_values(const Json& value) {
  if (value.is_array()) return std::ranges::none_of(value.items(), &Json::is_structured);
  return std::ranges::none_of(value.members(), &Json::is_structured, &Json::Member::second);
}

void append(std::string& out, const Json& value, std::size_t indent) {
  if (!value.is_structured() || holds_plain_values(value)) {
    out += value.dump();
    return;
  }
  // The beginning of a long value is written here in vain.
  std::string line;
  dump_to(line, value, widest_line - std::min(indent, widest_line));
  if (line.size() + indent <= widest_line) {
    out += line;
    return;
  }
  bool first = true;
  const auto add_line = [&](std::string_view name, const Json& item) {
    out += first ? "\n" : ",\n";
    first = false;
    out.append(indent + 1, ' ');
    out += name;
    append(out, item, indent + 1);
  };
  const bool object = value.is_object();
  out += object ? "{" : "[";
  if (object) {
    for (const auto& [key, item] : value.members()) add_line(Json(key).dump() + ": ", item);
  } else {
    for (const Json& item : value.items()) add_line("", item);
  }
  out += '\n';
  out.append(indent, ' ');
  out += object ? "}" : "]";
}

/// The deepest nesting that is read; files of this program nest less than ten deep. Reading, writing and
/// comparing values descend by calls, and a hostile file would use up the stack.
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

/// As C, C++, Python, Java and Windows spell NaN and the infinities.
bool is_not_finite(std::string word) {
  if (word.starts_with('-') || word.starts_with('+')) word.erase(0, 1);
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  constexpr std::array words{"nan",    "inf",    "infinity", "nan(ind)", "nan(snan)",
                             "1.#inf", "1.#ind", "1.#nan",   "1.#qnan",  "1.#snan"};
  return std::ranges::find(words, word) != words.end();
}

std::string_view kind(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  if (value.is_string()) return "a string";
  if (value.is_boolean()) return "a boolean";
  if (value.is_number()) return "a number";
  return "null";
}

/// For messages: a plain value as it is, an array or object by its kind.
std::string shown(const Json& value) {
  return value.is_structured() ? std::string(kind(value)) : value.dump();
}

std::optional<double> as_number(const Json& value) {
  if (value.is_number()) return value.number();
  if (!value.is_string()) return std::nullopt;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (value.text() == "inf") return infinity;
  if (value.text() == "-inf") return -infinity;
  if (value.text() == "nan") return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

struct Fault {
  std::size_t byte = 0;   ///< the first is 1
  std::string detail;     ///< the library's complaint, without its number of the error
  std::string too_large;  ///< the number that no double can hold, if that is the fault

  /// Throws Error naming the file and, for a number, the field; `at` says where the fault is.
  [[noreturn]] void refuse(const std::string& where, const std::string& field, const std::string& at) const {
    constexpr const char* remedy = "mend the file or write it again";
    if (too_large.empty()) throw Error(where, fmt::format("invalid JSON at {}: {}", at, detail), remedy);
    throw Error(field.empty() ? where : where + ": " + field,
                fmt::format("is {:.40} at {}, beyond the largest number", too_large, at), remedy);
  }
};

[[noreturn]] void refuse_cut_off(const std::string& where, std::size_t count, std::string_view unit) {
  throw Error(where, fmt::format("ends in the middle, after {} {}", count, unit),
              "the file is cut off: write it again");
}

/// Keeps one value of a repeated key. Sorts the keys, since a hostile object may have 10^5 of them.
Json::Object one_of_each_key(Json::Object members, RepeatedKey wanted) {
  std::vector<std::size_t> order(members.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) -> const std::string& { return members[i].first; });
  std::vector<bool> repeated(members.size());
  for (std::size_t i = 1; i < order.size(); ++i) {
    repeated[order[wanted == RepeatedKey::last ? i - 1 : i]] =
        members[order[i - 1]].first == members[order[i]].first;
  }
  Json::Object out;
  out.reserve(members.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!repeated[i]) out.push_back(std::move(members[i]));
  }
  return out;
}

/// The library's events, whose names these are, up to the fault that ends them.
class Events : public nlohmann::json_sax<Library> {
 public:
  bool binary(binary_t&) override { return true; }
  bool parse_error(std::size_t position, const std::string& token, const Library::exception& error) override {
    constexpr int number_overflow = 406;
    const std::string_view text = error.what();
    const bool overflows = error.id == number_overflow;
    fault.byte = overflows ? position - token.size() + 1 : position;
    fault.detail = text.substr(std::min(text.find("syntax error"), text.size()));
    if (fault.detail.empty()) fault.detail = text;
    if (overflows) fault.too_large = token;
    return false;
  }

  Fault fault;
};

class Builder : public Events {
 public:
  explicit Builder(RepeatedKey wanted) : wanted_(wanted) {}
  bool null() override { return add(nullptr); }
  bool boolean(bool one) override { return add(one); }
  bool number_integer(number_integer_t one) override { return add(one); }
  bool number_unsigned(number_unsigned_t one) override { return add(one); }
  bool number_float(number_float_t one, const string_t&) override { return add(one); }
  bool string(string_t& one) override { return add(std::move(one)); }
  bool start_object(std::size_t) override { return open_.push_back({.is_object = true}), true; }
  bool start_array(std::size_t) override { return open_.push_back({}), true; }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    open_.back().members.emplace_back(std::move(name), nullptr);
    return true;
  }
  /// The place of the value that comes next, as JsonField names it.
  std::string place() const {
    std::string out;
    for (const Container& one : open_) {
      if (!one.is_object) {
        out += fmt::format("[{}]", one.items.size());
      } else if (!one.members.empty()) {  // before its first key there is none
        out += (out.empty() ? "" : ".") + one.members.back().first;
      }
    }
    return out;
  }

  Json value;

 private:
  bool add(Json item) {
    if (open_.empty()) {
      value = std::move(item);
    } else if (open_.back().is_object) {
      open_.back().members.back().second = std::move(item);
    } else {
      open_.back().items.push_back(std::move(item));
    }
    return true;
  }
  bool close() {
    Container closed = std::move(open_.back());
    open_.pop_back();
    if (!closed.is_object) return add(Json(std::move(closed.items)));
    return add(Json::object(one_of_each_key(std::move(closed.members), wanted_)));
  }

  struct Container {
    bool is_object = false;
    Json::Object members;
    Json::Array items;
  };
  RepeatedKey wanted_;
  std::vector<Container> open_;
};

/// Hands the events on.
class Scanner : public Events {
 public:
  explicit Scanner(JsonEvents& events) : events_(events) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t value) override { return number(static_cast<double>(value)); }
  bool number_unsigned(number_unsigned_t value) override { return number(static_cast<double>(value)); }
  bool number_float(number_float_t value, const string_t&) override { return number(value); }
  bool string(string_t& value) override { return events_.text(value), true; }
  bool start_object(std::size_t) override { return events_.start_object(), true; }
  bool end_object() override { return events_.end_object(), true; }
  bool start_array(std::size_t) override { return events_.start_array(), true; }
  bool end_array() override { return events_.end_array(), true; }
  bool key(string_t& name) override {
    last_key = name;
    return events_.key(name), true;
  }

  std::string last_key;

 private:
  bool number(double value) { return events_.number(value), true; }

  JsonEvents& events_;
};

std::string text_of_plain(const Library& value) {
  return value.dump(-1, ' ', false, Library::error_handler_t::replace);
}

/// JSON is printed, too: what a terminal obeys is escaped in the way of JSON.
std::string text_of_string(const Library& value) {
  std::string plain = text_of_plain(value);
  if (visible(plain) == plain) return plain;
  return value.dump(-1, ' ', /*ensure_ascii=*/true, Library::error_handler_t::replace);
}

void dump_to(std::string& out, const Json& value, std::size_t most) {
  if (value.is_array()) {
    const char* before = "[";
    for (const Json& item : value.items()) {
      out += std::exchange(before, ",");
      dump_to(out, item, most);
      if (out.size() > most) return;
    }
    out += value.empty() ? "[]" : "]";
  } else if (value.is_object()) {
    const char* before = "{";
    for (const auto& [key, item] : value.members()) {
      out += std::exchange(before, ",") + text_of_string(key) + ":";
      dump_to(out, item, most);
      if (out.size() > most) return;
    }
    out += value.empty() ? "{}" : "}";
  } else if (value.is_string()) {
    out += text_of_string(value.text());
  } else if (const auto whole = value.index()) {
    out += std::to_string(*whole);
  } else if (const auto large = value.unsigned_integer()) {
    out += std::to_string(*large);
  } else if (value.is_number()) {
    out += text_of_plain(value.number());
  } else {
    out += value.is_boolean() ? (value.boolean() ? "true" : "false") : "null";
  }
}

}  // namespace

Json::Json() = default;
Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

Json::Json(bool value) : value_(value) {}
Json::Json(std::int64_t value) : value_(value) {}
Json::Json(std::uint64_t value) : value_(value) {}
Json::Json(double value) : value_(value) {}
Json::Json(std::string value) : value_(std::move(value)) {}
Json::Json(std::string_view value) : value_(std::string(value)) {}
Json::Json(const char* value) : value_(std::string(value)) {}
Json::Json(std::initializer_list<Member> members) : value_(Object(members)) {}
Json::Json(Array items) : value_(std::move(items)) {}

Json Json::array(std::initializer_list<Json> items) { return Json(Value(Array(items))); }
Json Json::object() { return Json(Value(Object())); }
Json Json::object(Object members) { return Json(Value(std::move(members))); }

double Json::number() const {
  if (const auto* number = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*number);
  if (const auto* number = std::get_if<std::uint64_t>(&value_)) return static_cast<double>(*number);
  return std::get<double>(value_);
}

std::optional<Index> Json::index() const {
  if (const auto* number = std::get_if<std::int64_t>(&value_)) return *number;
  const auto* number = std::get_if<std::uint64_t>(&value_);
  if (number == nullptr || *number > std::uint64_t{std::numeric_limits<Index>::max()}) return std::nullopt;
  return static_cast<Index>(*number);
}

std::optional<std::uint64_t> Json::unsigned_integer() const {
  if (const auto* number = std::get_if<std::uint64_t>(&value_)) return *number;
  const auto* number = std::get_if<std::int64_t>(&value_);
  if (number == nullptr || *number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

std::size_t Json::size() const {
  if (const auto* array = std::get_if<Array>(&value_)) return array->size();
  const auto* object = std::get_if<Object>(&value_);
  return object == nullptr ? 0 : object->size();
}

const Json* Json::find(std::string_view key) const {
  const auto* object = std::get_if<Object>(&value_);
  if (object == nullptr) return nullptr;
  const auto member = std::ranges::find(*object, key, &Member::first);
  return member == object->end() ? nullptr : &member->second;
}

const Json& Json::at(std::string_view key) const {
  const Json* member = find(key);
  if (member == nullptr) throw Error("JSON", fmt::format("has no \"{}\"", key), "");
  return *member;
}

Json& Json::operator[](std::string_view key) {
  if (is_null()) value_ = Object();
  auto& object = std::get<Object>(value_);
  const auto member = std::ranges::find(object, key, &Member::first);
  return member == object.end() ? object.emplace_back(key, Json()).second : member->second;
}

void Json::push_back(Json item) {
  if (is_null()) value_ = Array();
  std::get<Array>(value_).push_back(std::move(item));
}

void Json::erase(std::string_view key) {
  std::erase_if(std::get<Object>(value_), [&](const Member& member) { return member.first == key; });
}

std::string Json::dump() const {
  std::string out;
  dump_to(out, *this);
  return out;
}

bool operator==(const Json& a, const Json& b) {
  if (a.is_integer() && b.is_integer()) {
    return a.index() == b.index() && a.unsigned_integer() == b.unsigned_integer();
  }
  return a.is_number() && b.is_number() ? a.number() == b.number() : a.value_ == b.value_;
}

std::ostream& operator<<(std::ostream& out, const Json& value) { return out << value.dump(); }

Json Json::parse(const std::string& text) { return parse_json(text, "JSON"); }

void scan_json(std::istream& in, JsonEvents& events, const std::string& where) {
  Scanner scanner(events);
  if (Library::sax_parse(in, &scanner)) return;
  const Fault& fault = scanner.fault;
  if (fault.detail.find("unexpected end of input") != std::string::npos)
    refuse_cut_off(where, fault.byte, "characters");
  fault.refuse(where, scanner.last_key, fmt::format("character {}", fault.byte));
}

Json json_number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

double shortened(double value) {
  const std::string text = fmt::format("{:.7g}", value);
  double out = value;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

std::string json_text(const Json& value) {
  std::string out;
  append(out, value, 0);
  return out;
}

Json parse_json(const std::string& text, const std::string& where, RepeatedKey wanted) {
  require_shallow(text, where);
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw Error(where, "is empty", "write it again, or name another file");
  }
  Builder builder(wanted);
  if (Library::sax_parse(text, &builder)) return std::move(builder.value);
  const std::size_t byte = std::min(builder.fault.byte > 0 ? builder.fault.byte - 1 : 0, text.size());
  if (text.find_first_not_of(" \t\r\n", byte) == std::string::npos)
    refuse_cut_off(where, text.size(), "bytes");
  const auto before = std::string_view(text).substr(0, byte);
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  builder.fault.refuse(
      where, builder.place(),
      fmt::format("line {}, column {}", std::ranges::count(before, '\n') + 1, byte - line_start + 1));
}

std::string JsonMender::mended(std::string_view piece) {
  constexpr std::size_t longest_word = 64;
  const std::string text = std::exchange(held_, "").append(piece);
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    if (!quoted_) {
      const std::size_t end = std::min(text.find_first_of("{}[],:\" \t\r\n", i), text.size());
      if (end == text.size() && end - i <= longest_word) {
        held_ = text.substr(i);
        break;
      }
      const std::string word = text.substr(i, end - i);
      out += is_not_finite(word) ? "null" : word;
      if (end < text.size()) out += text[end];
      quoted_ = end < text.size() && text[end] == '"';
      i = end + 1;
      continue;
    }
    std::size_t length = 1;
    if (text[i] == '\\') {
      const char next = i + 1 < text.size() ? text[i + 1] : 'u';
      if (next == 'u' && text.size() - i < 6) {
        held_ = text.substr(i);
        break;
      }
      const auto digits = std::string_view(text).substr(i + 2, 4);
      const bool is_code = next == 'u' && digits.find_first_not_of("0123456789abcdefABCDEF") == digits.npos;
      if (is_code || std::string_view("\"\\/bfnrt").find(next) != std::string_view::npos) {
        length = 2;
      } else {
        out += '\\';
      }
    }
    quoted_ = text[i] != '"';
    if (static_cast<unsigned char>(text[i]) < ' ') {
      out += ' ';
    } else {
      out.append(text, i, length);
    }
    i += length;
  }
  return out;
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

void JsonField::require_object() const {
  if (!value_->is_object()) refuse(fmt::format("is {}, must be an object", kind(*value_)));
}

std::optional<JsonField> JsonField::find(std::string_view key) const {
  require_object();
  const Json* member = value_->find(key);
  if (member == nullptr || member->is_null()) return std::nullopt;
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
  for (const Json& item : value_->items())
    out.push_back(JsonField(item, *this, fmt::format("[{}]", out.size())));
  return out;
}

std::vector<std::pair<std::string, JsonField>> JsonField::members() const {
  require_object();
  std::vector<std::pair<std::string, JsonField>> out;
  out.reserve(value_->size());
  for (const auto& [key, item] : value_->members()) out.emplace_back(key, JsonField(item, *this, key));
  return out;
}

std::string JsonField::text() const {
  if (!value_->is_string()) refuse(fmt::format("is {}, must be a string", kind(*value_)));
  return value_->text();
}

double JsonField::number() const {
  const auto number = as_number(*value_);
  if (!number) refuse(fmt::format("is {}, must be a number", kind(*value_)));
  return *number;
}

Index JsonField::integer(Index low, Index high) const {
  const auto value = value_->index();
  if (!value || *value < low || *value > high) {
    refuse(low == high ? fmt::format("is {}, must be {}", shown(*value_), low)
                       : fmt::format("is {}, must be an integer from {} to {}", shown(*value_), low, high));
  }
  return *value;
}

std::uint64_t JsonField::unsigned_integer() const {
  const auto value = value_->unsigned_integer();
  if (!value) refuse(fmt::format("is {}, must be an integer from 0", shown(*value_)));
  return *value;
}

bool JsonField::boolean() const {
  if (!value_->is_boolean()) refuse(fmt::format("is {}, must be true or false", kind(*value_)));
  return value_->boolean();
}

std::vector<double> JsonField::numbers() const {
  if (!value_->is_array()) refuse(fmt::format("is {}, must be an array", kind(*value_)));
  std::vector<double> out;
  out.reserve(value_->size());
  for (const Json& item : value_->items()) {
    const auto number = as_number(item);
    // Only a fault spells out its place: files hold tens of thousands of samples.
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
