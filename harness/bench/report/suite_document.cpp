// The report of a suite as a document: the answer first, then the rest folded away.
#include "bench/compare/pull_request.hpp"
#include "bench/compare/words.hpp"
#include "bench/report/content.hpp"
#include "core/code/calls.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace assay {
namespace {

using doc::code;
using doc::Details;
using doc::List;
using doc::Paragraph;
using doc::Picture;
using doc::Section;
using doc::Table;
using doc::Text;
using Blocks = std::vector<doc::Block>;

/// A page with more pictures would be slow; the data has all.
constexpr std::size_t most_sample_plots = 40, most_size_plots = 24;
constexpr std::size_t most_first = 10, most_next = 3;

Text number(std::size_t value) { return doc::count(static_cast<double>(value)); }

std::string rests_on(const Summary& summary) {
  if (summary.measured == 0) return "It rests on no measurement.";
  const auto as_text = [](std::size_t value) { return count_text(static_cast<Index>(value)); };
  std::string launches = quantity_text(static_cast<Index>(summary.most_launches), "process start");
  if (summary.fewest_launches != summary.most_launches) {
    launches = as_text(summary.fewest_launches) + " to " + launches;
  }
  std::string out = fmt::format("It rests on {} measured trials of {}, each in {}.",
                                as_text(summary.measured), as_text(summary.trials), launches);
  if (summary.visible_in_half <= 0) return out;
  return out +
         fmt::format(
             " By the spread of these trials a slow-down of {} would have been seen in half of them, one "
             "of {} in nine of ten.",
             percent_text(summary.visible_in_half), percent_text(summary.visible_in_most));
}

/// A line for each key, with the words that `why` has.
template <class T>
List by_key(const std::vector<T>& all, std::string T::*why) {
  List out;
  for (const T& one : all) out.items.emplace_back(code(one.key) + ": " + one.*why);
  return out;
}

/// The trials behind the verdict.
List first_of(const Report& report) {
  List out = by_key(report.disagreements, &Disagreement::detail);
  out.most = most_first;
  std::ranges::move(by_key(report.impossible, &ImpossibleTime::why).items, std::back_inserter(out.items));
  if (!report.comparison) return out;
  for (const std::string& objection : report.comparison->objections) out.items.push_back(Text(objection));
  for (const ComparedRow& verdict : report.comparison->rows) {
    const std::string figures = figures_in_words(verdict, /*worse_only=*/true);
    const std::string slower = verdict.standing == Standing::slower ? in_words(verdict) : "";
    if (slower.empty() && figures.empty()) continue;
    out.items.push_back(code(verdict.key) + ": " + slower + (slower.empty() || figures.empty() ? "" : "; ") +
                        figures);
  }
  return out;
}

Text share_of_roof(const TimeRow& row) {
  if (row.roof_not_believed) return "roof not believed";
  return row.share_of_roof > 0 ? Text(doc::share(row.share_of_roof)) : Text("unknown");
}

/// The fastest variant of ours in a case, with the choice of `auto` and the fastest library.
struct Fastest {
  const TimeRow* row = nullptr;
  const TimeRow* chosen = nullptr;  ///< the row of the variant that picks
  const CaseRatio* peer = nullptr;  ///< the fastest library with as many threads
};

double speed_of(const TimeRow& row) {
  if (row.seconds.middle > 0) return 1 / row.seconds.middle;
  return row.speedup ? row.speedup->middle : 1;
}

/// Returns one entry per case, in the order of the suite.
std::vector<Fastest> fastest_of(const Report& report) {
  std::set<std::pair<std::string, std::string>> libraries;  // by operation and name
  for (const PeerRow& row : report.peers) {
    for (const std::string& name : row.libraries) libraries.emplace(row.operation, name);
  }
  std::vector<Fastest> out;
  std::map<std::string, std::size_t> places;
  for (const TimeRow& row : report.times) {
    if (libraries.contains({row.trial.operation, row.trial.variant})) continue;
    const auto [place, is_new] = places.try_emplace(case_of(row.trial), out.size());
    if (is_new) out.emplace_back();
    Fastest& best = out[place->second];
    const TimeRow*& slot = row.trial.picked ? best.chosen : best.row;
    if (slot == nullptr || speed_of(row) > speed_of(*slot)) slot = &row;
  }
  for (Fastest& one : out) {
    if (one.row == nullptr) one.row = one.chosen;
    for (const PeerRow& peers : report.peers) {
      if (peers.operation != one.row->trial.operation || peers.threads != one.row->trial.threads) continue;
      const auto found = std::ranges::find(peers.ratios, one.row->trial.problem, &CaseRatio::problem);
      if (found == peers.ratios.end()) continue;
      // The ratio is that of the fastest variant, unless this is naive, or of the one that picks it.
      const bool of_chosen = one.chosen != nullptr && found->ours == one.chosen->trial.variant;
      if (found->ours == one.row->trial.variant || of_chosen) one.peer = &*found;
    }
  }
  return out;
}

/// "`packed`, since the rows fit into the nearest cache"
Text choice_text(const Picked& picked) {
  return code(picked.variant) + (picked.reason.empty() ? "" : ", since " + picked.reason);
}

Table fastest_table(const Report& report, const std::vector<Fastest>& fastest) {
  Table out{.columns = doc::columns(
                "case; !variant = fastest; !seconds = time [s]; !speedup = vs naive [x]; share_of_roof = of "
                "roof [share]; peer = vs best library; picked = auto chose; note = layer")};
  for (const Fastest& one : fastest) {
    const TimeRow& row = *one.row;
    out.rows.push_back(
        {code(case_of(row.trial)), code(with_threads(row.trial.variant, row.trial.threads)),
         report.results.mixed_machines.empty() ? Text(doc::seconds(row.seconds)) : Text("withheld"),
         row.speedup ? Text(doc::speedup(*row.speedup)) : Text(),
         report.results.mixed_machines.empty() ? share_of_roof(row) : Text("withheld"),
         one.peer != nullptr ? doc::faster(one.peer->ratio) + Text(" than ") + code(one.peer->peer) : Text(),
         one.chosen != nullptr ? choice_text(*one.chosen->trial.picked) : Text(), row.trial.note});
  }
  return out;
}

/// The cases and operations with the largest possible gains.
List next_of(const Report& report, const std::vector<Fastest>& fastest) {
  List out;
  // Adds the rows with the least keys, each in the words of `line`.
  const auto add = [&](auto rows, auto key, auto line) {
    std::ranges::stable_sort(rows, {}, key);
    for (std::size_t i = 0; i < std::min(most_next, rows.size()); ++i) out.items.push_back(line(rows[i]));
  };
  std::vector<OperationEffect> effects;
  std::vector<Fastest> behind, far;
  for (const OperationEffect& one : report.composition.effects) {
    if (report.composition.impossible.empty() && one.share_left >= 10) effects.push_back(one);
  }
  for (const Fastest& one : fastest) {
    if (one.peer != nullptr && one.peer->ratio.high < 1) behind.push_back(one);
    if (one.row->share_of_roof > 0 && one.row->share_of_roof < 0.5) far.push_back(one);
  }
  add(
      effects, [](const OperationEffect& one) { return -one.share_left; },
      [](const OperationEffect& one) {
        Text line = code(one.operation) + ": " + doc::share(one.share_left / 100) + " of the fastest epoch";
        if (std::isinf(one.limit_left)) return line;
        return line + ", which is at most " + doc::amount(one.limit_left, "times") + " as fast without it";
      });
  add(
      behind, [](const Fastest& one) { return one.peer->ratio.middle; },
      [](const Fastest& one) {
        return code(case_of(one.row->trial)) + ": " + doc::faster(one.peer->ratio) + " than " +
               code(one.peer->peer);
      });
  add(
      far, [](const Fastest& one) { return one.row->share_of_roof; },
      [](const Fastest& one) {
        return code(case_of(one.row->trial)) + ": " + doc::share(one.row->share_of_roof) + " of the roof";
      });
  if (report.summary.trials > report.summary.measured) {
    out.items.push_back("not measured: " + number(report.summary.trials - report.summary.measured) + " of " +
                        number(report.summary.trials) + " trials; see the end");
  }
  return out;
}

std::string compared_with(const Report& report) {
  return !report.baseline.empty() ? report.baseline
         : report.comparison      ? "Compared with another results file."
                                  : "There is no baseline.";
}

Blocks verdicts(const Report& report) {
  if (!report.comparison) return {};
  Table rows{.columns = doc::columns(
                 "trial; !verdict; !words = time now against before; -ratio; limit [times]; why"),
             .sorts = true};
  std::vector<ComparedRow> sorted = report.comparison->rows;
  std::ranges::stable_sort(sorted, {}, [](const ComparedRow& v) { return weight_of(listed_as(v)); });
  for (const ComparedRow& verdict : sorted) {
    const std::string figures = figures_in_words(verdict);
    rows.rows.push_back({code(verdict.key), to_string(verdict.standing),
                         in_words(verdict) + (figures.empty() ? "" : "; " + figures),
                         doc::amount(verdict.ratio, "times"), doc::amount(verdict.limit, "times"),
                         verdict.why});
  }
  return {compared_with(report),
          Picture{"ratios_plot", ratios_plot(*report.comparison),
                  "✗ slower, ▲ faster, ◆ undecided or accepted, ● same."},
          "The naive variants took " + Text(doc::amount(report.comparison->machine_moved, "times")) +
              " the time they took before: what the machine did by itself. The limit is the ratio of "
              "times above which a trial is slower.",
          Details{"All verdicts", {std::move(rows)}}};
}

Blocks epochs(const Report& report) {
  Blocks out{Picture{"epochs_plot", predictions_plot(report)}};
  std::vector<std::string> left_out;
  for (const Prediction& one : report.predictions) {
    if (!one.impossible.empty()) {
      out.push_back("No prediction for " + one.label + ": " + one.impossible + ".");
      continue;
    }
    Table parts{.columns =
                    doc::columns("trial; note = layer; per_step; seconds = per call [s]; seconds_per_step = "
                                 "per step in all [s]; share = of the epoch [share]")};
    for (const Contribution& part : one.contributions) {
      parts.rows.push_back({code(part.key), part.note, doc::count(part.per_step), doc::seconds(part.seconds),
                            doc::seconds(part.seconds_per_step), doc::share(part.share / 100)});
    }
    out.push_back(doc::strong(one.label) + ": " + doc::seconds(one.seconds) + ", " +
                  doc::share(one.seconds.coverage) + " coverage, from " + std::string(to_string(one.source)) +
                  ", " + quantity_text(static_cast<Index>(one.launches), "process start") + ".");
    out.push_back(Details{"Its parts", {std::move(parts)}});
    for (const std::string& line : one.left_out) {
      if (std::ranges::find(left_out, line) == left_out.end()) left_out.push_back(line);
    }
  }
  if (report.composition.impossible.empty() && !report.composition.effects.empty()) {
    Table effects{
        .columns = doc::columns("operation; share = of the naive epoch [share]; speedup = its speed-up [x]; "
                                "epoch = the epoch's [x]; limit = at most [times]; share_left = of the "
                                "fastest epoch [share]; limit_left = at most from there [times]"),
        .sorts = true};
    const auto limit = [](double value) {
      return std::isinf(value) ? Text("none") : Text(doc::amount(value, "times"));
    };
    for (const OperationEffect& one : report.composition.effects) {
      effects.rows.push_back({code(one.operation), doc::share(one.share / 100), doc::speedup(one.speedup),
                              doc::speedup(one.epoch), limit(one.limit), doc::share(one.share_left / 100),
                              limit(one.limit_left)});
    }
    out.push_back(Details{
        "What each operation brings",
        {doc::soft("The naive epoch with one operation replaced by its fastest variants and the rest left as "
                   "it is, by Amdahl's law. Such effects neither add up nor multiply: all together bring " +
                   Text(doc::speedup(report.composition.together)) +
                   ". The epoch gains at most so much were the operation to take no time, before and after."),
         std::move(effects)}});
  }
  out.push_back(Details{"Not in these epochs", {doc::list_of(left_out)}});
  return out;
}

std::string intervals(const Report& report) {
  if (!report.results.mixed_machines.empty()) {
    return "Times and rates are withheld: " + report.results.mixed_machines +
           ". Speed-ups stand, since a case and its naive variant were measured on one machine.";
  }
  double least = 1, most = 0;
  std::size_t of_one_launch = 0;
  for (const TimeRow& row : report.times) {
    if (sampled_launches(row.trial) == 1) ++of_one_launch;
    least = std::min(least, row.seconds.coverage);
    most = std::max(most, row.seconds.coverage);
  }
  const std::string share =
      least == most ? percent_text(most) : percent_text(least) + " to " + percent_text(most);
  return fmt::format("An interval of a time holds the true value in {} of such runs{}.{}", share,
                     least < most ? ", least where there are few samples" : "",
                     of_one_launch > 0
                         ? " Those of a single process start (1 x) are intervals over its slices, "
                           "which share its luck: the next start may lie outside."
                         : "");
}

Table times_table(const Report& report) {
  const bool shown = report.results.mixed_machines.empty();
  Table out{.tag = "times",
            .columns = doc::columns(
                "key = trial; n = samples: Process starts x slices of each.; seconds = time [s]: Median of a "
                "call.; speedup = vs naive [x]: In the same process starts.; rate = throughput: The work of "
                "the contract by the time.; share_of_roof = of roof [share]: Share of what the measured roof "
                "allows for that work, with the bytes of one call as its working set."),
            .instead = "No time was measured.",
            .sorts = true};
  for (const Figure& figure : report.results.figures) out.columns.push_back(column_of(figure));
  std::ranges::move(doc::columns("repaid_after = repaid after [calls]: Calls, beside naive, that repay the "
                                 "preparation.; picked = chose; note = layer; remark"),
                    std::back_inserter(out.columns));
  for (const TimeRow& row : report.times) {
    const TrialResult& trial = row.trial;
    const std::size_t launches = sampled_launches(trial);
    auto& cells = out.rows.emplace_back(std::vector<Text>{
        code(trial.key), fmt::format("{} x {}", launches, slices_of(trial) / launches),
        shown ? Text(doc::seconds(row.seconds)) : Text("withheld"),
        row.speedup ? Text(doc::speedup(*row.speedup)) : Text(),
        shown ? Text(doc::throughput(row.flops_per_second, row.bytes_per_second)) : Text("withheld"),
        shown ? share_of_roof(row) : Text("withheld")});
    for (const Figure& figure : report.results.figures) cells.push_back(figure_cell(figure, trial.figures));
    cells.push_back(row.repaid_after > 0 ? Text(doc::count(row.repaid_after)) : Text());
    cells.push_back(trial.picked ? choice_text(*trial.picked) : Text());
    cells.push_back(trial.note);
    cells.push_back(trial.remark);
  }
  return out;
}

Blocks times(const Report& report) {
  Blocks out;
  if (!report.times.empty()) {
    out.push_back(
        doc::soft("Medians of seconds per call, and ratios to the naive variant of the same case in the same "
                  "process starts, with intervals in brackets. " +
                  intervals(report)));
  }
  out.push_back(Picture{"speedups_plot", speedups_plot(report),
                        "The fastest variant of each case, the least speed-up first."});
  Table times = times_table(report);
  if (times.rows.empty()) {
    out.push_back(std::move(times));
  } else {
    out.push_back(Details{"All times", {std::move(times)}, report.times.size() <= doc::few_rows});
  }
  if (!report.impossible.empty()) {
    out.push_back("Faster than any kernel can be, and not used:");
    out.push_back(by_key(report.impossible, &ImpossibleTime::why));
  }
  return out;
}

Blocks rates(const Report& report) {
  const Plot plot = roofline(report);
  if (plot.empty()) return {};
  Blocks out{Picture{
      "roofline_plot", plot,
      "● one thread, ■ several, grey: naive. Roofs were measured in this run, those of bandwidth with "
      "two reads to a write; shares are of the roof at a trial's own mix. Traffic counts the bytes of "
      "the contract, so that data in an inner cache may lie above the roof of an outer one."}};
  for (const std::string& why : report.roofs_not_believed) out.push_back("Not believed: " + why + ".");
  return out;
}

Text where(const CaseRatio& one) { return doc::faster(one.ratio) + Text(" at ") + code(one.problem); }

Blocks libraries(const Report& report) {
  if (report.peers.empty()) return {};
  Table rows{.columns = doc::columns(
                 "operation; threads; cases; libraries; <geometric_mean = in the mean; worst; best"),
             .sorts = true};
  Table cases{.columns = doc::columns("case; threads; ours; library; <ratio"), .sorts = true};
  for (const PeerRow& row : report.peers) {
    rows.rows.push_back({code(row.operation), doc::count(row.threads), number(row.ratios.size()),
                         doc::codes(row.libraries), doc::faster(row.mean), where(row.ratios.front()),
                         where(row.ratios.back())});
    for (const CaseRatio& one : row.ratios) {
      cases.rows.push_back({code(row.operation + "/" + one.problem), doc::count(row.threads), code(one.ours),
                            code(one.peer), doc::faster(one.ratio)});
    }
  }
  return {Picture{"peers_plot", peers_plot(report)},
          doc::soft("The fastest variant of ours against the fastest library, on the same case with as many "
                    "threads, in the same process starts. The mean is geometric, over the cases."),
          std::move(rows), Details{"Case by case, the slowest of each operation first", {std::move(cases)}}};
}

Blocks ideas(const Report& report) {
  if (report.ladder.empty()) return {};
  Table rows{
      .columns = doc::columns("operation; step; after; cases; <mean = in the mean; <in_all; least; most"),
      .sorts = true};
  for (const LadderStep& one : report.ladder) {
    rows.rows.push_back({code(one.operation), code(with_threads(one.step, one.threads)), code(one.after),
                         number(one.ratios.size()), doc::faster(one.mean), doc::faster(one.in_all),
                         where(one.ratios.front()), where(one.ratios.back())});
  }
  return {
      doc::soft("Gains of each variant over the variant whose idea it takes further, on the cases that both "
                "ran: the fastest tier of each, the earlier one with one thread. Means are geometric; in "
                "all is the same over naive. The first lines of a variant's file say more of its idea."),
      std::move(rows)};
}

/// Lists the pairs that are slower or undecided at some size; the others are counted, and drawn.
Blocks sizes(const Report& report) {
  if (!report.results.mixed_machines.empty()) return {"Withheld: " + report.results.mixed_machines + "."};
  if (report.break_even.empty()) return {};
  Table rows{.columns = doc::columns("operation; variant; against; sizes; from = faster from; slower = "
                                     "slower at; undecided = undecided at")};
  std::size_t always = 0, drawn = 0;
  Blocks plots;
  for (const BreakEven& row : report.break_even) {
    const Text from =
        row.from.empty() ? Text() : code(row.from) + " (" + Text(doc::bytes(row.from_bytes)) + ")";
    if (row.points.size() > 1 && ++drawn <= most_size_plots) {
      plots.push_back(Details{
          name_of(row) + ": " + (row.from.empty() ? Text("from no size on") : "faster from " + from + " on"),
          {Picture{fmt::format("sizes_{}", drawn), sizes_plot(row)}}});
    }
    if (row.slower.empty() && row.undecided.empty()) {
      ++always;
      continue;
    }
    rows.rows.push_back({code(row.operation) + (row.kind.empty() ? Text() : " " + code(row.kind)),
                         code(row.trial), code(row.rival), number(row.points.size()),
                         row.from.empty() ? Text("nowhere") : from, doc::codes(row.slower, "; "),
                         doc::codes(row.undecided, "; ")});
  }
  Blocks out{doc::soft(
      "Cases of one operation that differ in extents alone, ordered by the bytes of a call. A variant is "
      "faster from the smallest of the measured sizes from which on the whole interval of the ratio is "
      "above 1 at every one; with several threads the rival is the same variant with one.")};
  if (always > 0) {
    out.push_back(quantity_text(static_cast<Index>(always), "pair of a variant and its rival is",
                                "pairs of a variant and its rival are") +
                  " not listed: faster at every size.");
  }
  out.push_back(std::move(rows));
  std::ranges::move(plots, std::back_inserter(out));
  if (drawn > most_size_plots) {
    out.push_back(number(drawn - most_size_plots) + " more are in the data.");
  }
  return out;
}

Blocks samples(const Report& report) {
  const std::vector<const TimeRow*> rows = rows_to_show(report);
  if (rows.empty()) return {};
  Blocks out{
      doc::soft("A drift, a step or a single bad process start shows here, and not in an interval. "
                "Trials that moved come first, then the widest intervals.")};
  const std::size_t shown = std::min(most_sample_plots, rows.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const Plot plot = strip_plot("Samples of " + rows[i]->trial.key,
                                 {{"seconds per call", samples_of(*rows[i])}}, PlotScale::seconds);
    out.push_back(Details{code(rows[i]->trial.key) + ": " + doc::seconds(rows[i]->seconds),
                          {Picture{fmt::format("samples_{}", i + 1), plot}}});
  }
  if (shown < rows.size()) {
    out.push_back("The samples of " + number(rows.size() - shown) + " more trials are in the data.");
  }
  return out;
}

Blocks agreement(const Report& report) {
  Table rows{.columns = doc::columns(
                 "operation; variants; cases; trials; disagreeing = disagree; worst_error [ratio]: Largest "
                 "error of the trials that agree, in units of the bound.; compared = outputs compared"),
             .instead = "Nothing was checked.",
             .sorts = true};
  for (const AgreementRow& row : report.agreement) {
    rows.rows.push_back(
        {code(row.operation), number(row.variants), number(row.cases), number(row.trials),
         number(row.disagreeing), doc::amount(row.worst_error, "ratio"),
         (row.compared == row.total ? "" : count_text(row.compared) + " of ") + count_text(row.total)});
  }
  const char* const which = report.disagreements.empty() ? "No trial disagrees." : "These disagree:";
  return {which, by_key(report.disagreements, &Disagreement::detail),
          Details{"By operation",
                  {doc::soft("Each variant wrote into poisoned and guarded outputs and was compared with the "
                             "reference evaluated in double precision. Errors are in units of the bound that "
                             "the contract derives: up to 1 agrees. A variant that disagrees is not timed."),
                   std::move(rows)}}};
}

Blocks figures(const Report& report) {
  if (report.figures.empty()) return {};
  Table rows{.columns = doc::columns("case; !figure; value; bound; gap; !variants")};
  for (const FigureRow& row : report.figures) {
    const Figure& figure = row.figure;
    const auto gap = gap_of(figure);
    rows.rows.push_back({code(row.problem_case),
                         figure.name + (figure.better == Figure::Better::lower    ? ", lower is better"
                                        : figure.better == Figure::Better::higher ? ", higher is better"
                                                                                  : ""),
                         doc::amount(figure.value, figure.unit),
                         figure.bound ? Text(doc::amount(*figure.bound, figure.unit)) : Text(),
                         gap ? Text(fmt::format("{:.2f} %", 100 * *gap)) : Text(),
                         row.of_all && row.trials.size() > 1 ? Text(fmt::format("all {}", row.trials.size()))
                                                             : doc::codes(row.trials)});
  }
  return {
      doc::soft("Values of outputs besides their times. They do not vary, and are compared exactly "
                "where one way is better; the gap is the share of the bound by which a figure is off it."),
      std::move(rows)};
}

Blocks trust(const Report& report) {
  Table rows{.columns = doc::columns("variant; judged = slices judged; compared = elements compared; calls"),
             .instead = "No slice was judged: nothing was timed, or by a program that judges none.",
             .sorts = true};
  for (const TrustRow& row : report.trust) {
    std::vector<std::string> calls;
    if (row.calls) {
      for (const Calls& one : *row.calls) calls.push_back(in_words(one));
    }
    rows.rows.push_back({code(row.variant),
                         count_text(row.audit.judged) + " of " + count_text(row.audit.slices),
                         doc::count(static_cast<double>(row.audit.compared)),
                         !row.calls      ? Text("unknown")
                         : calls.empty() ? Text("nothing")
                                         : doc::codes(calls)});
  }
  return {doc::soft("Between the calls that are timed, one element of the input changes at a time. After "
                    "its calls a slice is drawn to be judged or not: the output that its last call left is "
                    "compared with the reference for the input as it was then, at the elements that depend "
                    "on what changed and at others. Kernels are prepared on other content than they are "
                    "called with, but for parts that the contract declares constant. After every slice it "
                    "is looked whether the kernel wrote into its input or outside its output, and what it "
                    "left of the floating-point environment, signal handlers, priority, processors, "
                    "processes and memory; a kernel with one thread may not have others work for it."),
          doc::soft(code("calls") +
                    " are functions outside the project that the compiled code of a variant's file "
                    "reaches, but for the run-times of C, C++ and OpenMP: libraries, which a variant has "
                    "to declare, what starts " +
                    code("threads") + ", and what else asks the " + code("system") + "."),
          std::move(rows),
          Paragraph{"assay rejects kernels that compute something else, less, earlier, later or elsewhere "
                    "than asked, including in timed calls. It does not withstand native code that attacks "
                    "its process; the parent's clock makes such attacks visible when they change totals. "
                    "Root, hypervisor, compiler and hardware are trusted. Undeclared library calls are "
                    "reported, not proven absent.",
                    Paragraph::Look::quoted}};
}

std::string mix_text(double written_share) {
  if (written_share == 0) return "reads alone";
  if (written_share == 1) return "writes alone";
  return written_share == 0.5 ? "a write to a read" : percent_text(written_share) + " writes";
}

Table roofs_table(const Report& report) {
  Table out{.columns = doc::columns("roof; threads; !reached"), .instead = "No roof was measured."};
  for (const Roof& roof : report.results.roofs) {
    out.rows.push_back(
        {"f32 fused multiply-add", doc::count(roof.threads), doc::amount(roof.flops_per_second, "FLOP/s")});
    for (const Bandwidth& level : roof.bandwidth) {
      Text reached = doc::amount(level.bytes_per_second, "B/s");
      const char* before = "; ";
      for (const TrafficMix& mix : level.mixes) {
        reached +=
            fmt::format("{}{} {}", before, mix_text(mix.written_share), figure(mix.bytes_per_second / 1e9));
        before = ", ";
      }
      out.rows.push_back({level.level + ", " + Text(doc::bytes(level.working_set_bytes)),
                          doc::count(roof.threads), std::move(reached)});
    }
  }
  return out;
}

Blocks machine_and_build(const Report& report) {
  Blocks out;
  if (report.comparison && !report.comparison->differences.empty()) {
    out.push_back("Different from the baseline:");
    out.push_back(doc::list_of(report.comparison->differences));
  }
  out.push_back("While trials were timed: " + weather_text(report.results.weather));
  Table facts{.columns = doc::columns("fact; !value; decides = must be equal to compare")};
  facts.rows.push_back({"key", code(report.results.machine.key), "yes"});
  for (const Fact& fact : report.results.machine.facts)
    facts.rows.push_back({fact.name, fact.value, fact.decides ? "yes" : "no"});
  Details all{"Facts and roofs", {std::move(facts)}};
  if (!report.results.mixed_machines.empty()) {
    all.blocks.push_back("Withheld: " + report.results.mixed_machines + ".");
  } else {
    all.blocks.push_back(
        doc::soft("Roofs are the best this machine did in loops written for nothing else, measured "
                  "in this run; traffic counts reads and writes."));
    all.blocks.push_back(roofs_table(report));
    for (const std::string& why : report.roofs_not_believed)
      all.blocks.push_back("Not believed: " + why + ".");
  }
  out.push_back(std::move(all));
  return out;
}

Blocks not_covered(const Report& report) {
  return {report.not_covered.empty() ? doc::Block("Nothing.") : doc::list_of(report.not_covered)};
}

Blocks how_to_reproduce(const Report& report) { return {doc::Fence{.lines = report.reproduce}}; }

Blocks fastest_of_all(const Report& report) {
  return {Details{"The fastest of each case", {fastest_table(report, fastest_of(report))}}};
}

/// A section of the details. Texts fold it away.
struct Detail {
  const char *tag, *title, *short_title;
  Blocks (*blocks)(const Report&);
  Section::In in = Section::In::all;
};
constexpr Detail details[] = {{"ratios", "Verdicts against the baseline", "Ratios", verdicts},
                              {"epochs", "Predicted epoch", "Epochs", epochs},
                              {"times", "Times and speed-ups", "Times", times},
                              {"", "", "", fastest_of_all, Section::In::pages},
                              {"roofline", "Rates below the roofs", "Roofline", rates, Section::In::pages},
                              {"peers", "Beside the libraries", "Libraries", libraries},
                              {"ladder", "Idea by idea", "Ideas", ideas},
                              {"sizes", "From which size on", "Sizes", sizes},
                              {"samples", "Samples in run order", "Samples", samples, Section::In::pages},
                              {"agreement", "Agreement", "", agreement},
                              {"figures", "Figures of outputs", "Figures", figures},
                              {"trust", "Trust", "", trust},
                              {"machine", "Machine and build", "Machine", machine_and_build},
                              {"open", "Not checked, not measured, not compared", "Not covered", not_covered},
                              {"reproduce", "How to reproduce", "Reproduce", how_to_reproduce}};

doc::Document document_of(const Report& report) {
  const Outcome& outcome = report.summary.outcome;
  doc::Document out{.title = "Suite " + code(report.results.suite) + ": " + to_string(outcome.word),
                    .kicker = "Suite " + code(report.results.suite) + ", run of " + report.results.date +
                              ", commit " + code(report.results.commit) + ", seed " +
                              fmt::format("{}", report.results.seed) + ", on " +
                              code(report.results.machine.key) + ".",
                    .outcome = fmt::format("{}: {}.", to_string(outcome.word), outcome.sentence)};
  const std::vector<Fastest> fastest = fastest_of(report);
  std::vector<Text> counts;
  for (const auto& count : report.summary.counts) {
    if (count.trials > 0) counts.push_back(number(count.trials) + " " + count.state);
  }
  out.sections = {
      {.blocks = {rests_on(report.summary), first_of(report), doc::soft(report.results.about),
                  doc::soft(counts.empty() ? Text() : "Trials: " + doc::joined(counts) + ".")}},
      {.title = "The fastest of each case",
       .blocks = {fastest.empty()
                      ? Text("No time was measured.")
                      : "Variants of ours, with the time of a call, the speed-up over " + code("naive") +
                            ", the share of what the roof allows, and the ratio to the fastest library.",
                  fastest_table(report, fastest)},
       .in = Section::In::texts},
      {.title = "What to look at next", .blocks = {next_of(report, fastest)}, .in = Section::In::texts}};
  if (!report.comparison)
    out.sections.push_back({.blocks = {compared_with(report) + " Nothing was compared."}});
  for (const Detail& one : details) {
    out.sections.push_back({.tag = one.tag,
                            .title = one.title,
                            .short_title = one.short_title,
                            .blocks = one.blocks(report),
                            .folded = true,
                            .in = one.in});
  }
  out.data = {{"assay-report", to_json(report)}};
  return out;
}

}  // namespace

std::string to_markdown(const Report& report) { return to_markdown(document_of(report)); }

std::string to_csv(const Report& report) { return doc::to_csv(times_table(report)); }

Page report_page(const Report& report) { return to_page(document_of(report)); }

}  // namespace assay
