// Verdicts on claims as words: for a terminal, and as a document.
#include "bench/report/claims.hpp"
#include "bench/report/content.hpp"
#include "core/json/lint.hpp"
#include "core/markup/document.hpp"
#include "core/text/figures.hpp"
#include "core/text/wrapped.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace assay {
namespace {

using doc::code;
using doc::Text;

/// Keys that a document lists of one part; the JSON has all.
constexpr std::size_t most_keys = 12;

enum class ClaimUnit { times, share, seconds, per_second };

ClaimUnit unit_of(ClaimedFigure figure) {
  switch (figure) {
    case ClaimedFigure::time_saved:
    case ClaimedFigure::workspace_saved:
    case ClaimedFigure::allocations_saved:
    case ClaimedFigure::traffic_saved:
    case ClaimedFigure::epoch_time_saved:
    case ClaimedFigure::composed_saved:
    case ClaimedFigure::epochs_predicted: return ClaimUnit::share;
    case ClaimedFigure::seconds: return ClaimUnit::seconds;
    case ClaimedFigure::rate: return ClaimUnit::per_second;
    default: return ClaimUnit::times;
  }
}

/// Less than a hundredth of a percent is none.
double readable_percent(double share) { return std::abs(share) < 1e-4 ? 0 : 100 * share; }

std::string value_text(ClaimedFigure of, double value) {
  switch (unit_of(of)) {
    case ClaimUnit::share: return figure(readable_percent(value)) + " %";
    case ClaimUnit::seconds: return seconds_text(value);
    case ClaimUnit::per_second:
      return value >= 1e6 ? figure(value / 1e6) + " million/s" : figure(value) + "/s";
    case ClaimUnit::times: break;
  }
  return figure(value) + "x";
}

/// A saving below zero is said in words: "3.50 % lost [2.71, 4.40]", or "6.94 % lost [40.8 lost to 33.3
/// saved]" where the interval reaches from one to the other.
std::string saving_text(const Interval& saved) {
  const auto end = [](double share) { return figure(std::abs(readable_percent(share))); };
  const auto word = [](double share) { return readable_percent(share) < 0 ? " lost" : " saved"; };
  const std::string out = end(saved.middle) + " %" + word(saved.middle);
  if (saved.low == saved.high) return out;
  if (readable_percent(saved.high) < 0)
    return fmt::format("{} [{}, {}]", out, end(saved.high), end(saved.low));
  return fmt::format("{} [{}{} to {}{}]", out, end(saved.low), word(saved.low), end(saved.high),
                     word(saved.high));
}

std::string value_text(ClaimedFigure of, const Interval& value) {
  if (unit_of(of) == ClaimUnit::share && readable_percent(value.low) < 0) return saving_text(value);
  if (value.low == value.high) return value_text(of, value.middle);
  const auto end = [&](double one) {
    switch (unit_of(of)) {
      case ClaimUnit::share: return figure(readable_percent(one));
      case ClaimUnit::per_second: return figure(value.middle >= 1e6 ? one / 1e6 : one);
      default: return figure(one);
    }
  };
  if (unit_of(of) == ClaimUnit::seconds) return seconds_text(value);
  return fmt::format("{} [{}, {}]", value_text(of, value.middle), end(value.low), end(value.high));
}

std::string claimed_text(const ClaimPart& part) {
  if (part.to <= 0) return part.figure == ClaimedFigure::agreement ? "right" : "consistent";
  if (part.from == part.to) return value_text(part.figure, part.from);
  return value_text(part.figure, part.from) + " to " + value_text(part.figure, part.to);
}

std::string found_text(const ClaimPart& part, const PartRuling& ruling) {
  return ruling.value ? value_text(part.figure, *ruling.value) : "";
}

doc::List::Item part_item(const ClaimPart& part, const PartRuling& ruling) {
  // The speed-ups of its parts decide a composed claim.
  const ClaimedFigure of_case = part.composed.empty() ? part.figure : ClaimedFigure::speedup;
  const std::string found = found_text(part, ruling);
  Text text = doc::strong(std::string(to_string(ruling.verdict))) +
              fmt::format(", {}: {} claimed{}: {}.", part.what, claimed_text(part),
                          found.empty() ? "" : ", " + found + " found", ruling.why);
  if (ruling.bound) {
    text += fmt::format(" At most {}: {}.", value_text(part.figure, ruling.bound->most), ruling.bound->why);
  }
  doc::List::Item out(std::move(text));
  for (const DecidingCase& one : ruling.cases) {
    if (out.below.size() == most_keys) {
      out.below.push_back(fmt::format("and {} more", ruling.cases.size() - most_keys));
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
  std::string out = fmt::format("{} claims", report.rulings.size());
  const char* between = ": ";
  for (std::size_t i = 0; i < claim_verdicts.size(); ++i) {
    const std::size_t count = report.count(static_cast<ClaimVerdict>(i));
    if (count == 0) continue;
    out += fmt::format("{}{} {}", between, count, claim_verdicts[i]);
    between = ", ";
  }
  return out;
}

/// Figures of the report that cannot stand together, in words.
std::vector<std::string> contradictions_in(const ClaimsReport& report) {
  std::vector<std::string> out;
  for (const LintFinding& one : lint(to_value(report))) out.push_back(in_words(one));
  return out;
}

}  // namespace

std::string to_text(const ClaimsReport& report) {
  constexpr std::size_t widest = 80;
  // Wrong ones last, right above the counts: a terminal shows the end of what is long.
  std::vector<std::size_t> order(report.rulings.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return report.rulings[i].verdict; });
  std::string out;
  for (const std::size_t i : order) {
    const PublishedClaim& claim = report.claims.claims[i];
    const ClaimRuling& ruling = report.rulings[i];
    for (std::size_t p = 0; p < claim.parts.size(); ++p) {
      const std::string found = found_text(claim.parts[p], ruling.parts[p]);
      out += wrapped(fmt::format("{:<8} {:<12} {}: {} claimed{}", p == 0 ? claim.id : "",
                                 to_string(ruling.parts[p].verdict), claim.parts[p].what,
                                 claimed_text(claim.parts[p]), found.empty() ? "" : ", " + found + " found"),
                     widest, std::string(22, ' ')) +
             "\n";
    }
  }
  for (const std::string& one : contradictions_in(report)) out += wrapped(one, widest, "  ") + "\n";
  return out + wrapped(counts_text(report), widest, "  ") + "\n";
}

std::string to_markdown(const ClaimsReport& report) {
  doc::Table verdicts{.columns = doc::columns("claim; !figure; claimed; found; bound; !verdict")};
  std::vector<doc::Section> claims;
  for (std::size_t i = 0; i < report.rulings.size(); ++i) {
    const PublishedClaim& claim = report.claims.claims[i];
    const ClaimRuling& ruling = report.rulings[i];
    doc::List parts;
    for (std::size_t p = 0; p < claim.parts.size(); ++p) {
      const ClaimPart& part = claim.parts[p];
      const PartRuling& own = ruling.parts[p];
      verdicts.rows.push_back({p == 0 ? claim.id : "", part.what, claimed_text(part), found_text(part, own),
                               own.bound ? value_text(part.figure, own.bound->most) : "",
                               to_string(own.verdict)});
      parts.items.push_back(part_item(part, own));
    }
    claims.push_back({.title = claim.id + ": " + std::string(to_string(ruling.verdict)),
                      .blocks = {fmt::format("{} ({}; {}){}{}", claim.claim, claim.scope, claim.source,
                                             claim.known.empty() ? "" : " ", claim.known),
                                 std::move(parts)}});
  }
  doc::List contradictions, runs;
  for (const std::string& one : contradictions_in(report)) contradictions.items.push_back(Text(one));
  for (const ClaimsRun& run : report.runs) {
    runs.items.push_back("Suite " + code(run.suite) + " on " + code(run.machine) + ", " + run.date +
                         ", commit " + code(run.commit) + fmt::format(", {} process starts: ", run.launches) +
                         code(run.command) + ". While trials were timed: " + weather_text(run.weather));
  }
  doc::Document out{.title = "Claims of public write-ups",
                    .outcome = counts_text(report) + ".",
                    .sections = {{.blocks = {report.claims.about}}}};
  if (!contradictions.items.empty()) {
    out.sections[0].blocks.emplace_back("Figures of this report that cannot stand together:");
    out.sections[0].blocks.push_back(std::move(contradictions));
  }
  out.sections[0].blocks.push_back(std::move(verdicts));
  out.sections[0].blocks.emplace_back(
      "CONFIRMED and EXCEEDED: no part of the interval lies below the claim, or all of it lies above. SHORT: "
      "all of it "
      "lies below. WRONG: the code or the arithmetic as published is wrong. OVER BOUND: more is claimed than "
      "can be. NOT "
      "MEASURED: nothing was given that decides, or its interval reaches to both sides of the claim's lower "
      "end. Of "
      "several trials of a case the best counts; over cases the mean is geometric, and its interval is made "
      "of the ends "
      "of theirs, which is wider than needed. Gains of parts are composed by Amdahl's law and never added "
      "up.");
  std::ranges::move(claims, std::back_inserter(out.sections));
  out.sections.push_back(
      {.title = "What it rests on", .blocks = {std::move(runs), files_table(report.files)}});
  return to_markdown(out);
}

}  // namespace assay
