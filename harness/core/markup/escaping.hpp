/// Text from outside made safe for the place of a document that it stands in.
#pragma once

#include <string>
#include <string_view>

namespace assay {

enum class Place {
  prose,      ///< of Markdown
  cell,       ///< prose of a table, where no block begins
  span,       ///< code between backticks, which are added
  cell_span,  ///< the same within a table
  fence,      ///< a line, or part of one, of a fenced block of code
  html,       ///< content and attributes in quotes
  summary,    ///< content of HTML within Markdown, where names are still mentioned
  terminal,   ///< a line that moves no cursor
  json,       ///< JSON in a script element, which nothing in it ends
};

/// Returns text that renders as itself, on one line and within its table cell. Markup, HTML and formulas have
/// no effect; no name is mentioned, no issue is referred to and no address becomes a link. It is visible().
std::string escaped(std::string_view text, Place place = Place::prose);

}  // namespace assay
