#include "assay/error.hpp"

#include "core/text/utf8.hpp"

namespace assay {

Error::Error(const std::string& where, const std::string& what, const std::string& remedy)
    : std::runtime_error(visible(where + ": " + what + (remedy.empty() ? "" : "\n  " + remedy))) {}

}  // namespace assay
