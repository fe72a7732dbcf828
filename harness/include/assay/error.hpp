/// A fault outside the program: a file, a key, an option or an environment that cannot be used.
#pragma once

#include <stdexcept>
#include <string>

namespace assay {

/// Thrown for faults the user can mend. Expected outcomes (disagreement, regression,
/// skip) are values instead.
class Error : public std::runtime_error {
 public:
  /// `where` names the file, key or option; `what` says what is wrong with it; `remedy` what to do. Escape
  /// characters in them, from a file, are shown as `\x1b`.
  Error(const std::string& where, const std::string& what, const std::string& remedy);
};

}  // namespace assay
