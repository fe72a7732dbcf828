// Reads what the usual harnesses write: JMH of Java, criterion of Rust, asv and pytest-benchmark of Python,
// testing.B of Go, Catch2 and NVBench of C++; hyperfine, llama-bench and benchdnn.
#include "assay/csv.hpp"
#include "assay/error.hpp"
#include "bench/exchange/read_results.hpp"
#include "core/json/fields.hpp"
#include "core/machine/limits.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace assay {
namespace {

using Details = std::vector<std::pair<std::string, std::string>>;
/// "copy [size=3 dir=FWD]": the name with the details that its words do not hold already.
std::string with_details(const std::string& name, const Details& details) {
  const auto says = [&](const std::string& word) {
    const auto goes_on = [&](std::size_t at) {
      return at < name.size() && std::isalnum(static_cast<unsigned char>(name[at])) != 0;
    };
    for (std::size_t at = name.find(word); at != std::string::npos; at = name.find(word, at + 1)) {
      if (!(at > 0 && goes_on(at - 1)) && !goes_on(at + word.size())) return true;
    }
    return false;
  };
  std::string out;
  for (const auto& [key, value] : details) {
    if (!value.empty() && !says(value)) out += fmt::format("{}{}={}", out.empty() ? "" : " ", key, value);
  }
  return out.empty() ? name : fmt::format("{} [{}]", name, out);
}

/// The members of an object as details: texts as they are, other values as JSON.
Details details_in(const std::optional<JsonField>& object) {
  Details out;
  if (!object || !object->value().is_object()) return out;
  for (const auto& [key, value] : object->value().members())
    out.emplace_back(key, value.is_string() ? value.text() : value.dump());
  return out;
}

/// Returns the numbers of an array; NaN for null.
std::vector<double> samples_in(const JsonField& array) {
  std::vector<double> out;
  for (const JsonField& item : array.items())
    out.push_back(item.value().is_null() ? std::numeric_limits<double>::quiet_NaN() : item.number());
  return out;
}

/// The items of an array; a file of one message is no array.
std::vector<JsonField> items_of(const JsonField& field) {
  return field.value().is_array() ? field.items() : std::vector{field};
}

void note(Machine& machine, const char* fact, const std::string& value) {
  if (!value.empty()) machine.facts.push_back({fact, value, true});
}

/// Samples of several calls each: their sums, and how many calls each has.
void add_sums(TrialResult& trial, const JsonField& sums, const JsonField& calls, double unit) {
  const std::vector<double> times = samples_in(sums), counts = samples_in(calls);
  if (times.size() != counts.size())
    calls.refuse(fmt::format("has {} items, the times {}", counts.size(), times.size()));
  Launch launch;
  for (std::size_t i = 0; i < times.size(); ++i)
    add_slice(trial, launch, {.seconds = counts[i] > 0 ? times[i] * unit / counts[i] : 0});
  add_launch(trial, std::move(launch));
}

/// The value of an attribute of an element of XML; empty where it has none.
std::string attribute(std::string_view element, std::string_view name) {
  const std::string mark = fmt::format(" {}=\"", name);
  const std::size_t begin = element.find(mark);
  if (begin == std::string_view::npos) return "";
  std::string out(
      element.substr(begin + mark.size(), element.find('"', begin + mark.size()) - begin - mark.size()));
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> entities{
      {{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&apos;", "'"}, {"&amp;", "&"}}};
  for (const auto& [code, sign] : entities) {
    for (std::size_t at = out.find(code); at != std::string::npos; at = out.find(code, at + 1))
      out.replace(at, code.size(), sign);
  }
  return out;
}

/// Describes the exit codes; empty where all are 0. A run that a signal ended has no code.
std::string failed_runs(const JsonField& command) {
  const auto codes = command.find("exit_codes");
  if (!codes) return {};
  const auto all = codes->items();
  std::string first;
  std::size_t failed = 0;
  for (const JsonField& code : all) {
    const bool killed = code.value().is_null();
    if (!killed && code.integer(-(1L << 31), 1L << 31) == 0) continue;
    ++failed;
    if (first.empty()) first = killed ? "was ended by a signal" : "exits with code " + code.value().dump();
  }
  return failed == 0 ? std::string()
                     : fmt::format("{} of {} runs failed; the first {}", failed, all.size(), first);
}

Machine machine_of_session(const JsonField& info) {
  Machine machine;
  machine.facts.push_back({"host", info.text_or("node", ""), false});
  machine.facts.push_back({"python", info.text_or("python_version", ""), true});
  // Versions before 3.4 have the processor's name alone.
  const auto processor = info.find("cpu");
  if (!processor || !processor->value().is_object()) return machine;
  machine.facts.push_back(
      {"processor", processor->text_or("brand_raw", processor->text_or("brand", "")), true});
  note_cores(machine, processor->find("count"));
  return machine;
}

Launch launch_of(const JsonField& stats, TrialResult& trial) {
  Launch launch;
  Index calls = 1;
  if (const auto iterations = stats.find("iterations")) calls = iterations->integer(1, Index{1} << 50);
  if (const auto data = stats.find("data")) {
    for (const double seconds : samples_in(*data))
      add_slice(trial, launch, {.seconds = seconds, .calls = calls});
  } else {
    add_slice(trial, launch, {.seconds = stats.at("median").number(), .calls = calls});
    trial.remark =
        "holds no times of single rounds, which --benchmark-save-data keeps: their median stands alone";
  }
  return launch;
}

/// A value of a summary. All are written as text, since JSON's numbers would cut long integers.
std::optional<JsonField> value_of(const JsonField& summary, std::string_view name) {
  const auto data = summary.find("data");
  if (!data) return std::nullopt;
  for (const JsonField& item : data->items()) {
    if (item.at("name").text() == name) return item.at("value");
  }
  return std::nullopt;
}

double seconds_in(const JsonField& field) {
  const std::string text = field.text();
  const std::optional<double> seconds = number(text);
  const bool is_endless = text.find("nan") != std::string::npos || text.find("inf") != std::string::npos;
  if (!seconds && !is_endless) field.refuse(fmt::format("is \"{}\", must be a time in seconds", text));
  return seconds.value_or(0);
}

/// Reads the file of sample times that a summary names, relative to the folder of the results.
Launch sample_times(const JsonField& summary, const std::filesystem::path& folder, TrialResult& trial) {
  const auto name = value_of(summary, "filename");
  if (!name) return {};
  std::filesystem::path file = folder / name->text();
  // Whatever else lies there may have no end.
  std::error_code none;
  const auto is_there = [&] { return std::filesystem::is_regular_file(file, none); };
  // Versions before 2025 wrote the name relative to their working directory.
  if (!is_there())
    file = folder / std::filesystem::path(name->text()).parent_path().filename() / file.filename();
  if (!is_there()) return {};
  const std::string bytes = read_file(file);
  if (bytes.size() % sizeof(float) != 0) {
    throw Error(file.string(),
                fmt::format("is cut off: {} bytes are no whole number of 4-byte floats", bytes.size()),
                "write it again with --jsonbin");
  }
  Launch launch;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(float)) {
    std::uint32_t word = 0;
    for (std::size_t byte = 0; byte < sizeof(word); ++byte)
      word |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + byte])) << (8 * byte);
    add_slice(trial, launch, {.seconds = static_cast<double>(std::bit_cast<float>(word))});
  }
  return launch;
}

void add_state(TrialResult& trial, const JsonField& state, const std::filesystem::path& folder) {
  if (const auto skipped = state.find("is_skipped"); skipped && skipped->boolean()) {
    trial.skipped = "reports: " + state.text_or("skip_reason", "skipped");
    return;
  }
  const auto summaries = state.find("summaries");
  if (!summaries) state.refuse("has no \"summaries\"");
  std::map<std::string, double, std::less<>> times;
  constexpr std::array<std::string_view, 5> tags{"nv/cold/time/gpu/median", "nv/cold/time/gpu/mean",
                                                 "nv/cpu_only/time/cpu/median", "nv/cpu_only/time/cpu/mean",
                                                 "nv/batch/time/gpu/mean"};
  for (const JsonField& summary : summaries->items()) {
    const std::string tag = summary.at("tag").text();
    if (tag.starts_with("nv/json/bin:") && tag.ends_with("sample_times")) {
      if (Launch launch = sample_times(summary, folder, trial); !launch.empty()) {
        trial.launches.push_back(std::move(launch));
        return;
      }
    }
    if (std::ranges::find(tags, tag) == tags.end()) continue;
    if (const auto value = value_of(summary, "value")) times[tag] = seconds_in(*value);
  }
  for (const std::string_view tag : tags) {
    const auto time = times.find(tag);
    if (time == times.end() || !(time->second > 0 && time->second <= most_seconds)) continue;
    trial.launches.push_back({Slice{.seconds = time->second}});
    trial.remark = fmt::format("holds no sample times, which --jsonbin writes: {} stands alone", tag);
    return;
  }
  trial.skipped = "reports no time";
}

std::vector<std::string_view> split_at_commas(std::string_view line) {
  std::vector<std::string_view> fields;
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && line[i] == '"') quoted = !quoted;
    if (i < line.size() && (quoted || line[i] != ',')) continue;
    fields.push_back(line.substr(begin, i - begin));
    begin = i + 1;
  }
  return fields;
}

/// The positions of the fields that are read, in a template such as
/// `perf,%engine%,%impl%,%name%,%prb%,%Gops%,%-time%,%0time%`.
struct PerfTemplate {
  std::size_t fields = 0;
  std::optional<std::size_t> problem, name, implementation, time;
  std::vector<std::pair<std::string, std::size_t>> details;  ///< the other fields that say what was run
  bool is_average = false;
};

/// Whether a field says what was run. The others are measured, or say how it was computed.
bool is_detail(std::string_view word) {
  constexpr std::array measured{"time",   "ops",   "flops", "bw",   "freq",
                                "clocks", "bytes", "idx",   "perf", "driver"};
  return word.starts_with('%') && std::ranges::none_of(measured, [&](std::string_view part) {
           return word.find(part) != std::string_view::npos;
         });
}

PerfTemplate template_of(std::string_view line, const std::string& where) {
  PerfTemplate found;
  const auto words = split_at_commas(line);
  found.fields = words.size();
  std::optional<std::size_t> fastest;
  const std::map<std::string_view, std::optional<std::size_t>*> places{{"%prb%", &found.problem},
                                                                       {"%desc%", &found.problem},
                                                                       {"%DESC%", &found.problem},
                                                                       {"%name%", &found.name},
                                                                       {"%impl%", &found.implementation},
                                                                       {"%0time%", &found.time},
                                                                       {"%-time%", &fastest},
                                                                       {"%time%", &fastest}};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (const auto place = places.find(word); place != places.end()) {
      *place->second = i;
    } else if (is_detail(word)) {
      found.details.emplace_back(word.substr(1, word.size() - 2), i);
    }
  }
  found.is_average = found.time.has_value();
  if (!found.time) found.time = fastest;
  if (words.front() != "perf" || !found.problem || !found.time) {
    throw Error(where, fmt::format("the template \"{}\" lacks what is read", line),
                "run benchdnn without --perf-template, or with one that begins with perf and holds %prb% and "
                "%0time%, with commas between");
  }
  return found;
}

/// Returns the fields of a line. The problem is not quoted and may hold commas.
std::vector<std::string> fields_of(std::string_view line, const PerfTemplate& form,
                                   const std::string& where) {
  const auto parts = split_at_commas(line);
  if (parts.size() < form.fields) {
    throw Error(where,
                fmt::format("\"{}\" has {} fields where the template before it has {}", line, parts.size(),
                            form.fields),
                "keep all that benchdnn prints");
  }
  const std::size_t extra = parts.size() - form.fields;
  std::vector<std::string> fields;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool goes_on = i > *form.problem && i <= *form.problem + extra;
    if (goes_on) {
      fields.back() += ',';
      fields.back() += parts[i];
    } else {
      fields.emplace_back(parts[i]);
    }
  }
  for (std::string& field : fields) std::erase(field, '"');
  return fields;
}

}  // namespace

// A mode that counts operations per time is turned into time per operation, so that less is better in all.
void read_jmh(const ResultFile& file, Results& out) {
  for (const JsonField& row : file.field.items()) {
    const JsonField metric = row.at("primaryMetric"), unit = metric.at("scoreUnit");
    const std::string word = unit.text();
    const bool is_rate = word.starts_with("ops/");
    const double seconds = seconds_in_unit(is_rate ? word.substr(4) : word.substr(0, word.find('/')));
    if (seconds <= 0)
      unit.refuse(fmt::format("is {}, must be a time per operation, or operations per time", word));
    Details details{{"mode", row.text_or("mode", "")}};
    if (const auto threads = row.find("threads"); threads && threads->value().dump() != "1")
      details.emplace_back("threads", threads->value().dump());
    for (auto& one : details_in(row.find("params"))) details.push_back(std::move(one));
    TrialResult& trial = new_trial(out, with_details(row.at("benchmark").text(), details));
    const auto slice = [&](double score) {
      return Slice{.seconds = !is_rate ? score * seconds : score > 0 ? seconds / score : 0};
    };
    if (const auto forks = metric.find("rawData"); forks && !forks->value().empty()) {
      for (const JsonField& fork : forks->items()) {
        Launch launch;
        for (const double score : samples_in(fork)) add_slice(trial, launch, slice(score));
        add_launch(trial, std::move(launch));
      }
    } else {
      add_launch(trial, slice(metric.number_or("score", 0)));
      trial.remark = "holds no times of single iterations: its score counts as one process start";
    }
    if (out.machine.facts.empty()) note(out.machine, "JVM", row.text_or("vmVersion", ""));
  }
}

void read_criterion(const ResultFile& file, Results& out) {
  // target/criterion/NAME/new/sample.json
  const auto folder = std::filesystem::absolute(file.path).parent_path();
  add_sums(new_trial(out, folder.parent_path().filename().string()), file.field.at("times"),
           file.field.at("iters"), 1e-9);
}

void read_cargo_criterion(const ResultFile& file, Results& out) {
  for (const JsonField& message : items_of(file.field)) {
    if (message.at("reason").text() != "benchmark-complete") continue;
    add_sums(new_trial(out, message.at("id").text()), message.at("measured_values"),
             message.at("iteration_count"), seconds_in_unit(message.text_or("unit", "ns")));
  }
}

// `results` has a row per benchmark, and a row has a list for each column: one item per set of parameters,
// the last of which changes fastest.
void read_asv(const ResultFile& file, Results& out) {
  out.commit = file.field.text_or("commit_hash", "unknown");
  if (const auto machine = file.field.find("params"))
    note(out.machine, "processor", machine->text_or("cpu", ""));
  std::map<std::string, std::size_t> columns;
  for (const JsonField& name : file.field.at("result_columns").items())
    columns.emplace(name.text(), columns.size());
  for (const auto& [name, row] : file.field.at("results").members()) {
    const std::vector<JsonField> cells = row.items();
    const auto cell = [&](const char* column) -> std::optional<JsonField> {
      const std::size_t at = columns.contains(column) ? columns.at(column) : cells.size();
      return at < cells.size() && cells[at].value().is_array() ? std::optional(cells[at]) : std::nullopt;
    };
    const auto results = cell("result"), parameters = cell("params"), samples = cell("samples");
    if (!results) continue;
    std::vector<std::vector<JsonField>> axes;
    for (const JsonField& axis : parameters ? parameters->items() : std::vector<JsonField>())
      axes.push_back(axis.items());
    constexpr std::size_t most_axes = 64;  // each is in the name of every set
    if (axes.size() > most_axes) parameters->refuse(fmt::format("has more than {} parameters", most_axes));
    const std::vector<double> values = samples_in(*results);
    const std::vector<JsonField> all = samples ? samples->items() : std::vector<JsonField>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::string set;
      std::size_t rest = i;
      for (std::size_t axis = axes.size(); axis-- > 0;) {
        const std::vector<JsonField>& choices = axes[axis];
        if (choices.empty()) continue;
        const Json& choice = choices[rest % choices.size()].value();
        set = fmt::format("{}{}{}", choice.is_string() ? choice.text() : choice.dump(),
                          set.empty() ? "" : ", ", set);
        rest /= choices.size();
      }
      TrialResult& trial = new_trial(out, set.empty() ? name : fmt::format("{}({})", name, set));
      if (!name.substr(name.rfind('.') + 1).starts_with("time")) {
        trial.skipped = "reports: no time, but what its name tracks";
      } else if (i < all.size() && all[i].value().is_array()) {
        Launch launch;
        for (const double seconds : samples_in(all[i])) add_slice(trial, launch, {.seconds = seconds});
        add_launch(trial, std::move(launch));
      } else {
        add_launch(trial, Slice{.seconds = values[i]});
        if (trial.remark.empty())
          trial.remark = "holds no samples, which --record-samples keeps: their median stands alone";
      }
    }
  }
}

void read_llama_bench(const ResultFile& file, Results& out) {
  for (const JsonField& row : items_of(file.field)) {
    Details details;
    for (const auto& [key, value] : details_in(row)) {
      // All that was asked for; the others describe the machine and what was measured.
      const bool is_asked = key.starts_with("n_") || key.starts_with("type_") || key.starts_with("use_") ||
                            key == "flash_attn" || key == "split_mode" || key == "main_gpu" ||
                            key == "no_kv_offload" || key == "tensor_split" || key == "embeddings" ||
                            key == "cpu_mask" || key == "poll";
      if (is_asked) details.emplace_back(key, value);
    }
    TrialResult& trial = new_trial(
        out,
        with_details(std::filesystem::path(row.at("model_filename").text()).filename().string(), details));
    for (const double nanoseconds : samples_in(row.at("samples_ns")))
      add_launch(trial, Slice{.seconds = nanoseconds * 1e-9});
    if (!out.machine.facts.empty()) continue;
    note(out.machine, "processor", row.text_or("cpu_info", ""));
    note(out.machine, "device", row.text_or("gpu_info", ""));
    out.commit = row.text_or("build_commit", "unknown");
  }
}

void read_go(const ResultFile& file, Results& out) {
  NamedTrials trials(out);
  std::string package;
  std::istringstream lines(file.text);
  for (std::string line; std::getline(lines, line);) {
    const auto told = [&](std::string_view key) {
      return std::string(csv::trimmed(std::string_view(line).substr(key.size())));
    };
    if (line.starts_with("pkg: ")) package = told("pkg: ");
    if (line.starts_with("cpu: ") && out.machine.facts.empty()) note(out.machine, "processor", told("cpu: "));
    if (!line.starts_with("Benchmark")) continue;
    std::istringstream words(line);
    std::string name, value, unit;
    Index calls = 0;
    if (!(words >> name >> calls)) continue;  // printed before the benchmark, or by it
    while (words >> value >> unit) {
      const auto number = number_from<double>(value);
      if (!number) continue;
      TrialResult& trial = trials.at(package.empty() ? name : package + "." + name);
      if (unit == "ns/op") {
        add_launch(trial, Slice{.seconds = *number * 1e-9, .calls = std::max<Index>(1, calls)});
      } else {
        trial.figures[unit] = *number;
      }
    }
  }
}

void read_catch2(const ResultFile& file, Results& out) {
  std::string test;
  std::string_view rest = file.text;
  for (std::size_t begin = rest.find('<'); begin != std::string_view::npos; begin = rest.find('<')) {
    rest.remove_prefix(begin);
    const std::string_view element = rest.substr(0, rest.find('>'));
    rest.remove_prefix(element.size());
    if (element.starts_with("<TestCase ")) test = attribute(element, "name");
    if (element.starts_with("<BenchmarkResults ")) new_trial(out, test + "/" + attribute(element, "name"));
    if (!element.starts_with("<mean ") || out.trials.empty()) continue;
    const auto nanoseconds = number_from<double>(attribute(element, "value"));
    add_launch(out.trials.back(), Slice{.seconds = nanoseconds.value_or(0) * 1e-9});
  }
}

// A command is a trial, and each of its runs a launch. A command that failed under --ignore-failure is a
// failed trial.
void read_hyperfine(const ResultFile& file, Results& out) {
  for (const JsonField& command : file.field.at("results").items()) {
    TrialResult& trial =
        new_trial(out, with_details(command.at("command").text(), details_in(command.find("parameters"))));
    if (const std::string failed = failed_runs(command); !failed.empty()) {
      trial.failed = true;
      trial.skipped = "reports an error: " + failed;
      continue;
    }
    const double cpu_seconds = processor_seconds(command, "user") + processor_seconds(command, "system");
    if (const auto times = command.find("times")) {
      for (const double seconds : samples_in(*times))
        add_launch(trial, Slice{.seconds = seconds, .cpu_seconds = cpu_seconds});
    } else {
      add_launch(trial, Slice{.seconds = command.at("median").number(), .cpu_seconds = cpu_seconds});
      trial.remark = "holds no times of single runs: their median counts as one process start";
    }
  }
}

// A test is a trial, and its rounds are slices of one launch.
void read_pytest_benchmark(const ResultFile& file, Results& out) {
  out.machine = machine_of_session(file.field.at("machine_info"));
  if (const auto info = file.field.find("commit_info")) {
    const auto dirty = info->find("dirty");
    out.commit = info->text_or("id", "unknown") + (dirty && dirty->boolean() ? "+changes" : "");
  }
  out.date = file.field.text_or("datetime", "");
  for (const JsonField& test : file.field.at("benchmarks").items()) {
    TrialResult& trial = new_trial(
        out, with_details(test.text_or("fullname", test.at("name").text()), details_in(test.find("params"))));
    add_launch(trial, launch_of(test.at("stats"), trial));
  }
}

// A state is a trial. Its sample times, which `--jsonbin` writes to files beside it, are slices of one
// launch. Without them the median, or else the mean, is the only time.
void read_nvbench(const ResultFile& file, Results& out) {
  if (const auto devices = file.field.find("devices")) {
    for (const JsonField& device : devices->items())
      out.machine.facts.push_back({"device", device.text_or("name", ""), true});
  }
  for (const JsonField& benchmark : file.field.at("benchmarks").items()) {
    const std::string name = benchmark.at("name").text();
    for (const JsonField& state : benchmark.at("states").items())
      add_state(new_trial(out, fmt::format("{} [{}]", name, state.at("name").text())), state,
                file.path.parent_path());
  }
}

// A problem in the lines that benchdnn prints with `--mode=P` is a trial, and each of its lines a launch of
// one slice, its average time. The template that benchdnn prints first names the fields of a line; since 2026
// a row of their names follows it.
void read_benchdnn(const ResultFile& file, Results& out) {
  NamedTrials trials(out);
  std::optional<PerfTemplate> form;
  std::istringstream lines(file.text);
  std::size_t line_number = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string at = fmt::format("{}: line {}", file.where(), ++line_number);
    if (line.ends_with('\r')) line.pop_back();
    if (line.starts_with("Output template: ") || line.starts_with("Template entries: "))
      form = template_of(std::string_view(line).substr(line.find(": ") + 2), at);
    if (!line.starts_with("perf,") || line.starts_with("perf,engine,")) continue;
    if (!form) {
      throw Error(at, "no line \"Output template: …\" stands before it, which says what its fields are",
                  "keep all that benchdnn prints");
    }
    const auto fields = fields_of(line, *form, at);
    const std::string& milliseconds = fields[*form->time];
    const std::optional<double> time = number(milliseconds);
    if (!time || !(*time >= 0 && *time * 1e-3 <= most_seconds)) {
      throw Error(at, fmt::format("the time is \"{}\", must be milliseconds", milliseconds),
                  "keep all that benchdnn prints");
    }
    std::string name = fields[*form->problem];
    if (form->name && !fields[*form->name].empty() && name.find(fields[*form->name]) == std::string::npos)
      name = fields[*form->name] + ' ' + name;
    Details details;
    for (const auto& [key, field] : form->details) {
      // The processor is the usual engine, which %prb% leaves out as well.
      if (key != "engine" || fields[field] != "cpu") details.emplace_back(key, fields[field]);
    }
    TrialResult& trial = trials.at(with_details(name, details));
    if (form->implementation) trial.note = fields[*form->implementation];
    if (*time > 0) trial.launches.push_back({Slice{.seconds = *time * 1e-3}});
    trial.remark = form->is_average ? "an average of its calls stands for each process start"
                                    : "the fastest of its calls stands for each process start";
  }
}

}  // namespace assay
