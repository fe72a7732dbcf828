/// The text that tables of verdicts share: marks, and text from untrusted changes made harmless for the
/// terminal.
#pragma once

#include "assay/compare.hpp"

#include <string>
#include <string_view>

namespace assay {

/// States differ in shape and not in colour alone.
std::string_view mark(Standing standing);

/// Nothing in it moves the cursor, and it is no wider than `width`.
std::string printable(std::string_view text, std::size_t width);

}  // namespace assay
