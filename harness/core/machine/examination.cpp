// An examination as text for the terminal and as JSON.

#include "core/machine/doctor.hpp"
#include "core/machine/fields.hpp"

#include <fmt/format.h>

#include <array>

namespace assay {
namespace {

constexpr std::array<std::string_view, 3> severities{"fine", "note", "warning"};

}  // namespace

std::string to_text(const Examination& examination) {
  std::string out;
  int warnings = 0;
  for (const auto& finding : examination.findings) {
    out += fmt::format("{:<9} {}\n", finding.topic, finding.text);
    if (finding.severity == Diagnosis::Severity::warning) ++warnings;
    if (!finding.remedy.empty())
      out += fmt::format("{:<9} {}: {}\n", "", severities[static_cast<std::size_t>(finding.severity)],
                         finding.remedy);
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

// In the namespace of the types, so that argument-dependent lookup finds them.
void describe(Fields& f, NoiseProbe& noise) {
  f("spread", noise.spread);
  f("smallest_visible", noise.smallest_visible);
  f("weather", noise.weather);
}

void describe(Fields& f, Diagnosis& finding) {
  f("topic", finding.topic);
  f("text", finding.text);
  f("severity", finding.severity, severities);
  f("remedy", finding.remedy);
}

void describe(Fields& f, Examination& examination) {
  f.schema("assay.examination/1");
  f("machine", examination.machine);
  f("roofs", examination.roofs);
  f("random_lines_per_second", examination.random_lines_per_second, {.about = "cache lines; 0: not known"});
  f("noise", examination.noise);
  f("findings", examination.findings);
  f("fit_for_five_percent_gate", examination.fit_for_five_percent_gate);
}

std::string to_json(const Examination& examination) { return json_text(to_value(examination)) + "\n"; }

}  // namespace assay
