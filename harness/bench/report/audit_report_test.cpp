// Audits of results with round numbers, and faults planted in them.
#include "bench/report/audit_report.hpp"

#include "bench/report/hand_made_test.hpp"
#include "core/json/json.hpp"
#include "core/text/utf8.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

/// Six launches: gemm takes 102 µs and by packed 51 µs, three times in a step; the addition 10 µs and by simd
/// 12.5 µs, twice. Ten steps: an epoch of 3.26 ms, and of 1.73 ms by packed.
Results audited_results() {
  Results out = hand_made::network();
  for (TrialResult& trial : out.trials) {
    const Launch first = trial.launches[1];
    trial.launches.assign(6, first);
  }
  return out;
}

const VariantInfo* find_variant(const std::string& operation, const std::string& variant) {
  static const VariantInfo naive{
      .name = "naive", .summary = "a", .source = "kernels/gemm/naive.cpp", .line = 12},
      packed{.name = "packed",
             .summary = "panels in the order of their use",
             .source = "kernels/gemm/packed.cpp",
             .line = 12};
  if (operation != "gemm") return nullptr;
  return variant == "naive" ? &naive : &packed;
}

AuditReport audit_of(const Results& results, const Results* before = nullptr,
                     const std::string& present = "") {
  return audited({.results = results,
                  .before = before,
                  .files = {{"tiny.json", "00000000deadbeef", "results, suite tiny"}},
                  .commit = "abc123",
                  .present = present,
                  .find_variant = find_variant});
}

TEST(Audits, RankWhatAnEpochGains) {
  const AuditReport report = audit_of(audited_results());
  ASSERT_THAT(report.findings, SizeIs(1)) << "simd is slower than what is there";
  const AuditFinding& found = report.findings[0];
  EXPECT_EQ(found.variant, "gemm/packed#1");
  EXPECT_EQ(found.location, "kernels/gemm/packed.cpp:12 at abc123");
  EXPECT_NEAR(found.saved.middle, 1.53e-3, 1e-9);
  EXPECT_NEAR(found.speedup.middle, 2, 1e-9);
  EXPECT_NEAR(found.share, 306.0 / 326, 1e-9);
  EXPECT_EQ(found.worst_error, 0.25);
  EXPECT_EQ(found.phase, AuditPhase::quick);
  EXPECT_NEAR(report.present.middle, 3.26e-3, 1e-9);
  EXPECT_NEAR(report.totals.back().seconds.middle, 1.73e-3, 1e-9);
}

TEST(Audits, ComposeTotalsAndDoNotAddThem) {
  Results results = audited_results();
  for (Launch& launch : results.trials[3].launches) launch[0].seconds = 5e-6;  // twice as fast now
  results.trials[3].figures["workspace_bytes"] = 4096;
  const AuditReport report = audit_of(results);
  ASSERT_THAT(report.findings, SizeIs(2));
  // 3.26 ms, 1.73 ms after the quick win, 1.63 ms after both: 2.00 times as fast, and not 4.
  EXPECT_EQ(report.findings[1].phase, AuditPhase::structural);
  EXPECT_NEAR(report.totals[0].seconds.middle, 1.73e-3, 1e-9);
  EXPECT_NEAR(report.totals[1].seconds.middle, 1.63e-3, 1e-9);
  EXPECT_NEAR(report.totals[1].gain.middle, 2, 1e-9);
  double shares = 0;
  for (const AuditFinding& one : report.findings) shares += one.share;
  EXPECT_NEAR(shares, 1, 1e-9);
}

TEST(Audits, FindNothingInWhatMayBeNoGain) {
  Results results = audited_results();
  for (std::size_t i = 0; i < 3; ++i) results.trials[1].launches[i][0].seconds = 110e-6;
  for (std::size_t i = 3; i < 6; ++i) results.trials[1].launches[i][0].seconds = 90e-6;
  const AuditReport report = audit_of(results);
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_THAT(report.not_examined, Contains(AllOf(HasSubstr("gemm/packed#1"), HasSubstr("may be none"))));
  EXPECT_THAT(to_text(report), HasSubstr("AUDITED: Nothing was found"));
}

TEST(Audits, SayWhichOfTheirFiguresContradictEachOther) {
  Results results = audited_results();
  EXPECT_THAT(audit_of(results).risks, IsEmpty());
  results.trials[1].agreement.worst_error = 3;
  EXPECT_THAT(audit_of(results).risks, Contains(HasSubstr("WRONG bound: findings[0].worst_error")));
}

TEST(Audits, FitATerminalAndEndWithWhatGainsMost) {
  Results results = audited_results();
  for (Launch& launch : results.trials[3].launches) launch[0].seconds = 5e-6;
  results.command = std::string(300, 'c');
  const std::string text = to_text(audit_of(results));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80U) << line;
  const auto place = [&](const char* what) { return text.find(what); };
  EXPECT_LT(place("Suite tiny"), place("not examined"));
  EXPECT_LT(place("not examined"), place("elementwise_add/simd@avx2#1 saves"));
  EXPECT_LT(place("elementwise_add/simd@avx2#1 saves"), place("gemm/packed#1 saves"));
  EXPECT_LT(place("gemm/packed#1 saves"), place("\nAUDITED: "));
}

TEST(Audits, FindNothingInOneProcessStart) {
  Results results = audited_results();
  for (TrialResult& trial : results.trials) trial.launches.resize(1);
  const AuditReport report = audit_of(results);
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_THAT(report.not_examined, Contains(HasSubstr("one process start")));
}

TEST(Audits, SayOfWhatWasNotTimedThatItIsExpected) {
  Results results = audited_results();
  results.trials[1].launches.clear();
  results.trials[1].skipped = "needs another processor";
  const AuditReport report = audit_of(results);
  EXPECT_THAT(report.findings, IsEmpty());
  ASSERT_THAT(report.unmeasured, SizeIs(1));
  EXPECT_EQ(report.unmeasured[0].why, "needs another processor");
  EXPECT_THAT(to_markdown(report), HasSubstr("Expected, not measured\n\n* `gemm/packed#1`: needs another"));
}

TEST(Audits, CallWrongVariantsRisksAndNoFindings) {
  const AuditReport report = audit_of(hand_made::network_with_a_disagreement());
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_THAT(report.unmeasured, IsEmpty());
  EXPECT_THAT(report.risks, Contains(HasSubstr("is WRONG: c[1, 32] is 0.5")));
}

TEST(Audits, StartFromWhatIsInUse) {
  const Results results = audited_results();
  EXPECT_THAT(audit_of(results, nullptr, "^gemm/packed/").findings, IsEmpty());
  const AuditReport report = audit_of(results, nullptr, "^elementwise_add/simd");
  EXPECT_THAT(report.findings, SizeIs(2));
  EXPECT_EQ(report.findings[1].variant, "elementwise_add/naive#1");
}

TEST(Audits, CallStructuralWhatNeedsMoreThanAFunction) {
  const auto phase = [](const std::function<void(Results&)>& change) {
    Results results = audited_results();
    change(results);
    return audit_of(results).findings.at(0).phase;
  };
  EXPECT_EQ(phase([](Results& r) { r.trials[1].figures["workspace_bytes"] = 1; }), AuditPhase::structural);
  EXPECT_EQ(phase([](Results& r) { r.trials[1].threads = 2; }), AuditPhase::structural);
  const auto without_sources = [](const auto&, const auto&) { return nullptr; };
  const Results foreign = audited_results();  // of which packed calls OpenBLAS
  EXPECT_EQ(audited({.results = foreign, .find_variant = without_sources}).findings.at(0).phase,
            AuditPhase::structural);
  // On a second size packed is slower.
  EXPECT_EQ(phase([](Results& r) {
              for (const std::size_t i : {0U, 1U}) {
                TrialResult small = r.trials[i];
                small.problem = "m=2,n=2,k=2";
                small.key = "gemm/" + small.variant + "/" + small.problem + "#1";
                for (Launch& launch : small.launches) launch[0].seconds = i == 0 ? 1e-9 : 2e-9;
                r.trials.push_back(small);
              }
            }),
            AuditPhase::tuning);
}

TEST(Audits, CompareWithWhatWasExpected) {
  const Results results = audited_results();
  const AuditReport same = audit_of(results, &results);
  ASSERT_TRUE(same.findings[0].expected);
  EXPECT_TRUE(same.findings[0].as_expected);
  Results before = results;
  for (Launch& launch : before.trials[1].launches) launch[0].seconds = 10e-6;
  const AuditReport other = audit_of(results, &before);
  EXPECT_NEAR(other.findings[0].expected->middle, 10.2, 1e-9);
  EXPECT_FALSE(other.findings[0].as_expected);
  EXPECT_THAT(to_markdown(other), HasSubstr("**no**"));
  EXPECT_THAT(to_text(other), HasSubstr("As the run before let expect: 0 of 1"));
  before.trials.erase(before.trials.begin() + 1);
  EXPECT_FALSE(audit_of(results, &before).findings[0].expected);
}

TEST(Audits, HaveASummaryOfTwelveLinesAtMost) {
  Results results = audited_results();
  const TrialResult naive = results.trials[0], packed = results.trials[1];
  for (int i = 0; i < 9; ++i) {
    for (const TrialResult* one : {&naive, &packed}) {
      TrialResult more = *one;
      more.operation += std::to_string(i);
      more.key = more.operation + "/" + more.variant + "/" + more.problem + "#1";
      if (one == &packed) more.figures["workspace_bytes"] = i % 2;
      results.trials.push_back(more);
    }
  }
  results.trials[3].skipped = "needs another processor";
  results.trials[3].launches.clear();
  const AuditReport report = audit_of(results, &results);
  EXPECT_THAT(report.findings, SizeIs(10));
  EXPECT_LE(summary_lines(report).size(), 12U);
}

TEST(Audits, WithholdSecondsOfMixedMachines) {
  Results results = audited_results();
  results.mixed_machines = "two machines";
  const AuditReport report = audit_of(results);
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_THAT(report.not_examined, Contains(HasSubstr("two machines")));
}

TEST(Audits, EscapeNames) {
  Results results = audited_results();
  results.trials[1].variant = "a|<script>`b`\n@you";
  results.trials[1].key = "gemm/" + results.trials[1].variant + "/m=64,n=64,k=64#1";
  EXPECT_THAT(to_markdown(audit_of(results)), Not(HasSubstr("\n@you")));
}

TEST(Audits, AreTheGoldenOne) {
  const Results results = audited_results();
  std::ifstream stream(ASSAY_GOLDEN_DIR "/golden_audit.md");
  const std::string golden{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_EQ(to_markdown(audit_of(results, &results)), golden);
}

TEST(Audits, HoldTheSameInJson) {
  const Json json = parse_json(to_json(audit_of(audited_results())), "the audit");
  EXPECT_EQ(json.at("findings").at(0).at("variant"), "gemm/packed#1");
  EXPECT_EQ(json.at("findings").at(0).at("phase"), "quick wins");
  EXPECT_EQ(json.at("files").at(0).at("hash"), "00000000deadbeef");
}

}  // namespace
}  // namespace assay
