/// Sends a verb's words and JSON to their places, and checks these places before anything is measured. Every
/// verb's words come as text that is whole without what a terminal shows beyond it, colours and rewritten
/// lines: the mark of a row and the word of an outcome tell its standing by their shape.
#pragma once

#include "app/option_list.hpp"
#include "app/verbs.hpp"
#include "assay/outcome.hpp"
#include "assay/report.hpp"
#include "assay/shard.hpp"
#include "core/markup/plot.hpp"
#include "core/text/utf8.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace assay {

/// Prints to `to` as fmt::print() does, and visible(): all that a verb says to a terminal goes through here,
/// since names in it may be those of a file from elsewhere.
template <class... Arguments>
void print_visible(std::FILE* to, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  fmt::print(to, "{}", visible(fmt::format(format, std::forward<Arguments>(arguments)...)));
}

/// Prints `words`, in colours where a terminal may show them, unless `where`, the place for JSON, is `-`,
/// standard output: then only JSON is printed. Otherwise writes JSON to that file afterwards, where it is
/// named: a failed write hides no finding.
void put(const std::string& where, const std::string& words, const std::string& json);

/// Does the same with a document, which has no colours: Markdown, say.
void put_document(const std::string& where, const std::string& text, const std::string& json);

/// Adds to the end of a file, at once. Throws Error with this remedy where it cannot be written.
void append_to_file(const std::filesystem::path& file, std::string_view text, const std::string& remedy);

/// The end of what a verb says: lighter findings, then the command to go on with, where there is one, and
/// last the outcome.
std::string ending(const std::string& next, const Outcome& outcome);

/// The line that names a command to go on with. A command of assay's is one of this program, as it was
/// called.
std::string next_line(const std::string& command);

/// Writes <folder>/<machine key>/<suite>.md, .json and .csv, makes the folders, and returns the path of the
/// first.
std::filesystem::path write_report(const Report& report, const std::filesystem::path& folder);

/// Writes the page and its pictures where they are asked for; `make` is not called where neither is.
void write_page(const PageFiles& files, const std::function<Page()>& make);

/// Writes a document wherever it is asked for, and prints it: `words` and `json` where they are given, else
/// as it is.
void publish(const Outputs& outputs, const doc::Document& document, const std::string& words = "",
             const std::string& json = "");

/// Throws Error naming the option and the path where a file or folder could not be written, and where two
/// options name one file. Writes nothing, and leaves what is there as it is.
void require_writable_outputs(const OptionList& options);

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
