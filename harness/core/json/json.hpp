/// JSON of our files: values, text that a diff can read, and fields whose messages name their place. The
/// whole project reads and writes JSON through this header. nlohmann-json stays behind it, since each file
/// that includes that library takes six seconds to compile.
#pragma once

#include "assay/problem.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace assay {

/// Any JSON value. Members of an object keep their order, so that files of two runs can be compared line by
/// line. Asking a value for another kind throws std::bad_variant_access, a fault of the program: files are
/// read through JsonField.
class Json {
 public:
  using Member = std::pair<std::string, Json>;
  using Array = std::vector<Json>;
  using Object = std::vector<Member>;

  Json();  ///< null
  Json(std::nullptr_t) : Json() {}
  // Out of line, since inline they would take most of the compile time of each file that uses JSON, and GCC
  // 12 warns of an uninitialized variant.
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();
  Json(bool value);
  Json(std::int64_t value);
  Json(std::uint64_t value);
  template <std::integral T>
    requires(sizeof(T) > 1)
  Json(T value)
      : Json(static_cast<std::conditional_t<std::signed_integral<T>, std::int64_t, std::uint64_t>>(value)) {}
  Json(double value);
  Json(std::string value);
  Json(std::string_view value);
  Json(const char* value);
  explicit Json(Array items);
  template <class T>
    requires(std::convertible_to<const T&, Json>)
  Json(const std::vector<T>& values) : Json(array()) {
    for (const auto& value : values) push_back(Json(value));
  }
  /// An object: `{{"name", value}, …}`.
  Json(std::initializer_list<Member> members);

  static Json array(std::initializer_list<Json> items = {});
  static Json object();
  /// Returns the object of these members, whose keys differ.
  static Json object(Object members);
  /// Throws Error for text that is no JSON; parse_json() says where the text is from.
  static Json parse(const std::string& text);

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_boolean() const { return std::holds_alternative<bool>(value_); }
  bool is_integer() const { return index() || unsigned_integer(); }
  bool is_number() const { return is_integer() || std::holds_alternative<double>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }
  bool is_structured() const { return is_array() || is_object(); }

  bool boolean() const { return std::get<bool>(value_); }
  double number() const;
  const std::string& text() const { return std::get<std::string>(value_); }
  /// Returns nothing where it is no integer, or one beyond `Index`.
  std::optional<Index> index() const;
  /// Returns nothing where it is no integer, or below zero.
  std::optional<std::uint64_t> unsigned_integer() const;

  const Array& items() const { return std::get<Array>(value_); }
  const Object& members() const { return std::get<Object>(value_); }
  /// Returns the number of items of an array or object; 0 for other values.
  std::size_t size() const;
  bool empty() const { return size() == 0; }
  /// The named member; null pointer where there is none, or this is no object.
  const Json* find(std::string_view key) const;
  bool contains(std::string_view key) const { return find(key) != nullptr; }
  const Json& at(std::string_view key) const;
  const Json& at(std::size_t item) const { return items().at(item); }
  /// The named member, made where it is missing; null becomes an object.
  Json& operator[](std::string_view key);
  const Json& operator[](std::string_view key) const { return at(key); }
  Json& operator[](int item) { return std::get<Array>(value_).at(static_cast<std::size_t>(item)); }
  const Json& operator[](int item) const { return items().at(static_cast<std::size_t>(item)); }
  Json& operator[](std::size_t item) { return std::get<Array>(value_).at(item); }
  const Json& operator[](std::size_t item) const { return items().at(item); }
  /// Appends to an array; null becomes one.
  void push_back(Json item);
  /// The named member, where there is one.
  void erase(std::string_view key);

  /// Writes one line, without spaces. Bytes that are no UTF-8 are replaced: texts come from command lines
  /// and files, and one that cannot be written must not cost the results of a long run.
  std::string dump() const;
  /// Compares numbers by value, across kinds.
  friend bool operator==(const Json& a, const Json& b);
  friend std::ostream& operator<<(std::ostream& out, const Json& value);

 private:
  using Value =
      std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Array, Object>;
  explicit Json(Value value) : value_(std::move(value)) {}
  Value value_;
};

/// A number, or the words "inf", "-inf" and "nan", which JSON has no numbers for.
Json json_number(double value);

/// Returns the number rounded to seven digits: a tick of 1 ns in a slice of 0.1 ms and more is the fifth, and
/// shorter numbers halve a file.
double shortened(double value);

/// Lists and objects stand on one line where they hold only plain values or fit in 110 columns, else each
/// item on its own line. Without a newline at the end.
std::string json_text(const Json& value);

/// Which value of a repeated key counts. Google Benchmark writes its fields before counters of any name.
enum class RepeatedKey { last, first };

/// Throws Error naming `where`, line and column for text that is empty, cut off or no JSON, for numbers
/// beyond all doubles, and for values that nest more than 200 deep.
Json parse_json(const std::string& text, const std::string& where, RepeatedKey wanted = RepeatedKey::last);

/// Makes JSON of a text that other programs write for it, piece by piece. Bare words for numbers that are not
/// finite (NaN, Infinity, -nan(ind), 1.#INF) become null, and raw control characters in texts blanks; a
/// backslash that escapes nothing stands for itself.
class JsonMender {
 public:
  std::string mended(std::string_view piece);

 private:
  bool quoted_ = false;
  std::string held_;  ///< a word or an escape that may go on in the next piece
};

/// Receives what scan_json() finds in a text, in its order. Numbers of all kinds are doubles.
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;
  virtual void key(std::string& name) = 0;
  virtual void text(std::string& value) = 0;
  virtual void number(double value) = 0;
  virtual void start_object() = 0;
  virtual void end_object() = 0;
  virtual void start_array() = 0;
  virtual void end_array() = 0;
};

/// Reads a text of any length without holding it. Throws Error naming `where` and the character for text that
/// is cut off or no JSON.
void scan_json(std::istream& in, JsonEvents& events, const std::string& where);

/// A value with the place it stands in, such as `trials[3].launches`, which every message names.
class JsonField {
 public:
  /// A whole file; `remedy` ends every message about it. `value` must outlive this.
  JsonField(const Json& value, std::string where, std::string remedy);

  /// The named member. Throws Error when this is no object or has no such member.
  JsonField at(std::string_view key) const;
  /// The named member; nothing when it is missing or null.
  std::optional<JsonField> find(std::string_view key) const;
  std::vector<JsonField> items() const;
  /// Returns the members of an object, null ones too.
  std::vector<std::pair<std::string, JsonField>> members() const;
  void require_object() const;

  std::string text() const;
  double number() const;
  Index integer(Index low, Index high) const;
  std::uint64_t unsigned_integer() const;
  bool boolean() const;
  std::vector<double> numbers() const;

  /// Members that may be missing.
  std::string text_or(std::string_view key, std::string fallback) const;
  double number_or(std::string_view key, double fallback) const;

  const Json& value() const { return *value_; }
  const std::string& path() const { return path_; }
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  JsonField(const Json& value, const JsonField& parent, const std::string& step);
  const Json* value_;
  std::string where_, path_, remedy_;
};

/// Throws Error unless `field` holds the schema that this program reads.
void require_schema(const JsonField& file, std::string_view expected);

}  // namespace assay
