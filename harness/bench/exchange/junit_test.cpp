#include "bench/exchange/annotations.hpp"

#include "core/text/utf8.hpp"

#include <gmock/gmock.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Results current() { return {.suite = "tiny", .machine = {.key = "cpu_1c"}, .date = "2026-01-02T03:04:05Z"}; }

ComparedRow row(const std::string& key, Standing standing, Interval ratio, const std::string& why) {
  return {.key = key, .standing = standing, .ratio = ratio, .limit = 1.05, .why = why};
}

Comparison every_standing() {
  return {.rows = {row("gemm/naive/m=1#1", Standing::same, {0.99, 1, 1.01, 0.9}, "within"),
                   row("gemm/packed/m=1#1", Standing::slower, {1.08, 1.11, 1.14, 0.9}, "all three say so"),
                   row("gemm/simd/m=1#1", Standing::faster, {0.8, 0.9, 0.95, 0.9}, "beyond"),
                   row("gemm/wrong/m=1#1", Standing::wrong, {}, "disagrees with the oracle: c[0] is 1"),
                   row("gemm/wide/m=1#1", Standing::skipped, {}, "did not run here: needs AVX-512"),
                   row("gemm/loud/m=1#1", Standing::undecided, {0.9, 1, 1.2, 0.9}, "too wide"),
                   row("gemm/new/m=1#1", Standing::added, {}, "is not in the results it is compared with")}};
}

TEST(JUnit, IsTheGoldenOne) {
  EXPECT_EQ(to_junit(every_standing(), current(), "assay gate --suite tiny.json"),
            R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="7" failures="2" errors="0" skipped="3">
 <testsuite name="tiny" hostname="cpu_1c" timestamp="2026-01-02T03:04:05Z" tests="7" failures="2" errors="0" skipped="3">
  <testcase classname="tiny.gemm" name="naive/m=1#1"><system-out>same [0.99, 1.01]</system-out></testcase>
  <testcase classname="tiny.gemm" name="packed/m=1#1"><failure type="regression" message="1.11x slower [1.08, 1.14], limit 1.05">
all three say so
time after / time before 1.11, 90 % interval 1.08 to 1.14
again: assay gate --suite tiny.json -k '^gemm/packed/m=1#1$'
</failure></testcase>
  <testcase classname="tiny.gemm" name="simd/m=1#1"><system-out>1.11x faster [1.05, 1.25]</system-out></testcase>
  <testcase classname="tiny.gemm" name="wrong/m=1#1"><failure type="disagreement" message="disagrees with the oracle: c[0] is 1">
disagrees with the oracle: c[0] is 1
again: assay gate --suite tiny.json -k '^gemm/wrong/m=1#1$'
</failure></testcase>
  <testcase classname="tiny.gemm" name="wide/m=1#1"><skipped message="skipped: did not run here: needs AVX-512"/></testcase>
  <testcase classname="tiny.gemm" name="loud/m=1#1"><skipped message="undecided 1.00 [0.90, 1.20]: too wide"/></testcase>
  <testcase classname="tiny.gemm" name="new/m=1#1"><skipped message="added: is not in the results it is compared with"/></testcase>
 </testsuite>
</testsuites>
)");
}

TEST(JUnit, FailsForAWorseFigureWhateverItsTime) {
  const auto height = [](double value) {
    return Figure{.name = "height", .value = value, .unit = "bytes", .better = Figure::Better::lower};
  };
  Comparison found{.rows = {row("plan/a/n=1#1", Standing::faster, {0.8, 0.9, 0.95, 0.9}, "beyond"),
                            row("plan/b/n=1#1", Standing::same, {0.99, 1, 1.01, 0.9}, "within"),
                            row("plan/c/n=1#1", Standing::slower, {1.08, 1.11, 1.14, 0.9}, "slow")}};
  found.rows[0].figures = found.rows[2].figures = {{height(1234), height(1300)}};
  found.rows[1].figures = {{height(1234), height(1234)}};
  const std::string text = to_junit(found, current(), "assay gate");
  EXPECT_THAT(text, HasSubstr("tests=\"3\" failures=\"2\" errors=\"0\" skipped=\"0\""));
  EXPECT_THAT(text,
              HasSubstr("<failure type=\"regression\" message=\"height 1,234 → 1,300 bytes (5.3 % more)\">"));
  EXPECT_THAT(text, HasSubstr("<system-out>same [0.99, 1.01]; height 1,234 bytes as before</system-out>"));
  EXPECT_THAT(text, HasSubstr("message=\"1.11x slower [1.08, 1.14], limit 1.05; height 1,234 → 1,300"));
}

TEST(JUnit, HasAnErrorForEachKernelThatCrashedOrHung) {
  const Comparison failed{
      .rows = {row("gemm/bad/m=1#1", Standing::crashed, {}, "was ended by signal 11 (Segmentation fault)"),
               row("gemm/slow/m=1#1", Standing::timed_out, {}, "did not end within 10 s"),
               row("gemm/naive/m=1#1", Standing::same, {0.99, 1, 1.01, 0.9}, "within")}};
  const std::string found = to_junit(failed, current(), "assay gate", "");
  EXPECT_THAT(found, HasSubstr("tests=\"3\" failures=\"0\" errors=\"2\" skipped=\"0\""));
  EXPECT_THAT(found, HasSubstr("<error type=\"crashed\" message=\"was ended by signal 11"));
  EXPECT_THAT(found, HasSubstr("<error type=\"timed out\" message=\"did not end within 10 s\"/>"));
}

TEST(JUnit, FailsForATimeThatCannotBe) {
  const Comparison found{.rows = {row("gemm/idle/m=1#1", Standing::impossible, {}, "took 1 ns")}};
  const std::string text = to_junit(found, current(), "assay gate");
  EXPECT_THAT(text, HasSubstr("tests=\"1\" failures=\"1\" errors=\"0\" skipped=\"0\""));
  EXPECT_THAT(text, HasSubstr("<failure type=\"impossible\" message=\"took 1 ns\">"));
}

// A limit of 1 % and a slow-down of 1.4 % would both be told as 1.01.
TEST(JUnit, HasTenthsOfAPercentWhereTheLimitIsOne) {
  ComparedRow slower = row("gemm/packed/m=1#1", Standing::slower, {1.012, 1.0144, 1.017, 0.9}, "why");
  slower.limit = 1.01;
  EXPECT_THAT(to_junit({.rows = {slower}}, current(), "assay gate"),
              HasSubstr("message=\"1.014x slower [1.012, 1.017], limit 1.010\""));
}

TEST(JUnit, LetsNoNameFromOutsideBecomeMarkup) {
  const Comparison hostile{.rows = {row("a/\"/><failure/>&#1", Standing::wrong, {}, "<x>]]>\n\x01\x7f")}};
  const std::string text = to_junit(hostile, {.suite = "s\" x=\"<"}, "assay gate");
  EXPECT_THAT(text, HasSubstr("name=\"&quot;/&gt;&lt;failure/&gt;&amp;#1\""));
  EXPECT_THAT(text, HasSubstr(R"(&lt;x&gt;]]&gt;&#10;\x01\x7f)"));
  EXPECT_THAT(text, HasSubstr("name=\"s&quot; x=&quot;&lt;\""));
}

TEST(JUnit, FailsForEveryAcceptanceThatRanOut) {
  const Comparison expired{.rows = {row("a/b#1", Standing::same, {0.99, 1, 1.01, 0.9}, "within")},
                           .objections = {"the acceptance of a/b#1 ran out on 2026-10-20"}};
  const std::string text = to_junit(expired, current(), "assay gate");
  EXPECT_THAT(text, HasSubstr("tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\""));
  EXPECT_THAT(text,
              HasSubstr("name=\"the acceptance of a/b#1 ran out on 2026-10-20\"><failure type=\"expired\""));
}

TEST(JUnit, HasAnErrorWhereNothingWasDecidedThatShouldHaveBeen) {
  const Comparison open{.rows = {row("a/b#1", Standing::undecided, {}, "too wide")}};
  const std::string text = to_junit(open, current(), "assay gate", "MACHINE UNFIT: <it> moved");
  EXPECT_THAT(text, HasSubstr("tests=\"2\" failures=\"0\" errors=\"1\" skipped=\"1\""));
  EXPECT_THAT(text, HasSubstr("<error type=\"undecided\" message=\"MACHINE UNFIT: &lt;it&gt; moved\"/>"));
  EXPECT_THAT(to_junit(open, current(), "assay gate"), Not(HasSubstr("<error")));
}

// The text holds one of each kind that XML 1.0 cannot hold: a control character, a byte that begins nothing,
// a character that is cut off, an overlong one, half of a surrogate pair, a number beyond the last, U+FFFE.
// Two bytes of U+00B5 and four of U+1F600 are characters and stay.
TEST(JUnit, ShowsWhatXmlCannotHold) {
  const auto text_of = [](const std::string& why) {
    return to_junit({.rows = {row("a/b#1", Standing::undecided, {}, why)}}, current(), "assay gate");
  };
  for (const char* bad : {"\x02", "\xFF", "\xC2", "\xE2\x82", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80",
                          "\xF4\x90\x80\x80", "\xEF\xBF\xBE"}) {
    const std::string text = text_of("[" + std::string(bad) + "]");
    EXPECT_THAT(text, Not(HasSubstr(bad)));
    EXPECT_THAT(text, HasSubstr("[" + visible(bad) + "]"));
  }
  EXPECT_THAT(text_of("\xC2\xB5 \xF0\x9F\x98\x80"), HasSubstr("\xC2\xB5 \xF0\x9F\x98\x80"));
}

TEST(JUnit, IsWellFormedByAnotherProgramsJudgement) {
  if (std::system("/usr/bin/python3 -c 'import xml.etree.ElementTree' 2>/dev/null") != 0) {
    GTEST_SKIP() << "needs python3";
  }
  const auto file = std::filesystem::temp_directory_path() / ("assay_junit_" + std::to_string(::getpid()));
  Comparison comparison = every_standing();
  comparison.rows.push_back(row("x/\"<&>'\n\x01\xFF#1", Standing::wrong, {}, "\xED\xA0\x80 ]]> --> <!--"));
  write_file(file, to_junit(comparison, current(), "assay gate"));
  const std::string check =
      "/usr/bin/python3 -c 'import sys, xml.etree.ElementTree as e; r = e.parse(sys.argv[1]).getroot(); "
      "sys.exit(len(r[0]) != 8 or int(r.get(\"failures\")) != len(r.findall(\".//failure\")) "
      "or int(r.get(\"skipped\")) != len(r.findall(\".//skipped\")))' ";
  EXPECT_EQ(std::system((check + file.string()).c_str()), 0);
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace assay
