/// The command that repeats one row of a verdict, safe to paste.
#pragma once

#include <string>
#include <string_view>

namespace assay {

/// An extended regular expression of POSIX that stands for the text itself, on one line.
std::string expression_for(std::string_view text);

/// `command` with a `-k` behind it that selects the trial of this key alone (and its naive variant, which
/// every case keeps). The key may come from an untrusted change: it is quoted for the regular expression and
/// for the shell, and stays on one line.
std::string repeat_command(const std::string& command, const std::string& key);

/// The text as one word of a shell's command line; in quotes where it needs them.
std::string shell_word(const std::string& text);

}  // namespace assay
