#include "core/json/lint.hpp"

#include "assay/error.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace assay {
namespace {

/// Figures are written with seven digits and more.
constexpr double rounding = 1e-5;
/// A roof is measured too: reports believe a roof that trials exceed by less than this.
constexpr double roof_uncertainty = 0.05;

bool exceeds(double a, double b) { return a > b + rounding * std::abs(b); }

/// The range of a figure.
struct Ends {
  double low = std::numeric_limits<double>::infinity(), high = -low;

  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return low > high; }
  bool holds(double value) const { return !exceeds(low, value) && !exceeds(value, high); }
};

std::optional<double> number_in(const Json& values, std::string_view name) {
  const Json* found = values.find(name);
  if (found == nullptr || !found->is_number()) return std::nullopt;
  return found->number();
}

std::string_view text_in(const Json& values, std::string_view name) {
  const Json* found = values.find(name);
  return found == nullptr || !found->is_string() ? std::string_view() : std::string_view(found->text());
}

const Json::Array& items_in(const Json& values, std::string_view name) {
  static const Json::Array none;
  const Json* found = values.find(name);
  return found == nullptr || !found->is_array() ? none : found->items();
}

/// The named number of the named member: `seconds.middle`.
std::optional<double> number_in(const Json& values, std::string_view member, std::string_view name) {
  const Json* found = values.find(member);
  return found == nullptr ? std::nullopt : number_in(*found, name);
}

Ends samples_of(const Json& row) {
  Ends out;
  for (const Json& launch : items_in(row, "samples")) {
    if (!launch.is_array()) continue;
    for (const Json& sample : launch.items()) {
      if (sample.is_number()) out.add(sample.number());
    }
  }
  return out;
}

class Linter {
 public:
  std::vector<LintFinding> run(const Json& values) {
    look_at(values, "");
    return std::move(out_);
  }

 private:
  void found(Rule rule, const std::string& here, std::string_view name, std::string text) {
    out_.push_back(
        {rule, here + (here.empty() || name.empty() ? "" : ".") + std::string(name), std::move(text)});
  }

  void look_at(const Json& value, const std::string& here) {
    if (value.is_array()) {
      const Json::Array& items = value.items();
      speedups(items, here);
      shares(items, here);
      for (std::size_t i = 0; i < items.size(); ++i) {
        if (items[i].is_structured()) look_at(items[i], fmt::format("{}[{}]", here, i));
      }
    } else if (value.is_object()) {
      negatives(value, here);
      interval(value, here);
      wholes(value, here);
      row(value, here);
      agreement(value, here);
      verdict(value, here);
      counts(value, here);
      mean(value, here);
      epoch(value, here);
      for (const auto& [name, member] : value.members()) {
        if (member.is_structured()) look_at(member, here.empty() ? name : here + "." + name);
      }
    }
  }

  void negatives(const Json& values, const std::string& here) {
    for (const std::string_view name :
         {"flops", "bytes_read", "bytes_written", "flops_per_second", "bytes_per_second", "per_step",
          "steps_per_epoch", "seconds_per_step", "share_of_roof", "share_percent", "prepare_seconds",
          "workspace_bytes", "allocations_per_call", "allocated_bytes_per_call", "worst_error"}) {
      const auto value = number_in(values, name);
      if (value && *value < 0) found(Rule::negative, here, name, figure(*value) + " is below 0");
    }
  }

  void interval(const Json& values, const std::string& here) {
    const auto low = number_in(values, "low"), middle = number_in(values, "middle"),
               high = number_in(values, "high"), coverage = number_in(values, "coverage");
    if (!low || !middle || !high) return;
    if (coverage && (*coverage < 0 || *coverage > 1)) {
      found(Rule::interval, here, "coverage", figure(*coverage) + " is no share of runs");
    }
    // An interval over slices need not enclose the estimate.
    const bool drawn = text_in(values, "over") == "slices";
    if (exceeds(*low, *high) || (!drawn && !Ends{*low, *high}.holds(*middle))) {
      found(Rule::interval, here, "",
            fmt::format("{} is not within [{}, {}]", figure(*middle), figure(*low), figure(*high)));
    }
  }

  /// A count of parts is at most the count of the whole beside it.
  void wholes(const Json& values, const std::string& here) {
    using Pair = std::pair<std::string_view, std::string_view>;
    for (const auto& [part, whole] :
         {Pair{"compared", "total"}, Pair{"judged", "slices"}, Pair{"measured", "trials"},
          Pair{"disagreeing", "trials"}, Pair{"fewest_launches", "most_launches"}}) {
      const auto some = number_in(values, part), all = number_in(values, whole);
      if (some && all && *some > *all) {
        found(Rule::bound, here, part,
              fmt::format("{} is more than {}, which is {}", count_text(*some), whole, count_text(*all)));
      }
    }
  }

  /// The time of a trial beside its samples and its roof.
  void row(const Json& values, const std::string& here) {
    const auto seconds = number_in(values, "seconds", "middle"), high = number_in(values, "seconds", "high");
    if (const Ends samples = samples_of(values); seconds && !samples.empty() && !samples.holds(*seconds)) {
      found(Rule::interval, here, "seconds",
            fmt::format("{} is of samples from {} to {}", seconds_text(*seconds), seconds_text(samples.low),
                        seconds_text(samples.high)));
    }
    const auto share = number_in(values, "share_of_roof");
    const double least = seconds && high && *high > 0 ? *seconds / *high : 1;
    if (share && *share * least > 1 + roof_uncertainty) {
      found(Rule::shares, here, "share_of_roof",
            percent_text(*share) + " of a roof that was measured, and is believed");
    }
  }

  void agreement(const Json& values, const std::string& here) {
    const Json* agrees = values.find("agrees");
    // Audits hold trials that agree, and do not say so for each.
    const bool is_right = agrees == nullptr || (agrees->is_boolean() && agrees->boolean());
    for (const auto& [name, counts] :
         {std::pair{"worst_error", is_right}, std::pair{"worst_error_in_bounds", true}}) {
      const auto error = number_in(values, name);
      if (counts && error && exceeds(*error, 1)) {
        found(Rule::bound, here, name,
              fmt::format("{} times the bound is an error that agrees", figure(*error)));
      }
    }
  }

  void verdict(const Json& values, const std::string& here) {
    const std::string_view standing = text_in(values, "standing");
    const auto ratio = number_in(values, "ratio", "middle"),
               coverage = number_in(values, "ratio", "coverage");
    if (!ratio || !coverage || *coverage <= 0) return;
    const bool slower = standing == "slower" || standing == "accepted";
    if ((slower && *ratio < 1) || (standing == "faster" && *ratio > 1)) {
      found(Rule::slower, here, "standing",
            fmt::format("{} contradicts {} times the time before", standing, figure(*ratio)));
    }
  }

  /// States of the trials of a run.
  void counts(const Json& values, const std::string& here) {
    const auto trials = number_in(values, "trials");
    const Json* counts = values.find("counts");
    if (!trials || counts == nullptr) return;
    const auto count = [&](std::string_view state) { return number_in(*counts, state).value_or(0); };
    const auto require = [&](std::string_view what, double whole, double sum) {
      if (whole == sum) return;
      found(Rule::sum_of_parts, here, "counts",
            fmt::format("{} {} contradicts the sum of their states, {}", count_text(whole), what,
                        count_text(sum)));
    };
    require("trials", *trials,
            count("agree") + count("disagree") + count("crashed or timed out") + count("did not run here"));
    require("that agree", count("agree"),
            count("measured") + count("agree but not measured") + count("faster than any kernel can be"));
  }

  void mean(const Json& values, const std::string& here) {
    const auto mean = number_in(values, "geometric_mean");
    Ends ratios;
    for (const Json& one : items_in(values, "ratios")) {
      if (const auto ratio = number_in(one, "ratio", "middle")) ratios.add(*ratio);
    }
    if (!mean || ratios.empty() || ratios.holds(*mean)) return;
    found(Rule::ratio, here, "geometric_mean",
          fmt::format("{} is the mean of ratios from {} to {}", figure(*mean), figure(ratios.low),
                      figure(ratios.high)));
  }

  /// Compares the seconds of an epoch with the sum over the cases of a step.
  void epoch(const Json& values, const std::string& here) {
    Ends step{0, 0};
    const Json::Array& parts = items_in(values, "contributions");
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto calls = number_in(parts[i], "per_step"), seconds = number_in(parts[i], "seconds", "middle"),
                 low = number_in(parts[i], "seconds", "low"), high = number_in(parts[i], "seconds", "high"),
                 stated = number_in(parts[i], "seconds_per_step");
      if (!calls || !seconds || !low || !high) return;
      step.low += *calls * *low;
      step.high += *calls * *high;
      const double product = *calls * *seconds;
      if (stated && !Ends{product, product}.holds(*stated)) {
        found(Rule::epoch, fmt::format("{}.contributions[{}]", here, i), "seconds_per_step",
              fmt::format("{} contradicts {} x {} = {}", seconds_text(*stated), count_text(*calls),
                          seconds_text(*seconds), seconds_text(product)));
      }
    }
    const auto steps = number_in(values, "steps_per_epoch"), low = number_in(values, "seconds", "low"),
               middle = number_in(values, "seconds", "middle"), high = number_in(values, "seconds", "high");
    if (parts.empty() || !steps || !low || !middle || !high) return;
    // Both intervals are of one epoch, over launches and over cases, so they overlap.
    if (!exceeds(*low, *steps * step.high) && !exceeds(*steps * step.low, *high)) return;
    found(Rule::epoch, here, "seconds",
          fmt::format("{} contradicts {} steps of {} to {}", seconds_text(*middle), count_text(*steps),
                      seconds_text(step.low), seconds_text(step.high)));
  }

  void shares(const Json::Array& rows, const std::string& here) {
    for (const std::string_view name : {"share_percent", "share_left_percent"}) {
      double sum = 0;
      for (const Json& one : rows) sum += number_in(one, name).value_or(0);
      if (exceeds(sum, 100)) found(Rule::shares, here, name, "shares sum to " + percent_text(sum / 100));
    }
  }

  /// A speed-up comes from launches that naive and the variant shared: ratios of their samples enclose it.
  void speedups(const Json::Array& rows, const std::string& here) {
    std::map<std::string_view, Ends> naive;
    for (const Json& row : rows) {
      if (text_in(row, "variant") == "naive") naive.try_emplace(text_in(row, "case"), samples_of(row));
    }
    if (naive.empty()) return;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto speedup = number_in(rows[i], "speedup", "middle");
      const auto beside = naive.find(text_in(rows[i], "case"));
      if (!speedup || beside == naive.end()) continue;
      const Ends own = samples_of(rows[i]);
      if (own.empty() || beside->second.empty()) continue;
      const Ends may_be{beside->second.low / own.high, beside->second.high / own.low};
      if (may_be.holds(*speedup)) continue;
      found(Rule::ratio, fmt::format("{}[{}]", here, i), "speedup",
            fmt::format("{} contradicts the samples of naive and its own, whose ratios go from {} to {}",
                        figure(*speedup), figure(may_be.low), figure(may_be.high)));
    }
  }

  std::vector<LintFinding> out_;
};

}  // namespace

std::string_view to_string(Rule rule) {
  static constexpr std::array<std::string_view, 16> names{
      "negative",      "throughput",    "epoch",        "sum of parts", "parts of step",
      "shares",        "missing phase", "step count",   "large other",  "underived minimum",
      "timed windows", "scopes",        "times slower", "bound",        "interval",
      "ratio"};
  return names[static_cast<std::size_t>(rule)];
}

void describe(Fields& f, LintFinding& finding) {
  f.derived("rule", std::string(to_string(finding.rule)));
  ASSAY_FIELDS(f, finding, field, text);
  f("contradiction", finding.contradiction, {.about = "or a remark"});
}

std::string in_words(const LintFinding& finding) {
  return fmt::format("{} {}: {}: {}", finding.contradiction ? "WRONG" : "remark", to_string(finding.rule),
                     finding.field, finding.text);
}

std::vector<LintFinding> lint(const Json& values) { return Linter().run(values); }

void require_consistent(const Json& values, const std::string& where) {
  const std::vector<LintFinding> findings = lint(values);
  if (findings.empty()) return;
  throw Error(fmt::format("{}: {}", where, findings.front().field),
              fmt::format("contradicts itself: {}", findings.front().text),
              "write the file again, or mend what changed it");
}

}  // namespace assay
