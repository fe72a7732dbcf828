/// The name of a trial, as results, baselines, ledgers and filters have it, also those of earlier versions,
/// and the selection of names by regular expression, with one spelling for every verb.
#pragma once

#include "assay/registry.hpp"

#include <optional>
#include <regex>
#include <string>
#include <string_view>

namespace assay {

struct TrialKey {
  std::string operation, variant, problem;
  int threads = 1;
  /// operation/variant/problem#threads
  std::string text() const;
};

/// Splits the key of a trial into its parts. Returns nothing for names of other programs.
std::optional<TrialKey> trial_key(std::string_view text);

/// Replaces former names of tiers by their present names, in the name of a variant, the key of a trial, or a
/// filter: gemm/simd@avx3/m=4,n=4,k=4#1 becomes gemm/simd@avx512/m=4,n=4,k=4#1.
std::string with_present_names(std::string text);

/// POSIX extended expression, searched for in `operation/variant` or in a trial's key. A leading '-' inverts
/// the match, as in Google Benchmark. Empty selects all. The whole name of an operation selects that
/// operation alone, and no operation whose name begins with it.
class Filter {
 public:
  /// Throws Error when `text` is no regular expression. Messages call it `name`.
  Filter(const std::string& text, const Registry& registry, const std::string& name = "filter");
  bool selects(const std::string& name) const;
  /// Throws the Error of a filter that selects nothing in `where`, whose names are like that one.
  [[noreturn]] void throw_selects_nothing(
      const std::string& where,
      const std::string& like = "gemm/packed/m=64,n=64,k=64#1, which `assay list` shows") const;

 private:
  std::string name_, text_;
  bool negated_;
  bool selects_all_;
  std::regex expression_;
};

}  // namespace assay
