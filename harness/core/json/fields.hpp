/// A stored type names its fields once, in a function `describe(Fields&, Type&)` beside it, and is read,
/// written and told as JSON Schema by that:
///
///     void describe(Fields& f, Cache& cache) {
///       f("level", cache.level, {.low = 0, .high = 9, .about = "1 is next to the core"});
///       f("bytes", cache.bytes);
///       f("sharers", cache.sharers, {.optional = true, .low = 1});
///     }
///
/// Or, where fields are called as the members are and have no rules, `ASSAY_FIELDS_OF(Cache, level, bytes)`
/// defines that function, and `ASSAY_FIELDS(f, cache, level, bytes);` names these in one.
///
/// Argument-dependent lookup finds it, so it stands in the namespace of the type; it is not static, so that
/// two descriptions of one type do not link. A type that is no object in files has a specialization of Form.
#pragma once

#include "core/json/json.hpp"

#include <algorithm>
#include <concepts>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// Macros, since C++20 has no other way to a member's name. Each scan expands one more of the members.
#define ASSAY_FIELDS_OF(Type, ...) \
  void describe(Fields& fields, Type& value) { ASSAY_FIELDS(fields, value, __VA_ARGS__) }
#define ASSAY_FIELDS(fields, value, ...) ASSAY_SCAN(ASSAY_FIELD(fields, value, __VA_ARGS__))
#define ASSAY_FIELD(fields, value, member, ...) \
  fields(#member, (value).member);              \
  __VA_OPT__(ASSAY_LATER_FIELD ASSAY_NO_ARGUMENT(fields, value, __VA_ARGS__))
#define ASSAY_NO_ARGUMENT ()
#define ASSAY_LATER_FIELD() ASSAY_FIELD
#define ASSAY_SCAN(...) ASSAY_SCAN_4(ASSAY_SCAN_4(ASSAY_SCAN_4(ASSAY_SCAN_4(__VA_ARGS__))))
#define ASSAY_SCAN_4(...) ASSAY_SCAN_1(ASSAY_SCAN_1(ASSAY_SCAN_1(ASSAY_SCAN_1(__VA_ARGS__))))
#define ASSAY_SCAN_1(...) __VA_ARGS__

namespace assay {

class Fields;
template <class T>
concept Described = std::is_class_v<T> && requires(Fields& fields, T& value) {
  describe(fields, value);
};

/// The rule that one field must keep to, and the items of a list or map.
struct FieldRequirement {
  bool optional = false;  ///< may be missing or null: the value stays as it is
  bool terse = false;     ///< optional, and left out where it is empty, zero or false
  bool null = false;      ///< written as null, and not left out, where there is none
  Index low = std::numeric_limits<Index>::min(), high = std::numeric_limits<Index>::max();  ///< of integers
  double above = -std::numeric_limits<double>::infinity();  ///< of other numbers, itself excluded
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool seven_digits = false;    ///< written shortened()
  std::string_view about = {};  ///< for whoever writes such a file; static storage
};

/// Numbers that are neither infinite nor NaN.
inline constexpr FieldRequirement finite_number{.least = std::numeric_limits<double>::lowest(),
                                                .most = std::numeric_limits<double>::max()};

/// The longest time that a file may hold, 30 years, and the most of anything else that is counted or
/// measured: sums and products of such numbers stay finite.
inline constexpr double most_seconds = 1e9, most_amount = 1e30;
/// No time is as short as this: ratios of times, and their logarithms, stay finite.
inline constexpr double shortest_seconds = 1e-100;

/// The form of a type in JSON: schema(), json() and read(), which throws Error naming file, path and reason.
template <class T>
struct Form;

class Fields {
 public:
  using Rule = FieldRequirement;

  template <class T>
  void operator()(std::string_view name, T& value, const Rule& rule = {});
  /// Left out where there is none.
  template <class T>
  void operator()(std::string_view name, std::optional<T>& value, const Rule& rule = {});
  /// A word for an enumerator; `words` has them in the order 0, 1, ….
  template <class Enum>
    requires(std::is_enum_v<Enum>)
  void operator()(std::string_view name, Enum& value, std::span<const std::string_view> words,
                  const Rule& rule = {}) {
    int position = static_cast<int>(value);
    word(name, position, words, rule);
    value = static_cast<Enum>(position);
  }
  /// An object whose keys are one member of the items, in file order, whose values are the others, or one.
  template <class T>
  void keyed(std::string_view name, std::vector<T>& items, std::string T::*key, const Rule& rule = {}) {
    keyed(name, items, key, std::identity(), rule);
  }
  template <class T, class Value>
  void keyed(std::string_view name, std::vector<T>& items, std::string T::*key, Value value,
             const Rule& rule = {});
  /// A value that follows from other fields: written for whoever reads the file, ignored by this program.
  template <class T>
  void derived(std::string_view name, const T& value, const Rule& rule = {});

  /// The member "schema", which must be `name`.
  void schema(std::string_view name);
  /// Refuses keys that T does not have, and names the nearest that it has. Called before other fields.
  template <Described T>
  void only();
  /// Called last: hands the keys that were not named to the reader; `type` is the schema of their values.
  std::vector<std::pair<std::string, JsonField>> others(Json type);

  bool reads() const { return in_ != nullptr; }
  bool writes() const { return in_ == nullptr && !tells_; }
  bool tells() const { return tells_; }
  /// Refuses the value of a field, or the object where the field is missing. For readers alone.
  [[noreturn]] void refuse(std::string_view name, const std::string& what) const;
  /// Refuses the first item of a list whose key, a text, an item before it has, for the reason `what`. Does
  /// nothing unless it reads.
  template <class T, class Key>
  void unique(std::string_view name, const std::vector<T>& items, Key key, std::string_view what) const;
  /// Returns the object that is read. For readers alone.
  const JsonField& place() const { return *in_; }

  /// For Form alone.
  explicit Fields(const JsonField& in) : in_(&in) {}
  Fields(Json& out, bool tells) : out_(&out), tells_(tells) {}

 private:
  void require_known(const Json& properties) const;
  /// Returns the named member, where it is there. For readers alone.
  std::optional<JsonField> member(std::string_view name, const Rule& rule);
  void tell(std::string_view name, Json type, const Rule& rule);
  void word(std::string_view name, int& position, std::span<const std::string_view> words, const Rule& rule);

  const JsonField* in_ = nullptr;
  Json* out_ = nullptr;  ///< the object that is written, or the schema of it
  bool tells_ = false;
  std::vector<std::string_view> names_;  ///< of all fields so far
};

/// Throws Error naming the place where the value is not of this type.
template <class T>
T value_from(const JsonField& field) {
  T value{};
  Form<T>::read(field, value, {});
  return value;
}
/// Reads the text of a whole file. Throws Error naming `where`, the file; `remedy` ends the message.
template <class T>
T value_from(const std::string& text, const std::string& where, const std::string& remedy) {
  const Json file = parse_json(text, where);
  return value_from<T>(JsonField(file, where, remedy));
}

template <class T>
Json to_value(const T& value) {
  return Form<T>::json(value, {});
}

/// The text of a file that holds it.
template <class T>
std::string to_json(const T& value) {
  return json_text(to_value(value));
}

template <class T>
Json schema_of() {
  return Form<T>::schema({});
}

template <Described T>
struct Form<T> {
  static Json schema(const Fields::Rule&) {
    Json out{{"type", "object"}, {"properties", Json::object()}};
    T value{};
    Fields fields(out, /*tells=*/true);
    describe(fields, value);
    return out;
  }
  static Json json(const T& value, const Fields::Rule&) {
    Json out = Json::object();
    Fields fields(out, /*tells=*/false);
    describe(fields, const_cast<T&>(value));  // a writer changes nothing
    return out;
  }
  static void read(const JsonField& field, T& value, const Fields::Rule&) {
    field.require_object();
    Fields fields(field);
    describe(fields, value);
  }
};

template <>
struct Form<bool> {
  static Json schema(const Fields::Rule&) { return {{"type", "boolean"}}; }
  static Json json(bool value, const Fields::Rule&) { return value; }
  static void read(const JsonField& field, bool& value, const Fields::Rule&) { value = field.boolean(); }
};

template <std::integral T>
struct Form<T> {
  static Json schema(const Fields::Rule& rule) {
    const Fields::Rule own = within(rule);
    Json out{{"type", "integer"}};
    if (own.low != std::numeric_limits<Index>::min()) out["minimum"] = own.low;
    if (own.high != std::numeric_limits<Index>::max()) out["maximum"] = own.high;
    return out;
  }
  static Json json(T value, const Fields::Rule&) { return value; }
  static void read(const JsonField& field, T& value, const Fields::Rule& rule) {
    const Fields::Rule own = within(rule);
    if (std::same_as<T, std::uint64_t> && own.low == 0 && own.high == std::numeric_limits<Index>::max()) {
      value = static_cast<T>(field.unsigned_integer());
    } else {
      value = static_cast<T>(field.integer(own.low, own.high));
    }
  }

 private:
  static Fields::Rule within(const Fields::Rule& rule) {
    constexpr auto most = std::numeric_limits<T>::max();
    constexpr bool beyond = std::cmp_greater(most, std::numeric_limits<Index>::max());
    return {.low = std::max(rule.low, static_cast<Index>(std::numeric_limits<T>::min())),
            .high = beyond ? rule.high : std::min(rule.high, static_cast<Index>(most))};
  }
};

template <>
struct Form<double> {
  static Json schema(const Fields::Rule& rule);
  static Json json(double value, const Fields::Rule& rule);
  static void read(const JsonField& field, double& value, const Fields::Rule& rule);
};

template <class T>
  requires(std::same_as<T, std::string> || std::same_as<T, std::filesystem::path>)
struct Form<T> {
  static Json schema(const Fields::Rule&) { return {{"type", "string"}}; }
  static Json json(const std::string& value, const Fields::Rule&) { return value; }
  static void read(const JsonField& field, T& value, const Fields::Rule&) { value = field.text(); }
};

/// A value of any form, for the caller to make sense of.
template <>
struct Form<Json> {
  static Json schema(const Fields::Rule&) { return Json::object(); }
  static Json json(const Json& value, const Fields::Rule&) { return value; }
  static void read(const JsonField& field, Json& value, const Fields::Rule&) { value = field.value(); }
};

/// Reads an array without a place for each item: files hold 10^5 samples.
std::vector<double> numbers_from(const JsonField& field, const Fields::Rule& rule);

template <class T>
struct Form<std::vector<T>> {
  static Json schema(const Fields::Rule& rule) {
    return {{"type", "array"}, {"items", Form<T>::schema(rule)}};
  }
  static Json json(const std::vector<T>& values, const Fields::Rule& rule) {
    Json items = Json::array();
    for (const T& value : values) items.push_back(Form<T>::json(value, rule));
    return items;
  }
  static void read(const JsonField& field, std::vector<T>& values, const Fields::Rule& rule) {
    if constexpr (std::same_as<T, double>) {
      values = numbers_from(field, rule);
    } else {
      values.clear();
      for (const JsonField& item : field.items()) Form<T>::read(item, values.emplace_back(), rule);
    }
  }
};

template <class T>
struct Form<std::map<std::string, T>> {
  static Json schema(const Fields::Rule& rule) {
    return {{"type", "object"}, {"additionalProperties", Form<T>::schema(rule)}};
  }
  static Json json(const std::map<std::string, T>& values, const Fields::Rule& rule) {
    Json::Object members;
    for (const auto& [key, value] : values) members.emplace_back(key, Form<T>::json(value, rule));
    return Json::object(std::move(members));
  }
  static void read(const JsonField& field, std::map<std::string, T>& values, const Fields::Rule& rule) {
    values.clear();
    for (const auto& [key, item] : field.members()) Form<T>::read(item, values[key], rule);
  }
};

template <class T>
void Fields::operator()(std::string_view name, T& value, const Rule& rule) {
  if (tells_) {
    tell(name, Form<T>::schema(rule), rule);
  } else if (writes()) {
    bool is_nothing = false;
    if constexpr (std::is_arithmetic_v<T>) is_nothing = value == T{};
    if constexpr (std::same_as<T, Json>) {
      is_nothing = value.is_null();
    } else if constexpr (requires { value.empty(); }) {
      is_nothing = value.empty();
    }
    if (!(rule.terse && is_nothing)) (*out_)[name] = Form<T>::json(value, rule);
  } else if (const auto found = member(name, rule)) {
    Form<T>::read(*found, value, rule);
  }
}

template <class T>
void Fields::operator()(std::string_view name, std::optional<T>& value, const Rule& rule) {
  if (writes() && !value) {
    if (rule.null) (*out_)[name] = nullptr;
    return;
  }
  Rule may_be_missing = rule;
  may_be_missing.optional = true;
  if (reads()) {
    value.reset();
    if (in_->find(name)) value.emplace();
  }
  T none{};
  (*this)(name, value ? *value : none, may_be_missing);
}

template <class T, class Value>
void Fields::keyed(std::string_view name, std::vector<T>& items, std::string T::*key, Value value,
                   const Rule& rule) {
  using Own = Form<std::remove_cvref_t<std::invoke_result_t<Value, T&>>>;
  if (tells_) {
    tell(name, {{"type", "object"}, {"additionalProperties", Own::schema(rule)}}, rule);
  } else if (writes()) {
    Json::Object members;
    for (const T& item : items) members.emplace_back(item.*key, Own::json(std::invoke(value, item), rule));
    if (!(rule.terse && items.empty())) (*out_)[name] = Json::object(std::move(members));
  } else if (const auto found = member(name, rule)) {
    items.clear();
    for (const auto& [own, field] : found->members()) {
      items.emplace_back().*key = own;
      Own::read(field, std::invoke(value, items.back()), rule);
    }
  }
}

template <Described T>
void Fields::only() {
  if (tells_) (*out_)["additionalProperties"] = false;
  if (reads()) require_known(schema_of<T>().at("properties"));
}

template <class T, class Key>
void Fields::unique(std::string_view name, const std::vector<T>& items, Key key,
                    std::string_view what) const {
  std::set<std::string> keys;
  for (std::size_t i = 0; reads() && i < items.size(); ++i) {
    const std::string& own = std::invoke(key, items[i]);
    if (!keys.insert(own).second) in_->at(name).items()[i].refuse(std::string(what) + " " + own);
  }
}

template <class T>
void Fields::derived(std::string_view name, const T& value, const Rule& rule) {
  if (reads()) return names_.push_back(name);
  Rule may_be_missing = rule;
  may_be_missing.optional = true;
  (*this)(name, const_cast<T&>(value), may_be_missing);
}

}  // namespace assay
