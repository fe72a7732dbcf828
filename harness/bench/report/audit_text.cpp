// The audit as words, as a document and as JSON.
#include "bench/report/audit_report.hpp"
#include "bench/report/content.hpp"
#include "core/json/fields.hpp"
#include "core/machine/fields.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay {
namespace {

using doc::code;
using doc::Text;

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

std::string coverage_text(const AuditReport& report) {
  return report.present.coverage > 0
             ? "intervals hold the true value in " + percent_text(report.present.coverage) + " of such runs"
             : "launches are too few or differ, so that there is no interval";
}

/// One finding with its evidence.
doc::Section finding_section(const AuditReport& report, std::size_t at) {
  const AuditFinding& one = report.findings[at];
  const EvidenceFile file = report.files.empty() ? EvidenceFile{} : report.files.front();
  const auto item = [](const char* name, Text text) { return doc::strong(name) + ": " + text + "."; };
  doc::List facts{.items = {item("Where", one.location), item("Issue", one.issue)}};
  if (!one.change.empty()) facts.items.push_back(item("Change", one.change));
  Text measured = doc::strong("Measured") + ": " + doc::speedup(one.speedup) + ", " +
                  doc::seconds(one.saved) + " of " + whole_of(report) + ".";
  if (one.expected) measured += " Expected by the run before: " + Text(doc::speedup(*one.expected)) + ".";
  facts.items.push_back(measured);
  facts.items.push_back(item("Agreement", "its worst error is " +
                                              Text(doc::amount(one.worst_error, "ratio")) +
                                              " of the bound that the contract derives"));
  facts.items.push_back(item("Memory", memory_text(one)));
  if (one.prepare_seconds > 1e-6)
    facts.items.push_back(item("Preparation", Text("takes ") + doc::seconds(one.prepare_seconds)));
  const std::string roof = roof_text(one);
  facts.items.push_back(item("Roof", roof.empty() ? "not known, or not believed" : roof));
  facts.items.push_back(item("Evidence", code(file.name) + ", FNV-1a " + code(file.hash)));
  for (const std::string& risk : one.risks) facts.items.push_back(item("Risk", risk));
  std::vector<Text> cases;
  for (std::size_t i = 0; i < std::min(shown_cases, one.cases.size()); ++i) {
    const AuditedCase& own = one.cases[i];
    cases.push_back(code(own.key) + ": " + doc::speedup(own.speedup) + " over " + code(own.present));
  }
  if (one.cases.size() > shown_cases)
    cases.push_back(fmt::format("and {} more cases", one.cases.size() - shown_cases));
  facts.items.push_back({doc::strong("Cases") + ":", std::move(cases)});
  return {.title = fmt::format("Finding {}: ", at + 1) + code(one.variant),
          .blocks = {std::move(facts)},
          .depth = 1};
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

std::vector<Text> summary_lines(const AuditReport& report) {
  const ClaimsRun& run = report.run;
  std::vector<Text> out{outcome_line(report),
                        fmt::format("Suite {} at commit {}, {} process starts on {}, {}; {}", run.suite,
                                    run.commit, run.launches, run.machine, run.date, coverage_text(report))};
  for (std::size_t i = 0; i < std::min(most_summary_findings, report.findings.size()); ++i) {
    const AuditFinding& one = report.findings[i];
    out.push_back(code(one.variant) + fmt::format(" saves {}, {} in its cases: {}", seconds_text(one.saved),
                                                  speedup_text(one.speedup), one.location));
  }
  for (const AuditTotal& total : report.totals) {
    if (total.findings == 0) continue;
    out.push_back(fmt::format("After {} ({}): {}, {} in all", phase_word(total.phase),
                              quantity_text(static_cast<std::int64_t>(total.findings), "finding"),
                              seconds_text(total.seconds), speedup_text(total.gain)));
  }
  const auto expected =
      std::ranges::count_if(report.findings, [](const auto& one) { return one.expected.has_value(); });
  if (expected > 0) {
    out.push_back(fmt::format("As the run before let expect: {} of {}",
                              std::ranges::count(report.findings, true, &AuditFinding::as_expected),
                              expected));
  }
  if (!report.unmeasured.empty())
    out.push_back(quantity_text(std::ssize(report.unmeasured), "variant") + " expected, not measured");
  out.push_back(fmt::format("{} of the run, {} not examined", quantity_text(std::ssize(report.risks), "risk"),
                            quantity_text(std::ssize(report.not_examined), "thing")));
  return out;
}

std::string to_text(const AuditReport& report) {
  const std::vector<Text> lines = summary_lines(report);
  std::vector<doc::Block> out{lines[1]};
  // The lines that matter most stand right above the outcome.
  for (std::size_t i = lines.size(); i-- > 2;) out.emplace_back(lines[i]);
  out.emplace_back("AUDITED: " + lines.front());
  return doc::to_text(out);
}

std::string to_markdown(const AuditReport& report) {
  const auto list = [](const std::vector<std::string>& lines, const char* none) {
    return lines.empty() ? doc::Block(none) : doc::Block(doc::list_of(lines));
  };
  doc::List summary, unmeasured;
  for (Text& line : summary_lines(report)) summary.items.emplace_back(std::move(line));
  doc::Table findings{.columns = doc::columns("number; variant; share = of the whole [share]; speedup = its "
                                              "speed-up [x]; saved = saves [s]; roof = of roof; worst_error "
                                              "[ratio]; !phase = effort"),
                      .instead = "None: nothing is faster than what is in use by its whole interval."};
  findings.columns[0].name = " ";
  doc::Table expected{
      .columns = doc::columns("variant; expected [x]; speedup = measured [x]; !as_expected = intervals meet"),
      .instead = "There is no run before that has these cases."};
  std::vector<doc::Section> sections;
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    const AuditFinding& one = report.findings[i];
    findings.rows.push_back({doc::count(static_cast<double>(i + 1)), code(one.variant), doc::share(one.share),
                             doc::speedup(one.speedup), doc::seconds(one.saved), roof_text(one),
                             doc::amount(one.worst_error, "ratio"), phase_word(one.phase)});
    sections.push_back(finding_section(report, i));
    if (!one.expected) continue;
    expected.rows.push_back({code(one.variant), doc::speedup(*one.expected), doc::speedup(one.speedup),
                             one.as_expected ? Text("yes") : doc::strong("no")});
  }
  doc::Table phases{.columns = doc::columns("phase; findings; !seconds [s]; !gain = in all [x]")};
  phases.columns[2].name = std::string(whole_of(report)) + " afterwards";
  for (const AuditTotal& total : report.totals) {
    std::vector<std::string> variants;
    for (const AuditFinding& one : report.findings) {
      if (one.phase == total.phase) variants.push_back(one.variant);
    }
    phases.rows.push_back({phase_word(total.phase), doc::codes(variants), doc::seconds(total.seconds),
                           doc::speedup(total.gain)});
  }
  for (const UnmeasuredFinding& one : report.unmeasured)
    unmeasured.items.push_back(code(one.variant) + ": " + one.why + " (" + one.location + ")");
  doc::Document out{
      .title = "Audit of suite " + code(report.run.suite),
      .sections = {
          {.blocks =
               {std::move(summary),
                fmt::format(
                    "A finding replaces what is in use by one variant, in all cases in which that is the "
                    "fastest, and is ranked by the seconds that {} gains. Each number is made of the "
                    "file beside it. The fastest variant is chosen by the times that are shown, so that "
                    "gains among close ones are a little too large.",
                    whole_of(report))}},
          {.title = "Findings", .blocks = {std::move(findings)}}}};
  std::ranges::move(sections, std::back_inserter(out.sections));
  out.sections.insert(
      out.sections.end(),
      {{.title = "Expected, not measured", .blocks = {std::move(unmeasured)}, .depth = 1},
       {.title = "Phases",
        .blocks =
            {"Quick wins replace a function; structural changes bring threads, a library or memory that is "
             "kept; "
             "tuning has to find the size from which a variant pays. Totals hold all phases so far. They are "
             "composed over the process starts that all cases share, and are no sum of gains.",
             std::move(phases)}},
       {.title = "Expected and measured", .blocks = {std::move(expected)}},
       {.title = "Risks",
        .blocks = {list(report.risks,
                        "None was seen in the run; those of single findings stand beside them.")}},
       {.title = "Not examined", .blocks = {list(report.not_examined, "Nothing was left out.")}},
       {.title = "What it rests on",
        .blocks = {
            code(report.run.command) + ". While trials were timed: " + weather_text(report.run.weather),
            files_table(report.files)}}});
  return to_markdown(out);
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
