// Committed reports match the program of today: to the letter where they are made of committed files, and in
// their headings where only a measurement makes them. ci/reports.sh makes the former again.
#include "app/verbs.hpp"
#include "assay/files.hpp"
#include "assay/report.hpp"
#include "bench/compare/words.hpp"
#include "bench/report/content.hpp"
#include "bench/tune/threshold.hpp"
#include "core/markup/plot.hpp"
#include "core/tune/turns.hpp"
#include "training/epoch/forecast.hpp"
#include "training/job/read_job.hpp"
#include "training/report/forecast_report.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace assay::committed_reports_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::filesystem::path tree = ASSAY_TREE;
const std::filesystem::path reports = tree / "reports";

std::vector<std::string> lines_of_file(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

/// Headings below the title that hold no value, outside of blocks of code.
std::vector<std::string> headings(const std::string& text) {
  std::vector<std::string> out;
  bool is_code = false;
  for (const std::string& line : lines_of_file(text)) {
    if (line.starts_with("```")) is_code = !is_code;
    if (!is_code && line.starts_with("## ") && line.find("{{") == std::string::npos) out.push_back(line);
  }
  return out;
}

/// Headings of a report that the template does not have, or not in this order. A template may have more: its
/// sections are left out where there is nothing to say.
std::vector<std::string> foreign_headings(const std::string& report, const std::string& form) {
  const std::vector<std::string> known = headings(form);
  std::vector<std::string> out;
  auto from = known.begin();
  for (const std::string& heading : headings(report)) {
    const auto found = std::find(from, known.end(), heading);
    if (found == known.end()) {
      out.push_back(heading);
    } else {
      from = found + 1;
    }
  }
  return out;
}

/// A template, with those that it takes in, or a document without data.
std::string form_of(const std::string& name) {
  if (name == "a forecast") {
    Forecast all;
    all.job.dataset = {.train = 1, .batch = 1};
    all.calibration.flags.emplace_back();
    all.what_if.emplace_back();
    all.left_out.emplace_back("nothing");
    all.scores.emplace_back().models.emplace_back();
    return to_markdown(all);
  }
  if (name == "a threshold") return doc::to_markdown(record_document(ThresholdRecord{}));
  if (name == "a tuning") {
    TuneRecord record;
    record.ruling.candidates.resize(2);
    return doc::to_markdown(record_document(record));
  }
  constexpr std::string_view opens = "{{> ", closes = "}}";
  std::string out = read_file(reports / "templates" / name);
  for (std::size_t at = out.find(opens); at != std::string::npos; at = out.find(opens, at)) {
    const std::size_t from = at + opens.size(), to = out.find(closes, from);
    out.replace(at, to + closes.size() - at, form_of(out.substr(from, to - from)));
  }
  return out;
}

/// Reports by the template that they are made with.
std::vector<std::pair<std::filesystem::path, std::string>> reports_with_templates() {
  std::vector<std::pair<std::filesystem::path, std::string>> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(reports)) {
    const std::filesystem::path& file = entry.path();
    if (file.extension() != ".md" || file.parent_path() == reports / "templates") continue;
    const std::string name = file.stem().string();
    const auto add = [&](const char* form) { out.emplace_back(file, form); };
    if (file.parent_path() == reports / "public") add("a forecast");
    if (name.starts_with("tune_")) add(name.starts_with("tune_threshold") ? "a threshold" : "a tuning");
  }
  std::ranges::sort(out);
  return out;
}

TEST(CommittedReports, OfClaimsAreMadeOfTheFilesBesideThem) {
  const std::filesystem::path evidence = reports / "amd_epyc_25_1_2c_avx2/claims";
  ClaimsOptions options{.claims = tree / "suites/claims.json",
                        .markdown = std::filesystem::path(::testing::TempDir()) / "claims.md"};
  for (const char* name :
       {"published.json", "training_loop.json", "lenet_mnist.json", "known_bad.json", "epochs.jsonl"})
    options.evidence.push_back(evidence / name);
  options.evidence.push_back(tree / "harness/training/job/data/adr_003.json");
  ::testing::internal::CaptureStdout();
  const int code = claims_verb(options).exit_code();
  ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(code, 0);
  EXPECT_EQ(read_file(options.markdown), read_file(reports / "claims.md")) << "run ci/reports.sh";
}

TEST(CommittedReports, OfThePublicRecordAreMadeOfItsFigures) {
  const Job job =
      read_phases_json(read_file(tree / "harness/training/job/data/adr_003.json"), "adr_003.json");
  const std::vector<std::string> page = lines_of_file(read_file(reports / "public/adr_003.md"));
  const std::vector<std::string> made = lines_of_file(to_markdown(forecast(job)));
  const auto outcome = std::ranges::find_if(page, [](const auto& line) { return line.starts_with("**"); });
  const auto begin = std::ranges::find_if(made, [](const auto& line) { return line.starts_with("**"); });
  EXPECT_EQ(std::vector(outcome, page.end()), std::vector(begin, made.end())) << "run ci/reports.sh";
}

TEST(CommittedReports, OfTheRooflineAreDrawnFromTheResultsBesideThem) {
  const std::filesystem::path folder = reports / "amd_epyc_25_1_2c_avx2";
  const std::filesystem::path file = folder / "claims/lenet_mnist.json";
  const Results results = results_from_json(read_file(file), file.string());
  const Report report = make_report(results, std::nullopt, std::nullopt, outcome_of(results));
  EXPECT_TRUE(to_markdown(report) == read_file(folder / "lenet_mnist.md")) << "run ci/reports.sh";
  const Page page = report_page(report);
  const auto plot = std::ranges::find(page.plots, "roofline_plot", [](const auto& one) { return one.first; });
  ASSERT_NE(plot, page.plots.end());
  EXPECT_TRUE(svg_file(plot->second) == read_file(folder / "lenet_mnist_roofline.svg"))
      << "run ci/reports.sh";
}

/// Leaves out the attempts that people describe below the measured part where a bar was missed.
std::string without_what_people_wrote(const std::string& report) {
  return report.substr(0, report.find("\n## Short of the bar\n"));
}

TEST(CommittedReports, HaveTheFormOfTheirTemplates) {
  const auto all = reports_with_templates();
  EXPECT_GE(all.size(), 7U);
  for (const auto& [file, form] : all) {
    EXPECT_THAT(foreign_headings(without_what_people_wrote(read_file(file)), form_of(form)), IsEmpty())
        << file << " by " << form;
  }
}

TEST(CommittedReports, WithAPlantedHeadingAreFound) {
  const std::string form = "# {{a}}\n## One\n## Two\n## {{b}}\n", right = "# x\n## One\n## Two\n";
  EXPECT_THAT(foreign_headings(right, form), IsEmpty());
  EXPECT_THAT(foreign_headings("## Two\n", form), IsEmpty());
  EXPECT_THAT(foreign_headings("## One\n## Three\n", form), ElementsAre("## Three"));
  EXPECT_THAT(foreign_headings("## Two\n## One\n", form), ElementsAre("## One"));
  EXPECT_THAT(foreign_headings("```\n## Three\n```\n", form), IsEmpty());
}

}  // namespace
}  // namespace assay::committed_reports_test
