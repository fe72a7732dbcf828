// --quiet drops words of a verb, and changes nothing else.
#include "app/verbs.hpp"
#include "assay/files.hpp"
#include "assay/pipeline.hpp"
#include "assay/results.hpp"
#include "core/check/doubling_test.hpp"
#include "core/files/scratch.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

const std::filesystem::path stored = std::filesystem::path(ASSAY_TREE) / "harness/app/data";

struct Ended {
  int exit_code;
  std::string output, errors;
};

Ended ended(std::vector<std::string> words, const Registry& registry = {}) {
  // Test runners give a part of the tests to this process by these, which the verbs would take for their own.
  for (const char* variable : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX"}) ::unsetenv(variable);
  std::vector<const char*> arguments{"assay"};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int code = run_command_line(static_cast<int>(arguments.size()), arguments.data(), registry);
  return {code, ::testing::internal::GetCapturedStdout(), ::testing::internal::GetCapturedStderr()};
}

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out.push_back(line);
  return out;
}

/// The same arguments with and without --quiet: the same exit code, and no line that was not there before.
Ended quiet_and_alike(const std::vector<std::string>& words, const Registry& registry = {}) {
  const Ended loud = ended(words, registry);
  std::vector<std::string> more = words;
  more.emplace_back("-q");
  Ended quiet = ended(more, registry);
  EXPECT_EQ(quiet.exit_code, loud.exit_code);
  const std::vector<std::string> all = lines_in(loud.output), few = lines_in(quiet.output);
  EXPECT_LT(few.size(), all.size()) << loud.output;
  for (const std::string& line : few) EXPECT_THAT(all, ::testing::Contains(line));
  EXPECT_EQ(few.back(), all.back()) << "the verdict";
  EXPECT_THAT(quiet.output, Not(HasSubstr("next: ")));
  EXPECT_THAT(quiet.errors, IsEmpty());
  return quiet;
}

TEST(Quiet, IsKnownToAllThatCheckMeasureOrJudge) {
  const std::set<std::string> judging{"check",   "run",   "gate",     "wrap",
                                      "compare", "merge", "selftest", "reanalyze"};
  for (const Verb& verb : verbs()) {
    const Call call = verb.make();
    const bool known = std::ranges::any_of(call.options.all(),
                                           [](const Option& option) { return option.is_named("--quiet"); });
    const bool changes_the_ledger = verb.name() == "record" && !verb.chosen_by().empty();
    const bool wanted =
        judging.contains(std::string(verb.name())) || (verb.name() == "record" && !changes_the_ledger);
    EXPECT_EQ(known, wanted) << verb.title();
  }
}

TEST(Quiet, LeavesTheRowsOfAGateThatAskForSomething) {
  const Ended quiet = quiet_and_alike({"reanalyze", (stored / "gate.json").string()});
  EXPECT_EQ(quiet.exit_code, 1);
  EXPECT_THAT(quiet.output, AllOf(StartsWith("✗ gemm/packed/m=64,n=64,k=64#1\n"),
                                  HasSubstr("\n✗ memory_pool_validate/naive/blocks=1000,plans=one#1\n"),
                                  Not(HasSubstr("gemm/simd")), HasSubstr("\nREGRESSION: ")));
}

TEST(Quiet, LeavesTheRowsOfAComparisonThatAskForSomething) {
  const ScratchFolder folder;
  Results after = results_from_json(read_file(stored / "results.json"), "results.json");
  for (TrialResult& trial : after.trials) {
    if (trial.key != "gemm/packed/m=64,n=64,k=64#1") continue;
    for (Launch& launch : trial.launches) {
      for (Slice& slice : launch) slice.seconds *= 2;
    }
  }
  const std::string slowed = (folder.path() / "after.json").string();
  write_file(slowed, to_json(after));
  const Ended quiet = quiet_and_alike({"compare", (stored / "results.json").string(), slowed});
  EXPECT_EQ(quiet.exit_code, 1);
  EXPECT_THAT(quiet.output,
              AllOf(StartsWith("✗ gemm/packed/m=64,n=64,k=64#1\n"), HasSubstr("\nREGRESSION: ")));
}

TEST(Quiet, LeavesTheVariantsThatDisagreeOfACheck) {
  Registry registry = testing::doubling_registry();
  registry.add<testing::Doubling>(
      {.name = "halves",
       .run = [](const testing::Doubling::Problem&, const testing::Doubling::Input& in,
                 testing::Doubling::Output& out) {
         for (Index i = 0; i < in.x.size(); ++i) out.y[i] = in.x[i] / 2;
       }});
  const Ended quiet = quiet_and_alike({"check"}, registry);
  EXPECT_EQ(quiet.exit_code, 1);
  EXPECT_THAT(quiet.output, AllOf(StartsWith("doubling\n  halves "), HasSubstr("\nWRONG: doubling/halves"),
                                  Not(HasSubstr("naive"))));
}

TEST(Quiet, LeavesTheVerdictAloneWhereAllIsWell) {
  const Ended quiet = quiet_and_alike({"check"}, testing::doubling_registry());
  EXPECT_EQ(quiet.exit_code, 0);
  EXPECT_EQ(lines_in(quiet.output).size(), 1U) << quiet.output;
  EXPECT_THAT(quiet.output, StartsWith("AGREE: "));
}

}  // namespace
}  // namespace assay
