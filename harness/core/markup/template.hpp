/// Documents from templates: https://mustache.github.io/mustache.5.html, with four differences.
///
///   - Every name must have a value, and no tag writes one as it is: `{{{name}}}` is an error.
///   - `{{#name?}}` stands for whether there is anything: the head of a table that may be empty. In a list,
///     `{{#more?}}, {{/more?}}` stands between the items.
///   - In Markdown the text around a tag says what it is: `{{name}}` between backticks becomes code, whatever
///     backticks the value has, in a fenced block a part of it, elsewhere prose.
///   - In HTML a value within `<script type="application/json">` is a text of JSON. No value stands in
///   another
///     script, in a style sheet, or in an attribute without quotes.
#pragma once

#include "core/json/json.hpp"

#include <string>
#include <string_view>

namespace assay {

enum class Escaping { markdown, html };

/// Fills the template `text`. Null, false, empty texts, lists and objects hide a section and write nothing;
/// numbers are written as JSON has them. `{{> name}}` is another template of reports/templates/. Markdown
/// comes without runs of blank lines, so that sections may leave some behind. Throws Error naming `where`,
/// the line or the tag.
std::string rendered(std::string_view where, std::string_view text, const Json& values, Escaping escaping);

/// Fills reports/templates/NAME, which the program was built with; its ending, .md, .html or .svg, says how
/// values are escaped.
std::string document(std::string_view name, const Json& values);

}  // namespace assay
