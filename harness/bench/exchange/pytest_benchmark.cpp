// Reads the JSON of `pytest --benchmark-json`: a test is a trial, and its rounds are slices of one launch.
#include "bench/exchange/foreign_results.hpp"

namespace assay {
namespace {

Machine machine_of_session(const JsonField& info) {
  Machine machine;
  machine.facts.push_back({"host", info.text_or("node", ""), false});
  machine.facts.push_back({"python", info.text_or("python_version", ""), true});
  // Versions before 3.4 have the processor's name alone.
  const auto processor = info.find("cpu");
  if (!processor || !processor->value().is_object()) return machine;
  machine.facts.push_back(
      {"processor", processor->text_or("brand_raw", processor->text_or("brand", "")), true});
  note_cores(machine, processor->find("count"));
  return machine;
}

std::string commit_of(const JsonField& file) {
  const auto info = file.find("commit_info");
  if (!info) return "unknown";
  const auto dirty = info->find("dirty");
  return info->text_or("id", "unknown") + (dirty && dirty->boolean() ? "+changes" : "");
}

Launch launch_of(const JsonField& stats, TrialResult& trial) {
  Launch launch;
  Index calls = 1;
  if (const auto iterations = stats.find("iterations")) calls = iterations->integer(1, Index{1} << 50);
  if (const auto data = stats.find("data")) {
    for (const double seconds : samples_in(*data))
      add_slice(trial, launch, {.seconds = seconds, .calls = calls});
  } else {
    add_slice(trial, launch, {.seconds = stats.at("median").number(), .calls = calls});
    trial.remark =
        "holds no times of single rounds, which --benchmark-save-data keeps: their median stands alone";
  }
  return launch;
}

}  // namespace

void read_pytest_benchmark(const ResultFile& file, Results& out) {
  out.machine = machine_of_session(file.field.at("machine_info"));
  out.commit = commit_of(file.field);
  out.date = file.field.text_or("datetime", "");
  for (const JsonField& test : file.field.at("benchmarks").items()) {
    TrialResult& trial = new_trial(
        out, with_details(test.text_or("fullname", test.at("name").text()), details_in(test.find("params"))));
    add_launch(trial, launch_of(test.at("stats"), trial));
  }
}

}  // namespace assay
