#include "app/ledger_use.hpp"
#include "app/measuring.hpp"
#include "app/output.hpp"
#include "app/two_builds_ending.hpp"
#include "app/verbs.hpp"
#include "assay/error.hpp"
#include "assay/report.hpp"
#include "compare/two_builds_shards.hpp"
#include "measure/merge.hpp"

#include <fmt/format.h>

namespace assay {
namespace {

int merge_gates(const Options& options) {
  std::vector<GateFile> files;
  for (const auto& file : options.shards) {
    files.push_back({.name = file.string(), .run = two_builds_from_json(read_file(file), file.string())});
  }
  const TwoBuilds run = merged(std::move(files));
  write_file(options.output, to_json(run) + "\n");
  return end_two_builds(options, run, find_ledger(options, run.suite));
}

}  // namespace

int merge_verb(const Options& options) {
  for (const auto& file : options.shards) {
    std::error_code ignored;
    if (std::filesystem::equivalent(file, options.output, ignored)) {
      throw Error(options.output.string(), "is one of the shards", "write the whole into another file");
    }
  }
  const auto& first = options.shards.front();
  if (holds_two_builds(read_file(first), first.string())) return merge_gates(options);
  std::vector<ShardFile> files;
  for (const auto& file : options.shards) {
    files.push_back({.name = file.string(), .results = results_from_json(read_file(file), file.string())});
  }
  const Results results = merged(std::move(files));
  write_file(options.output, to_json(results) + "\n");
  const Ending ending = ending_of(results);
  std::string text = to_table(results);
  text += fmt::format("next: assay report {}\n", options.output.string());
  text += fmt::format("MERGED: {} trials of suite {}, of {} shards, into {}\n", results.trials.size(),
                      results.suite, results.merged_shards, options.output.string());
  if (!ending.text.empty()) text += ending.text + "\n";
  put(options, text, to_json(results));
  return ending.code;
}

}  // namespace assay
