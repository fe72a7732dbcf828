// Text made safe for Markdown, and templates filled with it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Text from outside as prose: it renders as itself, on one line and within its table cell. Markup, HTML and
/// formulas have no effect; no name is mentioned, no issue is referred to and no address becomes a link.
std::string escaped(std::string_view text);

/// Text from outside as code, on one line, whatever backticks it contains. Safe inside tables.
std::string code(std::string_view text);

/// Lines from outside as a fenced block, whatever backticks they contain.
std::string code_block(std::string_view language, const std::vector<std::string>& lines);

/// A pipe table; `alignment` has one of `l` and `r` per column. Cells are Markdown already.
std::string markdown_table(std::string_view alignment, const std::vector<std::string>& columns,
                           const std::vector<std::vector<std::string>>& rows);

/// Replaces every `{{name}}`. Throws Error on a placeholder without a value, on a value without a placeholder
/// and on an unclosed one: a template and the report it is for never drift apart in silence.
std::string fill_template(std::string_view where, std::string_view text,
                          const std::map<std::string, std::string>& values);

}  // namespace assay
