/// A program's knowledge of its own machine code, put there by its build.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Functions that code calls and that are compiled elsewhere.
struct Calls {
  std::string to;                  ///< `threads`, `system`, or a library
  std::vector<std::string> names;  ///< as people write them, `tbb::detail::r1::spawn`
};

struct CodeRow {
  std::string_view source;  ///< path of the registering file from the project's folder
  std::string_view code;    ///< hash; empty when it is not known
  std::optional<std::string_view> calls = std::nullopt;  ///< lines of `to name`, as Calls
};

/// Announces rows to Registry::linked(). Like Register, a static object of this type only links itself into
/// a list. `rows` must outlive it.
class CodeTable {
 public:
  explicit CodeTable(std::span<const CodeRow> rows) noexcept;

  /// Empty when no table in the program has it.
  static std::string_view code_of(std::string_view source);
  /// Nothing when no table in the program has it.
  static std::optional<std::vector<Calls>> calls_of(std::string_view source);

 private:
  static const CodeRow* find(std::string_view source);

  std::span<const CodeRow> rows_;
  const CodeTable* next_;
};

}  // namespace assay
