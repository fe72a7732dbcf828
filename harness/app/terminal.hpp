/// Colours and rewritten lines, which a terminal shows beyond plain text. Every verb's words come as text
/// that is whole without colours: the mark of a row and the word of an outcome tell its standing by their
/// shape.
#pragma once

#include "assay/shard.hpp"

#include <string>

namespace assay {

/// Whether lines may be rewritten: on a terminal that is not dumb, and not under CI, whose logs keep every
/// line.
bool may_rewrite_lines(bool is_terminal, const Environment& environment);

/// Whether colours may be shown: where lines may be rewritten, unless NO_COLOR says otherwise (no-color.org).
bool may_show_colours(bool is_terminal, const Environment& environment);

/// The same of a file of this process, such as STDOUT_FILENO.
bool may_rewrite_lines(int descriptor);
bool may_show_colours(int descriptor);

/// Returns `text` with the mark at the start of each row, and the word that its last line begins with, in the
/// colour of what they stand for: red what fails, green what is well, yellow what is open, dim what needs no
/// look. Nothing else is changed.
std::string painted(const std::string& text);

}  // namespace assay
