// Reads the lines that benchdnn prints with `--mode=P`: a problem is a trial, and each of its lines a launch
// of one slice, its average time. The template that benchdnn prints first names the fields of a line; since
// 2026 a row of their names follows it.
#include "assay/error.hpp"
#include "bench/exchange/foreign_results.hpp"
#include "core/json/fields.hpp"
#include "core/machine/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {
namespace {

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
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "%prb%" || word == "%desc%" || word == "%DESC%") {
      found.problem = i;
    } else if (word == "%name%") {
      found.name = i;
    } else if (word == "%impl%") {
      found.implementation = i;
    } else if (word == "%0time%") {
      found.time = i;
    } else if (word == "%-time%" || word == "%time%") {
      fastest = i;
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
