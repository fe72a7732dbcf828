// The audit as words, as a document and as JSON.
#include "bench/compare/row_text.hpp"
#include "bench/report/audit_report.hpp"
#include "bench/report/content.hpp"
#include "core/json/fields.hpp"
#include "core/machine/fields.hpp"
#include "core/machine/record.hpp"
#include "core/markup/template.hpp"
#include "core/text/figures.hpp"
#include "core/text/wrapped.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace assay {
namespace {

constexpr std::size_t shown_cases = 8;
constexpr std::size_t most_summary_findings = 3;

std::string_view phase_word(AuditPhase phase) { return audit_phases[static_cast<std::size_t>(phase)]; }

std::string_view whole_of(const AuditReport& report) {
  return report.is_network ? "an epoch" : "a call of each case";
}

/// The lowest and the highest share of the roof; empty where none is known.
std::string roof_text(const AuditFinding& finding) {
  double low = 0, high = 0;
  for (const AuditedCase& one : finding.cases) {
    if (one.share_of_roof <= 0) return "";
    low = low == 0 ? one.share_of_roof : std::min(low, one.share_of_roof);
    high = std::max(high, one.share_of_roof);
  }
  return low == high ? percent_text(high) : percent_text(low) + " to " + percent_text(high);
}

std::string memory_text(const AuditFinding& finding) {
  if (finding.allocations <= 0 && finding.workspace_bytes <= 0) return "allocates nothing and keeps nothing";
  return fmt::format("{} allocations a call, keeps {}", count_text(finding.allocations),
                     finding.workspace_bytes > 0 ? bytes_text(finding.workspace_bytes) : "nothing");
}

std::string expected_text(const AuditFinding& finding) {
  return finding.expected ? speedup_text(*finding.expected) : "";
}

std::string coverage_text(const AuditReport& report) {
  return report.present.coverage > 0
             ? "intervals hold the true value in " + percent_text(report.present.coverage) + " of such runs"
             : "launches are too few or differ, so that there is no interval";
}

Json finding_values(const AuditReport& report, std::size_t at) {
  const AuditFinding& one = report.findings[at];
  Json cases = Json::array();
  for (const AuditedCase& own : one.cases) {
    if (cases.size() == shown_cases) break;
    cases.push_back(Json{{"key", own.key}, {"present", own.present}, {"speedup", speedup_text(own.speedup)}});
  }
  const std::size_t more = one.cases.size() - cases.size();
  const EvidenceFile file = report.files.empty() ? EvidenceFile{} : report.files.front();
  return Json{{"number", fmt::format("{}", at + 1)},
              {"variant", one.variant},
              {"location", one.location},
              {"issue", one.issue},
              {"change", one.change},
              {"phase", phase_word(one.phase)},
              {"share", percent_text(one.share)},
              {"speedup", speedup_text(one.speedup)},
              {"saved", seconds_text(one.saved)},
              {"error", figure(one.worst_error)},
              {"memory", memory_text(one)},
              {"prepare", one.prepare_seconds > 1e-6 ? seconds_text(one.prepare_seconds) : ""},
              {"roof", roof_text(one)},
              {"file", file.name},
              {"hash", file.hash},
              {"cases", std::move(cases)},
              {"more_cases", more > 0 ? fmt::format("{}", more) : ""},
              {"risks", one.risks},
              {"expected", expected_text(one)},
              {"as_expected", one.as_expected}};
}

std::string outcome_line(const AuditReport& report) {
  if (report.findings.empty()) {
    return fmt::format("Nothing was found that makes {} faster, in {} process starts", whole_of(report),
                       report.run.launches);
  }
  const AuditTotal& last = report.totals.back();
  return fmt::format("{} as fast: {} takes {} and then {}, by {}", speedup_text(last.gain), whole_of(report),
                     seconds_text(report.present), seconds_text(last.seconds),
                     quantity_text(std::ssize(report.findings), "finding"));
}

}  // namespace

std::vector<SummaryLine> summary_lines(const AuditReport& report) {
  std::vector<SummaryLine> out{{"", outcome_line(report)}};
  const ClaimsRun& run = report.run;
  out.push_back({"", fmt::format("Suite {} at commit {}, {} process starts on {}, {}; {}", run.suite,
                                 run.commit, run.launches, run.machine, run.date, coverage_text(report))});
  for (std::size_t i = 0; i < std::min(most_summary_findings, report.findings.size()); ++i) {
    const AuditFinding& one = report.findings[i];
    out.push_back({one.variant, fmt::format("saves {}, {} in its cases: {}", seconds_text(one.saved),
                                            speedup_text(one.speedup), one.location)});
  }
  for (const AuditTotal& total : report.totals) {
    if (total.findings == 0) continue;
    out.push_back({"", fmt::format("After {} ({}): {}, {} in all", phase_word(total.phase),
                                   quantity_text(static_cast<std::int64_t>(total.findings), "finding"),
                                   seconds_text(total.seconds), speedup_text(total.gain))});
  }
  const auto expected =
      std::ranges::count_if(report.findings, [](const auto& one) { return one.expected.has_value(); });
  if (expected > 0) {
    out.push_back(
        {"", fmt::format("As the run before let expect: {} of {}",
                         std::ranges::count(report.findings, true, &AuditFinding::as_expected), expected)});
  }
  if (!report.unmeasured.empty())
    out.push_back({"", quantity_text(std::ssize(report.unmeasured), "variant") + " expected, not measured"});
  out.push_back(
      {"", fmt::format("{} of the run, {} not examined", quantity_text(std::ssize(report.risks), "risk"),
                       quantity_text(std::ssize(report.not_examined), "thing"))});
  return out;
}

std::string to_text(const AuditReport& report) {
  std::string out;
  const auto add = [&](const SummaryLine& line) {
    const std::string text = line.variant + (line.variant.empty() ? "" : " ") + line.text;
    out += wrapped(printable(text, 8 * terminal_width), terminal_width, "    ") + "\n";
  };
  const std::vector<SummaryLine> lines = summary_lines(report);
  add(lines[1]);
  // What matters most stands right above the outcome.
  for (std::size_t i = lines.size(); i-- > 2;) add(lines[i]);
  add({"", "AUDITED: " + lines.front().text});
  return out;
}

std::string to_markdown(const AuditReport& report) {
  Json findings = Json::array(), phases = Json::array(), unmeasured = Json::array(), files = Json::array();
  Json expected = Json::array(), summary = Json::array();
  for (const SummaryLine& line : summary_lines(report))
    summary.push_back(Json{{"variant", line.variant}, {"text", line.text}});
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    findings.push_back(finding_values(report, i));
    if (report.findings[i].expected) expected.push_back(finding_values(report, i));
  }
  for (const AuditTotal& total : report.totals) {
    Json of = Json::array();
    for (const AuditFinding& one : report.findings) {
      if (one.phase == total.phase) of.push_back(Json{{"variant", one.variant}});
    }
    phases.push_back(Json{{"phase", phase_word(total.phase)},
                          {"of", std::move(of)},
                          {"seconds", seconds_text(total.seconds)},
                          {"gain", speedup_text(total.gain)}});
  }
  for (const UnmeasuredFinding& one : report.unmeasured)
    unmeasured.push_back(Json{{"variant", one.variant}, {"location", one.location}, {"why", one.why}});
  for (const EvidenceFile& one : report.files)
    files.push_back(Json{{"name", one.name}, {"hash", one.hash}, {"what", one.what}});
  return document("audit.md", Json{{"suite", report.run.suite},
                                   {"summary", std::move(summary)},
                                   {"whole", whole_of(report)},
                                   {"findings", std::move(findings)},
                                   {"phases", std::move(phases)},
                                   {"expected", std::move(expected)},
                                   {"unmeasured", std::move(unmeasured)},
                                   {"risks", report.risks},
                                   {"not_examined", report.not_examined},
                                   {"weather", weather_text(report.run.weather)},
                                   {"command", report.run.command},
                                   {"files", std::move(files)}});
}

// Beside the types, where argument-dependent lookup finds them.
void describe(Fields& f, AuditedCase& one) {
  f("key", one.key);
  f("present", one.present);
  f("speedup", one.speedup);
  f("share_of_roof", one.share_of_roof, {.about = "0 where no roof is known or believed"});
}

void describe(Fields& f, AuditFinding& one) {
  f("variant", one.variant);
  f("location", one.location);
  f("issue", one.issue);
  f("change", one.change);
  f("phase", one.phase, audit_phases);
  f("share", one.share, {.about = "of the present whole"});
  f("speedup", one.speedup);
  f("saved", one.saved, {.about = "seconds"});
  f("worst_error", one.worst_error, {.about = "in units of the bound"});
  f("allocations", one.allocations);
  f("workspace_bytes", one.workspace_bytes);
  f("prepare_seconds", one.prepare_seconds);
  f("cases", one.cases);
  f("risks", one.risks);
  f("expected", one.expected, {.about = "speed-up of the same cases in the run before"});
  f("as_expected", one.as_expected);
}

void describe(Fields& f, UnmeasuredFinding& one) {
  f("variant", one.variant);
  f("location", one.location);
  f("why", one.why);
}

void describe(Fields& f, AuditTotal& total) {
  f("phase", total.phase, audit_phases);
  f("findings", total.findings);
  f("seconds", total.seconds);
  f("gain", total.gain, {.about = "composed, of this phase and those before it"});
}

void describe(Fields& f, AuditReport& report) {
  f.schema("assay.audit/1");
  f("run", report.run);
  f("files", report.files);
  f("is_network", report.is_network, {.about = "seconds are those of an epoch, else of a call of each case"});
  f("present", report.present, {.about = "seconds before anything is replaced"});
  f("findings", report.findings);
  f("unmeasured", report.unmeasured);
  f("totals", report.totals);
  f("risks", report.risks);
  f("not_examined", report.not_examined);
}

std::string to_json(const AuditReport& report) { return json_text(to_value(report)); }

}  // namespace assay
