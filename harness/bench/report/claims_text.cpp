// Verdicts on claims as words: for a terminal, and as a document.
#include "bench/report/claims.hpp"
#include "bench/report/content.hpp"
#include "core/json/lint.hpp"
#include "core/markup/template.hpp"
#include "core/text/figures.hpp"
#include "core/text/wrapped.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace assay {
namespace {

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

Json part_values(const ClaimPart& part, const PartRuling& ruling) {
  // What is composed is decided by the speed-ups of its parts.
  const ClaimedFigure of_case = part.composed.empty() ? part.figure : ClaimedFigure::speedup;
  Json keys = Json::array();
  for (const DecidingCase& one : ruling.cases) {
    if (keys.size() == most_keys) break;
    keys.push_back(Json{{"key", one.key},
                        {"against", one.against},
                        {"text", value_text(of_case, one.value)},
                        {"bound", one.bound ? value_text(of_case, *one.bound) : ""}});
  }
  const std::size_t more = ruling.cases.size() - keys.size();
  return Json{{"what", part.what},
              {"claimed", claimed_text(part)},
              {"found", found_text(part, ruling)},
              {"verdict", to_string(ruling.verdict)},
              {"why", ruling.why},
              {"bound", ruling.bound ? value_text(part.figure, ruling.bound->most) : ""},
              {"bound_why", ruling.bound ? ruling.bound->why : ""},
              {"keys", std::move(keys)},
              {"more_keys", more > 0 ? fmt::format("{}", more) : ""}};
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
  Json claims = Json::array(), runs = Json::array(), files = Json::array();
  for (std::size_t i = 0; i < report.rulings.size(); ++i) {
    const PublishedClaim& claim = report.claims.claims[i];
    const ClaimRuling& ruling = report.rulings[i];
    Json parts = Json::array();
    for (std::size_t p = 0; p < claim.parts.size(); ++p) {
      Json part = part_values(claim.parts[p], ruling.parts[p]);
      part["id"] = p == 0 ? claim.id : "";
      parts.push_back(std::move(part));
    }
    claims.push_back(Json{{"id", claim.id},
                          {"source", claim.source},
                          {"scope", claim.scope},
                          {"claim", claim.claim},
                          {"known", claim.known},
                          {"verdict", to_string(ruling.verdict)},
                          {"parts", std::move(parts)}});
  }
  for (const ClaimsRun& run : report.runs) {
    runs.push_back(Json{{"suite", run.suite},
                        {"machine", run.machine},
                        {"date", run.date},
                        {"commit", run.commit},
                        {"command", run.command},
                        {"launches", fmt::format("{}", run.launches)},
                        {"weather", weather_text(run.weather)}});
  }
  for (const EvidenceFile& file : report.files) {
    files.push_back(Json{{"name", file.name}, {"hash", file.hash}, {"what", file.what}});
  }
  return document("claims.md", Json{{"about", report.claims.about},
                                    {"counts", counts_text(report)},
                                    {"contradictions", contradictions_in(report)},
                                    {"claims", std::move(claims)},
                                    {"runs", std::move(runs)},
                                    {"files", std::move(files)}});
}

}  // namespace assay
