// Tests the record of core types on scripted launches.
#include "bench/tune/library_record.hpp"

#include "core/json/json.hpp"

#include <gmock/gmock.h>

#include <sstream>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* key = "gemm/openblas/m=64,n=64,k=64#1";

/// Six rounds of one trial that take so much of the default's time.
CoreAttempt attempt(const std::string& core_type, double share) {
  CoreAttempt out{.core_type = core_type, .reported = core_type.empty() ? "Prescott" : core_type};
  PairedTrial& trial = out.trials.emplace_back();
  trial.trial.key = key;
  for (int round = 0; round < 6; ++round) {
    trial.launches.push_back({.base = {1e-6}, .head = {share * 1e-6}, .control = {1e-6}});
  }
  return out;
}

LibraryRecord record(double haswell) {
  LibraryRecord out{.suite = "smoke",
                    .date = "2026-11-22T10:00:00Z",
                    .commit = "c0ffee",
                    .command = "assay tune library --suite suites/smoke.json",
                    .machine = {.key = "some_machine"},
                    .library = "OpenBLAS 0.3.21 DYNAMIC_ARCH",
                    .not_here = {"gemv/openblas/m=1,n=1#2: needs two cores"}};
  out.attempts = {
      attempt("", 1),
      attempt("Nehalem", 1.25),
      attempt("Haswell", haswell),
      {.core_type = "Cooperlake",
       .reported = "SkylakeX",
       .left_out = "NOT TAKEN: OpenBLAS uses SkylakeX instead"},
      {.core_type = "Zen", .reported = "Zen", .wrong = "gemm/openblas/m=1,n=1,k=1#1: c[0, 0] is 2"}};
  out.ruling = ruled(out.attempts);
  return out;
}

TEST(LibraryRecords, NameTheVariableToSetAndWhatItBrings) {
  const std::string text = library_text(record(0.5));
  EXPECT_THAT(text, HasSubstr("Set OPENBLAS_CORETYPE=Haswell: 2.00x faster [2.00, 2.00] than the default,"));
  EXPECT_THAT(text,
              AllOf(HasSubstr("RETAIN ="), HasSubstr("REJECT"), HasSubstr("WRONG"), HasSubstr("LEFT OUT"),
                    HasSubstr(key), HasSubstr("NOT TAKEN: OpenBLAS uses SkylakeX instead"),
                    HasSubstr("not here: gemv/openblas")));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

TEST(LibraryRecords, KeepTheDefaultWhereNothingIsFaster) {
  const std::string text = library_text(record(0.995));
  EXPECT_THAT(text, HasSubstr("Keep the default, which uses Prescott"));
  EXPECT_THAT(text, HasSubstr("NO CHANGE"));
}

TEST(LibraryRecords, HoldTheEnvironmentInJson) {
  const Json json = parse_json(to_json(record(0.5)), "the record");
  EXPECT_EQ(json.at("schema"), "assay.library/1");
  EXPECT_EQ(json.at("environment").dump(), R"({"OPENBLAS_CORETYPE":"Haswell"})");
  const Json& attempts = json.at("attempts");
  ASSERT_EQ(attempts.size(), 5U);
  EXPECT_TRUE(attempts.at(0).at("core_type").is_null());
  EXPECT_EQ(attempts.at(2).at("trials").at(0).at("key"), key);
  EXPECT_EQ(attempts.at(3).at("decision"), "LEFT OUT");
  EXPECT_EQ(attempts.at(4).at("decision"), "WRONG");
  EXPECT_EQ(parse_json(to_json(record(1)), "the record").at("environment").dump(), "{}");
}

TEST(LibraryRecords, SayWhatWasTriedAndWhatNotToTryAgain) {
  const std::string text = library_markdown(record(0.5));
  EXPECT_THAT(text, StartsWith("# Core type of OpenBLAS for suite smoke\n\n"
                               "**Set OPENBLAS_CORETYPE=Haswell: 2.00x faster"));
  EXPECT_THAT(text, HasSubstr("\n| trial | Nehalem | Haswell |\n|---|---|---|\n| `"));
  const std::string rejected = text.substr(text.find("## Not to be tried again here"));
  EXPECT_THAT(rejected,
              AllOf(HasSubstr("- Nehalem: 1.25x slower"), HasSubstr("- Zen: "), Not(HasSubstr("- Haswell"))));
  EXPECT_THAT(text, AllOf(HasSubstr("6 rounds"), HasSubstr("over 1 trial.")));
}

}  // namespace
}  // namespace assay
