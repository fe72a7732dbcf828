#include "assay/compare.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Comparison mixed_comparison() {
  const auto row = [](const std::string& key, Standing standing, double ratio) {
    return ComparedRow{.key = key,
                       .standing = standing,
                       .ratio = {ratio * 0.97, ratio, ratio * 1.03, 0.95},
                       .limit = 1.05,
                       .why = "because of " + key};
  };
  Comparison out{.differences = {"kernel: 6.1 -> 6.2"}, .machine_moved = 1.2};
  out.rows = {
      row("gemm/packed/m=1#1", Standing::same, 1),
      row("gemm/simd/m=1#1", Standing::slower, 1.09),
      row("gemm/tiled/m=1#1", Standing::slower, 1.5),
      row("adamw/fused/n=1#1", Standing::faster, 0.9),
      row("adamw/`x`|<b>@me #12 https://e.g/m=1#1", Standing::undecided, 1.01),
      {.key = "a_rather_long_operation/with_a_long_variant/n=1,c=2,h=3,w=4,kernel=5,stride=6,pad=7#16",
       .standing = Standing::gone,
       .why = "was there"}};
  return out;
}

Results times() {
  Results out;
  out.trials = {{.key = "gemm/simd/m=1#1", .launches = {{{.seconds = 1.2345e-3}}}}};
  return out;
}

TEST(InWords, SaysTheDirectionAndNeverASign) {
  const auto comparison = mixed_comparison();
  EXPECT_EQ(in_words(comparison.rows[0]), "same [0.97, 1.03]");
  EXPECT_EQ(in_words(comparison.rows[1]), "1.09x slower [1.06, 1.12]");
  EXPECT_EQ(in_words(comparison.rows[3]), "1.11x faster [1.08, 1.15]");
  EXPECT_EQ(in_words(comparison.rows[5]), "gone");
}

TEST(ComparisonText, SaysWhichOfItsFiguresContradictEachOther) {
  Comparison comparison = mixed_comparison();
  EXPECT_THAT(comparison_text(comparison, times(), times()), Not(HasSubstr("WRONG")));
  comparison.rows[1].ratio = {0.8, 0.9, 1, 0.95};
  EXPECT_THAT(comparison_text(comparison, times(), times()),
              HasSubstr("WRONG times slower: verdicts[1].standing: slower contradicts 0.900"));
  EXPECT_THAT(comparison_markdown(comparison, times(), times()), HasSubstr("WRONG times slower"));
}

TEST(ComparisonText, FitsInEightyColumnsWhereKeysAllow) {
  const std::string text = comparison_text(mixed_comparison(), times(), times());
  EXPECT_THAT(text, StartsWith("2 of 6 trials are slower than their limit"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto columns = std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; });
    EXPECT_TRUE(columns <= 80 || line.find("a_rather_long_operation") != std::string::npos) << line;
  }
  EXPECT_THAT(text, HasSubstr("1.50x slower [1.46, 1.54]"));
}

TEST(ComparisonText, EndsWithWhatMattersMost) {
  const std::string text = comparison_text(mixed_comparison(), times(), times());
  std::vector<std::size_t> places;
  for (const char* row :
       {"= gemm/packed", "− a_rather_long", "▲ adamw/fused", "? adamw/`x`", "✗ gemm/simd", "✗ gemm/tiled"})
    places.push_back(text.find(row));
  EXPECT_TRUE(std::ranges::is_sorted(places)) << text;
  EXPECT_NE(places.back(), std::string::npos) << text;
  EXPECT_LT(places.back(), text.size());
  EXPECT_THAT(text, ::testing::EndsWith("1.50x slower [1.46, 1.54]  limit 1.05\n"));
}

FigureChange height(double before, double after) {
  const auto bytes = [](double value) {
    return Figure{.name = "height", .value = value, .unit = "bytes", .better = Figure::Better::lower};
  };
  return {bytes(before), bytes(after)};
}

TEST(ComparisonText, ListsAWorseFigureAmongWhatIsSlower) {
  Comparison comparison = mixed_comparison();
  comparison.rows[0].figures = {height(1234, 1300)};
  comparison.rows[3].figures = {height(1234, 1200)};
  const std::string text = comparison_text(comparison, times(), times());
  EXPECT_THAT(text, HasSubstr("; 1 figure worse, 1 better\n"));
  EXPECT_THAT(text, HasSubstr("\n    height 1,234 → 1,200 bytes (2.8 % less)\n"));
  const std::size_t row = text.find("✗ gemm/packed/m=1#1");
  ASSERT_NE(row, std::string::npos) << text;
  EXPECT_GT(row, text.find("? adamw/"));
  EXPECT_THAT(text.substr(row),
              HasSubstr("same [0.97, 1.03]  limit 1.05\n    height 1,234 → 1,300 bytes (5.3 % "
                        "more)\n"));
  const std::string markdown = comparison_markdown(comparison, times(), times());
  EXPECT_THAT(markdown, HasSubstr("* ✗ `gemm/packed/m=1#1`: height 1,234 → 1,300 bytes (5.3 % more)\n"));
  EXPECT_THAT(markdown, HasSubstr("| 1.11x faster; height 1,234 → 1,200 bytes (2.8 % less) |"));
}

TEST(ComparisonText, KeepsKeysWholeSoThatTheyCanBeCopied) {
  const std::string key = "operation/variant/" + std::string(200, 'x') + "#1";
  Comparison one;
  one.rows = {{.key = key, .standing = Standing::undecided}};
  EXPECT_THAT(comparison_text(one, {}, {}), HasSubstr("? " + key + "\n    undecided\n"));
}

TEST(ComparisonText, BlamesNoMachineWhereNothingIsNaive) {
  Comparison foreign = mixed_comparison();
  foreign.no_naive = true;
  for (const std::string& text :
       {comparison_text(foreign, times(), times()), comparison_markdown(foreign, times(), times())}) {
    EXPECT_THAT(text, HasSubstr("All trials took 1.20 times as long as before (median)."));
    EXPECT_THAT(text, Not(HasSubstr("naive variants")));
  }
}

TEST(ComparisonText, ShowsTheTimeThatTheVerdictRestsOn) {
  Comparison comparison = mixed_comparison();
  Results after = times();
  after.again = after.trials;
  after.again[0].launches = {{{.seconds = 5.6e-3}}};
  EXPECT_THAT(comparison_text(comparison, times(), after), Not(HasSubstr("5.60 ms")));
  comparison.rows[1].afresh = true;
  EXPECT_THAT(comparison_text(comparison, times(), after), HasSubstr("1.23 ms   5.60 ms  1.09x slower"));
}

TEST(ComparisonTables, SayEachReasonForNoVerdictOnce) {
  Comparison comparison;
  const auto row = [](const std::string& key, Standing standing, const std::string& why) {
    return ComparedRow{.key = key, .standing = standing, .why = why};
  };
  comparison.rows = {
      row("a", Standing::undecided, "the interval reaches across the limit: time after / before 1.01"),
      row("b", Standing::undecided, "the interval reaches across the limit: time after / before 1.02"),
      row("c", Standing::skipped, "did not run here: needs AVX-512"),
      row("d", Standing::not_comparable, "was not measured"),
      row("e", Standing::same, "within its limit: time after / before 1.00")};
  const std::string text = comparison_text(comparison, {}, {});
  EXPECT_THAT(text, HasSubstr("\nundecided, 2 trials: the interval reaches across the limit\n"));
  EXPECT_THAT(text, HasSubstr("\nskipped, c: did not run here: needs AVX-512\n"));
  EXPECT_THAT(text, HasSubstr("\nnot comparable, d: was not measured\n"));
  EXPECT_THAT(text, Not(HasSubstr("within")));
  const std::string markdown = comparison_markdown(comparison, {}, {});
  EXPECT_THAT(markdown, HasSubstr("\n* 2 trials: the interval reaches across the limit\n"));
  EXPECT_THAT(markdown, HasSubstr("\n* `c`: did not run here: needs AVX-512\n"));
  EXPECT_THAT(markdown, HasSubstr("\n* `d`: was not measured\n"));
}

TEST(ComparisonText, KeepsColumnsStraightWhateverTheUnit) {
  Results micro = times();
  micro.trials[0].launches = {{{.seconds = 412e-6}}};
  EXPECT_THAT(comparison_text(mixed_comparison(), times(), micro),
              HasSubstr("   1.23 ms    412 µs  1.09x slower"));
  EXPECT_THAT(comparison_text(mixed_comparison(), micro, times()),
              HasSubstr("    412 µs   1.23 ms  1.09x slower"));
}

TEST(ComparisonText, SaysWhenNothingCouldBeCompared) {
  Comparison nothing;
  nothing.rows = {{.key = "a", .standing = Standing::added}};
  EXPECT_THAT(comparison_text(nothing, {}, {}), StartsWith("none of 1 trials could be compared; 1 added"));
  EXPECT_THAT(comparison_text({}, {}, {}), StartsWith("Nothing was compared"));
}

TEST(ComparisonTables, WithholdTimesOfMixedMachinesAndSayWhy) {
  Results mixed = times();
  mixed.mixed_machines = "the shards ran on machines that differ in cores";
  for (const std::string& text : {comparison_markdown(mixed_comparison(), mixed, times()),
                                  comparison_text(mixed_comparison(), mixed, times())}) {
    EXPECT_THAT(text,
                HasSubstr("Times before are withheld: the shards ran on machines that differ in cores."));
    EXPECT_THAT(text, HasSubstr("1.23 ms")) << "of the other side";
    EXPECT_THAT(text, Not(HasSubstr("Times after")));
  }
  EXPECT_THAT(comparison_text(mixed_comparison(), mixed, mixed), Not(HasSubstr(" ms")));
}

}  // namespace
}  // namespace assay
