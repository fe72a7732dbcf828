// Verdicts on claims as words: for a terminal, and as a document.
#include "bench/report/claims.hpp"
#include "bench/report/content.hpp"
#include "core/json/lint.hpp"
#include "core/markup/document.hpp"
#include "core/text/figures.hpp"
#include "core/text/utf8.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace assay {
namespace {

using doc::code;
using doc::Text;

/// A document lists so many keys of a part; the JSON has all.
constexpr std::size_t most_keys = 12;

/// A saving below zero is told in words: "3.50 % lost [2.71, 4.40]", or "6.94 % lost [40.8 lost to 33.3
/// saved]" where the interval reaches from one to the other.
std::string saving_text(const Interval& saved) {
  const auto end = [](double share) { return figure(100 * std::abs(share)); };
  const auto word = [](double share) { return share < 0 ? " lost" : " saved"; };
  const std::string out = end(saved.middle) + " %" + word(saved.middle);
  if (saved.low == saved.high) return out;
  if (saved.high < 0) return fmt::format("{} [{}, {}]", out, end(saved.high), end(saved.low));
  return fmt::format("{} [{}{} to {}{}]", out, end(saved.low), word(saved.low), end(saved.high),
                     word(saved.high));
}

std::string value_text(ClaimedFigure of, Interval value) {
  if (value.low == value.high) value.coverage = 0;
  if (unit_of(of) == "share") {
    // Less than a hundredth of a percent counts as 0.
    for (double* end : {&value.low, &value.middle, &value.high}) *end = std::abs(*end) < 1e-4 ? 0 : *end;
    if (value.low < 0) return saving_text(value);
  }
  return doc::amount_text(doc::amount(value, std::string(unit_of(of))));
}

std::string value_text(ClaimedFigure of, double value) {
  return value_text(of, Interval{.low = value, .middle = value, .high = value});
}

std::string claimed_text(const ClaimPart& part) {
  if (part.to <= 0) return part.figure == ClaimedFigure::agreement ? "right" : "consistent";
  if (part.from == part.to) return value_text(part.figure, part.from);
  return value_text(part.figure, part.from) + " to " + value_text(part.figure, part.to);
}

std::string found_text(const PartFinding& finding) {
  return finding.value ? value_text(finding.part.figure, *finding.value) : "";
}

/// "1.50x to 2.50x claimed, 2.00x found"
std::string claimed_and_found(const PartFinding& finding) {
  const std::string found = found_text(finding);
  return claimed_text(finding.part) + " claimed" + (found.empty() ? "" : ", " + found + " found");
}

doc::List::Item part_item(const PartFinding& finding) {
  const ClaimPart& part = finding.part;
  // The speed-ups of its parts decide a composed claim.
  const ClaimedFigure of_case = part.composed.empty() ? part.figure : ClaimedFigure::speedup;
  Text text = doc::strong(std::string(to_string(finding.standing))) +
              fmt::format(", {}: {}: {}.", part.what, claimed_and_found(finding), finding.why);
  if (finding.bound)
    text += fmt::format(" At most {}: {}.", value_text(part.figure, finding.bound->most), finding.bound->why);
  doc::List::Item out(std::move(text));
  for (const DecidingCase& one : finding.cases) {
    if (out.below.size() == most_keys) {
      out.below.push_back(fmt::format("and {} more", finding.cases.size() - most_keys));
      break;
    }
    Text line = code(one.key) + ": " + value_text(of_case, one.value);
    if (!one.against.empty()) line += " against " + code(one.against);
    if (one.bound) line += ", at most " + value_text(of_case, *one.bound);
    out.below.push_back(std::move(line));
  }
  return out;
}

std::string counts_text(const ClaimsReport& report) {
  std::vector<std::string> counts;
  for (std::size_t i = 0; i < claim_standings.size(); ++i) {
    const std::size_t count = report.count(static_cast<ClaimStanding>(i));
    if (count > 0) counts.push_back(fmt::format("{} {}", count, claim_standings[i]));
  }
  return fmt::format("{} claims{}{}", report.findings.size(), counts.empty() ? "" : ": ",
                     fmt::join(counts, ", "));
}

/// Figures of the report that cannot stand together, in words.
std::vector<std::string> contradictions_in(const ClaimsReport& report) {
  std::vector<std::string> out;
  for (const LintFinding& one : lint(to_value(report))) out.push_back(in_words(one));
  return out;
}

}  // namespace

std::string to_text(const ClaimsReport& report) {
  std::vector<const ClaimFinding*> order;
  for (const ClaimFinding& finding : report.findings) order.push_back(&finding);
  // Wrong claims come last, right above the counts: a terminal shows the end of a long text.
  std::ranges::stable_sort(order, std::greater{}, [](const ClaimFinding* one) { return one->standing; });
  std::string out;
  for (const ClaimFinding* finding : order) {
    for (const PartFinding& part : finding->parts) {
      out += wrapped(
                 fmt::format("{:<8} {:<12} {}: {}", &part == &finding->parts.front() ? finding->claim.id : "",
                             to_string(part.standing), part.part.what, claimed_and_found(part)),
                 terminal_width, std::string(22, ' ')) +
             "\n";
    }
  }
  std::vector<doc::Block> end;
  for (const std::string& one : contradictions_in(report)) end.emplace_back(one);
  end.emplace_back(counts_text(report));
  return out + doc::to_text(end);
}

std::string to_markdown(const ClaimsReport& report) {
  doc::Table verdicts{.columns = doc::columns("claim; !figure; claimed; found; bound; !verdict")};
  std::vector<doc::Section> claims;
  for (const ClaimFinding& finding : report.findings) {
    const PublishedClaim& claim = finding.claim;
    doc::List parts;
    for (const PartFinding& own : finding.parts) {
      verdicts.rows.push_back({parts.items.empty() ? claim.id : "", own.part.what, claimed_text(own.part),
                               found_text(own), own.bound ? value_text(own.part.figure, own.bound->most) : "",
                               to_string(own.standing)});
      parts.items.push_back(part_item(own));
    }
    claims.push_back({.title = claim.id + ": " + std::string(to_string(finding.standing)),
                      .blocks = {fmt::format("{} ({}; {}){}{}", claim.claim, claim.scope, claim.source,
                                             claim.known.empty() ? "" : " ", claim.known),
                                 std::move(parts)}});
  }
  doc::List runs;
  for (const ClaimsRun& run : report.runs) {
    runs.items.push_back("Suite " + code(run.suite) + " on " + code(run.machine) + ", " + run.date +
                         ", commit " + code(run.commit) + fmt::format(", {} process starts: ", run.launches) +
                         code(run.command) + ". While trials were timed: " + weather_text(run.weather));
  }
  doc::List contradictions = doc::list_of(contradictions_in(report));
  const char* const before =
      contradictions.items.empty() ? "" : "Figures of this report that cannot stand together:";
  doc::Document out{
      .title = "Claims of public write-ups",
      .outcome = counts_text(report) + ".",
      .sections = {
          {.blocks = {
               report.about, before, std::move(contradictions), std::move(verdicts),
               "CONFIRMED and EXCEEDED: no part of the interval lies below the claim, or all of it lies "
               "above. "
               "SHORT: all of it lies below. WRONG: the code or the arithmetic as published is wrong. OVER "
               "BOUND: more is claimed than can be. NOT MEASURED: nothing was given that decides, or its "
               "interval reaches to both sides of the claim's lower end. Of several trials of a case the "
               "best "
               "counts; over cases the mean is geometric, and its interval is made of the ends of theirs, "
               "which "
               "is wider than needed. Gains of parts are composed by Amdahl's law and never added up."}}}};
  std::ranges::move(claims, std::back_inserter(out.sections));
  out.sections.push_back(
      {.title = "What it rests on", .blocks = {std::move(runs), files_table(report.files)}});
  return to_markdown(out);
}

}  // namespace assay
