#include "bench/exchange/read_results.hpp"

#include "assay/csv.hpp"
#include "assay/error.hpp"
#include "assay/files.hpp"
#include "bench/measure/results_fields.hpp"
#include "core/text/figures.hpp"
#include "core/text/parts.hpp"
#include "core/text/utf8.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

namespace assay {
namespace {

void read_ours(const ResultFile& file, Results& out) { out = results_from(file.field.value(), file.where()); }

/// Files of ours that hold no results: the beginnings of their schemas, and who reads them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> without_results{
    {{"assay.two_builds/", "`assay reanalyze` reads a gate of two builds"},
     {"assay.baseline/", "`assay gate` and `assay report --baseline` read a baseline"},
     {"assay.bundle/", "`assay gate --bundle` reads a bundle"},
     {"assay.job/", "`assay predict` reads a job"}}};

/// In the order in which they are tried.
const std::vector<ResultFormat>& result_formats() {
  static const std::vector<ResultFormat> all{
      {.name = "assay",
       .marks = {{"schema", "assay.result/"}},
       .remedy = "write it again with assay run -o FILE",
       .read = read_ours},
      {.name = "Google Benchmark",
       .about = "read from Google Benchmark's JSON; each repetition counts as a process start",
       .marks = {{"context", "an object"}, {"benchmarks", "an array"}},
       .records = "benchmarks",
       .row = "measurement: aggregates alone cannot be compared",
       .remedy = "write it again with --benchmark_out=FILE --benchmark_out_format=json",
       .read = read_google_benchmark},
      {.name = "pytest-benchmark",
       .about = "read from pytest-benchmark's JSON; each round counts as a process start",
       .marks = {{"machine_info", "an object"}, {"benchmarks", "an array"}},
       .records = "benchmarks",
       .row = "test",
       .remedy = "write it again with pytest --benchmark-json=FILE",
       .read = read_pytest_benchmark},
      {.name = "nvbench",
       .about = "read from NVBench's JSON; each sample counts as a process start",
       .marks = {{"benchmarks", "an array"}, {"benchmarks.states", "an array"}},
       .records = "benchmarks.states",
       .row = "state",
       .remedy = "write it again with --jsonbin FILE of a present NVBench",
       .read = read_nvbench},
      {.name = "hyperfine",
       .about = "read from hyperfine's JSON; each run counts as a process start",
       .marks = {{"results", "an array"}, {"results.command", "a string"}},
       .records = "results",
       .row = "command",
       .remedy = "write it again with hyperfine --export-json FILE",
       .read = read_hyperfine},
      {.name = "benchdnn",
       .about = "read from benchdnn's output; each of its lines counts as a process start",
       .marks = {{"perf,|Output template: |Template entries: ", "a line"}},
       .row = "line that begins with \"perf,\"",
       .remedy = "run benchdnn with --mode=P",
       .read = read_benchdnn},
      {.name = "JMH",
       .about = "read from JMH's JSON; each fork is a process start, or of few each iteration",
       .marks = {{"benchmark", "a string"}, {"primaryMetric", "an object"}},
       .row = "benchmark",
       .remedy = "write it again with -rf json -rff FILE",
       .read = read_jmh},
      {.name = "criterion",
       .about = "read from criterion's sample.json; each sample counts as a process start",
       .marks = {{"iters", "an array"}, {"times", "an array"}},
       .remedy = "name target/criterion/NAME/new/sample.json",
       .read = read_criterion},
      {.name = "cargo-criterion",
       .about = "read from cargo-criterion's messages; each sample counts as a process start",
       .marks = {{"reason", "a string"}},
       .row = "benchmark-complete",
       .remedy = "write it again with cargo criterion --message-format=json",
       .read = read_cargo_criterion},
      {.name = "asv",
       .about = "read from a results file of asv; each sample counts as a process start",
       .marks = {{"result_columns", "an array"}, {"results", "an object"}},
       .records = "results",
       .row = "benchmark",
       .remedy = "run a present asv, and keep samples with --record-samples",
       .read = read_asv},
      {.name = "llama-bench",
       .about = "read from llama-bench; each repetition counts as a process start",
       .marks = {{"model_filename", "a string"}, {"samples_ns", "an array"}},
       .row = "test",
       .remedy = "write it again with llama-bench -o json",
       .read = read_llama_bench},
      {.name = "Go",
       .about = "read from go test -bench; each line counts as a process start",
       .marks = {{"goos: |pkg: | ns/op", "a line"}},
       .row = "line with ns/op",
       .remedy = "run go test -bench . -count 10",
       .read = read_go},
      {.name = "Go events",
       .about = "read from go test -bench -json; each line counts as a process start",
       .marks = {{"Action", "a string"}},
       .row = "line with ns/op",
       .remedy = "run go test -bench . -count 10 -json",
       .read = read_go_events},
      {.name = "Catch2",
       .about = "read from Catch2's XML; a mean and its bounds count as process starts",
       .marks = {{"<Catch2TestRun |<Catch name=", "a line"}},
       .row = "BenchmarkResults",
       .remedy = "run it with --reporter xml",
       .read = read_catch2}};
  return all;
}

bool holds(const Json& value, std::string_view place, std::string_view is) {
  if (place.empty()) {
    return is == "an array"    ? value.is_array()
           : is == "an object" ? value.is_object()
                               : value.is_string() && (is == "a string" || value.text().starts_with(is));
  }
  if (value.is_array()) {
    const auto in = [&](const Json& item) { return !item.is_array() && holds(item, place, is); };
    return value.empty() || std::ranges::any_of(value.items(), in);
  }
  const std::size_t end = std::min(place.find('.'), place.size());
  const Json* const member = value.find(place.substr(0, end));
  return member != nullptr && holds(*member, place.substr(std::min(end + 1, place.size())), is);
}

bool holds(const Mark& mark, const ResultFile& file) {
  const Json& value = file.field.value();
  const auto begins_a_line = [&](std::string_view word) {
    const std::string inside = (word.starts_with(' ') ? "" : "\n") + std::string(word);
    return file.text.starts_with(word) || file.text.find(inside) != std::string::npos;
  };
  if (mark.is == "a line")
    return !value.is_structured() && std::ranges::any_of(parts_of(mark.place, '|'), begins_a_line);
  return !(value.is_array() && value.empty()) && holds(value, mark.place, mark.is);
}

std::vector<std::string> missing_in(const ResultFile& file, const ResultFormat& format) {
  std::vector<std::string> out;
  for (const Mark& mark : format.marks) {
    if (!holds(mark, file)) out.push_back(fmt::format("no \"{}\" that is {}", mark.place, mark.is));
  }
  return out;
}

std::string known_formats() {
  std::string out;
  for (const ResultFormat& format : result_formats()) {
    out += fmt::format("{}{}", out.empty() ? "" : ", ", format.name);
  }
  return wrapped("files of these are read: " + out, terminal_width - 2, "  ");
}

/// Names the format with the fewest missing parts, among the formats of which a part is present.
[[noreturn]] void refuse(const Json& value, const ResultFile& file) {
  std::vector<std::string> nearest;
  std::string_view name;
  for (const ResultFormat& format : result_formats()) {
    std::vector<std::string> missing = missing_in(file, format);
    if (missing.size() == format.marks.size() || (!name.empty() && missing.size() >= nearest.size()))
      continue;
    name = format.name;
    nearest = std::move(missing);
  }
  const JsonField whole(value, file.where(), known_formats());
  if (name.empty()) require_schema(whole, results_schema);
  whole.refuse(
      fmt::format("is of no known format: nearest to {}, but with {}", name, fmt::join(nearest, " and ")));
}

/// The value of a file, null where it is no JSON.
struct Parsed {
  Json value;
  std::optional<Error> why;  ///< why it is no strict JSON
};

/// A list of the values that stand on lines of their own.
std::string list_of_lines(const std::string& text) {
  std::string out;
  for (const std::string_view line : parts_of(text, '\n')) {
    if (!csv::trimmed(line).empty()) out.append(out.empty() ? "[" : ",").append(line);
  }
  return out + "]";
}

Parsed parsed(const std::string& text, const std::string& where) {
  Parsed out;
  const auto is_json = [&](const std::string& one) {
    try {
      out.value = parse_json(one, where, RepeatedKey::first);
      return true;
    } catch (const Error& fault) {
      out.why = fault;
      return false;
    }
  };
  if (is_json(text) || is_json(JsonMender().mended(text + '\n'))) return out;
  const std::optional<Error> lenient = out.why;
  if (text.starts_with('{')) is_json(list_of_lines(text));
  out.why = lenient;
  return out;
}

/// Returns how many lines stand before the one from which on the text is JSON; 0 where there is none.
std::size_t lines_before_json(const std::string& text) {
  constexpr int most_tries = 16;  // of lines that a log may begin with [
  std::size_t lines = 0;
  int tries = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos && tries < most_tries;
       end = text.find('\n', end + 1)) {
    ++lines;
    if (end + 1 == text.size() || (text[end + 1] != '{' && text[end + 1] != '[')) continue;
    ++tries;
    if (!parsed(text.substr(end + 1), "").value.is_null()) return lines;
  }
  return 0;
}

/// Tells trials of one name, which are no repetitions, apart by longer names in their notes, else by order.
void number_equal_names(Results& results) {
  std::map<std::string, int> all, before;
  for (const TrialResult& trial : results.trials) ++all[trial.key];
  for (TrialResult& trial : results.trials) {
    if (all[trial.key] == 1) continue;
    const bool is_told = trial.note.starts_with(trial.key + " [");
    trial.operation = is_told ? trial.note : fmt::format("{} ({})", trial.key, ++before[trial.key]);
    trial.key = trial.operation;
    if (!is_told) add_remark(trial, "shares its name with others, told apart by their order alone");
  }
}

/// Puts settings into names where they differ among the rows of one of the files; else they are facts, in
/// which files may differ. Those of a model follow from its name, unless rows of that name differ.
std::vector<Results> with_settled_names(std::vector<Results> files) {
  const auto scope_of = [](const TrialResult& trial, const std::string& setting) {
    return setting.starts_with("model_") ? fmt::format("{} {}", trial.key, setting) : setting;
  };
  std::set<std::string> differ;
  for (const Results& file : files) {
    std::map<std::string, std::string> first;
    for (const TrialResult& trial : file.trials) {
      for (const auto& [setting, value] : trial.settings) {
        const std::string scope = scope_of(trial, setting);
        if (first.try_emplace(scope, value).first->second != value) differ.insert(scope);
      }
    }
  }
  for (Results& file : files) {
    std::vector<Fact>& facts = file.machine.facts;
    for (TrialResult& trial : file.trials) {
      std::erase_if(trial.settings, [&](const auto& one) {
        const std::string scope = scope_of(trial, one.first);
        if (differ.contains(scope)) return false;
        if (find_fact(facts, scope) == nullptr) facts.push_back({scope, one.second, false});
        return true;
      });
      if (const Details told = std::exchange(trial.settings, {}); !told.empty())
        trial.key = trial.operation = with_details(trial.key, told);
    }
    number_equal_names(file);
  }
  return files;
}

using Records = decltype(ResultFile::records);

/// Returns the records at a place. An item without the list that it should hold stands for itself.
Records records_in(const JsonField& from, std::string_view place) {
  const std::size_t end = std::min(place.find('.'), place.size());
  const std::string_view inner = place.substr(std::min(end + 1, place.size()));
  const JsonField list = place.empty() ? from : from.at(place.substr(0, end));
  if (place.empty() && !list.value().is_array()) return {{"", from}};
  if (list.value().is_object()) return list.members();
  Records out;
  for (const JsonField& item : list.items()) {
    if (inner.empty() || !holds(item.value(), "name", "a string") ||
        !holds(item.value(), inner, "an array")) {
      out.emplace_back("", item);
    } else {
      for (const JsonField& part : item.at(inner).items()) out.emplace_back(item.at("name").text(), part);
    }
  }
  return out;
}

/// Reads all records or, where that is refused, those that can be read alone.
Results read_records(const ResultFormat& format, const ResultFile& file) {
  const Records all = records_in(file.field, format.records);
  Results out;
  const auto fault_in = [&](const Records& records) -> std::optional<Error> {
    out = {.suite = std::string(format.name), .about = std::string(format.about), .commit = "unknown"};
    try {
      format.read({file.path, file.text, file.field, records}, out);
    } catch (const Error& fault) {
      return fault;
    }
    return std::nullopt;
  };
  const std::optional<Error> why = fault_in(all);
  if (!why) return out;
  Records sound;
  std::vector<TrialResult> lost;
  for (const auto& record : all) {
    const std::optional<Error> fault = fault_in({record});
    if (!fault) {
      sound.push_back(record);
      continue;
    }
    if (out.trials.empty()) new_trial(out, record.second.path());
    std::string_view what = parts_of(fault->what(), '\n').front();
    if (what.starts_with(file.where() + ": ")) what.remove_prefix(file.where().size() + 2);
    lost.push_back(std::move(out.trials.back()));
    lost.back().launches.clear();
    lost.back().remark = fmt::format("left out: {}", what);
  }
  if (sound.empty() || fault_in(sound) || out.trials.empty()) throw *why;
  TrialPlaces places;
  for (std::size_t i = 0; i < out.trials.size(); ++i)
    places.try_emplace(with_details(out.trials[i].key, out.trials[i].settings), i);
  for (TrialResult& trial : lost) {
    const auto [place, is_new] =
        places.try_emplace(with_details(trial.key, trial.settings), out.trials.size());
    if (is_new) {
      out.trials.push_back(std::move(trial));
      continue;
    }
    TrialResult& same = out.trials[place->second];
    if (same.remark.find("left out: ") == std::string::npos) add_remark(same, trial.remark);
  }
  return out;
}

/// Reads results whose names are not settled.
Results unsettled(const std::string& text, const std::filesystem::path& path) {
  const Parsed file = parsed(text, path.string());
  for (const auto& [schema, remedy] : without_results) {
    const ResultFile whole{path, text, JsonField(file.value, path.string(), std::string(remedy))};
    if (!holds({"schema", schema}, whole)) continue;
    if (file.why) throw *file.why;  // we write strict JSON
    require_schema(whole.field, results_schema);
  }
  for (const ResultFormat& format : result_formats()) {
    const ResultFile whole{path, text, JsonField(file.value, path.string(), std::string(format.remedy))};
    if (!missing_in(whole, format).empty()) continue;
    if (file.why && format.about.empty() && !file.value.is_null()) throw *file.why;  // we write strict JSON
    Results out = read_records(format, whole);
    if (out.trials.empty() && !format.row.empty()) {
      const std::string_view rows = parts_of(format.records, '.').front();
      (rows.empty() ? whole.field : whole.field.at(rows)).refuse(fmt::format("holds no {}", format.row));
    }
    return out;
  }
  if (const std::size_t lines = lines_before_json(text); file.why && lines > 0) {
    throw Error(path.string(),
                fmt::format("{} of text stand{} before the JSON",
                            quantity_text(static_cast<Index>(lines), "line"), lines == 1 ? "s" : ""),
                "cut them; Google Benchmark writes JSON alone with --benchmark_out=FILE");
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (file.why && first != std::string::npos && text[first] != '{' && text[first] != '[')
    throw Error(path.string(), "is neither JSON nor a text of a known format", known_formats());
  if (file.why) throw *file.why;
  refuse(file.value, {path, text, JsonField(file.value, path.string(), "")});
}

}  // namespace

std::vector<Results> read_compared(const std::vector<std::filesystem::path>& files) {
  std::vector<Results> out;
  for (const std::filesystem::path& file : files) out.push_back(unsettled(read_file(file), file));
  return with_settled_names(std::move(out));
}

Results read_any_results(const std::filesystem::path& file) { return results_in(read_file(file), file); }

Results results_in(const std::string& text, const std::filesystem::path& path) {
  return with_settled_names({unsettled(text, path)}).front();
}

TrialResult& new_trial(Results& results, const std::string& name, const Details& details) {
  TrialResult& trial = results.trials.emplace_back();
  trial.key = trial.operation = with_details(name, details);
  return trial;
}

void add_remark(TrialResult& trial, const std::string& remark) {
  if (trial.remark.find(remark) == std::string::npos)
    trial.remark += (trial.remark.empty() ? "" : "; ") + remark;
}

TrialResult& trial_named(Results& results, TrialPlaces& places, const std::string& name,
                         const std::string& identity) {
  const auto [place, is_new] = places.try_emplace(identity.empty() ? name : identity, results.trials.size());
  return is_new ? new_trial(results, name) : results.trials[place->second];
}

void note_cores(Machine& machine, const std::optional<JsonField>& cores) {
  if (!cores) return;
  machine.cores = static_cast<int>(cores->integer(1, 1 << 20));
  machine.facts.push_back({"cores", std::to_string(machine.cores)});
}

double processor_seconds(TrialResult& trial, const JsonField& row, std::string_view member, double unit) {
  const double value = row.number_or(member, 0);
  if (value >= 0 && value * unit <= most_seconds) return value * unit;
  add_remark(trial, fmt::format("\"{}\" is {} and was left out, must be a time from 0", member, value));
  return 0;
}

void add_samples(TrialResult& trial, const std::vector<double>& samples, Slice like,
                 std::size_t most_launches) {
  const std::size_t together = (samples.size() + most_launches - 1) / most_launches;
  const double unit = like.seconds;
  Launch launch;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    like.seconds = samples[i] * unit;
    if (like.seconds > shortest_seconds && like.seconds <= most_seconds) {
      launch.push_back(like);
    } else {
      add_remark(trial, "some samples report no finite time above 0 and were left out");
    }
    const bool is_whole = (i + 1) % together == 0 || i + 1 == samples.size();
    if (is_whole && !launch.empty()) trial.launches.push_back(std::exchange(launch, {}));
  }
}

double seconds_in_unit(std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, double>, 6> known{
      {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"hr", 3600}}};
  const auto found = std::ranges::find(known, unit, &std::pair<std::string_view, double>::first);
  return found == known.end() ? 0 : found->second;
}

}  // namespace assay
