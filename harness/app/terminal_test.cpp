
#include "app/output.hpp"
#include "assay/outcome.hpp"
#include "bench/compare/words.hpp"

#include <gmock/gmock.h>

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Environment with(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

TEST(Terminal, ShowsColoursWhereNothingSpeaksAgainstThem) {
  EXPECT_TRUE(may_show_colours(true, with({{"TERM", "xterm"}})));
  EXPECT_TRUE(may_show_colours(true, with({{"TERM", "xterm"}, {"NO_COLOR", ""}}))) << "empty is not set";
  EXPECT_FALSE(may_show_colours(false, with({{"TERM", "xterm"}}))) << "a pipe or a file";
  EXPECT_FALSE(may_show_colours(true, with({{"TERM", "xterm"}, {"NO_COLOR", "1"}})));
  EXPECT_FALSE(may_show_colours(true, with({{"TERM", "dumb"}})));
  EXPECT_FALSE(may_show_colours(true, with({{"TERM", ""}})));
  EXPECT_FALSE(may_show_colours(true, with({})));
  EXPECT_FALSE(may_show_colours(true, with({{"TERM", "xterm"}, {"CI", "true"}})));
}

TEST(Terminal, RewritesLinesInOneColourAsWell) {
  EXPECT_TRUE(may_rewrite_lines(true, with({{"TERM", "xterm"}, {"NO_COLOR", "1"}})));
  EXPECT_FALSE(may_rewrite_lines(true, with({{"TERM", "xterm"}, {"CI", ""}})));
}

TEST(Terminal, PaintsMarksAndTheWordOfTheLastLineAndNothingElse) {
  EXPECT_EQ(painted("base a\n= gemm/a\n    1.00x\n✗ gemm/b\n    1.2x slower\nREGRESSION: 1 of 2\n"),
            "base a\n\033[2m=\033[0m gemm/a\n    1.00x\n\033[31m✗\033[0m gemm/b\n    1.2x slower\n"
            "\033[31mREGRESSION\033[0m: 1 of 2\n");
}

TEST(Terminal, PaintsNoWordAboveTheLastLine) {
  EXPECT_EQ(painted("PASSED: no\nnext: x\nPASSED: yes\n"),
            "PASSED: no\nnext: x\n\033[32mPASSED\033[0m: yes\n");
}

TEST(Terminal, FindsTheWordOfALastLineThatIsWrapped) {
  EXPECT_EQ(painted("a\nMISSED: the epoch\n  took longer\n"),
            "a\n\033[31mMISSED\033[0m: the epoch\n  took longer\n");
}

TEST(Terminal, FindsWordsWithSpacesAndWithoutAColon) {
  EXPECT_EQ(painted("NOT COMPARABLE: x"), "\033[33mNOT COMPARABLE\033[0m: x");
  EXPECT_EQ(painted("INTERRUPTED after 5 variants\n"), "\033[33mINTERRUPTED\033[0m after 5 variants\n");
  EXPECT_EQ(painted("NO PREDICTION\n"), "\033[33mNO PREDICTION\033[0m\n");
}

TEST(Terminal, LeavesTextWithoutMarksAndVerdictsAsItIs) {
  for (const std::string text : {"", "\n", "x", "a\nb\n", "=x\n", "HELLO: x\n", "  = indented\n\n"})
    EXPECT_EQ(painted(text), text);
}

TEST(Terminal, HasAColourForEveryMarkAndEveryWord) {
  for (int i = 0; i <= static_cast<int>(Standing::impossible); ++i) {
    const std::string row = std::string(mark(static_cast<Standing>(i))) + " key\n";
    EXPECT_THAT(painted(row), HasSubstr("\033[")) << row;
  }
  for (int i = 0; i <= static_cast<int>(Word::interrupted); ++i) {
    const std::string line = Outcome{static_cast<Word>(i), "x"}.text();
    EXPECT_THAT(painted(line), HasSubstr("\033[")) << line;
  }
}

/// Returns the output of `print` on a terminal of its own; nothing if none can be made.
std::optional<std::string> on_a_terminal(const std::function<void()>& print) {
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child < 0) return std::nullopt;
  if (child == 0) {
    setenv("TERM", "xterm", 1);
    unsetenv("CI");
    unsetenv("NO_COLOR");
    print();
    std::fflush(nullptr);
    _exit(0);
  }
  std::string out;
  char buffer[512];
  for (ssize_t count; (count = ::read(terminal, buffer, sizeof buffer)) > 0;)
    out.append(buffer, static_cast<std::size_t>(count));
  close(terminal);
  waitpid(child, nullptr, 0);
  return out;
}

TEST(Terminal, GetsWordsInColoursAndDocumentsWithout) {
  const std::string text = "✗ key\nREGRESSION: 1 of 1\n";
  const auto words = [&] { put("", text, "{}"); };
  const std::optional<std::string> coloured = on_a_terminal(words);
  if (!coloured) GTEST_SKIP() << "no terminal can be made here: /dev/pts is missing";
  EXPECT_THAT(*coloured, HasSubstr("\033[31m✗\033[0m key"));
  EXPECT_THAT(on_a_terminal([&] { put_document("", text, "{}"); }).value(), Not(HasSubstr("\033")));
  EXPECT_THAT(on_a_terminal([&] { put("-", text, "✗ x"); }).value(), Not(HasSubstr("\033")));
  EXPECT_THAT(on_a_terminal([&] {
                setenv("NO_COLOR", "1", 1);
                words();
              }).value(),
              Not(HasSubstr("\033")));
}

TEST(Terminal, OfAPipeGetsNoColours) {
  ::testing::internal::CaptureStdout();
  put("", "✗ key\nREGRESSION: 1 of 1\n", "{}");
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "✗ key\nREGRESSION: 1 of 1\n");
}

TEST(Ending, HasTheVerdictLastAndTheNextCommandBeforeIt) {
  Outcome outcome{Word::regression, "a is slower"};
  outcome.add(Word::wrong, "b disagrees");
  EXPECT_EQ(ending("assay check", outcome),
            "REGRESSION: a is slower\nnext: assay check\nWRONG: b disagrees\n");
  EXPECT_EQ(ending("", {Word::passed, "all well"}), "PASSED: all well\n");
  EXPECT_EQ(next_line("make"), "next: make\n");
}

}  // namespace
}  // namespace assay
