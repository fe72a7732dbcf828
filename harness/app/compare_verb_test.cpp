// `assay compare` of files that other programs wrote.
#include "app/verbs.hpp"
#include "assay/error.hpp"
#include "assay/files.hpp"
#include "core/files/scratch.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

struct Benchmark {
  std::string name;
  double nanoseconds = 100, processor = 100, bytes = 64;
};

/// Ten repetitions of each, one percent apart.
std::string file_of(const std::vector<Benchmark>& benchmarks) {
  std::string rows;
  for (const Benchmark& one : benchmarks) {
    for (int i = 0; i < 10; ++i) {
      rows += fmt::format(
          R"({}{{"name": "{}", "run_type": "iteration", "repetition_index": {}, "iterations": 9,
          "real_time": {}, "cpu_time": {}, "time_unit": "ns", "max_bytes_used": {}}})",
          rows.empty() ? "" : ",", one.name, i, one.nanoseconds * (1 + 0.001 * i), one.processor, one.bytes);
    }
  }
  return fmt::format(R"({{"context": {{}}, "benchmarks": [{}]}})", rows);
}

class CompareVerb : public ::testing::Test {
 protected:
  Outcome compared(const std::vector<Benchmark>& before, const std::vector<Benchmark>& after,
                   const CompareOptions& options = {}) {
    return compared(file_of(before), file_of(after), options);
  }
  Outcome compared(const std::string& before, const std::string& after, CompareOptions options = {}) {
    options.before = scratch_.path() / "before.json";
    options.after = scratch_.path() / "after.json";
    write_file(options.before, before);
    write_file(options.after, after);
    ::testing::internal::CaptureStdout();
    try {
      const Outcome out = compare_verb(options);
      text_ = ::testing::internal::GetCapturedStdout();
      return out;
    } catch (const Error&) {
      ::testing::internal::GetCapturedStdout();
      throw;
    }
  }

  ScratchFolder scratch_;
  std::string text_;
};

const std::vector<Benchmark> five{{"a"}, {"b"}, {"c"}, {"d"}, {"e"}};

TEST_F(CompareVerb, FailsWhereAskedAboutWhatIsLeftOpen) {
  for (const std::size_t count : {2U, 3U}) {
    std::vector<Benchmark> before(five.begin(), five.begin() + static_cast<std::ptrdiff_t>(count)),
        after = before;
    after[0].nanoseconds = 115;
    EXPECT_EQ(compared(before, after).exit_code(), 0);
    EXPECT_THAT(text_, HasSubstr("none slower beyond doubt, 1 probably slower"));
    const Outcome asked = compared(before, after, {.undecided_fails = true});
    EXPECT_EQ(asked.word, Word::undecided);
    EXPECT_EQ(asked.exit_code(), 3);
    after[0].nanoseconds = 150;
    EXPECT_EQ(compared(before, after).word, Word::regression) << "no drift of few others goes so far";
  }
  std::vector<Benchmark> after = five;
  after[0].nanoseconds = 150;
  EXPECT_EQ(compared(five, after).word, Word::regression);
}

TEST_F(CompareVerb, ShowsSelectedRowsAndKeepsTheOthersAsWitnesses) {
  std::vector<Benchmark> after = five;
  after[0].nanoseconds = 130;
  EXPECT_EQ(compared(five, after, {.filter = "^a$"}).word, Word::regression)
      << "four others say it is no drift";
  EXPECT_THAT(text_, HasSubstr("1 of 1 trials is slower"));
  EXPECT_EQ(compared(five, after, {.filter = "-^a$"}).word, Word::passed);
  EXPECT_THAT(([&] { compared(five, after, {.filter = "nowhere"}); }),
              ThrowsMessage<Error>(HasSubstr("selects nothing")));
}

TEST_F(CompareVerb, TakesLimitsOfSingleTrialsFromAFile) {
  std::vector<Benchmark> after = five;
  after[0].nanoseconds = 130;
  const auto file = scratch_.path() / "limits.json";
  write_file(file, R"({"schema": "assay.limits/1", "limits": [{"filter": "^a$", "limit": 1.5}]})");
  EXPECT_EQ(compared(five, after, {.limits = file}).word, Word::passed);
  write_file(file, R"({"schema": "assay.limits/1", "limits": [{"filter": "^z$", "limit": 1.5}]})");
  EXPECT_THAT(([&] { compared(five, after, {.limits = file}); }),
              ThrowsMessage<Error>(AllOf(HasSubstr("'^z$'"), HasSubstr("limits.json"))));
}

TEST_F(CompareVerb, NamesFileAndKeyOfALimitThatIsNone) {
  const auto file = scratch_.path() / "limits.json";
  write_file(file, R"({"schema": "assay.limits/1", "limits": [{"filter": "a", "limit": 1.5},
    {"filter": "BM_[", "limit": 1.5}]})");
  EXPECT_THAT(([&] { compared(five, five, {.limits = file}); }),
              ThrowsMessage<Error>(HasSubstr("limits.json: limits[1].filter 'BM_[': is not a regular")));
  write_file(file, R"({"schema": "assay.limits/1", "limits": [{"filter": "none", "limit": 1.5}]})");
  EXPECT_THAT(([&] { compared(five, five, {.limits = file}); }),
              ThrowsMessage<Error>(AllOf(HasSubstr("limits[0].filter 'none': selects nothing in either file"),
                                         HasSubstr("names there look like a"), Not(HasSubstr("gemm")))));
}

TEST_F(CompareVerb, KeepsTheLimitOfATrialThatIsGone) {
  const auto file = scratch_.path() / "limits.json";
  write_file(file, R"({"schema": "assay.limits/1", "limits": [{"filter": "^a$", "limit": 1.5}]})");
  const std::vector<Benchmark> after(five.begin() + 1, five.end());
  EXPECT_EQ(compared(five, after, {.limits = file}).word, Word::passed);
  EXPECT_THAT(text_, HasSubstr("1 gone"));
}

TEST_F(CompareVerb, CountsWhatIsSkippedInOneFileAlone) {
  std::string skipped = file_of(five);
  const std::string report = R"("skipped": true, "skip_message": "no data", )", name = R"("name": "a")";
  for (std::size_t at = skipped.find(name); at != std::string::npos;
       at = skipped.find(name, at + report.size() + name.size()))
    skipped.insert(at, report);
  EXPECT_EQ(compared(file_of(five), skipped).word, Word::passed);
  EXPECT_THAT(text_, AllOf(HasSubstr("1 not comparable"), HasSubstr("no data")));
  EXPECT_EQ(compared(file_of(five), skipped, {.undecided_fails = true}).exit_code(), 3);
  EXPECT_EQ(compared(file_of(five), skipped, {.filter = "^a$"}).word, Word::not_comparable);
  EXPECT_EQ(compared(skipped, file_of(five), {.undecided_fails = true}).exit_code(), 3);
  EXPECT_EQ(compared(skipped, skipped, {.undecided_fails = true}).word, Word::passed) << "as it was before";
}

TEST_F(CompareVerb, SaysWhatWasComparedAndWhatElseMoved) {
  std::vector<Benchmark> after = five;
  after[1].processor = 200;
  after[2].bytes = 128;
  EXPECT_EQ(compared(five, after).word, Word::passed);
  EXPECT_THAT(text_, HasSubstr("compared: wall time; not compared: max_bytes_used (2.00 times in c)"));
  EXPECT_THAT(text_, HasSubstr("processor\n  time (2.00 times in b)"));
  EXPECT_EQ(compared(five, five).word, Word::passed);
  EXPECT_THAT(text_, AllOf(HasSubstr("max_bytes_used, processor time"), Not(HasSubstr("times in"))));
  EXPECT_EQ(compared(five, after, {.filter = "[^bc]$"}).word, Word::passed);
  EXPECT_THAT(text_, Not(HasSubstr("times in"))) << "of trials that are not shown";
}

TEST_F(CompareVerb, NamesCountersThatOneFileHasOrThatWereZero) {
  const auto file = [](const std::string& counters) {
    return R"({"context": {}, "benchmarks": [{"name": "a", "real_time": 5, )" + counters + "}]}";
  };
  compared(file(R"("hits": 3, "zero": 0, "same": 0)"), file(R"("misses": 4, "zero": 9e9, "same": 0)"));
  EXPECT_THAT(text_, AllOf(HasSubstr("hits (3.00 before, none after in a)"),
                           HasSubstr("(none before, 4.00 after in a)"), HasSubstr("same,"),
                           HasSubstr("zero (0 before, 9,000,000,000 after in\n  a)")));
}

TEST_F(CompareVerb, ShowsTheRatioOfASingleLaunchAndItsClock) {
  const auto file = [](const std::string& seconds) {
    return R"({"benchmarks": [{"name": "copy", "states": [{"name": "s", "summaries": [
      {"tag": "nv/cold/time/gpu/mean", "data": [{"name": "value", "value": ")" +
           seconds + R"("}]}]}]}]})";
  };
  EXPECT_EQ(compared(file("0.001"), file("0.010")).word, Word::undecided);
  EXPECT_THAT(text_, AllOf(HasSubstr("undecided 10.00  1 launch"), HasSubstr("compared: GPU time")));
  std::size_t widest = 0, column = 0;
  for (const char c : text_) widest = std::max(widest, column = c == '\n' ? 0 : column + 1);
  EXPECT_LE(widest, 80U) << text_;
}

}  // namespace
}  // namespace assay
