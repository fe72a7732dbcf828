// Reads the JSON of NVBench: a state is a trial. Its sample times, which `--jsonbin` writes to files beside
// it, are slices of one launch. Without them the median, or else the mean, is the only time.
#include "assay/error.hpp"
#include "bench/exchange/foreign_results.hpp"
#include "core/json/fields.hpp"
#include "core/machine/limits.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

namespace assay {
namespace {

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
  // Versions before 2025 wrote the name relative to their working directory.
  if (!std::filesystem::exists(file))
    file = folder / std::filesystem::path(name->text()).parent_path().filename() / file.filename();
  if (!std::filesystem::exists(file)) return {};
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
  std::array<std::optional<double>, 5> times;
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
    for (std::size_t i = 0; i < tags.size(); ++i) {
      if (tag != tags[i]) continue;
      if (const auto value = value_of(summary, "value")) times[i] = seconds_in(*value);
    }
  }
  for (std::size_t i = 0; i < tags.size(); ++i) {
    if (!times[i] || !(*times[i] > 0 && *times[i] <= most_seconds)) continue;
    trial.launches.push_back({Slice{.seconds = *times[i]}});
    trial.remark = fmt::format("holds no sample times, which --jsonbin writes: {} stands alone", tags[i]);
    return;
  }
  trial.skipped = "reports no time";
}

}  // namespace

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

}  // namespace assay
