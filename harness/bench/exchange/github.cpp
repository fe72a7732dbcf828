#include "bench/exchange/github.hpp"

#include "bench/compare/words.hpp"
#include "core/text/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

namespace assay {
namespace {

/// Commands in the summary; the table above them has all rows.
constexpr std::size_t most_commands = 10;

/// Wrong, impossible and failed rows, then slower ones, the slowest first.
std::vector<const Verdict*> worst(const Comparison& comparison) {
  std::vector<const Verdict*> wrong, slower;
  for (const Verdict& verdict : comparison.verdicts) {
    if (is_fault(verdict.standing)) wrong.push_back(&verdict);
    if (verdict.standing == Standing::slower) slower.push_back(&verdict);
  }
  std::ranges::stable_sort(slower, std::greater{}, [](const Verdict* v) { return v->ratio.middle; });
  wrong.insert(wrong.end(), slower.begin(), slower.end());
  return wrong;
}

/// The message of a workflow command, or with `property` the value of one of its properties.
std::string command_text(std::string_view text, bool property = false) {
  std::string out;
  for (const char c : text) {
    const bool special = c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','));
    out += special ? fmt::format("%{:02X}", static_cast<int>(c)) : std::string(1, c);
  }
  return out;
}

std::string message_of(const Verdict& verdict, const std::string& command) {
  const std::string found = verdict.standing == Standing::slower
                                ? fmt::format("{}, limit {}", in_words(verdict), limit_in_words(verdict))
                                : verdict.why;
  return fmt::format("{} {}\nagain: {}", verdict.key, found, repeat_command(command, verdict.key));
}

/// For the inside of <pre>, where Markdown has no effect. A blank line would not end it, but a tag would.
std::string preformatted(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      default: out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
  }
  return out;
}

std::string commands(const Comparison& comparison, const std::string& command) {
  const auto rows = worst(comparison);
  if (rows.empty()) return "";
  std::string lines;
  for (std::size_t i = 0; i < std::min(rows.size(), most_commands); ++i) {
    lines += preformatted(repeat_command(command, rows[i]->key)) + '\n';
  }
  return fmt::format("\n<details><summary>Repeat</summary>\n\n<pre>\n{}</pre>\n\n</details>\n", lines);
}

std::size_t count_of(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string_view::npos; at += what.size()) ++count;
  return count;
}

/// Keeps whole lines only, and closes what is open. `what` is limited in size.
std::string shortened(const std::string& text, std::size_t room, std::string_view what) {
  const std::string note =
      fmt::format("\nThe rest is cut off, since a {} is limited in size: see the results.\n", what);
  constexpr std::size_t for_closing = 100;
  if (text.size() <= room) return text;
  if (room < note.size() + for_closing) return "";
  const std::size_t end = text.rfind('\n', room - note.size() - for_closing);
  std::string out = end == std::string::npos ? "" : text.substr(0, end + 1);
  if (count_of(out, "<pre>") > count_of(out, "</pre>")) out += "</pre>\n";
  if (count_of(out, "<details>") > count_of(out, "</details>")) out += "\n</details>\n";
  return out.append(note);
}

}  // namespace

std::string github_annotations(const Comparison& comparison, const std::string& suite,
                               const std::string& command) {
  std::vector<std::string> errors;
  const auto add = [&](const char* kind, const std::string& message) {
    errors.push_back(fmt::format("::error title={}::{}\n",
                                 command_text(fmt::format("{} in {}", kind, suite), true),
                                 command_text(message)));
  };
  for (const Verdict* row : worst(comparison)) {
    add(reports_an_error(*row)                  ? "error"
        : row->standing == Standing::wrong      ? "disagreement"
        : row->standing == Standing::impossible ? "impossible time"
        : row->standing == Standing::crashed    ? "crash"
        : row->standing == Standing::timed_out  ? "hang"
                                                : "regression",
        message_of(*row, command));
  }
  for (const std::string& objection : comparison.objections) add("expired acceptance", objection);
  std::string out;
  for (std::size_t i = 0; i < std::min(errors.size(), most_annotations); ++i) out += errors[i];
  if (errors.size() > most_annotations) {
    out += fmt::format("::error title={}::and {} more\n", command_text(suite, true),
                       errors.size() - most_annotations);
  }
  return out;
}

std::string github_summary(const Comparison& comparison, const Results& before, const Results& after,
                           const std::string& command, std::size_t bytes_there) {
  const std::size_t room = most_summary_bytes - std::min(most_summary_bytes, bytes_there);
  // A blank line before it: what stands there may end in a paragraph.
  return shortened("\n" + comparison_markdown(comparison, before, after) + commands(comparison, command),
                   room, "summary");
}

std::string github_comment(const std::string& markdown) {
  return shortened(markdown, most_comment_bytes, "comment");
}

std::string github_outputs(const Comparison& comparison, const std::string& verdict) {
  return fmt::format("verdict={}\nregressions={}\n", verdict, comparison.count(Standing::slower));
}

}  // namespace assay
