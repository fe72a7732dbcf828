/// Selection of names by regular expression, with one spelling for every verb.
#pragma once

#include <regex>
#include <string>
#include <string_view>

namespace assay {

/// POSIX extended expression, searched for; a leading '-' selects what does not match, as in Google
/// Benchmark. Empty selects all.
class Filter {
 public:
  /// Throws Error when `text` is no regular expression.
  explicit Filter(const std::string& text);
  bool selects(const std::string& name) const;

 private:
  bool negated_;
  bool selects_all_;
  std::regex expression_;
};

}  // namespace assay
