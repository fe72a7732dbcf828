/// Files of results of any program, read as ours so that they can be compared and followed over time; and
/// ours as Google Benchmark writes its own. One table, in read_results.cpp, has a row for each format that is
/// read.
///
/// Times that share one process start are one launch: each run of a command, all rounds of one test session,
/// one line of a log.
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
/// Reads results from a text. Files that it names lie beside `path`.
Results results_in(const std::string& text, const std::filesystem::path& path);

/// A file to read. `field` is its whole value, null where the text is no JSON. Messages end with the remedy
/// of the format.
struct ResultFile {
  const std::filesystem::path& path;
  const std::string& text;
  JsonField field;

  std::string where() const { return path.string(); }
};

/// A part of a file's structure by which its format is recognised.
struct Mark {
  /// `benchmarks.states`: a member, of the first item where `benchmarks` is an array; an empty array passes.
  /// For "a line", the beginnings that it may have, separated by `|`, in a text that is no JSON.
  std::string_view place;
  std::string_view is;  ///< "an object", "an array", "a string", "a line", or the beginning of a schema
};

struct ResultFormat {
  std::string_view name;  ///< the suite of results that name none
  std::string_view about;
  std::vector<Mark> marks;  ///< all must hold
  std::string_view rows,
      row;  ///< the array of measurements and the name of an item, where an empty array is a fault
  std::string_view remedy;  ///< how to write such a file
  /// Fills results that have their name and about. Throws Error naming the file and the key or line at fault.
  void (*read)(const ResultFile& file, Results& out);
};

/// Appends a trial of that name.
TrialResult& new_trial(Results& results, std::string name);

/// The trials of results by what tells them apart. Those that have one name are numbered after reading.
class NamedTrials {
 public:
  explicit NamedTrials(Results& results) : results_(results) {}
  /// Returns the trial of that identity, and makes it at the first call.
  TrialResult& at(const std::string& identity, const std::string& name);
  TrialResult& at(const std::string& name) { return at(name, name); }
  bool has(const std::string& identity) const { return position_.contains(identity); }

 private:
  Results& results_;
  std::map<std::string, std::size_t, std::less<>> position_;
};

/// Takes over the number of cores, where the file says it.
void note_cores(Machine& machine, const std::optional<JsonField>& cores);

/// Appends a slice, unless its time is no finite one above 0, of which the trial's remark tells then.
void add_slice(TrialResult& trial, Launch& launch, const Slice& slice);
/// The same as a launch of its own.
void add_launch(TrialResult& trial, const Slice& slice);
/// Appends a launch, unless it is empty.
void add_launch(TrialResult& trial, Launch launch);

/// Seconds in ns, us, ms, s, min and hr; 0 for another word.
double seconds_in_unit(std::string_view unit);

/// Returns the processor time of that member in seconds, 0 where there is none. Throws Error naming a time
/// that is below 0 or endless.
double processor_seconds(const JsonField& row, std::string_view member, double unit = 1);

// The readers, in harnesses.cpp and google_benchmark.cpp.
void read_google_benchmark(const ResultFile& file, Results& out);
void read_hyperfine(const ResultFile& file, Results& out);
void read_pytest_benchmark(const ResultFile& file, Results& out);
void read_nvbench(const ResultFile& file, Results& out);
void read_benchdnn(const ResultFile& file, Results& out);
void read_jmh(const ResultFile& file, Results& out);
void read_criterion(const ResultFile& file, Results& out);
void read_cargo_criterion(const ResultFile& file, Results& out);
void read_asv(const ResultFile& file, Results& out);
void read_llama_bench(const ResultFile& file, Results& out);
void read_go(const ResultFile& file, Results& out);
void read_catch2(const ResultFile& file, Results& out);

/// For tools that read JSON of Google Benchmark. Writes a repetition for each launch, named by the trial's
/// key, with the median time of the launch's slices. A single launch has a repetition for each slice. Fields
/// that the format lacks stand under the key "assay". Trials that disagreed or were skipped carry
/// "error_occurred" and "error_message".
std::string google_benchmark_json(const Results& results);

/// Writes the same rows in the columns of --benchmark_format=csv and =console.
std::string google_benchmark_csv(const Results& results);
std::string google_benchmark_console(const Results& results);

}  // namespace assay
