#include "core/plan/filter.hpp"

#include "assay/error.hpp"
#include "core/plan/trial_key.hpp"

#include <algorithm>

namespace assay {

Filter::Filter(const std::string& text, const Registry& registry)
    : text_(text), negated_(text.starts_with('-')), selects_all_(text.empty() || text == "all") {
  try {
    const std::string pattern = with_present_names(negated_ ? text.substr(1) : text);
    const auto operations = registry.operations();
    const bool names_one = std::ranges::any_of(
        operations, [&](const Operation* operation) { return operation->name() == pattern; });
    expression_ = std::regex(names_one ? "^" + pattern + "/" : pattern, std::regex::extended);
  } catch (const std::regex_error&) {
    throw Error("filter '" + text + "'", "is not a regular expression",
                "quote special characters with \\, and close every bracket");
  }
}

bool Filter::selects(const std::string& name) const {
  return selects_all_ || std::regex_search(name, expression_) != negated_;
}

void Filter::throw_selects_nothing(const std::string& where) const {
  throw Error("filter '" + text_ + "'", "selects nothing in " + where,
              "`assay list` shows operations and variants; keys look like gemm/packed/m=64,n=64,k=64#1");
}

}  // namespace assay
