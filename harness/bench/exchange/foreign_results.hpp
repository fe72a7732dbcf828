/// Results of other programs that time things, read as ours, so that they can be compared and followed over
/// time.
///
/// What shares the luck of one start of a process is a launch: each run of a command, all rounds of one test
/// session, one line of a log. Every function throws Error naming the file and the key or line at fault.
#pragma once

#include "assay/results.hpp"

#include <filesystem>
#include <map>
#include <string>

namespace assay {

class JsonField;

/// The trials of results by their names. What reports the same name again goes on with the same trial.
class NamedTrials {
 public:
  explicit NamedTrials(Results& results) : results_(results) {}
  /// The trial of that name, made as one without launches where there is none.
  TrialResult& at(const std::string& name);

 private:
  Results& results_;
  std::map<std::string, std::size_t, std::less<>> position_;
};

/// Returns the slice. Throws Error naming `where` unless its time is above zero.
Slice checked(const Slice& slice, const JsonField& where);

/// The JSON of `hyperfine --export-json`: a command is a trial, each run of it a launch. A command that
/// failed under
/// --ignore-failure is a failed trial.
Results results_from_hyperfine(const std::string& text, const std::string& where);

/// The JSON of `pytest --benchmark-json`: a test is a trial, and its rounds are slices of one launch.
Results results_from_pytest_benchmark(const std::string& text, const std::string& where);

/// The JSON of NVBench's `--json`: a state is a trial. Its sample times, which `--jsonbin` writes beside, are
/// slices of one launch; without them its median, or else its mean, is all there is.
Results results_from_nvbench(const std::string& text, const std::filesystem::path& file);

/// What benchdnn prints with `--mode=P`: a problem is a trial, and each of its lines a launch of one slice,
/// its average time. The template that it prints first says what stands where.
Results results_from_benchdnn(const std::string& text, const std::string& where);

}  // namespace assay
