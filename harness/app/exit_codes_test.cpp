#include "app/verbs.hpp"

#include "assay/files.hpp"
#include "assay/outcome.hpp"
#include "assay/pipeline.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <new>
#include <vector>

namespace assay {
namespace {

ExitCodes asked(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "assay");
  return asked_exit_codes(static_cast<int>(arguments.size()), arguments.data());
}

TEST(ExitCodes, OfBisectAreGoodBadAndCannotBeJudged) {
  EXPECT_EQ(translated(exit_code::passed, ExitCodes::bisect), 0);
  EXPECT_EQ(translated(exit_code::found, ExitCodes::bisect), 1);
  for (const int code : {exit_code::unusable, exit_code::undecided, exit_code::crashed,
                         exit_code::all_skipped, exit_code::interrupted}) {
    EXPECT_EQ(translated(code, ExitCodes::bisect), 125) << code;
  }
}

// 126 and 127 are a shell's, from 128 on a signal's; none of them may pass as a bad commit.
TEST(ExitCodes, OfBisectTakeNoOtherCodeForABadCommit) {
  for (int code = 2; code < 256; ++code) EXPECT_EQ(translated(code, ExitCodes::bisect), 125) << code;
}

TEST(ExitCodes, AreLeftAloneUnlessAskedFor) {
  for (int code = 0; code < 256; ++code) EXPECT_EQ(translated(code, ExitCodes::usual), code);
}

TEST(ExitCodes, AreReadFromACommandLineThatCannotBeParsed) {
  EXPECT_EQ(asked({"gate", "--exit-code=bisect", "--not-an-option"}), ExitCodes::bisect);
  EXPECT_EQ(asked({"gate", "--exit-code", "bisect"}), ExitCodes::bisect);
  EXPECT_EQ(asked({"gate", "--exit-code", "usual"}), ExitCodes::usual);
  EXPECT_EQ(asked({"gate", "--exit-code"}), ExitCodes::usual);
  EXPECT_EQ(asked({"gate", "-k", "bisect"}), ExitCodes::usual);
  EXPECT_EQ(asked({}), ExitCodes::usual);
}

TEST(ExitCodes, OfACommandLineThatCannotBeParsedAreTwo) {
  const std::vector<const char*> words{"assay", "dance"};
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(run_command_line(2, words.data(), [] { return Registry(); }), exit_code::unusable);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              ::testing::HasSubstr("assay: dance: is no verb of assay"));
}

TEST(ExitCodes, OfTooLittleMemoryHaveAMessage) {
  const std::vector<const char*> words{"assay", "list"};
  ::testing::internal::CaptureStderr();
  const int code = run_command_line(2, words.data(), []() -> Registry { throw std::bad_alloc(); });
  EXPECT_EQ(code, exit_code::unusable);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              ::testing::HasSubstr("memory: the system gives no more"));
}

TEST(ExitCodes, StandInTheReadmeWithTheirMeanings) {
  const std::string readme = read_file(std::filesystem::path(ASSAY_TREE) / "README.md");
  for (const ExitCode& one : exit_codes())
    EXPECT_THAT(readme, ::testing::HasSubstr(fmt::format("\n| {} | {} |\n", one.code, one.meaning)));
}

}  // namespace
}  // namespace assay
