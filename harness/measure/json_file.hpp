/// JSON as our files hold it: text that a diff can read, and fields read with messages that name their place.
#pragma once

#include "assay/problem.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Keys stay in the order they were written, so that files of two runs can be compared line by line.
using Json = nlohmann::ordered_json;

/// A number, or the words "inf", "-inf" and "nan", which JSON has no numbers for.
Json json_number(double value);

/// Lists and objects stand on one line where they hold only plain values or fit in 110 columns, else each
/// item on its own line. Without a newline at the end.
std::string json_text(const Json& value);

/// Throws Error naming `where`, line and column for text that is empty, cut off or no JSON, and for values
/// that nest more than 200 deep.
Json parse_json(const std::string& text, const std::string& where);

/// A value with the place it stands in, such as `trials[3].launches`, which every message names.
class JsonField {
 public:
  /// A whole file; `remedy` ends every message about it. `value` must outlive this.
  JsonField(const Json& value, std::string where, std::string remedy);

  /// The named member. Throws Error when this is no object or has no such member.
  JsonField at(std::string_view key) const;
  /// The named member; nothing when it is missing or null.
  std::optional<JsonField> find(std::string_view key) const;
  /// The items of an array.
  std::vector<JsonField> items() const;

  std::string text() const;
  double number() const;
  Index integer(Index low, Index high) const;
  std::uint64_t unsigned_integer() const;
  bool boolean() const;
  /// An array of numbers.
  std::vector<double> numbers() const;

  /// Members that may be missing.
  std::string text_or(std::string_view key, std::string fallback) const;
  double number_or(std::string_view key, double fallback) const;

  const Json& value() const { return *value_; }
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  JsonField(const Json& value, const JsonField& parent, const std::string& step);
  const Json* value_;
  std::string where_, path_, remedy_;
};

/// Throws Error unless `field` holds the schema that this program reads.
void require_schema(const JsonField& file, std::string_view expected);

}  // namespace assay
