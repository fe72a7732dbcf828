// Tests the record of core types on scripted launches.
#include "bench/tune/variable_record.hpp"

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
ValueAttempt attempt(const std::string& value, double share) {
  ValueAttempt out{.value = value, .reported = value.empty() ? "Prescott" : value};
  PairedTrial& trial = out.trials.emplace_back();
  trial.trial.key = key;
  for (int round = 0; round < 6; ++round) {
    trial.launches.push_back({.base = {1e-6}, .head = {share * 1e-6}, .control = {1e-6}});
  }
  return out;
}

VariableRecord record(double haswell) {
  VariableRecord out{.variable = core_type,
                     .suite = "smoke",
                    .date = "2026-11-22T10:00:00Z",
                    .commit = "c0ffee",
                    .command = "assay tune library --suite suites/smoke.json",
                    .machine = {.key = "some_machine"},
                    .about = "OpenBLAS 0.3.21 DYNAMIC_ARCH",
                    .not_here = {"gemv/openblas/m=1,n=1#2: needs two cores"}};
  out.attempts = {
      attempt("", 1),
      attempt("Nehalem", 1.25),
      attempt("Haswell", haswell),
      {.value = "Cooperlake",
       .reported = "SkylakeX",
       .left_out = "NOT TAKEN: OpenBLAS uses SkylakeX instead"},
      {.value = "Zen", .reported = "Zen", .wrong = "gemm/openblas/m=1,n=1,k=1#1: c[0, 0] is 2"}};
  out.ruling = ruled(core_type, out.attempts);
  return out;
}

TEST(VariableRecords, NameTheVariableToSetAndWhatItBrings) {
  const std::string text = variable_text(record(0.5));
  EXPECT_THAT(text, HasSubstr("Set OPENBLAS_CORETYPE=Haswell: 2.00x faster [2.00, 2.00] than the default,"));
  EXPECT_THAT(text,
              AllOf(HasSubstr("RETAIN ="), HasSubstr("REJECT"), HasSubstr("WRONG"), HasSubstr("LEFT OUT"),
                    HasSubstr(key), HasSubstr("NOT TAKEN: OpenBLAS uses SkylakeX instead"),
                    HasSubstr("not here: gemv/openblas")));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

TEST(VariableRecords, KeepTheDefaultWhereNothingIsFaster) {
  const std::string text = variable_text(record(0.995));
  EXPECT_THAT(text, HasSubstr("Keep the default, which uses Prescott"));
  EXPECT_THAT(text, HasSubstr("NO CHANGE"));
}

TEST(VariableRecords, HoldTheEnvironmentInJson) {
  const Json json = parse_json(to_json(record(0.5)), "the record");
  EXPECT_EQ(json.at("schema"), "assay.variable/1");
  EXPECT_EQ(json.at("environment").dump(), R"({"OPENBLAS_CORETYPE":"Haswell"})");
  const Json& attempts = json.at("attempts");
  ASSERT_EQ(attempts.size(), 5U);
  EXPECT_TRUE(attempts.at(0).at("value").is_null());
  EXPECT_EQ(attempts.at(2).at("trials").at(0).at("key"), key);
  EXPECT_EQ(attempts.at(3).at("decision"), "LEFT OUT");
  EXPECT_EQ(attempts.at(4).at("decision"), "WRONG");
  EXPECT_EQ(parse_json(to_json(record(1)), "the record").at("environment").dump(), "{}");
}

TEST(VariableRecords, SayWhatWasTriedAndWhatNotToTryAgain) {
  const std::string text = variable_markdown(record(0.5));
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
