// Checks everything that is written into a ledger.
#include "bench/ledger/ledger.hpp"

#include "assay/error.hpp"
#include "bench/compare/judge.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

constexpr std::size_t fewest_digits = 7, most_digits = 64;

/// Accepts text that does not move the cursor of a terminal and has at least one letter.
bool is_readable(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c > 0x20; }) &&
         std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

const std::string& last_commit(const Ledger& ledger) {
  return ledger.steps.empty() ? ledger.release_commit : ledger.steps.back().head;
}

void require_clean(const std::string& commit, const std::string& which) {
  if (is_commit(commit)) return;
  throw Error("--record-step",
              fmt::format("the {} is {}, which is no commit that others could find", which,
                          commit.empty() ? "of no single commit" : "\"" + commit + "\""),
              "compare programs that were built from clean checkouts, one commit on each side");
}

}  // namespace

bool is_commit(std::string_view text) {
  return text.size() >= fewest_digits && text.size() <= most_digits &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool same_commit(std::string_view one, std::string_view other) {
  return is_commit(one) && is_commit(other) && (one.starts_with(other) || other.starts_with(one));
}

void accept(Ledger& ledger, Acceptance acceptance) {
  if (!is_readable(acceptance.reason)) {
    throw Error("--reason", "says nothing", "say in a line why this slow-down is worth its price");
  }
  const bool is_figure = is_readable(acceptance.figure) &&
                         acceptance.figure.find('\'') == std::string::npos && std::isfinite(acceptance.value);
  if (!acceptance.figure.empty() && !is_figure) {
    throw Error("--figure", fmt::format("{} up to {} is no figure", acceptance.figure, acceptance.value),
                "give its name and the worst value that is accepted, as height=1300");
  }
  if (acceptance.figure.empty() && (!(acceptance.ratio > 1) || !std::isfinite(acceptance.ratio))) {
    throw Error("--ratio", fmt::format("is {}, which accepts no slow-down", acceptance.ratio),
                "give the time after / time before, as 1.08");
  }
  if (acceptance.until < acceptance.accepted_on) {
    throw Error("--until",
                fmt::format("{} is past; today is {}", date_text(acceptance.until),
                            date_text(acceptance.accepted_on)),
                "name the last day on which the slow-down may still be there");
  }
  const auto known = std::ranges::find_if(ledger.acceptances, [&](const Acceptance& one) {
    return one.key == acceptance.key && one.figure == acceptance.figure;
  });
  if (known == ledger.acceptances.end()) {
    acceptance.release = ledger.release;
    ledger.acceptances.push_back(std::move(acceptance));
    return;
  }
  known->ratio = acceptance.ratio;
  known->value = acceptance.value;
  known->reason = std::move(acceptance.reason);
  known->until = acceptance.until;
}

void withdraw(Ledger& ledger, std::string_view key, std::string_view figure) {
  const auto is_meant = [&](const Acceptance& one) { return one.key == key && one.figure == figure; };
  if (std::erase_if(ledger.acceptances, is_meant) > 0) return;
  std::string known;
  for (const Acceptance& one : ledger.acceptances)
    known += fmt::format("\n    {}{}{}", one.key, one.figure.empty() ? "" : " --figure ", one.figure);
  throw Error(fmt::format("--withdraw {}{}{}", key, figure.empty() ? "" : " --figure ", figure),
              "was not accepted", known.empty() ? "the ledger has no acceptances" : "accepted are:" + known);
}

std::string in_words(const Acceptance& acceptance) {
  if (acceptance.figure.empty()) return fmt::format("{} up to {:.4g}x", acceptance.key, acceptance.ratio);
  return fmt::format("{} of {} up to {}", acceptance.figure, acceptance.key, count_text(acceptance.value));
}

std::string accepting_options(const Acceptance& acceptance) {
  return fmt::format("--accept '{}' {}", acceptance.key,
                     acceptance.figure.empty()
                         ? fmt::format("--ratio {}", acceptance.ratio)
                         : fmt::format("--figure '{}={}'", acceptance.figure, acceptance.value));
}

std::string withdrawing_options(const Acceptance& acceptance) {
  return fmt::format("--withdraw '{}'{}", acceptance.key,
                     acceptance.figure.empty() ? "" : fmt::format(" --figure '{}'", acceptance.figure));
}

void begin_release(Ledger& ledger, const std::string& release, const std::string& commit, Date today) {
  if (!is_readable(release)) throw Error("--release", "names nothing", "give a tag or a commit");
  if (release == ledger.release) {
    throw Error("--release " + release, "is the release that the ledger counts from already",
                "nothing needs to be done");
  }
  const std::string& beginning = is_commit(release) ? release : commit;
  if (!is_commit(beginning)) {
    throw Error(
        "--release " + release,
        fmt::format("this program was built from \"{}\", which is no commit to count from", beginning),
        "run the program of a clean checkout of the release, or give the commit itself");
  }
  ledger.release = release;
  ledger.release_commit = beginning;
  ledger.released_on = today;
  ledger.steps.clear();
}

std::optional<std::size_t> steps_before(const Ledger& ledger, std::string_view commit) {
  for (std::size_t i = ledger.steps.size(); i > 0; --i) {
    if (same_commit(ledger.steps[i - 1].head, commit)) return i;
  }
  if (same_commit(ledger.release_commit, commit)) return 0;
  return std::nullopt;
}

void require_next(const Ledger& ledger, const std::string& base, const std::string& head) {
  if (ledger.release.empty()) {
    throw Error("--record-step",
                fmt::format("the ledger of suite {} has no release to count from", ledger.suite),
                "set one: assay record --suite FILE --release TEXT");
  }
  require_clean(base, "base");
  require_clean(head, "head");
  if (steps_before(ledger, head)) {
    throw Error("--record-step", fmt::format("the ledger has {} already", head),
                "gate without --record-step");
  }
  if (same_commit(base, last_commit(ledger))) return;
  throw Error("--record-step",
              fmt::format("the ledger ends at {}, and this comparison begins at {}: what was merged between "
                          "them would be missing from the sum since {}",
                          last_commit(ledger), base, ledger.release),
              fmt::format("compare with {} and record that, or begin a new sum: assay record --suite FILE "
                          "--release TEXT",
                          last_commit(ledger)));
}

Step step_of(const Comparison& comparison, const std::string& base, const std::string& head, Date date) {
  Step out{.base = base, .head = head, .date = date};
  const double moved = comparison.machine_moved;
  if (std::max(moved, 1 / moved) > farthest_drift) return out;
  for (const ComparedRow& row : comparison.rows) {
    if (const auto estimate = estimate_of(row)) out.rows[row.key] = *estimate;
  }
  return out;
}

std::optional<Estimate> estimate_of(const ComparedRow& row) {
  const bool selected = row.unselected_launches > 0;
  const Interval& ratio = selected ? row.unselected : row.ratio;
  const std::size_t launches = selected ? row.unselected_launches : row.launches;
  if (!(ratio.low > 0) || !std::isfinite(ratio.high) || ratio.basis != Basis::launches) return std::nullopt;
  Estimate out{.log_ratio = std::log(ratio.middle), .deviation = row.spread, .launches = launches};
  if (ratio.low == ratio.high && ratio.coverage > 0) return out;
  if (launches < 2 || ratio.coverage <= 0 || ratio.coverage >= 1) return std::nullopt;
  const double half_width = std::log(ratio.high / ratio.low) / 2;
  const double quantile = student_quantile((1 - ratio.coverage) / 2, static_cast<int>(launches) - 1);
  out.deviation = std::hypot(half_width / quantile, row.spread);
  return out;
}

void DriftSum::add(const Estimate& estimate) {
  log_ratio += estimate.log_ratio;
  ++terms;
  if (estimate.deviation == 0) return;
  const double square = estimate.deviation * estimate.deviation;
  variance += square;
  doubt += square * square / std::max(1.0, static_cast<double>(estimate.launches) - 1);
}

double DriftSum::low(double tail) const {
  if (variance == 0) return log_ratio;
  const int freedom = std::max(1, static_cast<int>(std::min(1e6, variance * variance / doubt)));
  return log_ratio - student_quantile(tail, freedom) * std::sqrt(variance);
}

Interval DriftSum::interval(double coverage) const {
  const double below = log_ratio - low((1 - coverage) / 2);
  return exponential({log_ratio - below, log_ratio, log_ratio + below, coverage});
}

DriftSum sum_of(std::span<const Step> steps, std::string_view key) {
  DriftSum out;
  for (const Step& step : steps) {
    const auto row = step.rows.find(std::string(key));
    if (row != step.rows.end()) out.add(row->second);
  }
  return out;
}

}  // namespace assay
