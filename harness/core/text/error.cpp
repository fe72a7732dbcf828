#include "assay/error.hpp"

namespace assay {

Error::Error(const std::string& where, const std::string& what, const std::string& remedy)
    : std::runtime_error(where + ": " + what + (remedy.empty() ? "" : "\n  " + remedy)) {}

}  // namespace assay
