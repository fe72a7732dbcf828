#include "bench/exchange/junit.hpp"

#include "bench/compare/words.hpp"
#include "core/text/command.hpp"
#include "core/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace assay {
namespace {

/// Escapes text for content and for attributes in double quotes.
std::string xml(std::string_view text) {
  std::string out;
  for (const char c : visible(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\t':
      case '\n': out += fmt::format("&#{};", static_cast<int>(c)); break;
      default: out += c;
    }
  }
  return out;
}

bool fails(const ComparedRow& verdict) {
  const Standing standing = listed_as(verdict);
  return standing == Standing::slower || standing == Standing::wrong || standing == Standing::impossible;
}

bool passes(const ComparedRow& verdict) {
  const Standing standing = listed_as(verdict);
  return standing == Standing::same || standing == Standing::faster;
}

std::string failure(const ComparedRow& verdict, const std::string& command) {
  const bool slower = verdict.standing == Standing::slower;
  std::string body = xml(verdict.why) + '\n';
  if (slower) {
    body += fmt::format("time after / time before {:.4g}, {:.0f} % interval {:.4g} to {:.4g}\n",
                        verdict.ratio.middle, 100 * verdict.ratio.coverage, verdict.ratio.low,
                        verdict.ratio.high);
  }
  body += "again: " + xml(repeat_command(command, verdict.key)) + '\n';
  return fmt::format("<failure type=\"{}\" message=\"{}\">\n{}</failure>",
                     !is_fault(verdict.standing)                ? "regression"
                     : verdict.standing == Standing::impossible ? "impossible"
                     : reports_an_error(verdict)                ? "error"
                                                                : "disagreement",
                     xml(is_fault(verdict.standing) ? verdict.why : slower_in_words(verdict)), body);
}

std::string test_case(const ComparedRow& verdict, const std::string& suite, const std::string& command) {
  const std::size_t slash = verdict.key.find('/');
  const bool split = slash != std::string::npos;
  const std::string start = fmt::format("  <testcase classname=\"{}.{}\" name=\"{}\"", xml(suite),
                                        xml(split ? verdict.key.substr(0, slash) : verdict.key),
                                        xml(split ? verdict.key.substr(slash + 1) : verdict.key));
  if (passes(verdict)) {
    const std::string figures = figures_in_words(verdict);
    return fmt::format("{}><system-out>{}</system-out></testcase>\n", start,
                       xml(in_words(verdict) + (figures.empty() ? "" : "; " + figures)));
  }
  if (has_failed(verdict.standing)) {
    return fmt::format("{}><error type=\"{}\" message=\"{}\"/></testcase>\n", start,
                       to_string(verdict.standing), xml(verdict.why));
  }
  if (fails(verdict)) return fmt::format("{}>{}</testcase>\n", start, failure(verdict, command));
  return fmt::format("{}><skipped message=\"{}\"/></testcase>\n", start,
                     xml(fmt::format("{}: {}", in_words(verdict), verdict.why)));
}

/// A test case for the whole comparison. `what` is the element that says why it does not pass.
std::string case_of_all(const std::string& suite, const std::string& name, const std::string& what,
                        const std::string& type, const std::string& message) {
  return fmt::format("  <testcase classname=\"{}\" name=\"{}\"><{} type=\"{}\" message=\"{}\"/></testcase>\n",
                     xml(suite), xml(name), what, type, xml(message));
}

std::string counts_of(const Comparison& comparison, bool has_error) {
  const auto& verdicts = comparison.rows;
  const auto failures = std::ranges::count_if(verdicts, [](const ComparedRow& v) { return fails(v); });
  const auto passed = std::ranges::count_if(verdicts, passes);
  const auto rows = static_cast<std::ptrdiff_t>(verdicts.size());
  const auto objections = static_cast<std::ptrdiff_t>(comparison.objections.size());
  const auto failed =
      std::ranges::count_if(verdicts, [](const ComparedRow& v) { return has_failed(v.standing); });
  const auto errors = failed + (has_error ? 1 : 0);
  return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
                     rows + objections + (has_error ? 1 : 0), failures + objections, errors,
                     rows - failures - passed - failed);
}

}  // namespace

std::string to_junit(const Comparison& comparison, const Results& current, const std::string& command,
                     const std::string& undecided) {
  const std::string counts = counts_of(comparison, !undecided.empty());
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {}>\n"
      " <testsuite name=\"{}\" hostname=\"{}\" timestamp=\"{}\" {}>\n",
      counts, xml(current.suite), xml(current.machine.key), xml(current.date), counts);
  for (const ComparedRow& verdict : comparison.rows) out += test_case(verdict, current.suite, command);
  for (const std::string& objection : comparison.objections) {
    out += case_of_all(current.suite, objection, "failure", "expired", objection);
  }
  if (!undecided.empty()) out += case_of_all(current.suite, "verdict", "error", "undecided", undecided);
  return out + " </testsuite>\n</testsuites>\n";
}

}  // namespace assay
