/// A stored type names its fields once, in a function `describe(Fields&, Type&)` beside it, and is read, written and
/// told as JSON Schema by that:
///
///     inline void describe(Fields& f, Cache& cache) {
///       f("level", cache.level, {.low = 0, .high = 9, .about = "1 is next to the core"});
///       f("bytes", cache.bytes);
///       f("sharers", cache.sharers, {.optional = true, .low = 1});
///     }
#pragma once

#include "core/json/json.hpp"

#include <concepts>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace assay {

class Fields;
template <class T>
concept Described = std::is_class_v<T> && requires(Fields& fields, T& value) { describe(fields, value); };


/// The rule that one field must keep to.
struct FieldRequirement {
  bool optional = false;  ///< may be missing or null: the value stays as it is
  bool terse = false;     ///< optional, and left out where it is empty, zero or false
  Index low = std::numeric_limits<Index>::min(), high = std::numeric_limits<Index>::max();  ///< of integers
  double least = -std::numeric_limits<double>::infinity();  ///< of other numbers
  double most = std::numeric_limits<double>::infinity();
  std::string_view about{};  ///< for whoever writes such a file; static storage
};

class Fields {
 public:
  using Rule = FieldRequirement;

  void operator()(std::string_view name, bool& value, const Rule& rule = {});
  void operator()(std::string_view name, int& value, const Rule& rule = {});
  void operator()(std::string_view name, Index& value, const Rule& rule = {});
  void operator()(std::string_view name, std::uint64_t& value, const Rule& rule = {});
  void operator()(std::string_view name, double& value, const Rule& rule = {});
  void operator()(std::string_view name, std::string& value, const Rule& rule = {});
  void operator()(std::string_view name, std::filesystem::path& value, const Rule& rule = {});
  void operator()(std::string_view name, std::vector<double>& value, const Rule& rule = {});
  void operator()(std::string_view name, std::vector<Index>& value, const Rule& rule = {});
  void operator()(std::string_view name, std::vector<std::string>& value, const Rule& rule = {});
  void operator()(std::string_view name, std::map<std::string, double>& value, const Rule& rule = {});
  /// A value of any form, for the caller to make sense of.
  void operator()(std::string_view name, Json& value, const Rule& rule = {});

  template <Described T>
  void operator()(std::string_view name, T& value, const Rule& rule = {});
  template <Described T>
  void operator()(std::string_view name, std::vector<T>& values, const Rule& rule = {});
  /// Missing where there is none.
  template <class T>
  void operator()(std::string_view name, std::optional<T>& value, const Rule& rule = {});
  /// One of `words`, which stand for the enumerators 0, 1, ….
  template <class Enum>
    requires std::is_enum_v<Enum>
  void operator()(std::string_view name, Enum& value, std::span<const std::string_view> words,
                  const Rule& rule = {}) {
    int position = static_cast<int>(value);
    word(name, position, words, rule);
    value = static_cast<Enum>(position);
  }

  /// The member "schema", which must be `name`.
  void schema(std::string_view name);
  /// Called last: keys that were not named are refused, with the nearest of those that were.
  void no_others();

  bool reads() const { return in_ != nullptr; }
  bool writes() const { return in_ == nullptr && !tells_; }
  /// Returns the object that is read, for messages about fields that contradict each other. For readers
  /// alone.
  const JsonField& place() const { return *in_; }

  /// For to_value(), value_from() and schema_of() alone.
  explicit Fields(const JsonField& in) : in_(&in) {}
  Fields(Json& out, bool tells) : out_(&out), tells_(tells) {}

 private:
  /// Returns the named member, where it is there. For readers alone.
  std::optional<JsonField> member(std::string_view name, const Rule& rule);
  void put(std::string_view name, Json value, bool is_nothing, const Rule& rule);
  void tell(std::string_view name, Json type, const Rule& rule);
  void word(std::string_view name, int& position, std::span<const std::string_view> words, const Rule& rule);

  const JsonField* in_ = nullptr;
  Json* out_ = nullptr;  ///< the object that is written, or the schema of it
  bool tells_ = false;
  std::vector<std::string_view> names_;  ///< of all fields so far
};

/// The object that `value` is stored as.
template <Described T>
Json to_value(const T& value) {
  Json out = Json::object();
  Fields fields(out, /*tells=*/false);
  describe(fields, const_cast<T&>(value));  // a writer changes nothing
  return out;
}

/// Throws Error naming file, path and reason.
template <Described T>
T value_from(const JsonField& field) {
  T value{};
  Fields fields(field);
  describe(fields, value);
  return value;
}

/// JSON Schema of what `T` is stored as.
template <Described T>
Json schema_of() {
  Json out{{"type", "object"}, {"properties", Json::object()}};
  T value{};
  Fields fields(out, /*tells=*/true);
  describe(fields, value);
  return out;
}

template <Described T>
void Fields::operator()(std::string_view name, T& value, const Rule& rule) {
  if (tells_) {
    tell(name, schema_of<T>(), rule);
  } else if (writes()) {
    put(name, to_value(value), false, rule);
  } else if (const auto found = member(name, rule)) {
    Fields fields(*found);
    describe(fields, value);
  }
}

template <Described T>
void Fields::operator()(std::string_view name, std::vector<T>& values, const Rule& rule) {
  if (tells_) {
    tell(name, {{"type", "array"}, {"items", schema_of<T>()}}, rule);
  } else if (writes()) {
    Json items = Json::array();
    for (const T& value : values) items.push_back(to_value(value));
    put(name, std::move(items), values.empty(), rule);
  } else if (const auto found = member(name, rule)) {
    values.clear();
    for (const JsonField& item : found->items()) values.push_back(value_from<T>(item));
  }
}

template <class T>
void Fields::operator()(std::string_view name, std::optional<T>& value, const Rule& rule) {
  Rule may_be_missing = rule;
  may_be_missing.optional = true;
  if (reads()) {
    value.reset();
    names_.push_back(name);
    if (!in_->find(name)) return;
    value.emplace();
  }
  T none{};
  if (writes() && !value) return;
  (*this)(name, value ? *value : none, may_be_missing);
}

}  // namespace assay
