/// Hashes of machine code that a program carries, put there by its own build.
#pragma once

#include <span>
#include <string_view>

namespace assay {

struct CodeRow {
  std::string_view source;  ///< path of the registering file from the project's folder
  std::string_view code;
};

/// Announces hashes to Registry::linked(). Like Register, a static object of this type only links itself into
/// a list. `rows` must outlive it.
class CodeTable {
 public:
  explicit CodeTable(std::span<const CodeRow> rows) noexcept;

  /// Empty when no table in the program has it.
  static std::string_view code_of(std::string_view source);

 private:
  std::span<const CodeRow> rows_;
  const CodeTable* next_;
};

}  // namespace assay
