/// The text that tables of verdicts share: marks, and text from untrusted changes made harmless.
#pragma once

#include "assay/compare.hpp"

#include <string>
#include <string_view>

namespace assay {

/// States differ in shape and not in colour alone.
std::string_view mark(Standing standing);

/// For Markdown: text that renders as itself: no markup, mention, issue reference, link or second column.
std::string inert(std::string_view text);

/// For the terminal: nothing that moves the cursor, and nothing wider than `width`.
std::string printable(std::string_view text, std::size_t width);

}  // namespace assay
