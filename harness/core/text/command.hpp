/// The command that repeats one row of a verdict, safe to paste; and expressions that somebody typed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// An extended regular expression of POSIX that stands for the text itself, on one line.
std::string expression_for(std::string_view text);

enum class Grammar { ecmascript, posix_extended };
/// Says why a text is no regular expression; empty where it is one. A huge one is none, since the standard
/// library compiles it by calls that would use up the stack.
std::string why_no_expression(const std::string& text, Grammar grammar = Grammar::ecmascript);

/// `command` with a `-k` behind it that selects the trial of this key alone (and its naive variant, which
/// every case keeps). The key may come from an untrusted change: it is quoted for the regular expression and
/// for the shell, and stays on one line.
std::string repeat_command(const std::string& command, const std::string& key);

/// The text as one word of a shell's command line; in quotes where it needs them.
std::string shell_word(const std::string& text);

/// The words of a command line as a shell parts them, with quotes and backslashes and nothing else of a
/// shell. Throws Error where a quote is not closed.
std::vector<std::string> shell_words(const std::string& line);

}  // namespace assay
