#include "bench/report/content.hpp"

#include "bench/compare/words.hpp"
#include "bench/report/hand_made_test.hpp"
#include "core/json/json.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Page page_of(const Results& results) {
  return report_page(make_report(results, std::nullopt, std::nullopt, outcome_of(results)));
}

Json data_of_page(const std::string& html) {
  const std::string begin = "id=\"assay-report\">";
  const std::size_t from = html.find(begin) + begin.size();
  return Json::parse(html.substr(from, html.find("</script>", from) - from));
}

bool has_plot(const Page& page, const std::string& name) {
  return std::ranges::any_of(page.plots, [&](const auto& one) { return one.first == name; });
}

TEST(ReportPage, HasOutcomePicturesAndData) {
  const Page page = page_of(hand_made::network());
  EXPECT_THAT(page.html, AllOf(HasSubstr("<h1 id=\"outcome\">MEASURED: "), HasSubstr("5.14 GFLOP/s"),
                               HasSubstr("How to reproduce")));
  for (const char* name : {"speedups_plot", "roofline_plot", "epochs_plot", "samples_1"}) {
    EXPECT_TRUE(has_plot(page, name)) << name;
  }
  const Json data = data_of_page(page.html);
  EXPECT_EQ(data["schema"].text(), "assay.report/1");
  EXPECT_EQ(data["times"][0]["samples"].size(), 3U) << "one list of samples per launch";
}

TEST(ReportPage, DrawsSizesWhereThereAreSeveral) {
  Results results = hand_made::network();
  for (const auto& [problem, bytes] : {std::pair("n=1", 4.0), std::pair("n=8", 32.0)}) {
    results.trials.push_back(hand_made::trial("scale", "naive", problem, {10, 10, 10}));
    results.trials.push_back(hand_made::trial("scale", "simd", problem, {bytes, bytes, bytes}));
    for (std::size_t i = results.trials.size() - 2; i < results.trials.size(); ++i) {
      results.trials[i].cost = Cost{bytes, bytes, 0};
    }
  }
  const Page page = page_of(results);  // the first row of break-even sizes is elementwise_add, of one size
  EXPECT_TRUE(has_plot(page, "sizes_1"));
  EXPECT_THAT(page.html, HasSubstr("from no size on"));
  EXPECT_EQ(data_of_page(page.html)["break_even"][1]["points"].size(), 2U);
}

TEST(ReportPage, LetsNoNameBecomeMarkupNorEndItsData) {
  const std::string hostile = "</script><script>alert(1)</script><img src='x'>\n\x01\xff";
  Results results = hand_made::network();
  results.suite = results.about = results.commit = results.command = hostile;
  results.machine.facts = {{hostile, hostile, true}};
  for (TrialResult& trial : results.trials) {
    trial.key = trial.key + hostile;
    trial.problem += hostile;
    trial.note = trial.remark = hostile;
    trial.agreement.figures = {{.name = hostile, .value = 1, .unit = hostile}};
  }
  results.trials[1].agreement = {.agrees = false, .detail = hostile};
  const Page page = page_of(results);
  EXPECT_THAT(page.html, AllOf(Not(HasSubstr("<script>alert")), Not(HasSubstr("<img")),
                               Not(HasSubstr("\x01")), Not(HasSubstr("\xff"))));
  EXPECT_THAT(data_of_page(page.html)["suite"].text(), HasSubstr("</script>"));
}

TEST(ReportPage, ShowsNoTextOfAnyLength) {
  Results results = hand_made::network();
  results.about = results.trials[0].note = std::string(10'000, 'x');
  const Page page = page_of(results);
  EXPECT_LT(page.html.find("</main>"), page.html.find(std::string(1000, 'x')));
  EXPECT_EQ(data_of_page(page.html)["about"].text(), results.about);
}

TEST(ReportPage, OfNoTrialsSaysSo) {
  EXPECT_THAT(page_of({.suite = "empty"}).html, HasSubstr("No time was measured."));
}

TEST(ReportPage, ShowsNoSecondsOfMixedMachines) {
  Results results = hand_made::network();
  results.mixed_machines = "two machines";
  const Page page = page_of(results);
  EXPECT_FALSE(has_plot(page, "roofline_plot"));
  EXPECT_FALSE(has_plot(page, "samples_1"));
  EXPECT_TRUE(has_plot(page, "speedups_plot"));
}

}  // namespace
}  // namespace assay
