/// Characters of a text of which nobody knows whether it is UTF-8, and lines of them that fit a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay {

/// Bytes of the UTF-8 character that `text` begins with; 0 when it begins with none.
std::size_t character_length(std::string_view text);

enum class Lines {
  one,      ///< a space stands for the end of a line, and for a tab
  several,  ///< both stay as they are
};

/// Returns text that shows as itself wherever it is printed. Controls (C0, DEL and C1), bytes that are no
/// UTF-8, characters that change the direction of writing (U+202A to U+202E, U+2066 to U+2069), and U+FFFE
/// and U+FFFF, which no XML may hold, are written byte by byte as `\x1b`. Every text from outside passes here
/// before a terminal, Markdown, HTML or XML has it: a file must not move a cursor or forge a line.
std::string visible(std::string_view text, Lines lines = Lines::several);

/// At most `most` bytes of the text, cut between two characters, with an ellipsis where something is missing.
std::string abridged(std::string_view text, std::size_t most);

/// The width of tables.
inline constexpr std::size_t terminal_width = 80;

/// Characters that a terminal shows: bytes that do not continue a UTF-8 sequence.
std::size_t display_width(std::string_view text);

/// Breaks the text into lines of at most `widest` characters, each but the first behind `indent`: after
/// spaces, else after commas. A longer word stays whole, so that it can be copied.
std::string wrapped(std::string_view text, std::size_t widest, std::string_view indent = "");

}  // namespace assay
