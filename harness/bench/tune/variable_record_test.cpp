// Tests the record of core types on scripted launches.
#include "core/tune/turns.hpp"

#include "bench/tune/variable.hpp"
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
Candidate candidate(const std::string& name, double share) {
  Candidate out{.name = name, .in_use = name == "default" ? "Prescott" : name};
  for (int round = 0; round < 6; ++round)
    out.turns.push_back({.seconds = {{share * 1e-6}}, .control = {{1e-6}}});
  return out;
}

TuneRecord record(double haswell) {
  TuneRecord out{.title = "Core type of OpenBLAS for suite smoke",
                 .words = core_type.words,
                 .variable = std::string(core_type.name),
                 .made = {.date = "2026-11-22T10:00:00Z",
                          .commit = "c0ffee",
                          .command = "assay tune library --suite suites/smoke.json",
                          .machine = {.key = "some_machine"}},
                 .method = "OpenBLAS 0.3.21 DYNAMIC_ARCH.",
                 .not_here = {"gemv/openblas/m=1,n=1#2: needs two cores"},
                 .cases = {key}};
  const std::vector<Candidate> candidates{
      candidate("default", 1),
      candidate("Nehalem", 1.25),
      candidate("Haswell", haswell),
      {.name = "Cooperlake", .in_use = "SkylakeX", .left_out = "NOT TAKEN: OpenBLAS uses SkylakeX instead"},
      {.name = "Zen", .in_use = "Zen", .wrong = "gemm/openblas/m=1,n=1,k=1#1: c[0, 0] is 2"}};
  out.ruling = ruled(out.words, candidates);
  return out;
}

std::string text_of(const TuneRecord& record) { return record_text(record_document(record)); }

TEST(VariableRecords, NameTheVariableToSetAndWhatItBrings) {
  const std::string text = text_of(record(0.5));
  EXPECT_THAT(text, HasSubstr("Set OPENBLAS_CORETYPE=Haswell: 2.00x faster [2.00, 2.00] than the default,"));
  EXPECT_THAT(text,
              AllOf(HasSubstr("RETAIN ="), HasSubstr("REJECT"), HasSubstr("WRONG"), HasSubstr("LEFT OUT"),
                    HasSubstr(key), HasSubstr("NOT TAKEN: OpenBLAS uses SkylakeX instead"),
                    HasSubstr("not here: gemv/openblas")));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

TEST(VariableRecords, KeepTheDefaultWhereNothingIsFaster) {
  const std::string text = text_of(record(0.995));
  EXPECT_THAT(text, HasSubstr("Keep the default, which uses Prescott"));
  EXPECT_THAT(text, HasSubstr("NO CHANGE"));
}

TEST(VariableRecords, HoldTheEnvironmentInJson) {
  const Json json = parse_json(record_json(record(0.5)), "the record");
  EXPECT_EQ(json.at("schema"), "assay.tuning/1");
  EXPECT_EQ(json.at("environment").dump(), R"({"OPENBLAS_CORETYPE":"Haswell"})");
  EXPECT_EQ(json.at("advice"), "TAKE");
  EXPECT_EQ(json.at("chosen"), "Haswell");
  const Json& attempts = json.at("attempts").at("rows");
  ASSERT_EQ(attempts.size(), 5U);
  EXPECT_EQ(attempts.at(0).at("name"), "default");
  EXPECT_EQ(attempts.at(2).at("ratio").at("middle"), 0.5);
  EXPECT_EQ(json.at("cases").at("rows").at(0).at("trial"), key);
  EXPECT_EQ(attempts.at(3).at("verdict"), "LEFT OUT");
  EXPECT_EQ(attempts.at(4).at("verdict"), "WRONG");
  EXPECT_EQ(parse_json(record_json(record(1)), "the record").at("environment").dump(), "{}");
}

TEST(VariableRecords, SayWhatWasTriedAndWhatNotToTryAgain) {
  const std::string text = doc::to_markdown(record_document(record(0.5)));
  EXPECT_THAT(text, StartsWith("# Core type of OpenBLAS for suite smoke\n\n"
                               "**Set OPENBLAS_CORETYPE=Haswell: 2.00x faster"));
  EXPECT_THAT(text, HasSubstr("\n| trial | Nehalem | Haswell |\n|---|---|---|\n| `"));
  const std::string rejected = text.substr(text.find("## Not to be tried again here"));
  EXPECT_THAT(rejected,
              AllOf(HasSubstr("* Nehalem: 1.25x slower"), HasSubstr("* Zen: "), Not(HasSubstr("* Haswell"))));
  EXPECT_THAT(text, AllOf(HasSubstr("5 candidates, 6 rounds"), HasSubstr("OpenBLAS 0.3.21")));
}

}  // namespace
}  // namespace assay
