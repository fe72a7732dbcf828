#include "bench/compare/outcome_of.hpp"

#include "bench/compare/judge.hpp"
#include "bench/compare/words.hpp"
#include "core/plan/trial_key.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace assay {
namespace {

/// `operation/variant` of a trial's key, and other names as they are.
std::string variant_of(const std::string& key) {
  const auto trial = trial_key(key);
  return trial ? trial->operation + "/" + trial->variant : key;
}

/// Rows of identical machine code are the same, or slower by drift, without a launch.
bool is_compared(const ComparedRow& row) {
  return is_open(row.standing) || (is_judged(row.standing) && row.launches > 0);
}

class Deciding {
 public:
  Deciding(const Comparison& comparison, const ComparisonRun& run, const FailurePolicy& policy)
      : comparison_(comparison), run_(run), policy_(policy) {
    for (const ComparedRow& row : comparison_.rows) {
      if (is_compared(row)) ++compared_;
      if (row.standing == Standing::same && row.launches == 0) ++identical_;
    }
  }

  Outcome outcome() const {
    Outcome out = by_times();
    if (!comparison_.unfit.empty()) out.add(Word::unfit, comparison_.unfit);
    if (!comparison_.objections.empty() && !policy_.bisection) {
      out.add(Word::expired, fmt::format("{}", fmt::join(comparison_.objections, "; ")));
    }
    if (count(Standing::slower) > 0 || std::ranges::any_of(comparison_.rows, has_worse_figure)) {
      out.add(Word::regression, regression());
    }
    if (count(Standing::impossible) > 0) out.add(Word::impossible, impossibility());
    if (count(Standing::wrong) > 0) out.add(Word::wrong, disagreement());
    if (const std::string failed = failures(); !failed.empty()) out.add(Word::crashed, failed);
    if (run_.partial) {
      out.add(Word::interrupted, fmt::format("{} of {} trials were measured{}", run_.measured,
                                             comparison_.rows.size() - count(Standing::gone),
                                             against_something() ? "; nothing is decided" : ""));
    }
    return out;
  }

 private:
  std::size_t count(Standing standing) const { return comparison_.count(standing); }
  std::size_t left_open() const { return count(Standing::undecided) + count(Standing::probably_slower); }
  bool against_something() const { return run_.against != Against::nothing; }

  /// ", 2 undecided, 1 gone"; empty when all trials were judged.
  std::string rest() const {
    const std::string out = unjudged_text(comparison_);
    return out.empty() ? out : ", " + out;
  }

  Outcome by_times() const {
    if (!run_.nothing_to_do.empty()) return {Word::nothing_to_do, run_.nothing_to_do};
    const std::size_t absent = count(Standing::skipped) + count(Standing::gone);
    if (count(Standing::skipped) > 0 && absent == comparison_.rows.size()) {
      return {Word::skipped, "nothing selected runs on this machine"};
    }
    if (!against_something()) {
      if (run_.measured == 0) return {Word::not_measured, "no trial has a time"};
      return {Word::measured, fmt::format("all {} trials agree with the oracle; nothing was compared",
                                          comparison_.rows.size() - count(Standing::skipped))};
    }
    if (compared_ == 0) return uncompared();
    if (left_open() == compared_) {
      return {Word::undecided,
              fmt::format("{}no verdict could be reached on any of {} trials{}", after(), compared_, rest())};
    }
    const std::size_t accepted = count(Standing::accepted);
    const std::string figures = figures_sentence(comparison_);
    const std::string found =
        fmt::format("none slower{}{}{}", accepted > 0 ? fmt::format(", {} accepted", accepted) : "", rest(),
                    figures.empty() ? "" : "; " + figures);
    if (Outcome out = judged(fmt::format("{} trials compared{}, {}", compared_, spent(), found));
        out.word != Word::passed ||
        (10 * left_open() <= compared_ && count(Standing::probably_slower) == 0)) {
      return out;
    }
    return {Word::decided, fmt::format("{} of {}{}: {}", compared_ - left_open(), compared_, spent(), found)};
  }

  /// Nothing that was measured could be compared.
  Outcome uncompared() const {
    if (run_.against == Against::baseline) {
      if (run_.measured == 0) return {Word::not_measured, "no trial has a time"};
      return {Word::not_comparable,
              "nothing was comparable with the baseline; see above for what differs" + rest()};
    }
    if (count(Standing::not_comparable) > 0) {
      return {Word::not_comparable,
              fmt::format("nothing was measured, and {} trial{} of both builds cannot be compared",
                          count(Standing::not_comparable), count(Standing::not_comparable) == 1 ? "" : "s")};
    }
    if (identical_ == 0) {
      return {Word::not_comparable, "the two builds have no trial in common that runs here"};
    }
    return judged(
        fmt::format("all {} trials that both builds have are identical machine code{}", identical_, rest()));
  }

  Outcome judged(std::string sentence) const {
    const bool open = policy_.undecided_fails
                          ? !unjudged_text(comparison_).empty()
                          : policy_.bisection && left_open() + count(Standing::not_comparable) > 0;
    return {open ? Word::undecided : Word::passed, std::move(sentence)};
  }

  std::string spent() const { return run_.seconds > 0 ? fmt::format(" in {:.0f} s", run_.seconds) : ""; }
  std::string after() const { return run_.seconds > 0 ? fmt::format("after {:.0f} s, ", run_.seconds) : ""; }

  /// Counts rows that were measured as slower here apart from rows that crept: each step of these was below
  /// the limit, and rows of identical machine code were not even measured.
  std::string regression() const {
    std::size_t slower = 0, crept = 0, summed = 0;
    std::string release;
    for (const ComparedRow& row : comparison_.rows) {
      if (row.ratio.low > 0 && row.ratio.basis == Basis::launches) ++summed;
      if (row.standing != Standing::slower) continue;
      ++(row.crept_since.empty() ? slower : crept);
      if (!row.crept_since.empty()) release = row.crept_since;
    }
    std::string out;
    if (slower > 0) {
      out = fmt::format("{} of {} trials {} slower than {}", slower, compared_, slower == 1 ? "is" : "are",
                        run_.against == Against::base ? "the base"
                        : slower == 1                 ? "its limit"
                                                      : "their limit");
    }
    if (crept > 0) {
      out += fmt::format("{}{} of {} trials {} slower than at release {}, by the sum of the steps since",
                         out.empty() ? "" : "; ", crept, summed, crept == 1 ? "is" : "are", release);
    }
    if (const std::string figures = worse_figures(); !figures.empty()) {
      out += (out.empty() ? "" : "; ") + figures;
    }
    return out + rest();
  }

  /// "height 1,234 → 1,300 bytes (5.3 % more) in memory_pool_plan/by_size/blocks=1000#1 and 2 others"
  std::string worse_figures() const {
    const auto& rows = comparison_.rows;
    const auto count = std::ranges::count_if(rows, has_worse_figure);
    if (count == 0) return "";
    const ComparedRow& first = *std::ranges::find_if(rows, has_worse_figure);
    std::string out = fmt::format("{} in {}", figures_in_words(first, /*worse_only=*/true), first.key);
    if (count > 1) out += fmt::format(" and {}", quantity_text(count - 1, "other"));
    return out;
  }

  std::vector<std::string> variants_that_are(Standing standing) const {
    std::vector<std::string> out;
    for (const ComparedRow& row : comparison_.rows) {
      if (row.standing != standing || reports_an_error(row)) continue;
      std::string name = variant_of(row.key);
      if (std::ranges::find(out, name) == out.end()) out.push_back(std::move(name));
    }
    return out;
  }
  std::string_view of_the_head() const { return run_.against == Against::base ? " of the head" : ""; }

  std::string disagreement() const {
    std::vector<std::string> found;
    if (const auto variants = variants_that_are(Standing::wrong); !variants.empty()) {
      found.push_back(fmt::format("{}{} disagree{} with the oracle and {} not timed",
                                  fmt::join(variants, ", "), of_the_head(), variants.size() == 1 ? "s" : "",
                                  variants.size() == 1 ? "was" : "were"));
    }
    for (const ComparedRow& row : comparison_.rows) {
      if (!reports_an_error(row)) continue;
      found.push_back(fmt::format("{}{} {}", row.key, of_the_head(), row.why));
    }
    return fmt::format("{}", fmt::join(found, "; "));
  }

  std::string impossibility() const {
    const auto variants = variants_that_are(Standing::impossible);
    return fmt::format("{}{} {} faster than any kernel can be here, and {} not used",
                       fmt::join(variants, ", "), of_the_head(), variants.size() == 1 ? "is" : "are",
                       variants.size() == 1 ? "its time is" : "their times are");
  }

  std::string failures() const {
    std::vector<std::string> reasons;
    for (const ComparedRow& row : comparison_.rows) {
      if (has_failed(row.standing)) reasons.push_back(row.key + " " + row.why);
    }
    return fmt::format("{}", fmt::join(reasons, "; "));
  }

  const Comparison& comparison_;
  const ComparisonRun& run_;
  const FailurePolicy& policy_;
  std::size_t compared_ = 0, identical_ = 0;
};

}  // namespace

Outcome outcome_of(const Comparison& comparison, const ComparisonRun& run, const FailurePolicy& policy) {
  return Deciding(comparison, run, policy).outcome();
}

Comparison not_compared(const Results& results, const std::string& why) {
  Comparison out;
  for (const TrialResult& trial : results.trials) {
    Finding finding = found_alone(trial).value_or(Finding{Standing::not_comparable, why});
    out.rows.push_back({.key = trial.key, .standing = finding.standing, .why = std::move(finding.why)});
  }
  return out;
}

Outcome outcome_of(const Results& results) {
  return outcome_of(results, not_compared(results, ""), Against::nothing);
}

Outcome outcome_of(const Results& results, const Comparison& rows, Against against,
                   const FailurePolicy& policy) {
  const auto measured =
      std::ranges::count_if(results.trials, [](const TrialResult& trial) { return is_measured(trial); });
  ComparisonRun run{
      .against = against, .measured = static_cast<std::size_t>(measured), .partial = results.partial};
  // Test runners start more shards than there may be cases, and take anything but success for a failure.
  if (results.shard && results.trials.empty()) run.nothing_to_do = in_words(*results.shard);
  return outcome_of(rows, run, policy);
}

std::string unjudged_text(const Comparison& comparison) {
  return counted(comparison,
                 {Standing::probably_slower, Standing::undecided, Standing::not_comparable, Standing::gone});
}

}  // namespace assay
