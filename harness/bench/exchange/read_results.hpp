/// Files of results of any program, read as ours so that they can be compared and followed over time; and
/// ours as Google Benchmark writes its own. A table in read_results.cpp has a row for each format.
///
/// Each repetition is a launch: a run of a command, a line of a log, a round of a test. Those of one process
/// share its luck, which shows in how far the rows of a file moved apart.
#pragma once

#include "assay/results.hpp"
#include "core/json/json.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

/// Reads results of assay or of another program in the table of read_results.cpp. The structure of the file
/// tells its format. Throws Error naming the file and the key or line at fault.
Results read_any_results(const std::filesystem::path& file);
/// Reads files that are compared, so that trials have the same names in each. Settings that do not differ
/// among the rows of any file are in no name, but facts of the machine.
std::vector<Results> read_compared(const std::vector<std::filesystem::path>& files);
/// Reads results from a text. Files that it names lie beside `path`.
Results results_in(const std::string& text, const std::filesystem::path& path);

/// A file to read. `field` is its value, null where it is no JSON. Messages end with the format's remedy.
struct ResultFile {
  const std::filesystem::path& path;
  const std::string& text;
  JsonField field;
  /// Records to read: items, with the "name" of what holds them, or members with their key.
  std::vector<std::pair<std::string, JsonField>> records{};

  std::string where() const { return path.string(); }
};

/// A part of a file's structure by which its format is recognised.
struct Mark {
  /// `benchmarks.states`: a member, of any item where `benchmarks` is an array; an empty array passes.
  /// For "a line", the beginnings that it may have, or parts behind a blank, between `|`, in what is no JSON.
  std::string_view place;
  std::string_view is;  ///< "an object", "an array", "a string", "a line", or the beginning of a schema
};

using ReadResults = void(const ResultFile& file, Results& out);

struct ResultFormat {
  std::string_view name;  ///< the suite of results that name none
  std::string_view about;
  std::vector<Mark> marks;  ///< all must hold
  /// Where its records stand, as for a mark; empty: they are the file. One that cannot be read is left out,
  /// with a remark, unless it is the last.
  std::string_view records;
  std::string_view row;     ///< the name of a measurement, where a file without any is a fault
  std::string_view remedy;  ///< how to write such a file
  /// Fills results that have their name and about. Throws Error naming the file and the key or line at fault.
  ReadResults* read;
};

/// Words and values that a trial was run with. with_details() adds those that the name does not hold already:
/// "copy [size=3 dir=FWD]".
using Details = std::vector<std::pair<std::string, std::string>>;
std::string with_details(const std::string& name, const Details& details);

TrialResult& new_trial(Results& results, const std::string& name, const Details& details = {});

/// Appends to the remark of a trial, once.
void add_remark(TrialResult& trial, const std::string& remark);

/// Where the trials of results stand, by what tells them apart.
using TrialPlaces = std::map<std::string, std::size_t>;
/// Returns the trial of that identity, else of that name, and appends it at the first call.
TrialResult& trial_named(Results& results, TrialPlaces& places, const std::string& name,
                         const std::string& identity = "");

/// Takes over the number of cores, where the file says it.
void note_cores(Machine& machine, const std::optional<JsonField>& cores);

/// The most launches that samples of one process make. Neighbours among more are slices of one launch, since
/// pairs of launches are compared.
inline constexpr std::size_t most_sample_launches = 20;
/// Appends the samples of one process as launches, each like that slice, whose time is their unit. One that
/// is no finite time above 0 is left out, as the trial's remark tells then.
void add_samples(TrialResult& trial, const std::vector<double>& samples, Slice like = {.seconds = 1},
                 std::size_t most_launches = most_sample_launches);

/// Seconds in ns, us, ms, s, min and hr; 0 for another word.
double seconds_in_unit(std::string_view unit);

/// Returns the processor time of that member in seconds; 0 where there is none, and for one below 0 or
/// endless, of which the trial's remark tells.
double processor_seconds(TrialResult& trial, const JsonField& row, std::string_view member, double unit = 1);

// The readers, in harnesses.cpp and google_benchmark.cpp.
ReadResults read_google_benchmark, read_hyperfine, read_pytest_benchmark, read_nvbench, read_benchdnn,
    read_jmh, read_criterion, read_cargo_criterion, read_asv, read_llama_bench, read_go, read_go_events,
    read_catch2;

/// For tools that read JSON of Google Benchmark. Writes a repetition for each launch, named by the trial's
/// key, with the median time of the launch's slices. A single launch has a repetition for each slice. Fields
/// that the format lacks stand under the key "assay". Trials that disagreed or were skipped carry
/// "error_occurred" and "error_message".
std::string google_benchmark_json(const Results& results);

/// Writes the same rows in the columns of --benchmark_format=csv and =console.
std::string google_benchmark_csv(const Results& results);
std::string google_benchmark_console(const Results& results);

}  // namespace assay
