// Hands bytes that a fuzzer made to one of the readers of files. A reader returns, or throws Error: every
// other exception, a report of a sanitizer, and an input that takes seconds are finds.
//
//   ASSAY_READER=kineto assay_fuzz FOLDER…     no reader: their names, one in each line
#include "app/known_verbs.hpp"
#include "app/verbs.hpp"
#include "assay/caches.hpp"
#include "assay/compare.hpp"
#include "assay/error.hpp"
#include "assay/files.hpp"
#include "assay/measure.hpp"
#include "assay/ops/record_file.hpp"
#include "assay/plugin.h"
#include "assay/registry.hpp"
#include "assay/suite.hpp"
#include "bench/compare/words.hpp"
#include "bench/exchange/read_results.hpp"
#include "bench/gate/benchmark_programs.hpp"
#include "bench/gate/gates.hpp"
#include "bench/gate/selftest.hpp"
#include "bench/gate/two_builds.hpp"
#include "bench/gate/wrapped_commands.hpp"
#include "bench/ledger/ledger.hpp"
#include "bench/measure/merge.hpp"
#include "bench/measure/results_fields.hpp"
#include "bench/measure/sides.hpp"
#include "bench/measure/turns.hpp"
#include "bench/programs/layouts.hpp"
#include "bench/programs/project.hpp"
#include "bench/programs/revision.hpp"
#include "bench/report/claims.hpp"
#include "bench/tune/command_settings.hpp"
#include "core/check/passed_corners.hpp"
#include "core/code/differing_functions.hpp"
#include "core/code/elf.hpp"
#include "core/code/identity.hpp"
#include "core/files/scratch.hpp"
#include "core/json/fields.hpp"
#include "core/plan/suite.hpp"
#include "core/plan/trial_key.hpp"
#include "core/plugin/library.hpp"
#include "training/epoch/epoch_prediction.hpp"
#include "training/epoch/own_jobs.hpp"
#include "training/job/read_job.hpp"
#include "training/job/trace.hpp"
#include "training/job/traced_step.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

// Answers of processes are described beside the functions that read them.
void describe(Fields& f, PluginContent& content);
void describe(Fields& f, TrialSample& sample);

namespace {

namespace fs = std::filesystem;

/// Below a folder of this process, under the name that its reader asks for.
fs::path written(const char* name, const std::string& bytes) {
  static const ScratchFolder folder;
  write_file(folder.path() / name, bytes);
  return folder.path() / name;
}

const Registry& registry() {
  static const Registry all = Registry::linked();
  return all;
}

void read_problem(const char* operation, const std::string& bytes) {
  registry().at(operation).problem_of(written("problem", bytes).string());
}

/// One word in each line.
void read_command_line(const std::string& bytes) {
  std::vector<std::string> words{"assay"};
  std::istringstream lines(bytes);
  for (std::string word; std::getline(lines, word);) words.push_back(word.substr(0, word.find('\0')));
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

/// A fuzzer does not find the checksum of a header by itself.
void read_records(std::string bytes) {
  constexpr std::size_t checked = 40;  // its bytes before the checksum
  if (bytes.size() >= checked + sizeof(std::uint64_t)) {
    const std::uint64_t sum = digest(std::as_bytes(std::span(bytes)).first(checked));
    std::memcpy(bytes.data() + checked, &sum, sizeof sum);
  }
  read_problem("data_loader", bytes);
}

/// An object or a program, with what a few of its addresses mean.
void read_elf_image(const std::string& bytes) {
  ElfOutcome outcome = parse_elf({bytes.begin(), bytes.end()});
  constexpr std::size_t most = 64;
  std::vector<std::uint64_t> addresses;
  for (const ElfSymbol& symbol : outcome.file.symbols)
    if (addresses.size() < most) addresses.push_back(symbol.value);
  const ProgramImage image(std::move(outcome.file));
  for (const std::uint64_t address : addresses) {
    for (const std::size_t size : {ProgramImage::text, std::size_t{8}}) image.meaning(address, size);
    image.text_at(address);
    image.pointers_at(address);
    image.is_nameless(address);
    if (const auto object = image.object_at(address)) image.content_of(*object);
    const LinkedFunction* const function = image.function_at(address);
    if (function == nullptr) continue;
    image.jump_table(address + function->bytes.size(), *function);
    for (std::string_view code = function->bytes; const std::size_t length = decoded(code).length;)
      code.remove_prefix(length);
  }
}

/// Puts the description of a library, as a process sends it, back into the structures of assay/plugin.h, and
/// adds the library.
void read_plugin(const std::string& bytes) {
  const auto content = value_from<PluginContent>(bytes, "plugin.json", "");
  std::vector<std::vector<assay_rule>> rules;
  std::vector<std::vector<const char*>> corner_cases;
  std::vector<assay_operation> operations;
  std::vector<assay_kernel> kernels;
  for (const PluginOperation& from : content.operations) {
    std::vector<assay_rule>& own_rules = rules.emplace_back();
    for (const PluginRule& rule : from.rules) {
      own_rules.push_back({.name = rule.name.c_str(),
                           .low = rule.low,
                           .high = rule.high,
                           .optional = rule.fallback ? 1 : 0,
                           .reserved = 0,
                           .fallback = rule.fallback.value_or(0)});
    }
    std::vector<const char*>& own_cases = corner_cases.emplace_back();
    for (const std::string& one : from.corner_cases) own_cases.push_back(one.c_str());
    assay_operation& to = operations.emplace_back();
    to.size = sizeof to;
    to.version = from.version;
    to.name = from.name.c_str();
    to.about = from.about.c_str();
    to.rule_count = own_rules.size();
    to.rules = own_rules.data();
    to.corner_case_count = own_cases.size();
    to.corner_cases = own_cases.data();
    to.describe = [](const assay_problem*, assay_tensor*, std::size_t) { return -1; };
    to.reference = [](const assay_problem*, const assay_tensor*, std::size_t) { return -1; };
    to.relative = from.relative;
    to.absolute = from.absolute;
    to.exact = from.exact ? 1 : 0;
  }
  for (const PluginKernel& from : content.kernels) {
    assay_kernel& to = kernels.emplace_back();
    to.size = sizeof to;
    to.threaded = from.threaded ? 1 : 0;
    to.operation = from.operation.c_str();
    to.name = from.name.c_str();
    to.summary = from.summary.c_str();
    to.precision = from.precision.c_str();
    to.run = [](void*, const assay_problem*, const assay_tensor*, std::size_t) { return -1; };
  }
  std::vector<const assay_operation*> operation_list;
  for (const assay_operation& one : operations) operation_list.push_back(&one);
  std::vector<const assay_kernel*> kernel_list;
  for (const assay_kernel& one : kernels) kernel_list.push_back(&one);
  const assay_plugin plugin{.abi = ASSAY_PLUGIN_ABI,
                            .size = sizeof(assay_plugin),
                            .provider = content.provider.c_str(),
                            .revision = content.revision.c_str(),
                            .operation_count = operation_list.size(),
                            .operations = operation_list.data(),
                            .kernel_count = kernel_list.size(),
                            .kernels = kernel_list.data()};
  Registry own;
  add_plugin(own, "plug-in", plugin);
}

void read_limits(const std::string& bytes) {
  const auto all = value_from<TrialLimits>(bytes, "limits.json", "");
  for (const TrialLimit& one : all.limits) static_cast<void>(Filter(one.filter, Registry{}));
}

void read_link(const std::string& bytes) {
  const LinkRecipe recipe = link_recipe(bytes, "assay");
  if (recipe.unfit.empty()) reordered(recipe, 1, "scratch", "out");
}

/// Gates in lines, as a self-test keeps them.
void read_kept_gates(const std::string& bytes) {
  const std::vector<KeptGates> files{{"gates", bytes}};
  judged_anew(files, registry());
}

/// A file that is said to be all shards of a run.
void read_shard(const std::string& bytes) {
  const Json file = parse_json(bytes, "shard.json");
  if (holds_two_builds(file)) {
    merged(std::vector<NamedRun<TwoBuilds>>{{"shard.json", two_builds_from(file, "shard.json")}});
  } else {
    const Results all =
        merged(std::vector<NamedRun<Results>>{{"shard.json", results_from(file, "shard.json")}});
    const std::vector<Candidate> settings = candidates_of(all);
    if (rounds_of(settings) >= fewest_rounds) ruled({.control = "{}"}, settings);
  }
}

const std::map<std::string_view, std::function<void(const std::string&)>>& readers() {
  static const std::map<std::string_view, std::function<void(const std::string&)>> all{
      {"suite", [](const std::string& bytes) { load_suite(written("s.json", bytes), registry()); }},
      {"project", [](const std::string& bytes) { project_in(written("assay.json", bytes).parent_path()); }},
      {"bundle", [](const std::string& bytes) { read_bundle(written("bundle.json", bytes).parent_path()); }},
      {"results", [](const std::string& bytes) { results_from_json(bytes, "r.json"); }},
      {"foreign", [](const std::string& bytes) { read_any_results(written("f", bytes)); }},
      {"baseline", [](const std::string& bytes) { load_baseline(written("b.json", bytes)); }},
      {"gate", [](const std::string& bytes) { findings_of(two_builds_from_json(bytes, "g.json")); }},
      {"kept_gates", read_kept_gates},
      {"shard", read_shard},
      {"limits", read_limits},
      {"shapes", [](const std::string& bytes) { suite_of_shapes(bytes, registry()); }},
      {"corners", [](const std::string& bytes) { PassedCorners(written("corners", bytes), Machine{}); }},
      {"known_bad",
       [](const std::string& bytes) { value_from<TriedVariants<RejectedCode>>(bytes, "k.json", ""); }},
      {"tuned_kernels",
       [](const std::string& bytes) {
         cache_sizes_from(value_from<TunedKernels>(bytes, "k.json", "").caches, "caches");
       }},
      {"plugin", read_plugin},
      {"plugin_problem", [](const std::string& bytes) { plugin_problem_from(bytes, "plug-in"); }},
      {"description", [](const std::string& bytes) { description_from_json(bytes, "program"); }},
      {"launch_answer",
       [](const std::string& bytes) { value_from<std::vector<TrialSample>>(bytes, "answer", ""); }},
      {"turns_answer", [](const std::string& bytes) { value_from<TurnSample>(bytes, "side", ""); }},
      {"benchmark_times", [](const std::string& bytes) { times_in(bytes, "program"); }},
      {"step_stream", [](const std::string& bytes) { StepStream().take(bytes, "workers=0"); }},
      {"printed_times",
       [](const std::string& bytes) {
         printed_times(bytes, {.name = "step", .match = "time: ([0-9.e+-]+)"}, "command");
       }},
      {"hot_symbols", [](const std::string& bytes) { hot_symbols_from(bytes); }},
      {"cmake_cache", [](const std::string& bytes) { cache_entries(bytes); }},
      {"link", read_link},
      {"links", [](const std::string& bytes) { kept_links(written("links.json", bytes).parent_path(), 2); }},
      {"ledger", [](const std::string& bytes) { load_ledger(written("l.ledger.json", bytes)); }},
      {"claims", [](const std::string& bytes) { claims_from_json(bytes, "c.json"); }},
      {"phases", [](const std::string& bytes) { read_phases_json(bytes, "p.json"); }},
      {"job", [](const std::string& bytes) { training_job_from_json(bytes, "j.json"); }},
      {"epoch_log", [](const std::string& bytes) { epoch_log_from(bytes, "log.jsonl"); }},
      {"steps", [](const std::string& bytes) { read_step_csv(bytes, "s.csv", "ms"); }},
      {"kineto", [](const std::string& bytes) { read_kineto(written("trace", bytes)); }},
      {"traced_step", [](const std::string& bytes) { read_traced_step(written("trace", bytes)); }},
      {"memory_events", [](const std::string& bytes) { read_memory_events(written("trace", bytes)); }},
      {"requests", [](const std::string& bytes) { read_problem("memory_pool_plan", bytes); }},
      {"task_graph", [](const std::string& bytes) { read_problem("task_graph", bytes); }},
      {"records", read_records},
      {"elf", read_elf_image},
      {"archive",
       [](const std::string& bytes) {
         std::string unknown;
         library_of(written("libassay_a_archive.a", bytes), unknown);
       }},
      {"command_line", read_command_line}};
  return all;
}

}  // namespace
}  // namespace assay

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto& reader = assay::readers().at(std::getenv("ASSAY_READER"));
  try {
    reader(std::string(data, data + size));
  } catch (const assay::Error&) {  // as it should be
  }
  return 0;
}

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* asked = std::getenv("ASSAY_READER");
  if (asked != nullptr && assay::readers().contains(asked)) return 0;
  for (const auto& [name, reader] : assay::readers()) std::printf("%s\n", std::string(name).c_str());
  std::exit(asked == nullptr ? 0 : 2);
}
