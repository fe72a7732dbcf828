#include "bench/compare/pull_request.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <sstream>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

ComparedRow verdict(const std::string& key, Standing standing, double ratio = 1) {
  return {.key = key,
          .standing = standing,
          .ratio = {ratio * 0.98, ratio, ratio * 1.02, 0.95},
          .limit = 1.05,
          .why = "because of " + key,
          .launches = 8};
}

/// Three trials became slower by a change of one file, one for a reason that nobody knows.
PullRequest one_cause() {
  PullRequest out{.outcome = "REGRESSION: 4 of 7 trials are slower than the base, 1 undecided",
                  .seen = {"could have seen: 2 % in 3, 3 % in 5, 5 % in 7 of 7 trials measured"},
                  .notes = {"base main, head this program: on one machine, in turns, in 92 s"},
                  .command = "assay gate --base main --suite suites/smoke.json"};
  out.comparison.rows = {verdict("gemm/naive/m=256,n=256,k=256#1", Standing::same),
                         verdict("gemm/simd@avx2/m=64,n=64,k=64#1", Standing::slower, 1.08),
                         verdict("gemm/simd@avx2/m=256,n=256,k=256#1", Standing::slower, 1.1),
                         verdict("gemm/threaded/m=256,n=256,k=256#2", Standing::slower, 1.25),
                         verdict("adamw/fused/n=1000#1", Standing::slower, 1.09),
                         verdict("im2col/rows/n=1,c=3#1", Standing::faster, 0.9),
                         verdict("layernorm/simd@avx2/rows=8,cols=768#1", Standing::undecided, 1.03)};
  out.trials.resize(7);
  for (const std::size_t i : {1U, 2U, 3U}) {
    out.trials[i] = {.before = 1e-3,
                     .after = 1.1e-3,
                     .cause = "kernels/gemm/simd.cpp",
                     .pointers = {"1 function of kernels/gemm/simd.cpp differs",
                                  "  product(float): 12 of 340 bytes differ"},
                     .epochs = {{"lenet", {0.5, 1, 1.5, 0.95}}}};
  }
  return out;
}

std::string golden_page() {
  std::ifstream stream(std::string(ASSAY_GOLDEN_DIR) + "/../compare/golden_pull_request.md");
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(PullRequest, SaysOnceThatCausesOfOtherProgramsAreNotKnown) {
  PullRequest change = one_cause();
  change.comparison.rows = {verdict("BM_UFlat/5", Standing::slower, 1.2),
                            verdict("BM_UFlat/6", Standing::slower, 1.3)};
  change.trials.assign(2, {});
  EXPECT_THAT(pull_request_markdown(change),
              AllOf(HasSubstr("| not known | 2 trials | 1.20 to 1.30x |"), Not(HasSubstr("not known: "))));
}

TEST(PullRequest, IsTheGoldenOne) { EXPECT_EQ(pull_request_markdown(one_cause()), golden_page()); }

TEST(PullRequest, HasARowForEachCauseAndNotForEachTrial) {
  const std::string text = pull_request_markdown(one_cause());
  EXPECT_THAT(text, StartsWith("### REGRESSION: 4 of 7 trials are slower than the base, 1 undecided\n\n"
                               "4 slower, 1 faster, 1 undecided, 1 same\n"));
  EXPECT_THAT(text,
              HasSubstr("| `kernels/gemm/simd.cpp` | 3 trials | 1.08 to 1.25x | 1.25x slower [1.23, 1.27] in "
                        "`gemm/threaded/m=256,n=256,k=256#2` |"));
  EXPECT_THAT(text, HasSubstr("| not known: `adamw/fused` | 1 trial | 1.09x | "));
}

TEST(PullRequest, AddsUpEpochsPerVariant) {
  const std::string text = pull_request_markdown(one_cause());
  EXPECT_THAT(text, HasSubstr("| `lenet` | `gemm/simd@avx2#1` | 2.00 s [1.00, 3.00] longer |"));
  EXPECT_THAT(text, HasSubstr("| `lenet` | `gemm/threaded#2` | 1.00 s [0.500, 1.50] longer |"));
}

TEST(PullRequest, RepeatsAllWithOneCommand) {
  EXPECT_THAT(pull_request_markdown(one_cause()),
              HasSubstr("```sh\nassay gate --base main --suite suites/smoke.json -k "
                        "'^(adamw/fused/n=1000#1|gemm/simd@avx2/m=256,n=256,k=256#1|"));
  PullRequest many;
  many.command = "assay gate";
  for (int i = 0; i < 100; ++i) {
    many.comparison.rows.push_back(verdict(fmt::format("gemm/simd@avx2/m={}#1", i), Standing::slower, 1.2));
  }
  many.trials.resize(100);
  EXPECT_THAT(pull_request_markdown(many), HasSubstr("\nand 84 more, in the tables below\n```"));
  EXPECT_THAT(pull_request_markdown(many), HasSubstr("```sh\nassay gate -k ^gemm/simd\n```"));
}

TEST(PullRequest, ListsNoTrialsOfWhichNothingWasMeasured) {
  PullRequest page;
  for (int i = 0; i < 200; ++i) {
    page.comparison.rows.push_back({.key = fmt::format("gemm/a/m={}#1", i),
                                    .standing = Standing::same,
                                    .ratio = {1, 1, 1, 1},
                                    .why = "identical machine code"});
  }
  page.trials.resize(200);
  const std::string text = pull_request_markdown(page);
  EXPECT_THAT(text, HasSubstr("<summary>200 same</summary>\n\n* 200 trials: identical machine code\n"));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("| = |")), Not(HasSubstr("not listed"))));
}

TEST(PullRequest, CountsTheLinesThatItDoesNotShow) {
  PullRequest page = one_cause();
  page.remarks = page.seen = page.notes = page.comparison.differences =
      std::vector<std::string>(11, "a line");
  for (int suite = 0; suite < 9; ++suite) {
    page.trials[1].epochs.push_back({fmt::format("suite_{}", suite), {1, 2, 3, 0.95}});
  }
  const std::string text = pull_request_markdown(page);
  EXPECT_THAT(text, HasSubstr("\n\nand 5 more\n"));
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find("and 3 more\n", at)) != std::string::npos; ++at) ++found;
  EXPECT_EQ(found, 4U);
}

TEST(PullRequest, TellsFaultsBeforeWhatIsSlower) {
  PullRequest change = one_cause();
  change.comparison.rows[0].standing = Standing::wrong;
  const std::string text = pull_request_markdown(change);
  EXPECT_LT(text.find("* ‼ `gemm/naive/m=256,n=256,k=256#1`: because of"),
            text.find("kernels/gemm/simd.cpp"));
}

TEST(PullRequest, OfManyTrialsDropsTheLastAndCountsThem) {
  PullRequest change;
  change.kept = "gate.json has them";
  for (int i = 0; i < 10'000; ++i) {
    const Standing standing = i % 100 == 0 ? Standing::slower
                              : i % 3 == 0 ? Standing::undecided
                                           : Standing::same;
    change.comparison.rows.push_back(
        verdict(fmt::format("gemm/simd@avx2/m={},n=256,k=256#1", i), standing, 1 + i / 1e5));
  }
  change.trials.resize(10'000);
  const std::string text = pull_request_markdown(change);
  EXPECT_LE(text.size(), most_comment_bytes);
  EXPECT_GT(text.size(), most_comment_bytes / 2) << "there was room for more";
  const auto listed = [&] {
    std::size_t rows = 0;
    std::istringstream lines(text);
    for (std::string one; std::getline(lines, one);) {
      for (const char* mark : {"| ✗ ", "| ? ", "| = "}) rows += one.starts_with(mark) ? 1U : 0U;
    }
    return rows;
  }();
  EXPECT_THAT(text, HasSubstr(fmt::format("{},{:03} of 10,000 trials are not listed",
                                          (10'000 - listed) / 1000, (10'000 - listed) % 1000)));
  EXPECT_THAT(text, EndsWith("since a page is limited in size: gate.json has them.\n"));
  EXPECT_THAT(text, HasSubstr("| ✗ | `gemm/simd@avx2/m=100,")) << "none that is slower was dropped";
  EXPECT_THAT(text, AllOf(HasSubstr("<summary>100 slower</summary>"), HasSubstr("same</summary>")));
}

/// Names and texts as an attacker, or an accident, writes them.
PullRequest hostile() {
  const std::vector<std::string> names{"a|b",
                                       "`c``d```",
                                       "<script>alert(1)</script>",
                                       "@mention #12 https://a.org",
                                       "e\nf\r\n| g |\n```\n</details>",
                                       "\x1b[31mred\x07",
                                       std::string(10'000, 'h'),
                                       "\xff\xfe i",
                                       "\u202egnp",
                                       "{{outcome}}{{{x}}}",
                                       "<!-- assay -->",
                                       ""};
  PullRequest out{.outcome = "REGRESSION: @all <b>`x`|\n# y", .command = "assay 'a`b```' <x>"};
  for (const std::string& one : names) {
    for (const Standing standing :
         {Standing::slower, Standing::wrong, Standing::undecided, Standing::skipped, Standing::gone}) {
      out.comparison.rows.push_back(verdict(one, standing, 1.2));
      out.trials.push_back({.cause = one, .pointers = {one}, .epochs = {{one, {1, 2, 3, 0.9}}}});
    }
    out.remarks.push_back(one);
    out.seen.push_back(one);
    out.notes.push_back(one);
    out.comparison.differences.push_back(one);
  }
  out.kept = names[2];
  return out;
}

/// Text without code spans of any number of backticks.
std::string without_code(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t run = 0;
    while (at + run < text.size() && text[at + run] == '`') ++run;
    if (run == 0 || (at > 0 && text[at - 1] == '\\')) {
      out += text[at++];
      continue;
    }
    std::size_t end = at + run;
    while (true) {
      end = text.find('`', end);
      if (end == std::string::npos) return out + text.substr(at);
      std::size_t closing = 0;
      while (end + closing < text.size() && text[end + closing] == '`') ++closing;
      end += closing;
      if (closing == run) break;
    }
    at = end;
  }
  return out;
}

TEST(PullRequest, LetsNoTextFromOutsideBecomeMarkup) {
  const std::string page = pull_request_markdown(hostile()), text = without_code(page);
  EXPECT_LE(page.size(), most_comment_bytes);
  for (const char* markup : {"<script", "<b>", "@mention", "@all", " #12", "https://", "<!--", "\x1b", "\x07",
                             "\xff", "\u202e", "\n# y", "\r"}) {
    EXPECT_THAT(text, Not(HasSubstr(markup))) << markup;
  }
  const auto count = [&](const std::string& what) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  EXPECT_EQ(count("<details>"), count("</details>"));
  std::istringstream lines(page);
  std::size_t rows = 0;
  for (std::string one; std::getline(lines, one);) {
    if (!one.starts_with("| ✗ ") && !one.starts_with("| ? ")) continue;
    ++rows;
    std::size_t bars = 0;
    for (std::size_t i = 0; i < one.size(); ++i)
      bars += one[i] == '|' && (i == 0 || one[i - 1] != '\\') ? 1U : 0U;
    EXPECT_EQ(bars, 8U) << one;
  }
  EXPECT_EQ(rows, 24U);
}

TEST(PullRequest, KeepsTheOutcomeWhereTextsFillThePage) {
  PullRequest change = hostile();
  change.kept = "gate.json has them";
  for (std::string& one : change.remarks) one = std::string(10'000, '&');
  for (std::string& one : change.seen) one = std::string(10'000, '&');
  const std::string text = pull_request_markdown(change, 4000);
  EXPECT_LE(text.size(), 4000U);
  EXPECT_THAT(text, StartsWith("### REGRESSION: "));
  EXPECT_THAT(text, HasSubstr("gate.json has them"));
  EXPECT_THAT(pull_request_markdown(change, 10), IsEmpty());
}

TEST(PullRequest, OfNothingSaysSo) {
  EXPECT_THAT(pull_request_markdown({}), StartsWith("### Nothing was compared: there are no trials\n"));
}

TEST(PullRequest, ShowsTimesAndWhatTheMachineDid) {
  Comparison comparison{.rows = {verdict("gemm/simd/m=1#1", Standing::slower, 1.09)},
                        .differences = {"kernel: 6.1 -> 6.2"},
                        .machine_moved = 1.2,
                        .objections = {"the acceptance of a/b#1 ran out on 2026-10-20"}};
  Results times;
  times.trials = {{.key = "gemm/simd/m=1#1", .launches = {{{.seconds = 1.2345e-3}}}}};
  const std::string text = comparison_markdown(comparison, times, times);
  EXPECT_THAT(text, HasSubstr("| 1.23 ms | 1.23 ms | 1.09x slower | 1.07 to 1.11 (95 %) | 1.05 |"));
  EXPECT_THAT(text, AllOf(HasSubstr("took 1.20 times as long"), HasSubstr("* kernel: 6.1 -> 6.2\n"),
                          HasSubstr("\n* the acceptance of a/b\\#\u200b1 ran out")));
}

}  // namespace
}  // namespace assay
