#include "core/machine/doctor.hpp"

#include "core/files/processor_set.hpp"
#include "core/files/this_program.hpp"
#include "core/machine/fields.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace assay {
namespace {

using Severity = Diagnosis::Severity;

constexpr std::array<std::string_view, 3> severities{"fine", "note", "warning"};

void advise(Diagnosis& found, std::string remedy, Severity severity = Severity::warning) {
  found.severity = severity;
  found.remedy = std::move(remedy);
}

Diagnosis of_processor(const Symptoms& s) {
  std::string text = s.processor.model.empty() ? "unnamed processor" : s.processor.model;
  if (s.processor.family >= 0) {
    text += fmt::format(" (family {} model {})", s.processor.family, s.processor.model_number);
  }
  text +=
      fmt::format(", {}, {}", quantity_text(s.machine.cores, "core"), spoken_features(s.processor.features));
  return {"CPU", text};
}

// The order is cut so that it fits in a line.
Diagnosis of_cores(const Symptoms& s) {
  constexpr std::size_t most_named = 8;
  std::vector<int> order = placing_order(s.topology, s.processors);
  const bool cut = order.size() > most_named;
  if (cut) order.resize(most_named);
  Diagnosis out{"cores",
                fmt::format("{}; threads are placed on {}{}", topology_text(s.topology, s.processors),
                            fmt::join(order, " "), cut ? " ..." : "")};
  const int cores = cores_of(s.topology, s.processors);
  if (s.topology.empty()) {
    advise(out, "hwloc could not tell which processors share a core: each is taken for one", Severity::note);
  } else if (cores < static_cast<int>(s.processors.size())) {
    advise(out,
           fmt::format("processors share cores: expect no gain from more than {}",
                       quantity_text(cores, "thread")),
           Severity::note);
  }
  return out;
}

Diagnosis of_memory(const Symptoms& s) {
  std::string text;
  for (const auto& cache : s.machine.caches) {
    text += fmt::format("L{} {}, ", cache.level, bytes_text(cache.bytes));
  }
  text += fmt::format("{} free for us", bytes_text(s.machine.memory_bytes));
  if (!s.processor.hypervisor.empty()) text += fmt::format(", virtual machine ({})", s.processor.hypervisor);
  return {"memory", text};
}

Diagnosis of_build(const Symptoms& s) {
  const auto flags = words(s.build.kernel_flags);
  Diagnosis out{"build", fmt::format("{}, {}, {}", s.build.compiler,
                                     s.build.build_type.empty() ? "no build type" : s.build.build_type,
                                     s.build.kernel_flags)};
  const auto changes_results = std::ranges::find_if(flags, [](const std::string& flag) {
    return flag == "-ffast-math" || flag == "-Ofast" || flag.starts_with("-march=") ||
           flag.starts_with("-fsanitize");
  });
  if (s.build.build_type != "Release") {
    advise(out, "measure with: cmake --workflow --preset release");
  } else if (changes_results != flags.end()) {
    advise(out, fmt::format("build without {}: such times compare with no other build's", *changes_results));
  }
  return out;
}

Diagnosis of_threads(const Symptoms& s) {
  const int cores = s.machine.cores;
  Diagnosis out{"threads", fmt::format("OMP_NUM_THREADS{}, {} usable",
                                       s.omp_num_threads ? "=" + *s.omp_num_threads : " unset",
                                       quantity_text(cores, "core"))};
  if (!s.omp_num_threads) {
    advise(out, "set it where results are to be compared: it is part of the fingerprint", Severity::note);
  } else if (number(*s.omp_num_threads).value_or(0) > cores) {
    advise(out, fmt::format("set OMP_NUM_THREADS={}: more threads than cores wait for each other", cores));
  }
  return out;
}

Diagnosis of_openblas(const Symptoms& s) {
  if (!s.openblas.linked) {
    return {"OpenBLAS", "not linked: gemm has no peer here", Severity::note,
            "install OpenBLAS (apt install libopenblas-dev) and build again"};
  }
  const auto configuration = words(s.openblas.configuration);
  const std::string version = configuration.size() > 1 ? configuration[1] : "of unknown version";
  Diagnosis out{"OpenBLAS", fmt::format("{}, core {}", version, s.openblas.core)};
  const std::string better = better_openblas_core(s.processor.features, s.openblas.core);
  if (better.empty()) return out;
  out.text += ": narrower vectors than this processor has";
  advise(out, !s.openblas.chooses_core ? "use an OpenBLAS built with DYNAMIC_ARCH"
              : s.openblas_coretype
                  ? fmt::format("the environment sets OPENBLAS_CORETYPE: unset it, or set {}", better)
                  : fmt::format("set OPENBLAS_CORETYPE={}", better));
  return out;
}

Diagnosis of_counters(const Symptoms& s) {
  std::string hardware = "available";
  if (!s.counters.hardware) {
    hardware = s.counters.why_not;
    if (!s.processor.hypervisor.empty()) hardware += " in this virtual machine";
  }
  return {"counters", fmt::format("hardware: {}; software: {}", hardware,
                                  s.counters.software ? "available" : "not available")};
}

bool is_part(double processors, const Allotment& a) {
  return a.processors_of_machine > 0 && processors < a.processors_of_machine;
}

// Returns nothing for a process that may use the whole machine outside of any job.
std::optional<Diagnosis> of_node(const Allotment& a) {
  const std::string of_all = fmt::format("of {}", quantity_text(a.processors_of_machine, "processor"));
  const auto shared = [](std::string text, std::string remedy) {
    return Diagnosis{"node", std::move(text), Severity::warning, std::move(remedy)};
  };
  if (!a.slurm_job.empty() && a.slurm_processors && is_part(*a.slurm_processors, a)) {
    return shared(fmt::format("Slurm job {} has {} {}: other jobs may run on the rest", a.slurm_job,
                              *a.slurm_processors, of_all),
                  "ask for the whole node: sbatch --exclusive");
  }
  if (is_part(a.allowed, a)) {
    return shared(fmt::format("this process may run on {} {}: others may use the rest", a.allowed, of_all),
                  a.slurm_job.empty()
                      ? "leave out taskset or the CPU set (docker --cpuset-cpus), or keep the rest idle"
                      : "ask for the whole node: sbatch --exclusive");
  }
  if (a.quota && is_part(*a.quota, a)) {
    return shared(fmt::format("a control group grants the time of {:.3g} {}", *a.quota, of_all),
                  "measure without it (docker --cpus, a pod's limit): it stops whoever exceeds it");
  }
  if (a.slurm_job.empty()) return std::nullopt;
  return Diagnosis{"node", fmt::format("Slurm job {} has all {}", a.slurm_job,
                                       quantity_text(a.processors_of_machine, "processor"))};
}

// A twentieth of all processors is more than a system left alone uses; a hundredth stolen already shows.
constexpr double busy = 0.05, stolen = 0.01;

Diagnosis of_noise(const Symptoms& s) {
  const Weather& w = s.noise.weather;
  std::string text = fmt::format("spread {}, stolen {}, others use {}", percent_text(s.noise.spread),
                                 percent_text(w.steal_share), percent_text(w.other_busy_share));
  if (w.cpu_pressure_share >= 0) text += fmt::format(", pressure {}", percent_text(w.cpu_pressure_share));
  Diagnosis out{"noise", fmt::format("A/A probe of {:.2g} s: {}", w.seconds, text)};
  if (w.other_busy_share > busy) {
    advise(out, s.allotment.slurm_job.empty()
                    ? "something else is running: stop it, or expect wider intervals"
                    : "others use this node: ask for all of it with sbatch --exclusive");
  } else if (w.steal_share > stolen) {
    advise(out, "the host runs others on our processors: measure later, or on a machine of its own");
  }
  return out;
}

std::vector<Diagnosis> of_roofs(const std::vector<Roof>& roofs) {
  std::vector<Diagnosis> out;
  for (const auto& roof : roofs) {
    std::string text = fmt::format("{}: {} GFLOP/s;", quantity_text(roof.threads, "thread"),
                                   figure(roof.flops_per_second / 1e9));
    for (const auto& level : roof.bandwidth)
      text += fmt::format(" {} {}", level.level, figure(level.bytes_per_second / 1e9));
    out.push_back({"roof", text + " GB/s"});
  }
  if (roofs.size() < 2) return out;
  const double one = roofs.front().flops_per_second / roofs.front().threads;
  const double all = roofs.back().flops_per_second / roofs.back().threads;
  // Arithmetic in registers shares nothing but the core: below this, two threads have less than two cores.
  constexpr double cores_of_their_own = 0.75;
  if (one > 0 && all < cores_of_their_own * one) {
    advise(out.back(), fmt::format("each thread of {} reaches {} of one alone: cores are shared or busy",
                                   roofs.back().threads, percent_text(all / one)));
  }
  return out;
}

Diagnosis of_gate(const NoiseProbe& noise) {
  const auto tightest = tightest_gate_percent(noise.smallest_visible);
  Diagnosis out{"can see", fmt::format("changes of {} and more with 30 process starts",
                                       percent_text(noise.smallest_visible))};
  if (noise.smallest_visible > 0.05) {
    advise(out, tightest ? fmt::format("gate with a limit of {} % here, or on a quieter machine", *tightest)
                         : "gate on a quieter machine: nothing usual can be told apart from noise here");
  }
  return out;
}

// Sides that take turns are slowed down alike; a recording of another day is not.
Diagnosis of_kinds_of_gates(const NoiseProbe& noise) {
  const auto tightest = tightest_gate_percent(noise.smallest_visible);
  if (!tightest) return {"gates", "none of 20 % or less, of whatever kind"};
  const bool alone = noise.weather.other_busy_share <= busy && noise.weather.steal_share <= stolen;
  return {"gates", fmt::format("two builds or programs in turns: {} %; stored baselines: {}", *tightest,
                               alone ? fmt::format("{} %", std::max(5, *tightest)) : "not while others run")};
}

}  // namespace

std::optional<int> tightest_gate_percent(double smallest_visible) {
  for (const int limit : {3, 5, 10, 20}) {
    if (smallest_visible <= limit / 100.0) return limit;
  }
  return std::nullopt;
}

std::vector<Diagnosis> diagnose(const Symptoms& s) {
  std::vector<Diagnosis> out{of_processor(s), of_cores(s),    of_memory(s),  of_build(s),
                             of_threads(s),   of_openblas(s), of_counters(s)};
  if (auto node = of_node(s.allotment)) out.push_back(*std::move(node));
  out.push_back(of_noise(s));
  std::ranges::move(of_roofs(s.roofs), std::back_inserter(out));
  if (const auto& lines = s.random_lines; lines.per_second > 0) {
    out.push_back(
        {"lines", fmt::format("1 thread: {} million random lines of 64 B per second, from {}",
                              figure(lines.per_second / 1e6), bytes_text(lines.working_set_bytes))});
  }
  out.push_back(of_gate(s.noise));
  out.push_back(of_kinds_of_gates(s.noise));
  constexpr std::size_t columns = 90;
  for (Diagnosis& one : out) {
    if (one.text.size() > columns) one.text.replace(columns - 3, std::string::npos, "...");
  }
  return out;
}

Examination examine() {
  // Long enough for some hundred slices of each level, and for two dozen groups of
  // the probe's slowest kernel.
  constexpr double roof_seconds = 1, lines_seconds = 0.3, probe_seconds = 2;
  Symptoms s{.machine = this_machine(),
             .processor = this_processor(),
             .build = build_info(),
             .openblas = linked_openblas(),
             .counters = available_counters(),
             .allotment = allotment(try_read, variable, ProcessorSet::of_thread().count(),
                                    limits_of_process(try_read)),
             .topology = this_topology(),
             .processors = ProcessorSet::of_thread().numbers(),
             .omp_num_threads = variable("OMP_NUM_THREADS"),
             .openblas_coretype = variable("OPENBLAS_CORETYPE")};
  s.roofs.push_back(measure_roof(s.machine, 1, roof_seconds));
  if (s.machine.cores > 1) s.roofs.push_back(measure_roof(s.machine, s.machine.cores, roof_seconds));
  s.random_lines = measure_random_lines(s.machine.memory_bytes, lines_seconds);
  s.noise = probe_noise(probe_seconds);
  return {.machine = s.machine,
          .roofs = s.roofs,
          .random_lines_per_second = s.random_lines.per_second,
          .noise = s.noise,
          .findings = diagnose(s),
          .fit_for_five_percent_gate = s.noise.smallest_visible <= 0.05};
}

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
  out += fmt::format("next: {0} check, then {0} run --suite NAME\n", called_as());
  const auto tightest = tightest_gate_percent(examination.noise.smallest_visible);
  out += !examination.fit_for_five_percent_gate ? "UNFIT for a 5 % gate now" : "FIT for a 5 % gate";
  if (examination.fit_for_five_percent_gate && *tightest <= 3)
    out += fmt::format(", and for {} %", *tightest);
  return out + fmt::format("; {} warning{}\n", warnings, warnings == 1 ? "" : "s");
}

ASSAY_FIELDS_OF(NoiseProbe, spread, smallest_visible, weather)

void describe(Fields& f, Diagnosis& finding) {
  ASSAY_FIELDS(f, finding, topic, text);
  f("severity", finding.severity, severities);
  f("remedy", finding.remedy);
}

void describe(Fields& f, Examination& examination) {
  f.schema("assay.examination/1");
  ASSAY_FIELDS(f, examination, machine, roofs);
  f("random_lines_per_second", examination.random_lines_per_second, {.about = "cache lines; 0: not known"});
  ASSAY_FIELDS(f, examination, noise, findings, fit_for_five_percent_gate);
}

std::string to_json(const Examination& examination) { return json_text(to_value(examination)) + "\n"; }

}  // namespace assay
