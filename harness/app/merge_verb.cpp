#include "app/ledger_use.hpp"
#include "app/measuring.hpp"
#include "app/output.hpp"
#include "app/two_builds_ending.hpp"
#include "app/verbs.hpp"
#include "assay/error.hpp"
#include "assay/report.hpp"
#include "bench/gate/two_builds_fields.hpp"
#include "bench/gate/two_builds_shards.hpp"
#include "bench/measure/merge.hpp"
#include "bench/measure/results_fields.hpp"
#include "core/json/json.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace assay {
namespace {

Json parsed(const std::filesystem::path& file) { return parse_json(read_file(file), file.string()); }

/// What the shards hold, each parsed once: the first one already is, since it says what all of them are.
template <class File, class Read>
std::vector<File> files_of(const Options& options, const Json& first, const Read& read) {
  std::vector<File> out;
  for (const auto& file : options.shards) {
    const std::string name = file.string();
    out.push_back({name, out.empty() ? read(first, name) : read(parsed(file), name)});
  }
  return out;
}

/// These judge, and results of runs are merged without a judgement.
void require_no_gate_options(const Options& options) {
  const Options usual;
  for (const auto& [option, given] :
       {std::pair{"--md", !options.markdown.empty()}, std::pair{"--on-undecided", options.undecided_fails},
        std::pair{"--baselines", options.baselines != usual_baselines()},
        std::pair{"--drift-limit", options.drift_limit != usual.drift_limit}}) {
    if (!given) continue;
    throw Error(
        option, "is for shards of a gate of two builds, and these are of a run",
        fmt::format("leave it out; judge what is merged: assay compare BEFORE {}", options.output.string()));
  }
}

int merge_gates(const Options& options, const Json& first) {
  const TwoBuilds run = merged(files_of<GateFile>(options, first, two_builds_from));
  return end_two_builds(options, run, find_ledger(options, run.suite));
}

/// A commit with changes is any number of programs.
std::string doubt_about(const Results& results) {
  if (results.commit.find("+changes") == std::string::npos) return "";
  return fmt::format("warning: built from {}: nothing tells whether all shards ran the same program\n",
                     results.commit);
}

}  // namespace

int merge_verb(const Options& options) {
  for (const auto& file : options.shards) {
    std::error_code ignored;
    if (std::filesystem::equivalent(file, options.output, ignored)) {
      throw Error(options.output.string(), "is one of the shards", "write the whole into another file");
    }
  }
  const Json first = parsed(options.shards.front());
  if (holds_two_builds(first)) return merge_gates(options, first);
  require_no_gate_options(options);
  const auto read = [](const Json& file, const std::string& where) { return results_from(file, where); };
  const Results results = merged(files_of<ShardFile>(options, first, read));
  write_file(options.output, to_json(results) + "\n");
  const Ending ending = ending_of(results);
  std::string text = to_table(results);
  text += fmt::format("next: assay report {}\n", options.output.string());
  text += fmt::format("MERGED: {} trials of suite {}, of {} shards, into {}\n", results.trials.size(),
                      results.suite, results.merged_shards, options.output.string());
  if (!ending.text.empty()) text += ending.text + "\n";
  put(options, doubt_about(results) + text, to_json(results));
  return ending.code;
}

}  // namespace assay
