// A file of every format as version 0.1.0 has it, which each later version reads, and the verdicts that 0.1.0
// (1bc4ec639b36) reached on results and gates. The files keep a row of each standing, five slices of a
// process start, and a few facts of the machine; those that people write have every key.
#include "app/known_verbs.hpp"
#include "app/schema_faults_test.hpp"
#include "app/verbs.hpp"
#include "assay/compare.hpp"
#include "assay/files.hpp"
#include "bench/compare/words.hpp"
#include "bench/gate/two_builds.hpp"
#include "bench/ledger/ledger.hpp"
#include "bench/programs/project.hpp"
#include "bench/programs/revision.hpp"
#include "bench/report/claims.hpp"
#include "core/json/fields.hpp"
#include "core/plan/suite.hpp"
#include "training/epoch/epoch_prediction.hpp"
#include "training/epoch/own_jobs.hpp"
#include "training/job/read_job.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::schema_faults;

const std::filesystem::path data = std::filesystem::path(ASSAY_TREE) / "harness/app/data";

std::vector<std::string> lines_of(const Comparison& comparison) {
  std::vector<std::string> out;
  for (const ComparedRow& one : comparison.rows) {
    out.push_back(fmt::format("{} {} {:.6f} [{:.6f}, {:.6f}]", one.key, to_string(one.standing),
                              one.ratio.middle, one.ratio.low, one.ratio.high));
  }
  return out;
}

Results stored_results() { return results_from_json(read_file(data / "results.json"), "results.json"); }
Baseline stored_baseline() { return load_baseline(data / "amd_epyc_25_17_2c_avx512/stored.json").value(); }
TwoBuilds stored_gate() { return two_builds_from_json(read_file(data / "gate.json"), "gate.json"); }

TEST(StoredFiles, OfAGateOfTwoBuildsGiveTheVerdictsOfTheirTime) {
  EXPECT_THAT(
      lines_of(findings_of(stored_gate()).comparison),
      ElementsAre("memory_pool_validate/naive/blocks=1000,plans=one#1 slower 1.105016 [1.097846, 1.118619]",
                  "gemm/packed/m=64,n=64,k=64#1 slower 1.101459 [1.101127, 1.105848]",
                  "gemm/simd@avx512/m=64,n=64,k=64#1 same 0.999375 [0.997111, 1.000598]"));
}

TEST(StoredFiles, OfResultsAndTheirBaselineGiveTheVerdictsOfTheirTime) {
  EXPECT_THAT(
      lines_of(compare(stored_results(), stored_baseline(), {})),
      ElementsAre(
          "memory_pool_validate/naive/blocks=1000,plans=one#1 undecided 1.023192 [0.965313, 1.055047]",
          "gemm/naive/m=64,n=64,k=64#1 not slower 0.977333 [0.947825, 1.035933]",
          "gemm/packed/m=64,n=64,k=64#1 slower 1.301444 [1.265204, 1.337347]",
          "gemm/simd@avx512/m=64,n=64,k=64#1 same 0.987049 [0.972222, 1.008537]"));
}

TEST(StoredFiles, GiveOtherVerdictsOnOtherTimes) {
  TwoBuilds other = stored_gate();
  for (PairedLaunch& launch : other.trials.back().launches) {
    for (double& seconds : launch.head) seconds *= 1.2;
  }
  EXPECT_NE(lines_of(findings_of(other).comparison), lines_of(findings_of(stored_gate()).comparison));
  Results slower = stored_results();
  for (Launch& launch : slower.trials.back().launches) {
    for (Slice& slice : launch) slice.seconds *= 1.2;
  }
  EXPECT_NE(lines_of(compare(slower, stored_baseline(), {})),
            lines_of(compare(stored_results(), stored_baseline(), {})));
}

/// A stored file of a format, and how this program reads it.
struct StoredForm {
  std::string_view format;  ///< as `assay schema` names it
  const char* file;         ///< in the folder of data
  void (*read)(const std::filesystem::path& file);
};

/// For formats that are written for other programs alone.
void never_read(const std::filesystem::path&) {}

template <class T>
void read_as(const std::filesystem::path& file) {
  value_from<T>(read_file(file), file.string(), "");
}

/// A format whose version grows gets another row; the rows that are here stay, with their files.
constexpr std::array stored_forms{
    StoredForm{"suite", "suite.json", read_as<Suite>},
    StoredForm{"project", "project.json", read_as<Project>},
    StoredForm{"bundle", "bundle.json", read_as<BundleFile>},
    StoredForm{"results", "results.json",
               [](const std::filesystem::path& file) { results_from_json(read_file(file), file.string()); }},
    StoredForm{"baseline", "amd_epyc_25_17_2c_avx512/stored.json",
               [](const std::filesystem::path& file) { load_baseline(file); }},
    StoredForm{"limits", "limits.json", read_as<TrialLimits>},
    StoredForm{"comparison", "comparison.json", never_read},
    StoredForm{"report", "report.json", never_read},
    StoredForm{"claims", "claims.json",
               [](const std::filesystem::path& file) { claims_from_json(read_file(file), file.string()); }},
    StoredForm{"verdicts", "verdicts.json", never_read},
    StoredForm{"audit", "audit.json", never_read},
    StoredForm{"step-audit", "step-audit.json", never_read},
    StoredForm{"traced-step", "traced-step.json", never_read},
    StoredForm{"history", "history.json", never_read},
    StoredForm{
        "gate", "gate.json",
        [](const std::filesystem::path& file) { two_builds_from_json(read_file(file), file.string()); }},
    StoredForm{"ledger", "stored.ledger.json", [](const std::filesystem::path& file) { load_ledger(file); }},
    StoredForm{"tuning", "tuning.json", never_read},
    StoredForm{"kernels", "kernels.json", read_as<TunedKernels>},
    StoredForm{"list", "list.json", never_read},
    StoredForm{"check", "check.json", never_read},
    StoredForm{"known-bad", "known-bad.json", read_as<TriedVariants<RejectedCode>>},
    StoredForm{"known-cheats", "known-cheats.json", never_read},
    StoredForm{"examination", "examination.json", never_read},
    StoredForm{"phases", "phases.json",
               [](const std::filesystem::path& file) { read_phases_json(read_file(file), file.string()); }},
    StoredForm{"job", "job.json",
               [](const std::filesystem::path& file) { training_job_from_json(read_file(file), file); }},
    StoredForm{"forecast", "forecast.json", never_read},
    StoredForm{"epoch-log", "epoch-log.jsonl",
               [](const std::filesystem::path& file) { epoch_log_from(read_file(file), file.string()); }}};

/// Returns a line for each promise that a stored file of the format shows to be broken: that its version is
/// read for ever, and that a version keeps its members and adds none that older files lack. A present version
/// without a file is such a line, too.
std::vector<std::string> broken_promises(const FileFormat& format, std::span<const StoredForm> stored) {
  std::vector<std::string> out;
  const Json schema = schema_named(format.name);
  bool has_present = false;
  for (const StoredForm& one : stored) {
    if (one.format != format.name) continue;
    try {
      one.read(data / one.file);
    } catch (const std::exception& failure) {
      out.push_back(fmt::format("{} is not read: {}", one.file, failure.what()));
    }
    const Json value = parse_json(read_file(data / one.file), one.file);
    // Files of an earlier version have the members of that version.
    if (!schema_faults(schema.at("properties").at("schema"), value.at("schema")).empty()) continue;
    has_present = true;
    for (const std::string& fault : schema_faults(schema, value)) out.push_back(one.file + fault);
  }
  if (!has_present) out.push_back(fmt::format("no file of {} as this program writes it", format.name));
  return out;
}

TEST(StoredFiles, OfEveryFormatAreReadForEver) {
  for (const FileFormat& format : file_formats())
    EXPECT_THAT(broken_promises(format, stored_forms), IsEmpty()) << format.name;
}

TEST(StoredFiles, HaveTheVersionsThatTheChangelogStates) {
  const std::string changelog = read_file(std::filesystem::path(ASSAY_TREE) / "ci/CHANGELOG.md");
  for (const FileFormat& format : file_formats()) {
    const Json schema = schema_named(format.name);
    const Json* version = schema.at("properties").at("schema").find("const");
    // Suites have a number alone.
    const std::string stated = version == nullptr ? "suite `1`" : "`" + version->text() + "`";
    EXPECT_THAT(changelog, HasSubstr(stated)) << format.name;
  }
}

TEST(StoredFiles, ShowAPromiseThatIsBroken) {
  const FileFormat limits = *std::ranges::find(file_formats(), "limits", &FileFormat::name);
  EXPECT_THAT(broken_promises(limits, {}), ElementsAre("no file of limits as this program writes it"));
  // A reader that has forgotten a version of its format.
  const StoredForm forgotten{"limits", "limits.json", read_as<TunedKernels>};
  EXPECT_THAT(broken_promises(limits, std::span(&forgotten, 1)),
              ElementsAre(HasSubstr("limits.json is not read: ")));
  // The file of an earlier version is read, and does not stand for the present one.
  const StoredForm earlier{"limits", "kernels.json", read_as<TunedKernels>};
  EXPECT_THAT(broken_promises(limits, std::span(&earlier, 1)),
              ElementsAre("no file of limits as this program writes it"));
  // A member that was renamed under the same version.
  Json fewer = schema_named("project");
  fewer["properties"].erase("rate");
  EXPECT_THAT(schema_faults(fewer, parse_json(read_file(data / "project.json"), "project.json")),
              ElementsAre(": unknown key rate"));
}

}  // namespace
}  // namespace assay
