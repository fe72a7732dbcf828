#include "core/text/command.hpp"

#include "assay/error.hpp"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(RepeatCommand, SelectsTheTrialAlone) {
  EXPECT_EQ(repeat_command("assay gate --suite s.json", "gemm/simd@avx2/m=64,n=64,k=64#1"),
            "assay gate --suite s.json -k '^gemm/simd@avx2/m=64,n=64,k=64#1$'");
}

TEST(RepeatCommand, QuotesAHostileKeyForTheShellAndTheExpression) {
  EXPECT_EQ(repeat_command("a", "x'; rm -rf ~; '"), "a -k '^x'\\''; rm -rf ~; '\\''$'");
  EXPECT_EQ(repeat_command("a", "a.b|c(d"), "a -k '^a\\.b\\|c\\(d$'");
  EXPECT_EQ(repeat_command("a", "one\ntwo"), "a -k '^one.two$'");
  EXPECT_EQ(repeat_command("a", "odd[1]{2}"), "a -k '^odd\\[1]\\{2}$'");
}

TEST(Expressions, AreThoseOfTheirGrammar) {
  EXPECT_EQ(why_no_expression("^gemm/(naive|packed)[^/]*$"), "");
  EXPECT_NE(why_no_expression("("), "");
  EXPECT_EQ(why_no_expression(R"(\d(?:a|b))"), "");
  EXPECT_NE(why_no_expression("(?:a|b)", Grammar::posix_extended), "");
}

// Compiling one of these used up the stack.
TEST(Expressions, AreNoneWhereTheyAreHuge) {
  constexpr const char* huge = "it has more than 8192 characters between | or 256 parentheses";
  EXPECT_EQ(why_no_expression(std::string(100'000, 'a')), huge);
  EXPECT_EQ(why_no_expression(std::string(4000, '(') + std::string(4000, ')')), huge);
  EXPECT_EQ(why_no_expression(std::string(256, '(') + std::string(256, ')')), "");
  std::string keys = "^gemm/packed/m=1$";
  for (int m = 2; m < 2000; ++m) keys += "|^gemm/packed/m=" + std::to_string(m) + "$";
  EXPECT_EQ(why_no_expression(keys, Grammar::posix_extended), "");
}

TEST(ShellWord, IsQuotedOnlyWhereTheShellWouldReadMoreThanAWord) {
  EXPECT_EQ(shell_word("suites/smoke.json"), "suites/smoke.json");
  EXPECT_EQ(shell_word("my suite.json"), "'my suite.json'");
  EXPECT_EQ(shell_word("$(x)'y"), "'$(x)'\\''y'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(ShellWords, ArePartedAsAShellDoes) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(shell_words(" ./old  --x=1\t'a  b' \"c'\\\"d\" e\\ f ''"),
            (Words{"./old", "--x=1", "a  b", "c'\"d", "e f", ""}));
  EXPECT_EQ(shell_words(""), Words{});
  EXPECT_THROW(shell_words("./old 'x"), Error);
}

}  // namespace
}  // namespace assay
