#include "core/machine/doctor.hpp"
#include "core/json/json.hpp"
#include "core/machine/described_topology_test.hpp"

#include <gmock/gmock.h>

#include <sstream>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::topology_of;
using Severity = Diagnosis::Severity;

// A machine with nothing to complain about.
Symptoms healthy() {
  return {.machine = {.cores = 2, .memory_bytes = 8e9, .caches = {{1, 49152, 1}, {3, 33554432, 2}}},
          .processor = {.model = "AMD EPYC",
                        .family = 26,
                        .model_number = 2,
                        .features = {"avx512f", "avx512dq", "avx512cd", "avx512bw", "avx512vl"}},
          .build = {.compiler = "GNU 12.2.0", .build_type = "Release", .kernel_flags = "-O3 -DNDEBUG"},
          .openblas = {.linked = true,
                       .chooses_core = true,
                       .core = "SkylakeX",
                       .configuration = "OpenBLAS 0.3.21 DYNAMIC_ARCH"},
          .topology = {{.number = 0, .core = 0}, {.number = 1, .core = 1}},
          .processors = {0, 1},
          .omp_num_threads = "2",
          .roofs = {{.threads = 1, .flops_per_second = 270e9}, {.threads = 2, .flops_per_second = 540e9}},
          .noise = {.spread = 0.01, .smallest_visible = 0.02}};
}

Diagnosis finding(const Symptoms& symptoms, const std::string& topic) {
  Diagnosis out;
  for (const auto& f : diagnose(symptoms)) {
    if (f.topic == topic) out = f;
  }
  return out;
}

TEST(Doctor, HasNothingToSayAgainstAHealthyMachine) {
  std::vector<std::string> topics;
  for (const auto& f : diagnose(healthy())) {
    EXPECT_EQ(f.severity, Severity::fine) << f.text;
    EXPECT_THAT(f.remedy, IsEmpty()) << f.text;
    topics.push_back(f.topic);
  }
  EXPECT_THAT(topics, ElementsAre("CPU", "cores", "memory", "build", "threads", "OpenBLAS", "counters",
                                  "noise", "roof", "roof", "can see", "gates"));
}

TEST(Doctor, SaysHowManySmallRecordsCanBeGatheredAtMost) {
  Symptoms s = healthy();
  s.random_lines = {.working_set_bytes = 0x1p28, .per_second = 87.4e6};
  EXPECT_EQ(finding(s, "lines").text, "1 thread: 87.4 million random lines of 64 B per second, from 256 MiB");
}

TEST(Doctor, MeasuresRandomLinesWhereThereIsMemoryForIt) {
  EXPECT_GT(measure_random_lines(0x1p34, 0).per_second, 0);
  EXPECT_EQ(measure_random_lines(0x1p30, 0).per_second, 0);
}

TEST(Doctor, SaysWhereThreadsArePlacedAndWhichProcessorsShareACore) {
  EXPECT_EQ(finding(healthy(), "cores").text, "2 processors on 2 cores, 1 memory; threads are placed on 0 1");
  Symptoms s = healthy();
  s.topology = topology_of("core:8 pu:2");
  for (int number = 2; number < 16; ++number) s.processors.push_back(number);
  EXPECT_EQ(finding(s, "cores").text,
            "16 processors on 8 cores, 1 memory; threads are placed on 0 2 4 6 8 10 12 14 ...");
  EXPECT_THAT(finding(s, "cores").remedy, HasSubstr("no gain from more than 8 threads"));
  s.topology.clear();
  EXPECT_THAT(finding(s, "cores").remedy, HasSubstr("hwloc could not tell"));
}

TEST(Doctor, WarnsOfABuildThatIsNotRelease) {
  for (const char* type : {"Debug", "RelWithDebInfo", ""}) {
    Symptoms s = healthy();
    s.build.build_type = type;
    EXPECT_EQ(finding(s, "build").severity, Severity::warning) << type;
  }
}

TEST(Doctor, WarnsOfFlagsThatMakeTimesIncomparable) {
  for (const char* flags : {"-O3 -ffast-math", "-march=native -O3", "-O3 -fsanitize=address"}) {
    Symptoms s = healthy();
    s.build.kernel_flags = flags;
    EXPECT_EQ(finding(s, "build").severity, Severity::warning) << flags;
  }
}

TEST(Doctor, NotesThatTheThreadCountIsLeftOpenAndWarnsWhenItIsTooHigh) {
  Symptoms s = healthy();
  s.omp_num_threads.reset();
  EXPECT_EQ(finding(s, "threads").severity, Severity::note);
  s.omp_num_threads = "3";
  EXPECT_EQ(finding(s, "threads").severity, Severity::warning);
}

TEST(Doctor, NamesTheSettingThatHelpsOpenBlas) {
  Symptoms s = healthy();
  s.openblas.core = "Haswell";
  EXPECT_EQ(finding(s, "OpenBLAS").severity, Severity::warning);
  EXPECT_EQ(finding(s, "OpenBLAS").remedy, "set OPENBLAS_CORETYPE=SkylakeX");
  s.openblas_coretype = "Haswell";
  EXPECT_THAT(finding(s, "OpenBLAS").remedy, HasSubstr("unset it, or set SkylakeX"));
  s.openblas.chooses_core = false;
  EXPECT_THAT(finding(s, "OpenBLAS").remedy, HasSubstr("DYNAMIC_ARCH"));
  s.openblas = {};
  EXPECT_EQ(finding(s, "OpenBLAS").severity, Severity::note);
}

/// `node` of a machine with 64 processors.
Diagnosis node(Allotment allotment) {
  Symptoms s = healthy();
  allotment.processors_of_machine = 64;
  if (allotment.allowed == 0) allotment.allowed = 64;
  s.allotment = allotment;
  return finding(s, "node");
}

TEST(Doctor, WarnsOfAJobThatHasAPartOfANode) {
  const Diagnosis part = node({.slurm_job = "17", .slurm_processors = 4});
  EXPECT_EQ(part.severity, Severity::warning);
  EXPECT_EQ(part.text, "Slurm job 17 has 4 of 64 processors: other jobs may run on the rest");
  EXPECT_EQ(part.remedy, "ask for the whole node: sbatch --exclusive");
  EXPECT_THAT(node({.allowed = 4, .slurm_job = "17"}).remedy, HasSubstr("--exclusive"))
      << "confined, though the variables do not say so";
  const Diagnosis whole = node({.slurm_job = "17", .slurm_processors = 64});
  EXPECT_EQ(whole.severity, Severity::fine);
  EXPECT_EQ(whole.text, "Slurm job 17 has all 64 processors");
}

TEST(Doctor, WarnsOfACpuSetAndOfAQuota) {
  const Diagnosis set = node({.allowed = 4});
  EXPECT_EQ(set.severity, Severity::warning);
  EXPECT_EQ(set.text, "this process may run on 4 of 64 processors: others may use the rest");
  EXPECT_THAT(set.remedy, HasSubstr("--cpuset-cpus"));
  const Diagnosis quota = node({.quota = 2.5});
  EXPECT_EQ(quota.severity, Severity::warning);
  EXPECT_EQ(quota.text, "a control group grants the time of 2.5 of 64 processors");
  EXPECT_THAT(node({.quota = 64.0}).text, IsEmpty());
  EXPECT_THAT(node({}).text, IsEmpty()) << "the whole machine, given by nobody";
}

TEST(Doctor, SaysNothingOfAPartWhereTheMachineCannotBeSeen) {
  Symptoms s = healthy();
  s.allotment = {.allowed = 4, .quota = 2.0};
  EXPECT_THAT(finding(s, "node").text, IsEmpty());
}

TEST(Doctor, WarnsOfNeighbours) {
  Symptoms s = healthy();
  s.noise.weather.other_busy_share = 0.3;
  EXPECT_EQ(finding(s, "noise").severity, Severity::warning);
  EXPECT_THAT(finding(s, "noise").remedy, HasSubstr("stop it"));
  s.allotment.slurm_job = "17";
  EXPECT_THAT(finding(s, "noise").remedy, HasSubstr("--exclusive")) << "it is not ours to stop";
  s = healthy();
  s.noise.weather.steal_share = 0.05;
  EXPECT_EQ(finding(s, "noise").severity, Severity::warning);
}

TEST(Doctor, WarnsWhenThreadsShareACore) {
  Symptoms s = healthy();
  s.roofs[1].flops_per_second = 300e9;
  EXPECT_EQ(finding(s, "roof").severity, Severity::warning);
}

TEST(Doctor, SaysWhichGateTheMachineIsFitFor) {
  EXPECT_EQ(tightest_gate_percent(0.01), 3);
  EXPECT_EQ(tightest_gate_percent(0.031), 5);
  EXPECT_EQ(tightest_gate_percent(0.05), 5);
  EXPECT_EQ(tightest_gate_percent(0.3), std::nullopt);
  Symptoms s = healthy();
  s.noise.smallest_visible = 0.07;
  EXPECT_THAT(finding(s, "can see").remedy, HasSubstr("limit of 10 %"));
}

TEST(Doctor, TellsWhichKindsOfGatesTheMachineIsFitFor) {
  Symptoms s = healthy();
  s.noise.smallest_visible = 0.02;
  EXPECT_EQ(finding(s, "gates").text, "two builds or programs in turns: 3 %; stored baselines: 5 %");
  s.noise.weather.other_busy_share = 0.5;
  EXPECT_EQ(finding(s, "gates").text,
            "two builds or programs in turns: 3 %; stored baselines: not while others run");
  s.noise.smallest_visible = 0.3;
  EXPECT_THAT(finding(s, "gates").text, HasSubstr("none of 20 %"));
}

TEST(Doctor, KeepsToTheWidthOfATerminalWhateverTheNames) {
  Symptoms s = healthy();
  s.processor.model = std::string(300, 'x');
  s.build.kernel_flags = std::string(300, 'x');
  s.openblas.core = std::string(300, 'x');
  s.omp_num_threads = std::string(300, '1');
  s.openblas_coretype = "Haswell";
  s.machine.caches.assign(20, {1, 49152, 1});
  s.allotment = {.processors_of_machine = 64, .slurm_job = std::string(300, '1'), .slurm_processors = 4};
  Examination examination{.findings = diagnose(s)};
  for (const Diagnosis& f : {node({.allowed = 4}), node({.quota = 2.5})}) examination.findings.push_back(f);
  for (const auto& f : examination.findings) EXPECT_LE(f.text.size(), 90U);
  std::istringstream text(to_text(examination));
  for (std::string line; std::getline(text, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST(Examination, EndsWithItsVerdict) {
  Examination examination{.noise = {.smallest_visible = 0.02},
                          .findings = {{"build", "Debug", Severity::warning, "use release"}},
                          .fit_for_five_percent_gate = true};
  EXPECT_EQ(to_text(examination),
            "build     Debug\n"
            "          warning: use release\n"
            "next: assay check, then assay run --suite NAME\n"
            "FIT for a 5 % gate, and for 3 %; 1 warning\n");
  examination.noise.smallest_visible = 0.2;
  examination.fit_for_five_percent_gate = false;
  EXPECT_THAT(to_text(examination), HasSubstr("UNFIT for a 5 % gate now; 1 warning"));
}

TEST(Examination, IsValidJsonWhateverBytesTheEnvironmentHolds) {
  Examination examination{.machine = {.facts = {{"LD_PRELOAD", "\xff\xfe"}}},
                          .findings = diagnose(healthy())};
  const auto json = Json::parse(to_json(examination));
  EXPECT_EQ(json["schema"], "assay.examination/1");
  EXPECT_EQ(json["findings"].size(), examination.findings.size());
}

}  // namespace
}  // namespace assay
