#include "bench/report/suite_template.hpp"
#include "core/code/calls.hpp"
#include "core/markup/escaping.hpp"
#include "core/text/figures.hpp"

#include "assay/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace assay {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string number(std::size_t value) { return count_text(static_cast<Index>(value)); }

std::string bullets(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += (out.empty() ? "* " : "\n* ") + escaped(line);
  return out;
}

std::string rests_on(const Summary& summary) {
  if (summary.measured == 0) return "It rests on no measurement.";
  const std::string launches = summary.fewest_launches == summary.most_launches
                                   ? number(summary.most_launches)
                                   : number(summary.fewest_launches) + " to " + number(summary.most_launches);
  return fmt::format("It rests on {} measured trials of {}, each in {} process start{}.",
                     number(summary.measured), number(summary.trials), launches,
                     summary.most_launches == 1 ? "" : "s");
}

std::string visible(const Summary& summary) {
  if (summary.visible_in_half <= 0) return "";
  return fmt::format(
      " By the spread of these trials a slow-down of {} would have been seen in half of them, one of {} in "
      "nine "
      "of ten.",
      percent_text(summary.visible_in_half), percent_text(summary.visible_in_most));
}

/// The trials that the verdict is about; all others wait for their section.
std::string first(const Report& report) {
  constexpr std::size_t shown = 10;
  std::vector<std::string> lines;
  for (const Disagreement& one : report.disagreements) {
    lines.push_back(code(one.key) + ": " + escaped(one.detail));
  }
  for (const ImpossibleTime& one : report.impossible) {
    lines.push_back(code(one.key) + ": " + escaped(one.why));
  }
  if (report.comparison) {
    for (const std::string& objection : report.comparison->objections) lines.push_back(escaped(objection));
    for (const Verdict& verdict : report.comparison->verdicts) {
      if (verdict.standing != Standing::slower) continue;
      lines.push_back(code(verdict.key) + ": " + escaped(in_words(verdict)));
    }
  }
  std::string out;
  for (std::size_t i = 0; i < std::min(shown, lines.size()); ++i) out += "* " + lines[i] + "\n";
  if (lines.size() > shown) out += fmt::format("* and {} more\n", lines.size() - shown);
  return out;
}

std::string counts(const Summary& summary) {
  Rows rows;
  for (const auto& count : summary.counts) rows.push_back({count.state, number(count.trials)});
  return markdown_table("lr", {"state", "trials"}, rows);
}

std::string machine(const Machine& machine) {
  Rows rows{{"key", code(machine.key), "yes"}};
  for (const Fact& fact : machine.facts) {
    rows.push_back({escaped(fact.name), escaped(fact.value), fact.decides ? "yes" : "no"});
  }
  return markdown_table("lll", {"fact", "value", "must be equal to compare"}, rows);
}

std::string differences(const Report& report) {
  if (!report.comparison || report.comparison->differences.empty()) return "";
  return "Different from the baseline:\n\n" + bullets(report.comparison->differences);
}

std::string roofs(const Report& report) {
  if (!report.withheld.empty()) return "Withheld: " + escaped(report.withheld) + ".";
  if (report.roofs.empty()) return "No roof was measured.";
  Rows rows;
  for (const Roof& roof : report.roofs) {
    const std::string threads = fmt::format("{}", roof.threads);
    rows.push_back({threads, "f32 fused multiply-add", figure(roof.flops_per_second / 1e9) + " GFLOP/s"});
    for (const Bandwidth& level : roof.bandwidth) {
      rows.push_back({threads,
                      fmt::format("{}, {}", escaped(level.level), bytes_text(level.working_set_bytes)),
                      figure(level.bytes_per_second / 1e9) + " GB/s"});
    }
  }
  std::string out = markdown_table("rlr", {"threads", "roof", "reached"}, rows);
  for (const std::string& why : report.roofs_not_believed) out += "\n\nNot believed: " + escaped(why) + ".";
  return out;
}

std::string weather(const Weather& weather) {
  if (weather.seconds <= 0) return "the weather was not recorded.";
  const std::string pressure =
      weather.cpu_pressure_share < 0
          ? "pressure not visible here"
          : "some task waited for a processor " + percent_text(weather.cpu_pressure_share) + " of the time";
  const std::string migrations =
      weather.migrations < 0 ? "migrations not visible here" : count_text(weather.migrations) + " migrations";
  return fmt::format(
      "{}; {} of processor time stolen by the hypervisor, {} used by other processes; {}; {} involuntary "
      "switches, {}, {} major faults.",
      seconds_text(weather.seconds), percent_text(weather.steal_share),
      percent_text(weather.other_busy_share), pressure, count_text(weather.involuntary_switches), migrations,
      count_text(weather.major_faults));
}

std::string agreement(const Report& report) {
  if (report.agreement.empty()) return "Nothing was checked.";
  Rows rows;
  for (const AgreementRow& row : report.agreement) {
    const std::string compared = row.compared == row.total
                                     ? count_text(row.total)
                                     : count_text(row.compared) + " of " + count_text(row.total);
    rows.push_back({code(row.operation), number(row.variants), number(row.cases), number(row.trials),
                    number(row.disagreeing), figure(row.worst_error), compared});
  }
  return markdown_table("lrrrrrr",
                        {"operation", "variants", "cases", "trials", "disagree",
                         "worst error of those that agree", "outputs compared"},
                        rows);
}

std::string disagreements(const Report& report) {
  if (report.disagreements.empty()) return "No trial disagrees.";
  std::string out = "These disagree:\n";
  for (const Disagreement& one : report.disagreements) {
    out += "\n* " + code(one.key) + ": " + escaped(one.detail);
  }
  return out;
}

std::string calls_text(const TrustRow& row) {
  if (!row.calls) return "unknown";
  std::string out;
  for (const Calls& one : *row.calls) out += (out.empty() ? "" : ", ") + code(in_words(one));
  return out.empty() ? "nothing" : out;
}

std::string preparation(const TrustRow& row) {
  constexpr double handle_seconds = 1e-6;  // takes what is no preparation worth the name
  if (row.prepare_seconds < handle_seconds) return "";
  const std::string calls = row.repaid_after <= 0 ? ""
                            : row.repaid_after == 1
                                ? ", repaid by one call"
                                : fmt::format(", repaid by {:.0f} calls", row.repaid_after);
  return seconds_text(row.prepare_seconds) + calls;
}

std::string trust(const Report& report) {
  if (report.trust.empty())
    return "No slice was judged: nothing was timed, or by a program that judges none.";
  Rows rows;
  for (const TrustRow& row : report.trust) {
    rows.push_back({code(row.variant), count_text(row.judged) + " of " + count_text(row.slices),
                    count_text(row.compared), count_text(row.allocations_per_call),
                    row.workspace_bytes > 0 ? bytes_text(row.workspace_bytes) : "nothing", preparation(row),
                    calls_text(row)});
  }
  return markdown_table("lrrrrrl",
                        {"variant", "slices judged", "elements compared", "allocations per call", "keeps",
                         "preparation", "calls"},
                        rows);
}

std::string intervals(const Report& report) {
  if (report.times.empty()) return "";
  if (!report.withheld.empty()) {
    return "Times and rates are withheld: " + escaped(report.withheld) +
           ". Speed-ups stand, since a case and its naive variant were measured on one machine.";
  }
  double least = 1, most = 0;
  std::size_t of_one_launch = 0;
  for (const TimeRow& row : report.times) {
    if (row.launches == 1) ++of_one_launch;
    least = std::min(least, row.seconds.coverage);
    most = std::max(most, row.seconds.coverage);
  }
  const std::string share =
      least == most ? percent_text(most) : percent_text(least) + " to " + percent_text(most);
  return fmt::format("An interval of a time holds the true value in {} of such runs{}.{}", share,
                     least < most ? ", least where there are few samples" : "",
                     of_one_launch > 0
                         ? " Those of a single process start (`1 x`) are intervals over its slices, "
                           "which share its luck: the next start may lie outside."
                         : "");
}

std::string of_roof(const TimeRow& row) {
  if (row.roof_not_believed) return "roof not believed";
  if (row.share_of_roof <= 0) return "unknown";
  return percent_text(row.share_of_roof);
}

std::string times(const Report& report) {
  if (report.times.empty() && report.impossible.empty()) return "No time was measured.";
  std::string out, open;
  Rows rows;
  const auto close = [&] {
    if (rows.empty()) return;
    out += markdown_table("lrrlrrrrr",
                          {"variant", "threads", "n", "time", "vs naive", "throughput", "of roof",
                           "allocations per call", "workspace"},
                          rows);
    rows.clear();
  };
  for (const TimeRow& row : report.times) {
    if (row.problem_case != open) {
      close();
      out += (out.empty() ? "" : "\n\n") + code(row.problem_case);
      if (!row.note.empty()) out += ": " + escaped(row.note);
      out += "\n\n";
      open = row.problem_case;
    }
    const bool shown = report.withheld.empty();
    rows.push_back({code(row.variant), fmt::format("{}", row.threads),
                    fmt::format("{} x {}", row.launches, row.slices / std::max<std::size_t>(1, row.launches)),
                    shown ? seconds_text(row.seconds) : "withheld",
                    row.speedup ? speedup_text(*row.speedup) : "",
                    shown ? throughput_text(row.flops_per_second, row.bytes_per_second) : "withheld",
                    shown ? of_roof(row) : "withheld", count_text(row.allocations_per_call),
                    row.workspace_bytes > 0 ? bytes_text(row.workspace_bytes) : ""});
  }
  close();
  if (!report.impossible.empty()) {
    out += out.empty() ? "" : "\n\n";
    out += "Faster than any kernel can be, and not used:\n";
    for (const ImpossibleTime& one : report.impossible) {
      out += "\n* " + code(one.key) + ": " + escaped(one.why);
    }
  }
  return out;
}

std::string sizes_text(const std::vector<std::string>& sizes) {
  std::string out;
  for (const std::string& size : sizes) out += (out.empty() ? "" : "; ") + code(size);
  return out;
}

std::string break_even_table(const Report& report) {
  if (!report.withheld.empty()) return "Withheld: " + escaped(report.withheld) + ".";
  if (report.break_even.empty()) return "No variant was measured at two sizes.";
  Rows rows;
  std::size_t always = 0;
  for (const BreakEven& row : report.break_even) {
    if (row.slower.empty() && row.undecided.empty()) {
      ++always;
      continue;
    }
    const std::string from =
        row.from.empty() ? "nowhere" : fmt::format("{} ({})", code(row.from), bytes_text(row.from_bytes));
    rows.push_back({code(row.operation) + (row.kind.empty() ? "" : " " + code(row.kind)), code(row.trial),
                    code(row.rival), number(row.sizes), from, sizes_text(row.slower),
                    sizes_text(row.undecided)});
  }
  std::string out;
  if (always > 0) {
    out = fmt::format("{} pair{} of a variant and its rival {} not listed: faster at every size.\n\n",
                      number(always), always == 1 ? "" : "s", always == 1 ? "is" : "are");
  }
  if (rows.empty()) return out;
  return out + markdown_table(
                   "lllrlll",
                   {"operation", "variant", "against", "sizes", "faster from", "slower at", "undecided at"},
                   rows);
}

/// Returns the place of a standing in the table: what readers must see first comes first.
int weight(Standing standing) {
  constexpr std::array order{Standing::crashed,    Standing::timed_out,      Standing::wrong,
                             Standing::impossible, Standing::slower,         Standing::accepted,
                             Standing::undecided,  Standing::not_comparable, Standing::gone,
                             Standing::faster,     Standing::added,          Standing::skipped,
                             Standing::same};
  return static_cast<int>(std::ranges::find(order, standing) - order.begin());
}

std::string compared_with(const Report& report) {
  if (!report.baseline.empty()) return escaped(report.baseline);
  return report.comparison ? "Compared with another results file." : "There is no baseline.";
}

std::string verdicts(const Report& report) {
  if (!report.comparison) return "Nothing was compared.";
  std::vector<Verdict> sorted = report.comparison->verdicts;
  std::ranges::stable_sort(sorted, {}, [](const Verdict& v) { return weight(v.standing); });
  Rows rows;
  for (const Verdict& verdict : sorted) {
    rows.push_back({code(verdict.key), std::string(to_string(verdict.standing)), escaped(in_words(verdict)),
                    figure(verdict.limit) + "x", escaped(verdict.why)});
  }
  return fmt::format(
             "The naive variants took {}x the time they took before: what the machine did by "
             "itself. The "
             "limit is the ratio of times above which a trial is slower.\n\n",
             figure(report.comparison->machine_moved)) +
         markdown_table("lllrl", {"trial", "verdict", "time now against before", "limit", "why"}, rows);
}

std::string one_prediction(const Prediction& prediction) {
  if (!prediction.impossible.empty()) return "No prediction: " + escaped(prediction.impossible) + ".";
  constexpr std::size_t shown = 12;
  Rows rows;
  double others = 0;
  for (const Contribution& part : prediction.contributions) {
    if (rows.size() == shown) {
      others += part.share;
      continue;
    }
    rows.push_back({code(part.key), escaped(part.note), count_text(part.per_step), seconds_text(part.seconds),
                    seconds_text(part.seconds_per_step), figure(part.share) + " %"});
  }
  if (prediction.contributions.size() > shown) {
    rows.push_back({fmt::format("{} others", prediction.contributions.size() - shown), "", "", "", "",
                    figure(others) + " %"});
  }
  return fmt::format("**{}**: {} coverage, from {}, {} process start{}.\n\n",
                     seconds_text(prediction.seconds), percent_text(prediction.seconds.coverage),
                     to_string(prediction.source), prediction.launches, prediction.launches == 1 ? "" : "s") +
         markdown_table("llrrrr",
                        {"trial", "what", "per step", "per call", "per step in all", "of the epoch"}, rows);
}

std::string limit_text(double limit) { return std::isinf(limit) ? "none" : figure(limit) + "x"; }

std::string one_by_one(const Composition& composition) {
  if (!composition.impossible.empty()) return "";
  Rows rows;
  for (const OperationEffect& one : composition.effects) {
    rows.push_back({code(one.operation), figure(one.share) + " %", speedup_text(one.speedup),
                    speedup_text(one.epoch), limit_text(one.limit), figure(one.share_left) + " %",
                    limit_text(one.limit_left)});
  }
  return fmt::format(
             "\n\n### What each operation brings\n\n"
             "The naive epoch with one operation replaced by its fastest variants and the rest left as it "
             "is, by "
             "Amdahl's law from the shares above. Such effects neither add up nor multiply: all together "
             "bring {}. `at most` is what the epoch would gain were the operation to take no "
             "time, before and after.\n\n",
             speedup_text(composition.together)) +
         markdown_table("lrrrrrr",
                        {"operation", "of the naive epoch", "its speed-up", "the epoch's", "at most",
                         "of the fastest epoch", "at most from there"},
                        rows);
}

std::string epoch(const Report& report) {
  std::string out;
  std::vector<std::string> left_out;
  for (const Prediction& prediction : report.predictions) {
    out += fmt::format("{}### {}\n\n{}", out.empty() ? "" : "\n\n", escaped(prediction.label),
                       one_prediction(prediction));
    for (const std::string& line : prediction.left_out) {
      if (std::ranges::find(left_out, line) == left_out.end()) left_out.push_back(line);
    }
  }
  out += one_by_one(report.composition);
  if (!left_out.empty()) out += "\n\nNot in these numbers:\n\n" + bullets(left_out);
  return out;
}

/// Placeholders that are empty here leave no run of blank lines.
std::string without_gaps(std::string text) {
  for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

}  // namespace

std::string to_markdown(const Report& report) {
  return without_gaps(
      fill_template("reports/templates/suite.md", suite_template,
                    {{"suite", report.suite},
                     {"word", std::string(to_string(report.summary.outcome.word))},
                     {"sentence", escaped(report.summary.outcome.sentence)},
                     {"rests_on", rests_on(report.summary) + visible(report.summary)},
                     {"first", first(report)},
                     {"counts", counts(report.summary)},
                     {"about", escaped(report.about)},
                     {"date", escaped(report.date)},
                     {"commit", code(report.commit)},
                     {"seed", fmt::format("{}", report.seed)},
                     {"machine", machine(report.machine)},
                     {"differences", differences(report)},
                     {"roofs", roofs(report)},
                     {"weather", weather(report.weather)},
                     {"agreement", agreement(report)},
                     {"disagreements", disagreements(report)},
                     {"trust", trust(report)},
                     {"intervals", intervals(report)},
                     {"times", times(report)},
                     {"break_even", break_even_table(report)},
                     {"baseline", compared_with(report)},
                     {"verdicts", verdicts(report)},
                     {"epoch", epoch(report)},
                     {"not_covered", report.not_covered.empty() ? "Nothing." : bullets(report.not_covered)},
                     {"reproduce", code_block("sh", report.reproduce)}}));
}

}  // namespace assay
