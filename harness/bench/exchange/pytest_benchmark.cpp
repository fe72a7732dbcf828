// The JSON of pytest-benchmark read as results.
#include "bench/exchange/foreign_results.hpp"
#include "core/json/json.hpp"

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
  if (const auto cores = processor->find("count")) {
    machine.cores = static_cast<int>(cores->integer(1, 1 << 20));
    machine.facts.push_back({"cores", std::to_string(machine.cores)});
  }
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
    for (const double seconds : data->numbers())
      launch.push_back(checked({.seconds = seconds, .calls = calls}, *data));
  } else {
    const auto median = stats.at("median");
    launch.push_back(checked({.seconds = median.number(), .calls = calls}, median));
    trial.remark =
        "holds no times of single rounds, which --benchmark-save-data keeps: their median stands alone";
  }
  return launch;
}

}  // namespace

Results results_from_pytest_benchmark(const std::string& text, const std::string& where) {
  const Json value = parse_json(text, where);
  const JsonField file(value, where, "write it again with pytest --benchmark-json=FILE");
  Results results{.suite = "pytest-benchmark",
                  .about = "read from pytest-benchmark's JSON; the rounds of a test are slices of one launch",
                  .machine = machine_of_session(file.at("machine_info")),
                  .commit = commit_of(file),
                  .date = file.text_or("datetime", "")};
  NamedTrials trials(results);
  for (const JsonField& test : file.at("benchmarks").items()) {
    TrialResult& trial = trials.at(test.text_or("fullname", test.at("name").text()));
    trial.launches.push_back(launch_of(test.at("stats"), trial));
  }
  if (results.trials.empty()) file.at("benchmarks").refuse("holds no test");
  return results;
}

}  // namespace assay
