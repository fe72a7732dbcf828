/// Selection of names by regular expression, with one spelling for every verb.
#pragma once

#include "assay/registry.hpp"

#include <regex>
#include <string>

namespace assay {

/// POSIX extended expression, searched for in `operation/variant` or in a trial's key. A leading '-' inverts
/// the match, as in Google Benchmark. Empty selects all. The whole name of an operation selects that
/// operation alone, and no operation whose name begins with it.
class Filter {
 public:
  /// Throws Error when `text` is no regular expression.
  Filter(const std::string& text, const Registry& registry);
  bool selects(const std::string& name) const;
  /// Throws the Error of a filter that selects nothing in `where`.
  [[noreturn]] void throw_selects_nothing(const std::string& where) const;

 private:
  std::string text_;
  bool negated_;
  bool selects_all_;
  std::regex expression_;
};

}  // namespace assay
