#include "app/gate_outcome.hpp"
#include "app/output.hpp"
#include "app/verb_functions.hpp"
#include "assay/error.hpp"
#include "assay/report.hpp"
#include "bench/gate/two_builds.hpp"
#include "bench/measure/merge.hpp"
#include "bench/measure/results_fields.hpp"
#include "bench/report/content.hpp"
#include "core/json/json.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace assay {
namespace {

Json parsed(const std::filesystem::path& file) { return parse_json(read_file(file), file.string()); }

/// Reads the shards, each parsed once: the first one already is, since it says what all of them are.
template <class File, class Read>
std::vector<File> files_of(const MergeOptions& options, const Json& first, const Read& read) {
  std::vector<File> out;
  for (const auto& file : options.shards) {
    const std::string name = file.string();
    out.push_back({name, out.empty() ? read(first, name) : read(parsed(file), name)});
  }
  return out;
}

/// Options that judge: results of runs are merged without a judgement.
void require_no_gate_options(const OutcomeOptions& options) {
  const std::string given = !options.markdown.empty()    ? "--md"
                            : !options.page.html.empty() ? "--html"
                            : !options.page.svg.empty()  ? "--svg"
                                                         : first_given(options.rules);
  if (given.empty()) return;
  throw Error(
      given, "is for shards of a gate of two builds, and these are of a run",
      fmt::format("leave it out; judge what is merged: assay compare BEFORE {}", options.output.string()));
}

Outcome merge_gates(const MergeOptions& options, const Json& first) {
  const TwoBuilds run = merged(files_of<GateFile>(options, first, two_builds_from));
  return end_two_builds(options.outcome, run);
}

/// A commit with changes is any number of programs.
std::string doubt_about(const Results& results) {
  if (results.commit.find("+changes") == std::string::npos) return "";
  return fmt::format("warning: built from {}: nothing tells whether all shards ran the same program\n",
                     results.commit);
}

Outcome merge(const MergeOptions& options) {
  const std::filesystem::path& output = options.outcome.output;
  for (const auto& file : options.shards) {
    std::error_code ignored;
    if (std::filesystem::equivalent(file, output, ignored)) {
      throw Error(output.string(), "is one of the shards", "write the whole into another file");
    }
  }
  const Json first = parsed(options.shards.front());
  if (holds_two_builds(first)) return merge_gates(options, first);
  require_no_gate_options(options.outcome);
  const auto read = [](const Json& file, const std::string& where) { return results_from(file, where); };
  const Results results = merged(files_of<ShardFile>(options, first, read));
  write_file(output, to_json(results) + "\n");
  const Outcome outcome = outcome_of(results);
  std::string text = options.outcome.quiet ? faults_text(results) : to_table(results);
  const std::string merged =
      fmt::format("{} trials of suite {}, of {} shards, into {}", results.trials.size(), results.suite,
                  results.merged_shards, output.string());
  const std::string next = fmt::format("assay report {}", output.string());
  // A failure weighs more, and is the outcome then.
  const bool merely_merged = outcome.word == Word::measured;
  if (!merely_merged && !options.outcome.quiet) text += fmt::format("merged: {}\n", merged);
  if (merely_merged && !options.outcome.quiet) text += fmt::format("next: {}\n", next);
  text += merely_merged ? fmt::format("MERGED: {}\n", merged)
                        : ending(options.outcome.quiet ? "" : next, outcome);
  put(options.outcome.json, doubt_about(results) + text, to_json(results));
  return outcome;
}

}  // namespace

/// If shards are missing, nothing is written and the exit code is 3: a part would be taken for the whole.
Outcome merge_verb(const MergeOptions& options) {
  try {
    return merge(options);
  } catch (const MissingShards& failure) {
    print_visible(stderr, "assay: {}\n", failure.what());
    return {Word::undecided};
  }
}

}  // namespace assay
