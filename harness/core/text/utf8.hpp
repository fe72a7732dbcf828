/// Characters of a text of which nobody knows whether it is UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay {

/// Stands for bytes that are no UTF-8: U+FFFD.
inline constexpr std::string_view replacement_character = "\xEF\xBF\xBD";

/// Bytes of the UTF-8 character that `text` begins with; 0 when it begins with none.
std::size_t character_length(std::string_view text);

/// At most `most` bytes of the text, cut between two characters, with an ellipsis where something is missing.
std::string abridged(std::string_view text, std::size_t most);

}  // namespace assay
