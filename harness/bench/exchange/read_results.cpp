#include "bench/exchange/read_results.hpp"

#include "assay/error.hpp"
#include "assay/files.hpp"
#include "bench/exchange/foreign_results.hpp"
#include "bench/measure/results_fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace assay {
namespace {

void read_ours(const ResultFile& file, Results& out) { out = results_from(file.field.value(), file.where()); }

/// A file of ours that holds no results.
void refuse_ours(const ResultFile& file, Results&) { require_schema(file.field, results_schema); }

/// In the order in which they are tried.
const std::vector<ResultFormat>& result_formats() {
  static const std::vector<ResultFormat> all{
      {.name = "assay",
       .marks = {{"schema", "assay.result/"}},
       .remedy = "write it again with assay run -o FILE",
       .read = read_ours},
      {.name = "a gate of two builds",
       .marks = {{"schema", "assay.two_builds/"}},
       .remedy = "`assay reanalyze` reads a gate of two builds",
       .read = refuse_ours},
      {.name = "a baseline",
       .marks = {{"schema", "assay.baseline/"}},
       .remedy = "`assay gate` and `assay report --baseline` read a baseline",
       .read = refuse_ours},
      {.name = "a bundle",
       .marks = {{"schema", "assay.bundle/"}},
       .remedy = "`assay gate --bundle` reads a bundle",
       .read = refuse_ours},
      {.name = "a job",
       .marks = {{"schema", "assay.job/"}},
       .remedy = "`assay predict` reads a job",
       .read = refuse_ours},
      {.name = "Google Benchmark",
       .about = "read from Google Benchmark's JSON; each repetition counts as a process start",
       .marks = {{"context", "an object"}, {"benchmarks", "an array"}},
       .rows = "benchmarks",
       .row = "measurement: aggregates alone cannot be compared",
       .remedy = "write it again with --benchmark_out=FILE --benchmark_out_format=json",
       .read = read_google_benchmark,
       .bare_nan = true},
      {.name = "pytest-benchmark",
       .about = "read from pytest-benchmark's JSON; the rounds of a test are slices of one process start",
       .marks = {{"machine_info", "an object"}, {"benchmarks", "an array"}},
       .rows = "benchmarks",
       .row = "test",
       .remedy = "write it again with pytest --benchmark-json=FILE",
       .read = read_pytest_benchmark},
      {.name = "nvbench",
       .about = "read from NVBench's JSON; the samples of a state are slices of one process start",
       .marks = {{"benchmarks", "an array"}, {"benchmarks.states", "an array"}},
       .rows = "benchmarks",
       .row = "state",
       .remedy = "write it again with --jsonbin FILE of a present NVBench",
       .read = read_nvbench},
      {.name = "hyperfine",
       .about = "read from hyperfine's JSON; each run counts as a process start",
       .marks = {{"results", "an array"}, {"results.command", "a string"}},
       .rows = "results",
       .row = "command",
       .remedy = "write it again with hyperfine --export-json FILE",
       .read = read_hyperfine},
      {.name = "benchdnn",
       .about = "read from benchdnn's output; each of its lines counts as a process start",
       .marks = {{"perf,|Output template: ", "a line"}},
       .row = "line that begins with \"perf,\"",
       .remedy = "run benchdnn with --mode=P",
       .read = read_benchdnn}};
  return all;
}

/// Whether a line begins with one of these words.
bool has_line(const std::string& text, std::string_view words) {
  while (!words.empty()) {
    const std::string start(words.substr(0, words.find('|')));
    if (text.starts_with(start) || text.find('\n' + start) != std::string::npos) return true;
    words.remove_prefix(std::min(words.size(), start.size() + 1));
  }
  return false;
}

bool holds(const Mark& mark, const ResultFile& file) {
  const Json* value = &file.field.value();
  if (mark.is == "a line") return !value->is_structured() && has_line(file.text, mark.place);
  for (std::string_view rest = mark.place; !rest.empty();) {
    if (value->is_array()) {
      if (value->empty()) return true;
      value = &value->items().front();
    }
    const std::string_view step = rest.substr(0, rest.find('.'));
    rest.remove_prefix(std::min(rest.size(), step.size() + 1));
    value = value->find(step);
    if (value == nullptr) return false;
  }
  if (mark.is == "an array") return value->is_array();
  if (mark.is == "an object") return value->is_object();
  if (mark.is == "a string") return value->is_string();
  return value->is_string() && value->text().starts_with(mark.is);
}

std::vector<std::string> missing_in(const ResultFile& file, const ResultFormat& format) {
  std::vector<std::string> out;
  for (const Mark& mark : format.marks) {
    if (!holds(mark, file)) out.push_back(fmt::format("no \"{}\" that is {}", mark.place, mark.is));
  }
  return out;
}

/// Names the format with the fewest missing parts, among the formats of which a part is present.
[[noreturn]] void refuse(const Json& value, const ResultFile& file) {
  std::vector<std::string> known, nearest;
  std::string_view name;
  for (const ResultFormat& format : result_formats()) {
    if (format.read == refuse_ours) continue;
    known.push_back(std::string(format.name));
    std::vector<std::string> missing = missing_in(file, format);
    if (missing.size() == format.marks.size() || (!name.empty() && missing.size() >= nearest.size()))
      continue;
    name = format.name;
    nearest = std::move(missing);
  }
  const std::string remedy = fmt::format("files of these are read: {}", fmt::join(known, ", "));
  const JsonField whole(value, file.where(), remedy);
  if (name.empty()) require_schema(whole, results_schema);
  whole.refuse(
      fmt::format("is of no known format: nearest to {}, but with {}", name, fmt::join(nearest, " and ")));
}

/// The value of a file, null where it is no JSON.
struct Parsed {
  Json value;
  bool bare_nan = false;     ///< strict JSON except for NaN and Infinity
  std::optional<Error> why;  ///< why it is no JSON
};

Parsed parsed(const std::string& text, const std::string& where) {
  Parsed out;
  try {
    out.value = parse_json(text, where);
  } catch (const Error& strict) {
    out.why = strict;
    try {
      out.value = parse_json(with_nulls(text), where);
      out.bare_nan = true;
    } catch (const Error& lenient) {
      out.why = lenient;
    }
  }
  return out;
}

}  // namespace

Results read_any_results(const std::filesystem::path& file) { return results_in(read_file(file), file); }

Results results_in(const std::string& text, const std::filesystem::path& path) {
  const Parsed file = parsed(text, path.string());
  for (const ResultFormat& format : result_formats()) {
    const ResultFile whole{path, text, JsonField(file.value, path.string(), std::string(format.remedy))};
    if (!missing_in(whole, format).empty()) continue;
    if (file.bare_nan && !format.bare_nan) throw *file.why;
    Results out{.suite = std::string(format.name), .about = std::string(format.about), .commit = "unknown"};
    format.read(whole, out);
    if (out.trials.empty() && !format.row.empty()) {
      (format.rows.empty() ? whole.field : whole.field.at(format.rows))
          .refuse(fmt::format("holds no {}", format.row));
    }
    return out;
  }
  if (file.why) throw *file.why;
  refuse(file.value, {path, text, JsonField(file.value, path.string(), "")});
}

TrialResult& NamedTrials::at(const std::string& name) {
  const auto [place, is_new] = position_.try_emplace(name, results_.trials.size());
  if (is_new) results_.trials.push_back({.key = name, .operation = name});
  return results_.trials[place->second];
}

void note_cores(Machine& machine, const std::optional<JsonField>& cores) {
  if (!cores) return;
  machine.cores = static_cast<int>(cores->integer(1, 1 << 20));
  machine.facts.push_back({"cores", std::to_string(machine.cores)});
}

double processor_seconds(const JsonField& row, std::string_view member, double unit) {
  const double value = row.number_or(member, 0);
  if (!(value >= 0 && value * unit <= most_seconds))
    row.at(member).refuse(fmt::format("is {}, must be a time from 0", value));
  return value * unit;
}

Slice checked(const Slice& slice, const JsonField& where) {
  if (!(slice.seconds > 0 && slice.seconds <= most_seconds))
    where.refuse(fmt::format("holds {}, must be times in seconds above 0, and at most {:g}", slice.seconds,
                             most_seconds));
  return slice;
}

}  // namespace assay
