#include "core/markup/plot.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>
#include <string>
#include <vector>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

/// The groups of `pattern` at each place where it matches.
std::vector<std::smatch> matches(const Plot& plot, const char* pattern) {
  const std::regex expression(pattern);
  return {std::sregex_iterator(plot.shapes.begin(), plot.shapes.end(), expression), {}};
}

struct Mark {
  double x, y;
  std::string shape;
};
std::vector<Mark> marks_of(const Plot& plot) {
  std::vector<Mark> out;
  for (const auto& one :
       matches(plot, R"re(<svg x="([^"]*)%" y="([^"]*)" overflow="visible"><path d="([^"]*)")re"))
    out.push_back({std::stod(one[1]), std::stod(one[2]), one[3]});
  return out;
}

struct Line {
  double x1, y1, x2, y2;
  std::string stroke;
};
std::vector<Line> lines_of(const Plot& plot) {
  std::vector<Line> out;
  for (const auto& one :
       matches(plot, R"re(<line x1="([^"]*)%" y1="([^"]*)" x2="([^"]*)%" y2="([^"]*)" stroke="([^"]*)")re"))
    out.push_back({std::stod(one[1]), std::stod(one[2]), std::stod(one[3]), std::stod(one[4]), one[5]});
  return out;
}

std::vector<std::string> words_of(const Plot& plot) {
  std::vector<std::string> out;
  for (const auto& one : matches(plot, "<text [^>]*>([^<]*)</text>")) out.push_back(one[1]);
  return out;
}

TEST(ForestPlot, PutsSlowerToTheRightOfOneAndFasterToTheLeft) {
  const Plot plot = forest_plot("ratios", "axis",
                                {{"slow", "slow: 1.2x", {1.1, 1.2, 1.3}, Look::worse},
                                 {"same", "same: 1x", {0.99, 1, 1.01}, Look::equal},
                                 {"fast", "fast: 0.8x", {0.7, 0.8, 0.9}, Look::better}},
                                PlotScale::ratios, {{1.05, "limit"}});
  const std::vector<Mark> marks = marks_of(plot);
  ASSERT_EQ(marks.size(), 3U);
  EXPECT_GT(marks[0].x, marks[1].x);
  EXPECT_GT(marks[1].x, marks[2].x);
  EXPECT_LT(marks[0].y, marks[1].y);
  EXPECT_NE(marks[0].shape, marks[2].shape) << "colour alone tells them apart";
}

// The scale ends 6 % beyond the largest value, so that 1 lies at 3 + 94 / 1.06 = 91.68 percent of the width.
TEST(ForestPlot, BeginsSecondsAtZero) {
  const Plot plot =
      forest_plot("epochs", "seconds", {{"one", "one", {0, 0.5, 1}, Look::first}}, PlotScale::seconds);
  EXPECT_NEAR(marks_of(plot).at(0).x, 47.34, 0.005);
  EXPECT_TRUE(std::ranges::any_of(lines_of(plot), [](const Line& line) {
    return std::abs(line.x1 - 3) < 0.005 && std::abs(line.x2 - 91.68) < 0.005;
  })) << "no line from the low to the high end of the interval";
}

TEST(ForestPlot, LeavesOutAndCountsWhatHasNoPlace) {
  const Plot plot = forest_plot("ratios", "axis",
                                {{"nan", "nan", {1, not_a_number, 1}, Look::equal},
                                 {"inf", "inf", {1, 1, infinite}, Look::equal},
                                 {"zero", "zero", {0, 0, 0}, Look::equal},
                                 {"good", "good", {1, 1, 1}, Look::equal}},
                                PlotScale::ratios);
  EXPECT_EQ(marks_of(plot).size(), 1U);
  EXPECT_EQ(plot.label, "ratios; 3 without a place left out");
  EXPECT_THAT(svg_file(plot), Not(HasSubstr("nan%")));
}

TEST(RooflinePlot, PutsARateAtTheRoofOnItAndALowerOneBelow) {
  const Plot plot = roofline_plot("roofline", {{"peak", 1e11, false}, {"L1", 1e10, true}},
                                  {{"at", 100, 1e11, Look::first}, {"below", 100, 1e9, Look::first}});
  const std::vector<Mark> marks = marks_of(plot);
  ASSERT_EQ(marks.size(), 2U);
  const bool on_a_line = std::ranges::any_of(lines_of(plot), [&](const Line& line) {
    return line.y1 == marks[0].y && line.y1 == line.y2 && line.stroke == "currentColor";
  });
  EXPECT_TRUE(on_a_line) << "the highest rate does not lie on the roof";
  EXPECT_GT(marks[1].y, marks[0].y);
}

TEST(StripPlot, DrawsEverySampleInRunOrder) {
  const Plot plot = strip_plot("samples", {{"before", {{}, {1, 2}, {3}}}, {"now", {{4, 5}, {not_a_number}}}},
                               PlotScale::seconds);
  const auto paths = matches(plot, R"re(<path d="([^"]*)" fill="none")re");
  ASSERT_EQ(paths.size(), 2U);
  const auto dots = [&](std::size_t side) { return std::ranges::count(paths[side][1].str(), 'M'); };
  EXPECT_EQ(dots(0), 3);
  EXPECT_EQ(dots(1), 2);
  EXPECT_THAT(plot.label, HasSubstr("1 without a place"));
}

TEST(SizesPlot, ShowsWhereEachSizeIsFasterSlowerOrOpen) {
  const Plot plot = sizes_plot(
      "sizes", {{"n=1", 4, {0.4, 0.5, 0.6}}, {"n=8", 32, {0.9, 1, 1.1}}, {"n=64", 256, {1.5, 2, 2.5}}});
  const std::vector<Mark> marks = marks_of(plot);
  ASSERT_EQ(marks.size(), 3U);
  EXPECT_NE(marks[0].shape, marks[1].shape);
  EXPECT_NE(marks[1].shape, marks[2].shape);
  EXPECT_GT(marks[0].y, marks[2].y);
}

TEST(Plots, OfNothingSayThatTheyAreEmpty) {
  EXPECT_EQ(marks_of(forest_plot("none", "axis", {}, PlotScale::ratios)).size(), 0U);
  EXPECT_THAT(svg_file(roofline_plot("none", {}, {})), HasSubstr("nothing to draw"));
  EXPECT_THAT(svg_file(strip_plot("none", {{"before", {}}}, PlotScale::seconds)), HasSubstr("no samples"));
  EXPECT_THAT(svg_file(sizes_plot("none", {})), HasSubstr("no sizes"));
}

TEST(SvgFile, LetsNoNameBecomeMarkup) {
  const std::string hostile = "</text><script>alert(1)</script>\"&\x01\xff";
  const std::string file = svg_file(forest_plot(
      hostile, hostile, {{hostile, hostile, {1, 1, 1}, Look::equal}}, PlotScale::ratios, {{1.05, hostile}}));
  EXPECT_THAT(file, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("\x01")), Not(HasSubstr("\xff")),
                          HasSubstr("&lt;script&gt;")));
}

TEST(Plot, WritesTicksAsReadersDoAndNotAsPowersOfTen) {
  const Plot large =
      forest_plot("ratios", "axis", {{.name = "a", .value = {0.9, 900, 12000}}}, PlotScale::ratios);
  EXPECT_THAT(words_of(large), ::testing::IsSupersetOf({"1x", "10x", "100x", "1,000x", "10,000x"}));
  const Plot rates = roofline_plot(
      "rates", {{.name = "roof", .rate = 1e12}},
      {{.flops_per_byte = 0.1, .flops_per_second = 1e9}, {.flops_per_byte = 20000, .flops_per_second = 1e9}});
  EXPECT_THAT(words_of(rates), ::testing::IsSupersetOf({"0.1", "1,000"}));
  for (const Plot& plot : {large, rates})
    EXPECT_THAT(words_of(plot), ::testing::Each(::testing::Not(HasSubstr("e+"))));
}

TEST(Plot, SaysHowManyItWasNotHanded) {
  const std::vector<PlottedInterval> one{{.name = "a", .value = {1, 1.1, 1.2}}};
  const Plot all = forest_plot("ratios", "axis", one, PlotScale::ratios),
             cut = forest_plot("ratios", "axis", one, PlotScale::ratios, {}, 1960);
  EXPECT_EQ(cut.label, "ratios; 1,960 more in the table alone");
  EXPECT_THAT(words_of(cut), ::testing::Contains("1,960 more in the table alone"));
  EXPECT_THAT(words_of(all), ::testing::Not(::testing::Contains(HasSubstr("more"))));
  EXPECT_GT(cut.height, all.height) << "it has a line of its own";
  const Plot rates = roofline_plot("rates", {}, {{.flops_per_byte = 1, .flops_per_second = 1e9}}, 3);
  EXPECT_THAT(words_of(rates), ::testing::Contains("3 more in the table alone"));
}

}  // namespace
}  // namespace assay
