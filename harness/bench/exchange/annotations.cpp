#include "bench/exchange/annotations.hpp"

#include "assay/random.hpp"
#include "bench/compare/words.hpp"
#include "core/json/json.hpp"
#include "core/text/command.hpp"
#include "core/text/parts.hpp"
#include "core/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {
namespace {

const char* kind_of(const ComparedRow& verdict) {
  return reports_an_error(verdict)                  ? "error"
         : verdict.standing == Standing::wrong      ? "disagreement"
         : verdict.standing == Standing::impossible ? "impossible time"
         : verdict.standing == Standing::crashed    ? "crash"
         : verdict.standing == Standing::timed_out  ? "hang"
                                                    : "regression";
}

/// A cause may be a function. CI engines cannot place it in a file.
bool is_path(const std::string& cause) {
  return cause.find('/') != std::string::npos && cause.find(':') == std::string::npos &&
         cause.find('(') == std::string::npos;
}

/// Says why a row that is listed as slower fails: its time with the limit, its worse figures, or both.
std::string slower_in_words(const ComparedRow& row) {
  const std::string figures = figures_in_words(row, /*worse_only=*/true);
  if (row.standing != Standing::slower) return figures;
  return fmt::format("{}, limit {}{}{}", in_words(row), limit_in_words(row), figures.empty() ? "" : "; ",
                     figures);
}

struct FailedTrial {
  std::string kind;   ///< regression, disagreement, impossible time, crash, hang or error
  std::string key;    ///< of the trial
  std::string file;   ///< the changed source file behind it; empty where it is not known
  std::string text;   ///< the finding
  std::string again;  ///< the command that repeats it; empty where none is known
};

/// Returns wrong, impossible and failed rows, then slower rows, the slowest first.
std::vector<FailedTrial> failed_trials(const PullRequest& page) {
  std::vector<std::pair<double, FailedTrial>> faults, slower;
  for (std::size_t i = 0; i < page.comparison.rows.size(); ++i) {
    const ComparedRow& verdict = page.comparison.rows[i];
    const bool is_slower = listed_as(verdict) == Standing::slower;
    if (!is_slower && !is_fault(verdict.standing)) continue;
    FailedTrial one{.kind = kind_of(verdict), .key = verdict.key};
    one.text = is_slower ? slower_in_words(verdict) : verdict.why;
    if (!page.command.empty()) one.again = repeat_command(page.command, verdict.key);
    if (i < page.trials.size() && is_path(page.trials[i].cause)) one.file = page.trials[i].cause;
    (is_slower ? slower : faults).emplace_back(verdict.ratio.middle, std::move(one));
  }
  std::ranges::stable_sort(slower, std::greater{}, [](const auto& one) { return one.first; });
  std::vector<FailedTrial> out;
  for (auto* list : {&faults, &slower}) {
    for (auto& [ratio, one] : *list) out.push_back(std::move(one));
  }
  return out;
}

/// The message of a workflow command, or with `property` the value of one of its properties.
std::string command_text(std::string_view text, bool property = false) {
  const std::string out = spelled(visible(text), {{'%', "%25"}, {'\n', "%0A"}});
  return property ? spelled(out, {{':', "%3A"}, {',', "%2C"}}) : out;
}

/// Escapes text for content and for attributes in double quotes.
std::string xml(std::string_view text) {
  return spelled(
      visible(text),
      {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\t', "&#9;"}, {'\n', "&#10;"}});
}

bool fails(const ComparedRow& verdict) {
  const Standing standing = listed_as(verdict);
  return standing == Standing::slower || standing == Standing::wrong || standing == Standing::impossible;
}

bool passes(const ComparedRow& verdict) {
  const Standing standing = listed_as(verdict);
  return standing == Standing::same || standing == Standing::not_slower || standing == Standing::faster;
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
  const auto count = [&](auto which) { return std::ranges::count_if(comparison.rows, which); };
  const auto failures = count([](const ComparedRow&v) { return fails(v); }), passed = count(passes);
  const auto failed = count([](const ComparedRow& v) { return has_failed(v.standing); });
  const std::ptrdiff_t rows = std::ssize(comparison.rows), objections = std::ssize(comparison.objections),
                       error = has_error ? 1 : 0;
  return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", rows + objections + error,
                     failures + objections, failed + error, rows - failures - passed - failed);
}

}  // namespace

std::string gitlab_code_quality(const PullRequest& page, const std::string& elsewhere) {
  Json out = Json::array();
  for (const FailedTrial& one : failed_trials(page)) {
    const bool is_regression = one.kind == "regression";
    out.push_back(
        Json{{"description", visible(fmt::format("{} {}{}", one.key, one.text,
                                                 one.again.empty() ? "" : "; again: " + one.again))},
             {"check_name", "assay: " + one.kind},
             {"fingerprint", fmt::format("{:016x}", fnv1a(one.key, fnv1a(one.kind)))},
             {"severity", is_regression ? "major" : "critical"},
             {"location",
              Json{{"path", one.file.empty() ? elsewhere : one.file}, {"lines", Json{{"begin", 1}}}}}});
  }
  return json_text(out) + "\n";
}

std::string github_annotations(const PullRequest& page, const std::string& suite) {
  std::vector<std::string> errors;
  std::map<std::string, std::size_t> slowed;  // trials by changed file
  const std::vector<FailedTrial> failed = failed_trials(page);
  for (const FailedTrial& one : failed) slowed[one.file] += one.file.empty() ? 0U : 1U;
  std::set<std::string> told;
  for (const FailedTrial& one : failed) {
    if (!one.file.empty() && !told.insert(one.file).second) continue;
    const std::size_t others = slowed[one.file] - (one.file.empty() ? 0U : 1U);
    std::string message = fmt::format("{} {}", one.key, one.text);
    if (others > 0) message += fmt::format(", and {} more by this file", others);
    if (!one.again.empty()) message += "\nagain: " + one.again;
    errors.push_back(fmt::format(
        "::error {}title={}::{}\n", one.file.empty() ? "" : "file=" + command_text(one.file, true) + ",",
        command_text(fmt::format("{} in {}", one.kind, suite), true), command_text(message)));
  }
  for (const std::string& objection : page.comparison.objections) {
    errors.push_back(fmt::format("::error title={}::{}\n",
                                 command_text("expired acceptance in " + suite, true),
                                 command_text(objection)));
  }
  std::string out;
  for (std::size_t i = 0; i < std::min(errors.size(), most_annotations); ++i) out += errors[i];
  if (errors.size() > most_annotations) {
    out += fmt::format("::error title={}::and {} more\n", command_text(suite, true),
                       errors.size() - most_annotations);
  }
  return out;
}

std::string github_outputs(const Comparison& comparison, const std::string& verdict) {
  const auto regressions = std::ranges::count_if(
      comparison.rows, [](const ComparedRow& one) { return listed_as(one) == Standing::slower; });
  return fmt::format("verdict={}\nregressions={}\n", verdict, regressions);
}

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
