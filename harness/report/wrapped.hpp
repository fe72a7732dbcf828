/// Lines that fit a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay {

/// Characters that a terminal shows: bytes that do not continue a UTF-8 sequence.
std::size_t display_width(std::string_view text);

/// Broken after spaces where there are any, into lines of at most `widest` characters, each but the first
/// behind `indent`; a newline at the end.
std::string wrapped(std::string_view text, std::string_view indent, std::size_t widest);

}  // namespace assay
