// Stored baselines: recordings of one suite on one machine, in one file that a commit can show as a diff.
#include "assay/compare.hpp"
#include "assay/error.hpp"
#include "bench/compare/words.hpp"
#include "bench/measure/results_fields.hpp"
#include "core/json/lint.hpp"

#include <fmt/format.h>

#include <system_error>

namespace assay {
namespace {

constexpr std::string_view baseline_schema = "assay.baseline/1";

void shorten_times(Results& results) {
  for (TrialResult& trial : results.trials) {
    for (Launch& launch : trial.launches) {
      for (Slice& slice : launch) {
        slice.seconds = shortened(slice.seconds);
        slice.cpu_seconds = shortened(slice.cpu_seconds);
      }
    }
  }
}

/// A baseline in the wrong place would be compared with another suite or machine.
void require_place(const JsonField& field, std::string_view what, const std::string& is,
                   const std::string& expected) {
  if (is == expected) return;
  field.refuse(fmt::format("is of {} {}, but lies where that of {} belongs", what, is, expected));
}

void require_one_folder(std::string_view name) {
  if (!name.empty() && name.find('/') == std::string_view::npos && !name.starts_with('.')) return;
  throw Error(std::string(name), "cannot name a baseline", "use letters, digits, '_' and '-'");
}

}  // namespace

std::filesystem::path baseline_path(const std::filesystem::path& folder, std::string_view machine_key,
                                    std::string_view suite) {
  require_one_folder(machine_key);
  require_one_folder(suite);
  return folder / machine_key / fmt::format("{}.json", suite);
}

ASSAY_FIELDS_OF(Recording, reason, results)

void describe(Fields& f, Baseline& baseline) {
  f.schema(baseline_schema);
  ASSAY_FIELDS(f, baseline, suite, machine_key);
  f("recordings", baseline.recordings, {.about = "oldest first"});
  if (!f.reads()) return;
  if (baseline.recordings.empty()) f.refuse("recordings", "is empty: there is nothing to compare with");
}

std::string to_json(const Baseline& baseline) {
  Baseline shorter = baseline;
  for (Recording& recording : shorter.recordings) shorten_times(recording.results);
  return json_text(to_value(shorter));
}

void write_into_baselines(const std::filesystem::path& file, const std::string& json) {
  std::error_code failure;
  std::filesystem::create_directories(file.parent_path(), failure);
  if (failure) {
    throw Error(file.parent_path().string(), fmt::format("cannot make this folder: {}", failure.message()),
                "check its permissions, or name another folder with --baselines");
  }
  write_file(file, json + "\n");
}

void save_baseline(const std::filesystem::path& file, const Baseline& baseline) {
  write_into_baselines(file, to_json(baseline));
}

std::optional<Baseline> load_baseline(const std::filesystem::path& file) {
  std::error_code failure;
  const auto status = std::filesystem::status(file, failure);
  if (!std::filesystem::exists(status)) return std::nullopt;
  const Json value = parse_json(read_file(file), file.string());
  const JsonField field(value, file.string(),
                        "restore it from version control, or delete it and record again: assay record");
  auto baseline = value_from<Baseline>(field);
  require_consistent(value, file.string());
  require_place(field, "suite", baseline.suite, file.stem().string());
  require_place(field, "machine", baseline.machine_key, file.parent_path().filename().string());
  for (const Recording& one : baseline.recordings) {
    require_place(field.at("recordings"), "suite", one.results.suite, baseline.suite);
  }
  return baseline;
}

}  // namespace assay
