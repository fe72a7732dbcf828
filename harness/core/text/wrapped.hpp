/// Lines that fit a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay {

/// The width of tables.
inline constexpr std::size_t terminal_width = 80;

/// Characters that a terminal shows: bytes that do not continue a UTF-8 sequence.
std::size_t display_width(std::string_view text);

/// Breaks the text into lines of at most `widest` characters, each but the first behind `indent`: after
/// spaces, else after commas. A longer word stays whole, so that it can be copied.
std::string wrapped(std::string_view text, std::size_t widest, std::string_view indent = "");

}  // namespace assay
