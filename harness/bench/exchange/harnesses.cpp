// Reads what the usual harnesses write: JMH of Java, criterion of Rust, asv and pytest-benchmark of Python,
// testing.B of Go, Catch2 and NVBench of C++; hyperfine, llama-bench and benchdnn.
#include "assay/csv.hpp"
#include "assay/error.hpp"
#include "bench/compare/judge.hpp"
#include "bench/exchange/read_results.hpp"
#include "core/json/fields.hpp"
#include "core/machine/limits.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>
#include <regex>
#include <span>
#include <sstream>
#include <system_error>

namespace assay {

std::string with_details(const std::string& name, const Details& details) {
  const auto words_of = [](std::string text) {
    std::ranges::replace_if(
        text, [](unsigned char c) { return std::isalnum(c) == 0; }, ' ');
    return ' ' + text + ' ';
  };
  std::string out;
  for (const auto& [key, value] : details) {
    const bool is_said = words_of(name).find(words_of(value)) != std::string::npos;
    if (!value.empty() && !is_said) out += fmt::format("{}{}={}", out.empty() ? "" : " ", key, value);
  }
  return out.empty() ? name : fmt::format("{} [{}]", name, out);
}

namespace {

/// The members of an object as details: texts as they are, other values as JSON.
Details details_in(const std::optional<JsonField>& object) {
  Details out;
  if (!object || !object->value().is_object()) return out;
  for (const auto& [key, value] : object->value().members())
    out.emplace_back(key, value.is_string() ? value.text() : value.dump());
  return out;
}

/// Returns the numbers of an array; NaN for null, and for texts, such as "NaN" of JMH.
std::vector<double> samples_in(const JsonField& array) {
  std::vector<double> out;
  for (const JsonField& item : array.items()) {
    const bool is_none = item.value().is_null() || item.value().is_string();
    out.push_back(is_none ? std::numeric_limits<double>::quiet_NaN() : item.number());
  }
  return out;
}

/// Adds bins, [time, samples], in lists of any depth.
void add_bins(std::map<double, double>& out, const JsonField& at) {
  const Json& bin = at.value();
  if (bin.is_array() && bin.size() == 2 && !bin.items().front().is_array()) {
    const std::vector<double> numbers = samples_in(at);
    out[numbers[0] > 0 ? numbers[0] : 0] += numbers[1] > 0 ? numbers[1] : 0;
  } else {
    for (const JsonField& item : at.items()) add_bins(out, item);
  }
}

/// The samples of a histogram; of many, quantiles at even steps, with the same median and spread.
std::vector<double> samples_of_bins(const JsonField& bins) {
  std::map<double, double> histogram;
  add_bins(histogram, bins);
  double all = 0, before = 0;
  for (const auto& [time, count] : histogram) all += count;
  const double wanted = std::min(all, 21.0);  // odd: the middle one is the median
  std::vector<double> out;
  for (const auto& [time, count] : histogram) {
    before += count;
    while ((static_cast<double>(out.size()) + 0.5) / wanted * all < before) out.push_back(time);
  }
  return out;
}

void note(Machine& machine, const char* fact, const std::string& value) {
  if (!value.empty() && fact_value(machine.facts, fact) != value)
    machine.facts.push_back({fact, value, true});
}

/// Samples of several calls each: their sums, and how many calls each has.
void add_sums(TrialResult& trial, const JsonField& sums, const JsonField& calls, double unit) {
  const std::vector<double> times = samples_in(sums), counts = samples_in(calls);
  if (times.size() != counts.size())
    calls.refuse(fmt::format("has {} items, the times {}", counts.size(), times.size()));
  std::vector<double> samples;
  for (std::size_t i = 0; i < times.size(); ++i) samples.push_back(counts[i] > 0 ? times[i] / counts[i] : 0);
  add_samples(trial, samples, {.seconds = unit});
}

/// Appends an estimate with the ends of its interval of at least 95 %, as a launch each: the range of ratios
/// to three others, by which standings are given, covers 90 % then. Without ends it stands alone.
void add_estimate(Results& out, double seconds, double low, double high) {
  std::vector<double> times{low, seconds, high};
  if (!(low > 0 && low <= seconds && seconds <= high)) times = {seconds};
  // Launches are compared beside those of other trials, and in one order their ends would cancel.
  for (std::size_t i = out.trials.size() % 6; i > 0; --i) std::ranges::next_permutation(times);
  add_samples(out.trials.back(), times);
  add_remark(out.trials.back(), times.size() > 1 ? "an estimate and its bounds count as three process starts"
                                                 : "one number stands for all of its samples");
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
  std::vector<JsonField> failed = codes ? codes->items() : std::vector<JsonField>();
  const std::size_t runs = failed.size();
  std::erase_if(failed, [](const JsonField& code) {
    return !code.value().is_null() && code.integer(-(1L << 31), 1L << 31) == 0;
  });
  if (failed.empty()) return {};
  const Json& code = failed.front().value();
  return fmt::format("{} of {} runs failed; the first {}", failed.size(), runs,
                     code.is_null() ? "was ended by a signal" : "exits with code " + code.dump());
}

Machine machine_of_session(const JsonField& info) {
  Machine machine;
  machine.facts.push_back({"host", info.text_or("node", ""), false});
  note(machine, "python", info.text_or("python_version", ""));
  // Versions before 3.4 have the processor's name alone.
  const auto processor = info.find("cpu");
  if (!processor || !processor->value().is_object()) return machine;
  note(machine, "processor", processor->text_or("brand_raw", processor->text_or("brand", "")));
  note_cores(machine, processor->find("count"));
  return machine;
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
std::vector<double> sample_times(const JsonField& summary, const std::filesystem::path& folder) {
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
  static_assert(std::endian::native == std::endian::little, "as the file");
  std::vector<float> times(bytes.size() / sizeof(float));
  std::memcpy(times.data(), bytes.data(), bytes.size());
  return {times.begin(), times.end()};
}

void add_state(TrialResult& trial, Machine& machine, const JsonField& state,
               const std::filesystem::path& folder) {
  if (const auto skipped = state.find("is_skipped"); skipped && skipped->boolean()) {
    trial.skipped = "reports: " + state.text_or("skip_reason", "skipped");
    return;
  }
  const auto summaries = state.find("summaries");
  if (!summaries) state.refuse("has no \"summaries\"");
  // The first of these that is a time stands for all, where there are no samples.
  constexpr std::array<std::string_view, 5> tags{"nv/cold/time/gpu/median", "nv/cold/time/gpu/mean",
                                                 "nv/cpu_only/time/cpu/median", "nv/cpu_only/time/cpu/mean",
                                                 "nv/batch/time/gpu/mean"};
  std::pair best{tags.size(), 0.0};
  std::string source;
  for (const JsonField& summary : summaries->items()) {
    const std::string tag = summary.at("tag").text();
    if (tag.starts_with("nv/json/bin:") && tag.ends_with("sample_times"))
      add_samples(trial, sample_times(summary, folder));
    const auto rank = static_cast<std::size_t>(std::ranges::find(tags, tag) - tags.begin());
    const auto value = rank < best.first ? value_of(summary, "value") : std::nullopt;
    const double seconds = value ? seconds_in(*value) : 0;
    if (seconds > 0 && seconds <= most_seconds) best = {rank, seconds};
    source = !trial.launches.empty() ? tag : best.first < tags.size() ? tags[best.first] : "";
    if (!trial.launches.empty()) break;
  }
  if (source.empty()) {
    trial.skipped = "reports no time";
    return;
  }
  note(machine, "clock", source.find("cpu_only") == std::string::npos ? "GPU time" : "wall time");
  if (!trial.launches.empty()) return;
  add_samples(trial, {best.second});
  add_remark(trial, fmt::format("holds no sample times, which --jsonbin writes: {} stands alone", source));
}

std::vector<std::string> split_at_commas(std::string_view line) {
  std::vector<std::string> fields;
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && line[i] == '"') quoted = !quoted;
    if (i < line.size() && (quoted || line[i] != ',')) continue;
    fields.emplace_back(line.substr(begin, i - begin));
    begin = i + 1;
  }
  return fields;
}

constexpr std::array<std::string_view, 3> problem_words{"%prb%", "%desc%", "%DESC%"},
    time_words{"%0time%", "%-time%", "%time%"};

/// The position of the first of these words in the template, its size where it has none.
std::size_t position_of(std::span<const std::string_view> words, const std::vector<std::string>& form) {
  for (const std::string_view word : words) {
    const auto found = std::ranges::find(form, word);
    if (found != form.end()) return static_cast<std::size_t>(found - form.begin());
  }
  return form.size();
}

/// Returns the words of a template such as `perf,%engine%,%impl%,%name%,%prb%,%Gops%,%-time%,%0time%`.
std::vector<std::string> template_of(std::string_view line, const std::string& where) {
  std::vector<std::string> form = split_at_commas(line);
  if (form.front() != "perf" ||
      std::max(position_of(problem_words, form), position_of(time_words, form)) == form.size()) {
    throw Error(where, fmt::format("the template \"{}\" lacks what is read", line),
                "run benchdnn without --perf-template, or with one that begins with perf and holds %prb% and "
                "%0time%, with commas between");
  }
  return form;
}

/// Returns the fields of a line. The problem is not quoted and may hold commas.
std::vector<std::string> fields_of(std::string_view line, const std::vector<std::string>& form,
                                   const std::string& where) {
  std::vector<std::string> fields = split_at_commas(line);
  if (fields.size() < form.size()) {
    throw Error(where,
                fmt::format("\"{}\" has {} fields where the template before it has {}", line, fields.size(),
                            form.size()),
                "keep all that benchdnn prints");
  }
  const std::size_t problem = position_of(problem_words, form);
  const std::size_t extra = fields.size() - form.size();
  for (std::size_t i = 1; i <= extra; ++i) fields[problem] += ',' + fields[problem + i];
  const auto next = fields.begin() + static_cast<std::ptrdiff_t>(problem) + 1;
  fields.erase(next, next + static_cast<std::ptrdiff_t>(extra));
  for (std::string& field : fields) std::erase(field, '"');
  return fields;
}

}  // namespace

// A mode that counts operations per time is turned into time per operation, so that less is better in all.
void read_jmh(const ResultFile& file, Results& out) {
  for (const auto& [ignored, row] : file.records) {
    Details details{{"mode", row.text_or("mode", "")}};
    if (const auto threads = row.find("threads"); threads && threads->value().dump() != "1")
      details.emplace_back("threads", threads->value().dump());
    for (auto& one : details_in(row.find("params"))) details.push_back(std::move(one));
    TrialResult& trial = new_trial(out, row.at("benchmark").text(), details);
    const JsonField metric = row.at("primaryMetric"), unit = metric.at("scoreUnit");
    const std::string word = unit.text();
    const bool is_rate = word.starts_with("ops/");
    const double seconds = seconds_in_unit(is_rate ? word.substr(4) : word.substr(0, word.find('/')));
    if (seconds <= 0)
      unit.refuse(fmt::format("is {}, must be a time per operation, or operations per time", word));
    const auto times_of = [&](std::vector<double> scores) {
      for (double& score : scores) score = is_rate ? 1 / score : score;
      return scores;
    };
    const auto raw = metric.find("rawData"), counts = metric.find("rawDataHistogram");
    const bool is_counted = counts && (!raw || raw->value().empty());
    const auto all = is_counted ? counts : raw;
    const std::vector<JsonField> forks = all ? all->items() : std::vector<JsonField>();
    if (const auto others = row.find("secondaryMetrics"))
      for (const auto& [name, other] : others->members())
        if (const Json* const score = other.value().find("score"); score != nullptr && score->is_number())
          trial.figures[name] = score->number();
    // Iterations tell of the noise within a fork alone, but are all that few forks have.
    const bool are_few = forks.size() < fewest_launches, is_split = is_counted && are_few;
    for (const JsonField& fork : forks) {
      for (const JsonField& part : is_split ? fork.items() : std::vector{fork})
        add_samples(trial, times_of(is_counted ? samples_of_bins(part) : samples_in(part)),
                    {.seconds = seconds}, are_few && !is_counted ? most_sample_launches : 1);
    }
    if (forks.empty()) {
      add_samples(trial, times_of({metric.number_or("score", 0)}), {.seconds = seconds});
      add_remark(trial, "holds no times of single iterations: its score counts as one process start");
    }
    note(out.machine, "JVM", row.text_or("vmVersion", ""));
  }
}

void read_criterion(const ResultFile& file, Results& out) {
  // target/criterion/GROUP/FUNCTION/VALUE/new/sample.json, where some of the three may be missing
  const auto folder = std::filesystem::absolute(file.path).parent_path(), named = folder.parent_path();
  std::string name =
      folder.filename() == "new" || folder.filename() == "base" ? named.filename().string() : "benchmark";
  for (auto above = named; above.has_relative_path(); above = above.parent_path()) {
    if (above.filename() == "criterion") name = named.lexically_relative(above).generic_string();
  }
  add_sums(new_trial(out, name), file.field.at("times"), file.field.at("iters"), 1e-9);
}

void read_cargo_criterion(const ResultFile& file, Results& out) {
  for (const auto& [ignored, message] : file.records) {
    if (message.at("reason").text() != "benchmark-complete") continue;
    TrialResult& trial = new_trial(out, message.at("id").text());
    add_sums(trial, message.at("measured_values"), message.at("iteration_count"),
             seconds_in_unit(message.text_or("unit", "ns")));
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
  for (const auto& [name, row] : file.records) {
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
      const auto bound = [&](const char* column) {
        const auto bounds = cell(column);
        const Json* const one = bounds && i < bounds->value().size() ? &bounds->value().at(i) : nullptr;
        return one != nullptr && one->is_number() ? one->number() : 0;
      };
      if (const std::string own = name.substr(name.rfind('.') + 1); !own.starts_with("time")) {
        trial.skipped = "reports no time, but what its name tracks";
        if (std::isfinite(values[i])) trial.figures[own.substr(0, own.find('_'))] = values[i];
      } else if (i < all.size() && all[i].value().is_array()) {
        add_samples(trial, samples_in(all[i]));
      } else {
        add_estimate(out, values[i], bound("stats_ci_99_a"), bound("stats_ci_99_b"));
        add_remark(trial, "holds no samples, which --record-samples keeps");
      }
    }
  }
}

void read_llama_bench(const ResultFile& file, Results& out) {
  for (const auto& [ignored, row] : file.records) {
    Details details = details_in(row);
    // Whatever is no measurement says what a row is, in versions to come as well.
    static const std::regex others(
        "^(avg|stddev|samples|build)_|_info$|^test_time$|^model_filename$|^n_(prompt|gen|depth)$");
    std::erase_if(details, [](const auto& one) { return std::regex_search(one.first, others); });
    std::string name = std::filesystem::path(row.at("model_filename").text()).filename().string();
    for (const auto& [member, mark] :
         {std::pair{"n_prompt", " pp"}, std::pair{"n_gen", " tg"}, std::pair{"n_depth", " @ d"}}) {
      const Json* const tokens = row.value().find(member);
      if (tokens != nullptr && tokens->dump() != "0") name += mark + tokens->dump();
    }
    TrialResult& trial = new_trial(out, name);
    trial.settings = std::move(details);
    add_samples(trial, samples_in(row.at("samples_ns")), {.seconds = 1e-9});
    note(out.machine, "processor", row.text_or("cpu_info", ""));
    note(out.machine, "device", row.text_or("gpu_info", ""));
    out.commit = row.text_or("build_commit", "unknown");
  }
}

void read_go(const ResultFile& file, Results& out) {
  TrialPlaces places;
  std::string package;
  std::istringstream lines(file.text);
  for (std::string line; std::getline(lines, line);) {
    const auto told = [&](std::string_view key) {
      return std::string(csv::trimmed(std::string_view(line).substr(key.size())));
    };
    if (line.starts_with("pkg: ")) package = told("pkg: ");
    if (line.starts_with("cpu: ")) note(out.machine, "processor", told("cpu: "));
    if (!line.starts_with("Benchmark")) continue;
    std::istringstream words(line);
    std::string name, value, unit;
    Index calls = 0;
    if (!(words >> name >> calls)) continue;  // printed before the benchmark, or by it
    while (words >> value >> unit) {
      const auto number = number_from<double>(value);
      if (!number) continue;
      TrialResult& trial = trial_named(out, places, package.empty() ? name : package + "." + name);
      if (unit == "ns/op") {
        add_samples(trial, {*number}, {.seconds = 1e-9, .calls = std::max<Index>(1, calls)});
      } else {
        trial.figures[unit] = *number;
      }
    }
  }
}

void read_go_events(const ResultFile& file, Results& out) {
  std::map<std::string, std::string> printed;  // by each package: a line may come in several events
  for (const auto& [ignored, event] : file.records) {
    if (event.at("Action").text() == "output")
      printed[event.text_or("Package", "")] += event.at("Output").text();
  }
  std::string text;
  for (const auto& [package, lines] : printed)
    text += fmt::format("{}{}\n", package.empty() ? "" : "pkg: " + package + "\n", lines);
  out.suite = "Go";  // as of the text
  read_go({file.path, text, file.field}, out);
}

void read_catch2(const ResultFile& file, Results& out) {
  std::string test;
  std::string_view rest = file.text;
  for (std::size_t begin = rest.find('<'); begin != std::string_view::npos; begin = rest.find('<')) {
    rest.remove_prefix(begin);
    std::size_t end = rest.find('>');
    const auto is_quoted = [&] { return std::ranges::count(rest.substr(0, end), '"') % 2 != 0; };
    while (end != std::string_view::npos && is_quoted()) end = rest.find('>', end + 1);
    const std::string_view element = rest.substr(0, end);
    rest.remove_prefix(element.size());
    if (element.starts_with("<TestCase ")) test = attribute(element, "name");
    if (element.starts_with("<BenchmarkResults ")) new_trial(out, test + "/" + attribute(element, "name"));
    if (!element.starts_with("<mean ") || out.trials.empty()) continue;
    const auto value = [&](std::string_view name) {
      return number_from<double>(attribute(element, name)).value_or(0);
    };
    add_estimate(out, value("value") * 1e-9, value("ci") >= 0.95 ? value("lowerBound") * 1e-9 : 0,
                 value("upperBound") * 1e-9);
  }
}

// A command is a trial, a failed one if it failed under --ignore-failure, and each of its runs a launch.
void read_hyperfine(const ResultFile& file, Results& out) {
  for (const auto& [ignored, command] : file.records) {
    TrialResult& trial = new_trial(out, command.at("command").text(), details_in(command.find("parameters")));
    if (const std::string failed = failed_runs(command); !failed.empty()) {
      trial.failed = true;
      trial.skipped = "reports an error: " + failed;
      continue;
    }
    for (const auto& [name, values] : command.members()) {
      if (values.value().is_array() && !values.value().empty() && name != "times" && name != "exit_codes")
        trial.figures[name] = median(values.numbers());
    }
    const double cpu_seconds =
        processor_seconds(trial, command, "user") + processor_seconds(trial, command, "system");
    const auto times = command.find("times");
    add_samples(trial, times ? samples_in(*times) : std::vector{command.at("median").number()},
                {.seconds = 1, .cpu_seconds = trial.remark.empty() ? cpu_seconds : 0});
    if (!times) add_remark(trial, "holds no times of single runs: their median counts as one process start");
  }
}

// A test is a trial, and its rounds are launches.
void read_pytest_benchmark(const ResultFile& file, Results& out) {
  out.machine = machine_of_session(file.field.at("machine_info"));
  if (const auto info = file.field.find("commit_info")) {
    const auto dirty = info->find("dirty");
    out.commit = info->text_or("id", "unknown") + (dirty && dirty->boolean() ? "+changes" : "");
  }
  out.date = file.field.text_or("datetime", "");
  for (const auto& [ignored, test] : file.records) {
    TrialResult& trial =
        new_trial(out, test.text_or("fullname", test.at("name").text()), details_in(test.find("params")));
    const JsonField stats = test.at("stats");
    const auto calls = stats.find("iterations"), data = stats.find("data"), options = test.find("options");
    add_samples(trial, data ? samples_in(*data) : std::vector{stats.at("median").number()},
                {.seconds = 1, .calls = calls ? calls->integer(1, Index{1} << 50) : 1});
    if (!data)
      add_remark(trial, "holds no rounds, which --benchmark-save-data keeps: their median stands alone");
    const std::string timer = options ? options->text_or("timer", "") : "";
    note(out.machine, "clock", timer.empty() || timer == "perf_counter" ? "wall time" : "time by " + timer);
  }
}

// A state is a trial, and its sample times, which `--jsonbin` writes to files beside it, are launches.
// Without them the median, or else the mean, is the only time.
void read_nvbench(const ResultFile& file, Results& out) {
  if (const auto devices = file.field.find("devices")) {
    for (const JsonField& device : devices->items())
      out.machine.facts.push_back({"device", device.text_or("name", ""), true});
  }
  for (const auto& [benchmark, state] : file.records)
    add_state(new_trial(out, fmt::format("{} [{}]", benchmark, state.at("name").text())), out.machine, state,
              file.path.parent_path());
}

// A problem in the lines that benchdnn prints with `--mode=P` is a trial, and each of its lines a launch of
// one slice, its average time. The template that benchdnn prints first names the fields of a line; since 2026
// a row of their names follows it.
void read_benchdnn(const ResultFile& file, Results& out) {
  TrialPlaces places;
  std::vector<std::string> form;
  std::istringstream lines(file.text);
  std::size_t line_number = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string at = fmt::format("{}: line {}", file.where(), ++line_number);
    if (line.ends_with('\r')) line.pop_back();
    if (line.starts_with("Output template: ") || line.starts_with("Template entries: "))
      form = template_of(std::string_view(line).substr(line.find(": ") + 2), at);
    if (!line.starts_with("perf,")) continue;
    if (form.empty()) {
      throw Error(at, "no line \"Output template: …\" stands before it, which says what its fields are",
                  "keep all that benchdnn prints");
    }
    const auto fields = fields_of(line, form, at);
    const std::size_t time = position_of(time_words, form);
    if (fields[time].ends_with("time")) continue;  // a row of names
    const std::optional<double> milliseconds = number(fields[time]);
    if (!milliseconds && fields[time] != "nan" && fields[time] != "inf") {
      throw Error(at, fmt::format("the time is \"{}\", must be milliseconds", fields[time]),
                  "keep all that benchdnn prints");
    }
    std::string name = fields[position_of(problem_words, form)], implementation;
    Details details;  // no more names, nothing measured, nor how it was computed
    static const std::regex others(
        "^[^%]|prb|desc|DESC|name|impl|time|ops|flops|bw|freq|clocks|bytes|idx|perf|driver");
    for (std::size_t i = 0; i < form.size(); ++i) {
      const std::string& word = form[i];
      if (word == "%impl%") implementation = fields[i];
      if (word == "%name%" && name.find(fields[i]) == std::string::npos) name = fields[i] + ' ' + name;
      // The processor is the usual engine, which %prb% leaves out as well.
      if (!std::regex_search(word, others) && !(word == "%engine%" && fields[i] == "cpu"))
        details.emplace_back(word.substr(1, word.size() - 2), fields[i]);
    }
    TrialResult& trial = trial_named(out, places, with_details(name, details));
    trial.note = implementation;
    add_remark(trial, form[time] == "%0time%" ? "an average of its calls stands for each process start"
                                              : "the fastest of its calls stands for each process start");
    add_samples(trial, {milliseconds.value_or(0)}, {.seconds = 1e-3});
  }
}

}  // namespace assay
