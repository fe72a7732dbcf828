// Reads the JSON of `hyperfine --export-json`: a command is a trial, and each of its runs a launch. A command
// that failed under --ignore-failure is a failed trial.
#include "bench/exchange/foreign_results.hpp"

#include <fmt/format.h>

namespace assay {
namespace {

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

}  // namespace

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

}  // namespace assay
