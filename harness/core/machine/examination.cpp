// An examination as text for the terminal and as JSON.

#include "core/json/json.hpp"
#include "core/machine/doctor.hpp"

#include <fmt/format.h>

namespace assay {
namespace {

std::string_view to_string(Finding::Severity severity) {
  switch (severity) {
    case Finding::Severity::fine: return "fine";
    case Finding::Severity::note: return "note";
    case Finding::Severity::warning: return "warning";
  }
  return "";
}

Json json_of(const Machine& machine) {
  Json out{{"key", machine.key}, {"cores", machine.cores}, {"memory_bytes", machine.memory_bytes}};
  out["caches"] = Json::array();
  for (const auto& cache : machine.caches) {
    out["caches"].push_back({{"level", cache.level}, {"bytes", cache.bytes}, {"sharers", cache.sharers}});
  }
  out["facts"] = Json::array();
  for (const auto& fact : machine.facts) {
    out["facts"].push_back({{"name", fact.name}, {"value", fact.value}, {"decides", fact.decides}});
  }
  return out;
}

Json json_of(const Roof& roof) {
  Json out{{"threads", roof.threads}, {"flops_per_second", roof.flops_per_second}};
  out["bandwidth"] = Json::array();
  for (const auto& level : roof.bandwidth) {
    out["bandwidth"].push_back({{"level", level.level},
                                {"working_set_bytes", level.working_set_bytes},
                                {"bytes_per_second", level.bytes_per_second}});
  }
  return out;
}

Json json_of(const NoiseProbe& noise) {
  const Weather& w = noise.weather;
  return {{"spread", noise.spread},
          {"smallest_visible", noise.smallest_visible},
          {"weather",
           {{"seconds", w.seconds},
            {"steal_share", w.steal_share},
            {"other_busy_share", w.other_busy_share},
            {"cpu_pressure_share", w.cpu_pressure_share},
            {"involuntary_switches", w.involuntary_switches},
            {"migrations", w.migrations},
            {"major_faults", w.major_faults}}}};
}

}  // namespace

std::string to_text(const Examination& examination) {
  std::string out;
  int warnings = 0;
  for (const auto& finding : examination.findings) {
    out += fmt::format("{:<9} {}\n", finding.topic, finding.text);
    if (finding.severity == Finding::Severity::warning) ++warnings;
    if (!finding.remedy.empty())
      out += fmt::format("{:<9} {}: {}\n", "", to_string(finding.severity), finding.remedy);
  }
  out += fmt::format("next: assay check, then assay run --suite NAME\n");
  const auto tightest = tightest_gate_percent(examination.noise.smallest_visible);
  if (!examination.fit_for_five_percent_gate) {
    out += "UNFIT for a 5 % gate now";
  } else {
    out +=
        fmt::format("FIT for a 5 % gate{}", *tightest <= 3 ? fmt::format(", and for {} %", *tightest) : "");
  }
  return out + fmt::format("; {} warning{}\n", warnings, warnings == 1 ? "" : "s");
}

std::string to_json(const Examination& examination) {
  Json out{{"schema", "assay.examination/1"}, {"machine", json_of(examination.machine)}};
  out["roofs"] = Json::array();
  for (const auto& roof : examination.roofs) out["roofs"].push_back(json_of(roof));
  out["random_lines_per_second"] = examination.random_lines_per_second;
  out["noise"] = json_of(examination.noise);
  out["findings"] = Json::array();
  for (const auto& finding : examination.findings) {
    out["findings"].push_back({{"topic", finding.topic},
                               {"text", finding.text},
                               {"severity", to_string(finding.severity)},
                               {"remedy", finding.remedy}});
  }
  out["fit_for_five_percent_gate"] = examination.fit_for_five_percent_gate;
  // Environment variables and model names may hold any bytes; JSON may not.
  return json_text(out) + "\n";
}

}  // namespace assay
