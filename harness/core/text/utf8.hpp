/// Characters of a text of which nobody knows whether it is UTF-8.
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

}  // namespace assay
