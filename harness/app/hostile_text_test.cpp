// Names and reasons that a terminal would obey, printed by everything that prints.
#include "app/output.hpp"
#include "assay/compare.hpp"
#include "assay/results.hpp"
#include "bench/compare/pull_request.hpp"
#include "bench/compare/words.hpp"
#include "bench/exchange/annotations.hpp"
#include "bench/report/content.hpp"
#include "bench/report/hand_made_test.hpp"
#include "core/plan/trial_key.hpp"
#include "core/text/utf8.hpp"

#include <gmock/gmock.h>

#include <string>

namespace assay {
namespace {

using ::testing::HasSubstr;

/// A colour, a bell, DEL, a control of one byte and of two, a line that turns, and a byte that is no UTF-8.
const std::string planted = "x\x1b[31m\x07\x7f\x9b\u009b2J\u202e\xff";

std::string spoilt(const std::string& text) { return text + planted; }

Results spoilt_results(Results out) {
  for (std::string* text : {&out.suite, &out.about, &out.commit, &out.command, &out.date, &out.machine.key})
    *text = spoilt(*text);
  for (Fact& fact : out.machine.facts) fact = {spoilt(fact.name), spoilt(fact.value), fact.decides};
  for (TrialResult& trial : out.trials) {
    for (std::string* text :
         {&trial.variant, &trial.problem, &trial.note, &trial.remark, &trial.agreement.detail})
      *text = spoilt(*text);
    trial.key = TrialKey{trial.operation, trial.variant, trial.problem, trial.threads}.text();
  }
  return out;
}

Comparison spoilt_comparison() {
  Comparison out{.objections = {planted}};
  for (const Standing standing : {Standing::wrong, Standing::slower, Standing::crashed, Standing::skipped,
                                  Standing::same, Standing::impossible}) {
    out.rows.push_back({.key = "o/v/" + spoilt(std::string(to_string(standing))) + "#1",
                        .standing = standing,
                        .ratio = {1.08, 1.11, 1.14, 0.95},
                        .limit = 1.05,
                        .why = planted});
  }
  return out;
}

/// That `shown` has the text, and nothing that a terminal obeys. JSON has its own escapes.
void expect_visible(const std::string& what, const std::string& shown,
                    const std::string& escape = "x1b[31m") {
  EXPECT_EQ(shown, visible(shown)) << what;
  EXPECT_THAT(shown, HasSubstr(escape)) << what;
}

TEST(HostileText, IsShownInReports) {
  for (const Results& results : {hand_made::network(), hand_made::network_with_a_disagreement()}) {
    const Results hostile = spoilt_results(results);
    const Report report = make_report(hostile, std::nullopt, std::nullopt, outcome_of(hostile));
    expect_visible("Markdown", to_markdown(report));
    expect_visible("page", report_page(report).html);
    expect_visible("table", to_table(hostile));
    expect_visible("JSON of a report", to_json(report), "\\u001b[31m");
    expect_visible("JSON", to_json(hostile), "\\u001b[31m");
  }
}

TEST(HostileText, IsShownInComparisons) {
  PullRequest page{.outcome = planted,
                   .remarks = {planted},
                   .notes = {planted},
                   .command = "assay gate " + planted,
                   .suite = planted,
                   .before_facts = {{planted, "a"}},
                   .after_facts = {{planted, planted}},
                   .comparison = spoilt_comparison()};
  page.trials.assign(page.comparison.rows.size(), {.cause = planted + ".cpp", .pointers = {planted}});
  expect_visible("Markdown", pull_request_markdown(page));
  expect_visible("text", pull_request_text(page));
  expect_visible("page", pull_request_page(page).html);
  expect_visible("GitHub", github_annotations(page, planted));
  expect_visible("GitLab", gitlab_code_quality(page, planted));
  const Results results = spoilt_results(hand_made::network());
  expect_visible("JUnit", to_junit(page.comparison, results, page.command, planted));
}

TEST(HostileText, IsShownByAllThatPrints) {
  ::testing::internal::CaptureStdout();
  put("", planted, "");
  put_document("", planted, "");
  print_visible(stdout, "{}\n\t{}", planted, 1);
  const std::string printed = ::testing::internal::GetCapturedStdout();
  const std::string one = R"(x\x1b[31m\x07\x7f\x9b\xc2\x9b2J\xe2\x80\xae\xff)";
  EXPECT_EQ(printed, one + one + one + "\n\t1");
}

}  // namespace
}  // namespace assay
