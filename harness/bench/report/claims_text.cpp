// Claims and verdicts on them as files hold them, and as words: for a terminal, and as a document.
#include "assay/random.hpp"
#include "bench/report/claims.hpp"
#include "bench/report/content.hpp"
#include "core/json/lint.hpp"
#include "core/machine/fields.hpp"
#include "core/markup/document.hpp"
#include "core/text/command.hpp"
#include "core/text/figures.hpp"
#include "core/text/utf8.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

namespace assay {
namespace {

bool has_no_range(ClaimedFigure figure) {
  return figure == ClaimedFigure::agreement || figure == ClaimedFigure::arithmetic;
}

/// Refuses a part that nothing could decide: it would look like a part that nobody measured.
void require_what_it_needs(const Fields& f, const ClaimPart& part) {
  const auto need = [&](bool there, const char* name) {
    if (there) return;
    const std::string_view word = claimed_figures[static_cast<std::size_t>(part.figure)];
    f.refuse("figure", fmt::format("is {}, which needs \"{}\"", word, name));
  };
  switch (part.figure) {
    case ClaimedFigure::epoch_speedup:
    case ClaimedFigure::epoch_time_saved: return need(!part.suite.empty(), "suite");
    case ClaimedFigure::composed_speedup:
    case ClaimedFigure::composed_saved: return need(!part.composed.empty(), "composed");
    case ClaimedFigure::epochs_predicted:
      return need(!part.model.empty() && part.within > 0, "model\" and \"within");
    case ClaimedFigure::agreement: return need(!part.wrong.empty(), "wrong");
    case ClaimedFigure::arithmetic: return need(!part.job.empty(), "job");
    default: need(!part.trials.empty(), "trials");
  }
  if (part.figure == ClaimedFigure::rate) need(part.items > 0, "items");
}

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

void describe(Fields& f, DecidingCase& one) {
  f("key", one.key);
  f("against", one.against, {.terse = true});
  ASSAY_FIELDS(f, one, value, bound);
}

void describe(Fields& f, ClaimBound& bound) {
  f("most", bound.most, {.about = "in the unit of the figure"});
  f("why", bound.why, {.about = "what it follows from"});
}

void describe(Fields& f, ClaimShare& share) {
  f.only<ClaimShare>();
  f("share", share.share, {.above = 0, .most = 1, .about = "of the whole, as the source states it"});
  f("claim", share.claim,
    {.terse = true, .about = "whose first part says how many times faster it becomes; none: takes no time"});
}

void describe(Fields& f, ClaimPart& part) {
  f.only<ClaimPart>();
  f("what", part.what, {.about = "the figure in words"});
  f("figure", part.figure, claimed_figures);
  f("not_measured", part.not_measured, {.terse = true, .about = "why nothing here can decide it"});
  const bool ranged = !f.reads() || !has_no_range(part.figure);
  const Fields::Rule range{.optional = true,
                           .least = 0,
                           .most = most_amount,
                           .about = "as claimed; savings and shares are fractions"};
  if (ranged) {
    f("from", part.from, range);
    f("to", part.to, range);
  }
  f("trials", part.trials, {.terse = true, .about = "regular expression of the keys that decide"});
  f("against", part.against, {.terse = true, .about = "variant of the same case; naive where there is none"});
  f("against_trial", part.against_trial,
    {.terse = true, .about = "or a regular expression of one key of any case"});
  f("items", part.items, {.terse = true, .least = 0, .most = most_amount, .about = "of a call, for a rate"});
  f("suite", part.suite, {.terse = true, .about = "of the results that decide; all where there is none"});
  f("quiet", part.quiet,
    {.terse = true, .about = "waiting is part of it: nothing is decided beside other work"});
  f("cases", part.cases, {.terse = true, .about = "regular expression of its cases that make the whole"});
  f("operation", part.operation, {.terse = true, .about = "that is replaced; all where there is none"});
  f("part_of_whole", part.part_of_whole,
    {.terse = true, .about = "the suite lists only a part of the whole that the claim is of"});
  f("composed", part.composed, {.terse = true, .about = "exclusive shares of a whole"});
  f("model", part.model, {.terse = true, .about = "of epochs that were predicted: M0 to M4"});
  f("within", part.within, {.terse = true, .least = 0, .most = 1});
  f("wrong", part.wrong, {.terse = true, .about = "published code that is known to be bad"});
  f("job", part.job, {.terse = true, .about = "a job with figures as published"});
  f("field", part.field, {.terse = true, .about = "of it, such as claims[0]"});
  f("bound", part.bound);
  if (!f.reads()) return;
  if (!has_no_range(part.figure) && part.not_measured.empty() && !(part.from > 0 && part.to >= part.from))
    f.refuse("figure", "needs \"from\" above 0, and \"to\" no less than it");
  for (const auto& [name, text] :
       {std::pair("trials", &part.trials), std::pair("against_trial", &part.against_trial),
        std::pair("cases", &part.cases)})
    if (const std::string why = why_no_expression(*text); !why.empty())
      f.refuse(name, "is no regular expression: " + why);
  if (part.not_measured.empty()) require_what_it_needs(f, part);
  double sum = 0;  // of exclusive shares
  for (const ClaimShare& one : part.composed) sum += one.share;
  if (sum > 1 + 1e-9)
    f.refuse("composed", fmt::format("has shares that sum to {} %, more than the whole", 100 * sum));
}

void describe(Fields& f, PublishedClaim& claim) {
  f.only<PublishedClaim>();
  f("id", claim.id);
  f("source", claim.source, {.about = "the public document"});
  f("scope", claim.scope, {.about = "what the figures are of: parts of different scopes are never added"});
  f("claim", claim.claim);
  f("known", claim.known, {.terse = true, .about = "without measuring"});
  f("parts", claim.parts);
  if (f.reads() && claim.parts.empty()) f.refuse("parts", "is empty: say what is claimed");
}

void describe(Fields& f, PublishedClaims& claims) {
  f.schema("assay.claims/1");
  f.only<PublishedClaims>();
  ASSAY_FIELDS(f, claims, about, claims);
  f.unique("claims", claims.claims, &PublishedClaim::id, "repeats the claim");
  if (!f.reads()) return;
  std::set<std::string> before;
  for (const PublishedClaim& claim : claims.claims) {
    for (const ClaimPart& part : claim.parts) {
      for (const ClaimShare& share : part.composed) {
        if (share.claim.empty() || before.contains(share.claim)) continue;
        f.refuse("claims",
                 fmt::format("has {} composed of {}, which is not above it", claim.id, share.claim));
      }
    }
    before.insert(claim.id);
  }
}

PublishedClaims claims_from_json(const std::string& text, const std::string& where) {
  return value_from<PublishedClaims>(text, where, "`assay schema claims` lists its fields");
}

EvidenceFile evidence_file(const std::filesystem::path& file, std::string_view text, std::string what) {
  return {file.filename().string(), fmt::format("{:016x}", fnv1a(text)), std::move(what)};
}

void describe(Fields& f, EvidenceFile& file) {
  f("name", file.name);
  f("hash", file.hash, {.about = "FNV-1a of its content"});
  f("what", file.what);
}

ASSAY_FIELDS_OF(ClaimsRun, suite, machine, date, commit, command, launches, weather)

void describe(Fields& f, RejectedCode::First& first) {
  f("what", first.what, {.about = "problem, fill, placement and threads"});
  f("detail", first.detail);
}

void describe(Fields& f, RejectedCode& one) {
  f("name", one.name);
  f("published", one.published, {.about = "where, and what it gets wrong"});
  ASSAY_FIELDS(f, one, checks, rejected, first);
}

void describe(Fields& f, PartFinding& finding) {
  f("what", finding.part.what);
  f("figure", finding.part.figure, claimed_figures);
  ASSAY_FIELDS(f, finding.part, from, to);
  f("verdict", finding.standing, claim_standings);
  ASSAY_FIELDS(f, finding, why, value, bound);
  f("cases", finding.cases, {.about = "that decided"});
}

void describe(Fields& f, ClaimFinding& finding) {
  ASSAY_FIELDS(f, finding.claim, id, source, scope, claim);
  f("verdict", finding.standing, claim_standings);
  f("parts", finding.parts);
}

void describe(Fields& f, ClaimsReport& report) {
  f.schema("assay.claims_report/1");
  f("claims", report.findings);
  f("files", report.files, {.about = "of evidence"});
  f("runs", report.runs, {.about = "of the results among them"});
}

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
               "above. SHORT: all of it lies below. WRONG: the code or the arithmetic as published is wrong. "
               "OVER BOUND: more is claimed than can be. NOT MEASURED: nothing was given that decides, or "
               "its interval reaches to both sides of the claim's lower end. Of several trials of a case the "
               "best counts; over cases the mean is geometric, and its interval is made of the ends of "
               "theirs, which is wider than needed. Gains of parts are composed by Amdahl's law and never "
               "added up."}}}};
  std::ranges::move(claims, std::back_inserter(out.sections));
  out.sections.push_back(
      {.title = "What it rests on", .blocks = {std::move(runs), files_table(report.files)}});
  return to_markdown(out);
}

}  // namespace assay
