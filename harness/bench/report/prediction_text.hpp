/// Predicted epochs of a suite, for the terminal.
#pragma once

#include "assay/epoch.hpp"

#include <string>
#include <vector>

namespace assay {

/// Each prediction with its largest contributions, and what is left out, in lines of at most 80 characters.
std::string prediction_text(const std::string& suite, const std::vector<Prediction>& predictions);

}  // namespace assay
