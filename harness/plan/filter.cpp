#include "plan/filter.hpp"

#include "assay/error.hpp"

namespace assay {

Filter::Filter(const std::string& text)
    : negated_(text.starts_with('-')), selects_all_(text.empty() || text == "all") {
  try {
    expression_ = std::regex(negated_ ? text.substr(1) : text, std::regex::extended);
  } catch (const std::regex_error&) {
    throw Error("filter '" + text + "'", "is not a regular expression",
                "quote special characters with \\, and close every bracket");
  }
}

bool Filter::selects(const std::string& name) const {
  return selects_all_ || std::regex_search(name, expression_) != negated_;
}

}  // namespace assay
