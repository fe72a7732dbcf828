/// Sends a verb's words and JSON to their places, and checks these places before anything is measured. Every
/// verb's words come as text that is whole without what a terminal shows beyond it, colours and rewritten
/// lines: the mark of a row and the word of an outcome tell its standing by their shape. And progress on
/// standard error: one rewritten line on a terminal, a line now and then elsewhere; and interrupts of the
/// program, and crashes of a kernel.
#pragma once

#include "app/option_list.hpp"
#include "app/verbs.hpp"
#include "assay/hooks.hpp"
#include "assay/outcome.hpp"
#include "assay/report.hpp"
#include "assay/shard.hpp"
#include "core/markup/plot.hpp"
#include "core/text/utf8.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <optional>
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

/// Writes <folder>/<machine key>/<suite>.md, .json and .csv, makes the folders, and returns the path of the
/// first.
std::filesystem::path write_report(const Report& report, const std::filesystem::path& folder);

/// Writes the page and its pictures where they are asked for; `make` is not called where neither is.
void write_page(const PageFiles& files, const std::function<Page()>& make);

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

/// Estimates the time that is left from the pace so far. (The pace of the last half would forget how slow a
/// beginning was; in runs and checks of suites it was off as far, and jumped five times as much, since shares
/// come in fits and starts.) A later end is believed at once, an earlier one within a tenth of the time so
/// far.
class RemainingTime {
 public:
  /// At `time`, which never falls, `share` of the whole was done, from 0 to 1. A share that is smaller than
  /// one before changes nothing, unless it is below a half of that: then there is work that nobody foresaw,
  /// and all begins anew.
  void note(double time, double share);

  /// Seconds that are left at `time`: nothing as long as nobody can tell. Where a share is overdue they are a
  /// quarter of the time since the last one, so that the end is not at hand for minutes.
  std::optional<double> left(double time) const;

 private:
  struct Point {
    double time, share;
  };
  std::optional<Point> first_, last_;
  std::optional<double> whole_;  ///< when all will be done, as foretold at the last point
};

/// "about 40 s left", no finer than anybody can tell.
std::string remaining_text(double seconds);

/// "  12 s, about 40 s left  process start 2 of 6". What is left is told where it is known and all takes more
/// than five seconds.
std::string progress_line(double seconds, std::optional<double> left, std::string_view what);

/// Hooks that show progress, remember what is running for crash reports, and stop on an interrupt. The
/// destructor clears the line. With `quiet` nothing is shown.
class Progress {
 public:
  explicit Progress(bool quiet = false);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  Hooks hooks();

 private:
  void say(std::string_view what, std::optional<double> done);
  /// Shows how far it is, unless that was shown within so many seconds.
  void show_after(double seconds);
  bool quiet_, terminal_;
  double started_, shown_at_;
  RemainingTime remaining_;
  std::string what_;
};

/// From now on SIGINT, SIGTERM and SIGHUP ask for a stop instead of ending the process; a later one ends
/// it, with `code`.
void catch_interrupts(int code);
bool interrupted();

/// From now on a crash names what was running, on standard error, and exits with `code`.
void report_crashes(int code);
/// Notes what is running now, where a signal handler can read it.
void now_running(std::string_view what);

}  // namespace assay
