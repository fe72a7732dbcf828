#include "bench/tune/threshold_record.hpp"

#include "bench/compare/row_text.hpp"
#include "core/json/fields.hpp"
#include "core/machine/record.hpp"
#include "core/markup/template.hpp"
#include "core/text/figures.hpp"
#include "core/text/wrapped.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace assay {
namespace {

std::string sizes_text(const std::vector<Index>& sizes) {
  std::vector<std::string> out;
  for (const Index size : sizes) out.push_back(count_text(size));
  return fmt::format("{}", fmt::join(out, ", "));
}

std::string ratio_text(const Interval& ratio) {
  return fmt::format("{} [{}, {}]", figure(ratio.middle), figure(ratio.low), figure(ratio.high));
}

std::string who(const ThresholdQuestion& question, const MeasuredSize& one) {
  switch (faster_at(one)) {
    case Faster::first: return question.first.name;
    case Faster::second: return question.second.name;
    case Faster::neither: break;
  }
  return "tie";
}

bool any_again(const Threshold& threshold) {
  return std::ranges::any_of(threshold.sizes, &MeasuredSize::again);
}

/// Sizes at which this variant is faster, though the other one is, too, on the side that should be its own.
std::vector<Index> contradicting(const Threshold& threshold, Faster which) {
  std::vector<Index> out;
  for (const MeasuredSize& one : threshold.sizes) {
    if (faster_at(one) == which && one.size >= *threshold.high && one.size <= *threshold.low)
      out.push_back(one.size);
  }
  return out;
}

std::string found_sentence(const ThresholdRecord& record) {
  const ThresholdQuestion& q = record.question;
  const Threshold& t = record.threshold;
  std::string out = fmt::format("{} is faster than {} from {} = {} on. ", q.second.name, q.first.name, q.vary,
                                count_text(*t.high));
  out += t.low ? fmt::format("The break-even lies in [{}, {}].", count_text(*t.low), count_text(*t.high))
               : fmt::format("The break-even lies there or below, where {} is surely faster at no size.",
                             q.first.name);
  const std::vector<Index> ties = t.outer_ties();
  if (!ties.empty()) out += fmt::format(" Neither is surely faster at {} = {}.", q.vary, sizes_text(ties));
  return out + fmt::format(" The constant is {}.", *t.constant());
}

std::string outcome_sentence(const ThresholdRecord& record) {
  const ThresholdQuestion& q = record.question;
  const Threshold& t = record.threshold;
  const std::string &x = q.first.name, &y = q.second.name;
  constexpr const char* none = "no constant follows";
  switch (t.outcome) {
    case ThresholdOutcome::found: return found_sentence(record);
    case ThresholdOutcome::everywhere:
      return fmt::format("{} is faster than {} at {} = {} already. The break-even lies below, and {}.", y, x,
                         q.vary, count_text(*t.high), none);
    case ThresholdOutcome::nowhere:
      return fmt::format("{} is surely faster than {} at none of the sizes measured, up to {} = {}; {}.", y,
                         x, q.vary, count_text(t.sizes.back().size), none);
    case ThresholdOutcome::reversed:
      return fmt::format(
          "{} is faster at small sizes and {} at large ones; {}. Ask for the other order: "
          "--between {},{}",
          y, x, none, y, x);
    case ThresholdOutcome::not_monotone:
      return fmt::format("{} is faster at {} = {}, but {} at {}; no size divides them, and {}.", y, q.vary,
                         sizes_text(contradicting(t, Faster::second)), x,
                         sizes_text(contradicting(t, Faster::first)), none);
    case ThresholdOutcome::undecided:
      return fmt::format(
          "neither {} nor {} is surely faster at any of the {} sizes measured; {}. More "
          "--rounds tell smaller differences apart.",
          x, y, t.sizes.size(), none);
    case ThresholdOutcome::stopped:
      return fmt::format("after {} sizes nothing is decided, and {}.", t.sizes.size(), none);
  }
  return "";
}

/// One line for each that refused sizes.
std::vector<std::string> refusals(const ThresholdQuestion& question) {
  std::vector<std::string> out;
  for (const RefusedSizes& one : question.refused) {
    const Index first = one.sizes.front(), last = one.sizes.back();
    const std::string range = first == last ? count_text(first)
                                            : fmt::format("{} to {}, {} sizes", count_text(first),
                                                          count_text(last), one.sizes.size());
    out.push_back(fmt::format("not measured: {} = {}: {}: {}", question.vary, range, one.by, one.why));
  }
  return out;
}

std::string range_text(const ThresholdQuestion& question) {
  if (question.sizes.empty()) return question.vary;
  return fmt::format("{} from {} to {}", question.vary, count_text(question.sizes.front()),
                     count_text(question.sizes.back()));
}

/// A measured size as files hold it.
struct SizeRow {
  MeasuredSize measured;
  PairTimes times;
  std::string faster;
};

void describe(Fields& f, SizeRow& row) {
  f("size", row.measured.size);
  f.derived("first_seconds", triple(row.times.first), {.about = "low, middle, high"});
  f.derived("second_seconds", triple(row.times.second));
  f.derived("ratio", triple(row.measured.ratio));
  f("coverage", row.measured.ratio.coverage);
  f("faster", row.faster, {.about = "a variant, or tie"});
  f("again", row.measured.again, {.about = "measured twice, since it contradicted others"});
}

}  // namespace

std::string threshold_sentence(const ThresholdRecord& record) {
  if (!record.wrong.empty()) return fmt::format("WRONG: {}", record.wrong);
  return fmt::format("{}: {}", to_string(record.threshold.outcome), outcome_sentence(record));
}

std::string threshold_text(const ThresholdRecord& record) {
  const ThresholdQuestion& q = record.question;
  std::string out = wrapped(fmt::format("{}, {}: {} against {}, {} rounds at each size", q.subject,
                                        range_text(q), q.first.name, q.second.name, record.policy.rounds),
                            terminal_width) +
                    "\n";
  out += fmt::format("{:>13} {:>12} {:>12}  {:<22} {}\n", printable(q.vary, 13), printable(q.first.name, 12),
                     printable(q.second.name, 12), "ratio", "faster");
  for (const MeasuredSize& one : record.threshold.sizes) {
    const PairTimes& times = record.times.at(one.size);
    out += fmt::format("{:>13} {:>12} {:>12}  {:<22} {}{}\n", count_text(one.size),
                       seconds_text(times.first.middle), seconds_text(times.second.middle),
                       ratio_text(one.ratio), printable(who(q, one), 14), one.again ? " *" : "");
  }
  if (any_again(record.threshold)) out += "* measured twice, since it contradicted other sizes\n";
  for (const std::string& line : refusals(q)) out += wrapped(line, terminal_width) + "\n";
  return out + wrapped(threshold_sentence(record), terminal_width) + "\n";
}

std::string threshold_markdown(const ThresholdRecord& record) {
  const ThresholdQuestion& q = record.question;
  Json out = record_values(record.date, record.commit, record.machine, record.weather, record.command);
  out["first"] = q.first.name;
  out["second"] = q.second.name;
  out["case"] = q.subject;
  out["why"] = threshold_sentence(record);
  out["range"] = range_text(q);
  out["vary"] = q.vary;
  out["rounds"] = record.policy.rounds;
  Json rows = Json::array();
  for (const MeasuredSize& one : record.threshold.sizes) {
    const PairTimes& times = record.times.at(one.size);
    rows.push_back(Json{{"size", count_text(one.size)},
                        {"first_time", seconds_text(times.first.middle)},
                        {"second_time", seconds_text(times.second.middle)},
                        {"ratio", ratio_text(one.ratio)},
                        {"faster", who(q, one) + (one.again ? ", measured twice" : "")}});
  }
  out["rows"] = std::move(rows);
  out["refusals"] = refusals(q);
  return document("tune_threshold.md", out);
}

// Beside the types, where argument-dependent lookup finds them.
void describe(Fields& f, RefusedSizes& one) {
  f("by", one.by);
  f("why", one.why);
  f("sizes", one.sizes);
}

void describe(Fields& f, ThresholdRecord& record) {
  ThresholdQuestion& q = record.question;
  Threshold& t = record.threshold;
  std::vector<SizeRow> sizes;
  for (const MeasuredSize& one : t.sizes) sizes.push_back({one, record.times.at(one.size), who(q, one)});
  f.schema("assay.threshold/1");
  f("case", q.subject);
  f("vary", q.vary);
  f("first", q.first.name);
  f("second", q.second.name);
  f.derived("outcome", record.wrong.empty() ? std::string(to_string(t.outcome)) : "WRONG");
  f.derived("why", threshold_sentence(record));
  f("low", t.low, {.null = true, .about = "the largest size at which the first is surely faster"});
  f("high", t.high, {.null = true, .about = "the smallest at which the second is"});
  f.derived("constant", t.constant(), {.null = true});
  f("machine", record.machine.key);
  f("date", record.date);
  f("commit", record.commit);
  f("command", record.command);
  f("rounds", record.policy.rounds);
  f("seed", record.policy.seed);
  f("sizes", sizes);
  f("refused", q.refused);
}

std::string to_json(const ThresholdRecord& record) { return json_text(to_value(record)); }

}  // namespace assay
