/// Files of results of any program, read as ours so that they can be compared and followed over time. One
/// table, in read_results.cpp, has a row for each format.
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
#include <vector>

namespace assay {

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
  bool bare_nan = false;  ///< its JSON may hold NaN and Infinity, which count as null
};

/// The trials of results by their names.
class NamedTrials {
 public:
  explicit NamedTrials(Results& results) : results_(results) {}
  /// Returns the trial of that name, and makes it at the first call.
  TrialResult& at(const std::string& name);
  bool has(const std::string& name) const { return position_.contains(name); }

 private:
  Results& results_;
  std::map<std::string, std::size_t, std::less<>> position_;
};

/// Takes over the number of cores, where the file says it.
void note_cores(Machine& machine, const std::optional<JsonField>& cores);

/// Returns the slice. Throws Error naming `where` unless its time is above zero.
Slice checked(const Slice& slice, const JsonField& where);

/// Returns the processor time of that member in seconds, 0 where there is none. Throws Error naming a time
/// that is below 0 or endless.
double processor_seconds(const JsonField& row, std::string_view member, double unit = 1);

/// Replaces the bare words for non-finite numbers by null.
std::string with_nulls(const std::string& text);

// The readers. Each has a file of its own.
void read_google_benchmark(const ResultFile& file, Results& out);
void read_hyperfine(const ResultFile& file, Results& out);
void read_pytest_benchmark(const ResultFile& file, Results& out);
void read_nvbench(const ResultFile& file, Results& out);
void read_benchdnn(const ResultFile& file, Results& out);

}  // namespace assay
