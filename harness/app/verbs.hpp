/// The verbs: one row for each way in which a word is used, with its own options and the function that does
/// it.
#pragma once

#include "app/option_list.hpp"
#include "assay/outcome.hpp"
#include "assay/registry.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// A call of a verb: its options, which are still to be read, and the function that performs it then.
struct Call {
  OptionList options;
  std::function<Outcome(const Registry&)> perform;
};

struct Verb {
  /// The name, and the options that choose this row among those of its name: `gate --base --suite,-s`.
  std::string_view row;
  std::string_view about;
  Call (*make)();
  bool hidden = false;  ///< the program starts itself with it

  std::string_view name() const { return row.substr(0, row.find(" --")); }  ///< `gate`, `tune loader`
  std::vector<std::string_view> chosen_by() const;                          ///< `--base`, `--suite,-s`
  std::string title() const;                                                ///< `assay gate --base --suite`
};

/// In the order of the help. Of the rows of one name, the first whose options are all given is meant.
std::span<const Verb> verbs();

}  // namespace assay
