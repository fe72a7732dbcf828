// Hands bytes that a fuzzer made to one of the readers of files. A reader returns, or throws Error: every
// other exception, a report of a sanitizer, and an input that takes seconds are finds.
//
//   ASSAY_READER=kineto assay_fuzz FOLDER…     no reader: their names, one in each line
#include "app/verbs.hpp"
#include "assay/compare.hpp"
#include "assay/error.hpp"
#include "assay/files.hpp"
#include "assay/registry.hpp"
#include "assay/suite.hpp"
#include "bench/exchange/read_results.hpp"
#include "bench/gate/two_builds.hpp"
#include "bench/ledger/ledger.hpp"
#include "bench/programs/project.hpp"
#include "bench/programs/revision.hpp"
#include "bench/report/claims.hpp"
#include "core/code/elf.hpp"
#include "core/files/scratch.hpp"
#include "training/epoch/epoch_prediction.hpp"
#include "training/epoch/own_jobs.hpp"
#include "training/job/read_job.hpp"
#include "training/job/trace.hpp"
#include "training/job/traced_step.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace assay {
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

const std::map<std::string_view, std::function<void(const std::string&)>>& readers() {
  static const std::map<std::string_view, std::function<void(const std::string&)>> all{
      {"suite", [](const std::string& bytes) { load_suite(written("s.json", bytes), registry()); }},
      {"project", [](const std::string& bytes) { project_in(written("assay.json", bytes).parent_path()); }},
      {"bundle", [](const std::string& bytes) { read_bundle(written("bundle.json", bytes).parent_path()); }},
      {"results", [](const std::string& bytes) { results_from_json(bytes, "r.json"); }},
      {"foreign", [](const std::string& bytes) { read_any_results(written("f", bytes)); }},
      {"baseline", [](const std::string& bytes) { load_baseline(written("b.json", bytes)); }},
      {"gate", [](const std::string& bytes) { two_builds_from_json(bytes, "g.json"); }},
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
      {"records", [](const std::string& bytes) { read_problem("data_loader", bytes); }},
      {"elf",
       [](const std::string& bytes) {
         parse_elf({bytes.begin(), bytes.end()});
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
