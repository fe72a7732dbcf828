// A planted claim for each verdict, on results with round numbers.
#include "bench/report/claims.hpp"

#include "assay/error.hpp"
#include "bench/report/hand_made_test.hpp"
#include "core/json/json.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <vector>

namespace assay {
namespace {

using ::testing::AllOf;

using ::testing::HasSubstr;

using ::testing::ThrowsMessage;

const std::string packed = "^gemm/packed/.*#1$";

/// Six launches, so that an interval covers 95 %: packed takes half of what naive does.
Results six_launches() {
  Results out = hand_made::network();
  for (TrialResult& trial : out.trials) {
    const Launch first = trial.launches[1];
    trial.launches.assign(6, first);
  }
  return out;
}

ClaimFinding ruled(const ClaimPart& part, const ClaimEvidence& evidence) {
  return judged_claims({.claims = {{.id = "A-1", .parts = {part}}}}, evidence).findings.front();
}
PartFinding ruled_part(const ClaimPart& part, const ClaimEvidence& evidence) {
  return ruled(part, evidence).parts.front();
}
ClaimStanding verdict_on(const ClaimPart& part, const Results& results) {
  return ruled(part, {.results = {results}}).standing;
}
ClaimPart speedup_of(double from, double to) { return {.from = from, .to = to, .trials = packed}; }

TEST(Claims, OfTwiceAsFastAreDecidedByTheWholeInterval) {
  // Twice as fast in every launch. The roof allows 102 µs / 5.24 µs = 19.5.
  EXPECT_EQ(verdict_on(speedup_of(1.5, 2.5), six_launches()), ClaimStanding::confirmed);
  EXPECT_EQ(verdict_on(speedup_of(1.2, 1.5), six_launches()), ClaimStanding::exceeded);
  EXPECT_EQ(verdict_on(speedup_of(3, 5), six_launches()), ClaimStanding::shortfall);
  EXPECT_EQ(verdict_on(speedup_of(25, 30), six_launches()), ClaimStanding::over_bound);
}

TEST(Claims, WithTheLowerEndInTheIntervalAreOpen) {
  Results results = six_launches();
  for (std::size_t i = 0; i < 3; ++i) results.trials[1].launches[i][0].seconds = 25.5e-6;
  const PartFinding open = ruled_part(speedup_of(3, 5), {.results = {results}});
  EXPECT_EQ(open.standing, ClaimStanding::not_measured);
  EXPECT_THAT(open.why, HasSubstr("reaches to both sides"));
}

TEST(Claims, ReadOffOneProcessStartAreOpen) {
  Results results = six_launches();
  for (TrialResult& trial : results.trials) trial.launches.resize(1);
  const PartFinding open = ruled_part(speedup_of(1.5, 2.5), {.results = {results}});
  EXPECT_EQ(open.standing, ClaimStanding::not_measured);
  EXPECT_THAT(open.why, HasSubstr("one process start"));
}

TEST(Claims, OfThreadsAreOpenBesideOtherWork) {
  Results results = six_launches();
  ClaimPart part = speedup_of(1.5, 2.5);
  part.quiet = true;
  EXPECT_EQ(verdict_on(part, results), ClaimStanding::confirmed);
  results.weather.other_busy_share = 0.4;
  EXPECT_THAT(ruled_part(part, {.results = {results}}).why, HasSubstr("other processes used 40.0 %"));
  EXPECT_EQ(verdict_on(speedup_of(1.5, 2.5), results), ClaimStanding::confirmed) << "of one thread";
  results.trials[1].threads = 2;
  EXPECT_EQ(verdict_on(speedup_of(1.5, 2.5), results), ClaimStanding::not_measured);
}

TEST(Claims, AreDecidedByTheSuiteThatTheyName) {
  ClaimPart part = speedup_of(1.5, 2.5);
  part.suite = "tiny";
  EXPECT_EQ(verdict_on(part, six_launches()), ClaimStanding::confirmed);
  part.suite = "another";
  EXPECT_EQ(verdict_on(part, six_launches()), ClaimStanding::not_measured);
}

TEST(Claims, ThatNothingDecidesSayWhy) {
  EXPECT_THAT(ruled_part({.from = 2, .to = 3, .trials = "^lora/"}, {.results = {six_launches()}}).why,
              HasSubstr("no results hold a trial"));
  ClaimPart never = speedup_of(2, 3);
  never.not_measured = "nobody runs it";
  EXPECT_EQ(ruled_part(never, {.results = {six_launches()}}).why, "nobody runs it");
  Results skipped = six_launches();
  skipped.trials[1].launches.clear();
  skipped.trials[1].skipped = "needs another processor";
  EXPECT_THAT(ruled_part(speedup_of(2, 3), {.results = {skipped}}).why,
              HasSubstr("was skipped: needs another processor"));
}

TEST(Claims, AreWrongWhereTheirTrialDisagrees) {
  const PartFinding wrong =
      ruled_part(speedup_of(2, 3), {.results = {hand_made::network_with_a_disagreement()}});
  EXPECT_EQ(wrong.standing, ClaimStanding::wrong);
  EXPECT_THAT(wrong.why, HasSubstr("c[1, 32] is 0.5, expected 0.25"));
}

TEST(Claims, AreWrongWhereTheirCodeIsRejected) {
  const ClaimPart part{.figure = ClaimedFigure::agreement, .wrong = {"adamw/published"}};
  const auto of = [&](std::size_t checks, std::size_t rejected) {
    return ruled(part, {.known_bad = {{.name = "adamw/published",
                                       .checks = checks,
                                       .rejected = rejected,
                                       .first = {{"", "w[0] is 2"}}}}})
        .standing;
  };
  EXPECT_EQ(of(10, 3), ClaimStanding::wrong);
  EXPECT_EQ(of(10, 0), ClaimStanding::confirmed);
  EXPECT_EQ(of(0, 0), ClaimStanding::not_measured) << "checked nowhere";
  EXPECT_EQ(ruled(part, {}).standing, ClaimStanding::not_measured);
}

TEST(Claims, AreWrongWhereTheirFiguresContradictEachOther) {
  const ClaimPart part{.figure = ClaimedFigure::arithmetic, .job = "a record", .field = "claims[1]"};
  const auto of = [&](const std::string& field) {
    return ruled(part, {.jobs = {"a record"}, .contradictions = {{"a record", field, "2 is 3"}}}).standing;
  };
  EXPECT_EQ(of("claims[1].epoch"), ClaimStanding::wrong);
  EXPECT_EQ(of("claims[0].epoch"), ClaimStanding::confirmed);
  EXPECT_EQ(ruled(part, {.jobs = {"another"}}).standing, ClaimStanding::not_measured);
}

TEST(Claims, OfSavedTimeAndSlowDownsAreInTheirOwnUnits) {
  ClaimPart part = speedup_of(0.4, 0.6);
  part.figure = ClaimedFigure::time_saved;
  EXPECT_DOUBLE_EQ(ruled_part(part, {.results = {six_launches()}}).value->middle, 0.5);
  part.figure = ClaimedFigure::slowdown;
  EXPECT_DOUBLE_EQ(ruled_part(part, {.results = {six_launches()}}).value->middle, 0.5);
  part.figure = ClaimedFigure::seconds;
  EXPECT_NEAR(ruled_part(part, {.results = {six_launches()}}).value->middle, 51e-6, 1e-12);
  part.figure = ClaimedFigure::rate;
  part.items = 51;
  EXPECT_NEAR(ruled_part(part, {.results = {six_launches()}}).value->middle, 1e6, 1);
}

TEST(Claims, OfLessTrafficAreBoundedByTheContract) {
  // 32,768 bytes are read and 16,384 written, whose lines are read as well: a quarter can be saved.
  const ClaimPart part{
      .figure = ClaimedFigure::traffic_saved, .from = 0.3, .to = 0.5, .trials = "^gemm/naive/"};
  const PartFinding over = ruled_part(part, {.results = {six_launches()}});
  EXPECT_EQ(over.standing, ClaimStanding::over_bound);
  EXPECT_DOUBLE_EQ(over.bound->most, 0.25);
  ClaimPart possible = part;
  possible.from = 0.2;
  EXPECT_EQ(verdict_on(possible, six_launches()), ClaimStanding::not_measured);
}

TEST(Claims, OfMemoryCompareWhatIsKeptAndTaken) {
  Results results = six_launches();
  results.trials[0].figures["workspace_bytes"] = 400;
  results.trials[1].figures["workspace_bytes"] = 100;
  ClaimPart part = speedup_of(0.3, 0.5);
  part.figure = ClaimedFigure::workspace_saved;
  const PartFinding less = ruled_part(part, {.results = {results}});
  EXPECT_DOUBLE_EQ(less.value->middle, 0.75);
  EXPECT_EQ(less.standing, ClaimStanding::exceeded);
  part.figure = ClaimedFigure::allocations_saved;
  results.trials[0].figures["allocated_bytes_per_call"] = 600;
  EXPECT_DOUBLE_EQ(ruled_part(part, {.results = {results}}).value->middle, 0.9);
}

TEST(Claims, OfAnEpochAreComposedFromItsCases) {
  // Naive steps take 3 x 102 + 2 x 10 = 326 µs, the best of each 3 x 51 + 2 x 10 = 173 µs.
  ClaimPart part{.figure = ClaimedFigure::epoch_speedup, .from = 1.5, .to = 2, .suite = "tiny"};
  const PartFinding all = ruled_part(part, {.results = {six_launches()}});
  EXPECT_NEAR(all.value->middle, 326.0 / 173, 1e-9);
  EXPECT_EQ(all.standing, ClaimStanding::confirmed);
  part.operation = "elementwise_add";
  const PartFinding one = ruled_part(part, {.results = {six_launches()}});
  EXPECT_EQ(one.standing, ClaimStanding::over_bound) << "it takes 20 of 3 x 51 + 20 µs";
  EXPECT_NEAR(one.bound->most, 173.0 / 153, 1e-9);
  part.suite = "another";
  EXPECT_THAT(ruled_part(part, {.results = {six_launches()}}).why, HasSubstr("no results of suite another"));
}

TEST(Claims, OfAWholeAreNotConfirmedByAPartOfIt) {
  ClaimPart part{
      .figure = ClaimedFigure::epoch_speedup, .from = 1.5, .to = 2, .suite = "tiny", .part_of_whole = true};
  EXPECT_EQ(verdict_on(part, six_launches()), ClaimStanding::not_measured);
  part.from = part.to = 4;
  EXPECT_EQ(verdict_on(part, six_launches()), ClaimStanding::shortfall);
}

TEST(Claims, OfSharesAreComposedByAmdahlsLaw) {
  // A tenth that becomes twice as fast leaves 0.95; added up with itself it would be another.
  PublishedClaims claims{.claims = {{.id = "A-1", .parts = {speedup_of(1.5, 2.5)}},
                                    {.id = "A-2",
                                     .parts = {{.figure = ClaimedFigure::composed_saved,
                                                .from = 0.01,
                                                .to = 0.1,
                                                .composed = {{.share = 0.1, .claim = "A-1"}}}}}}};
  const ClaimsReport report = judged_claims(claims, {.results = {six_launches()}});
  EXPECT_NEAR(report.findings[1].parts[0].value->middle, 0.05, 1e-12);
  EXPECT_NEAR(report.findings[1].parts[0].bound->most, 0.1, 1e-12);
  EXPECT_EQ(report.findings[1].standing, ClaimStanding::confirmed);
  const std::string page = to_markdown(report);
  EXPECT_THAT(page, HasSubstr("2.00x against `")) << "its cases say by how much they are faster";
  EXPECT_THAT(page, ::testing::Not(HasSubstr("200 %")));
  claims.claims[1].parts[0].from = claims.claims[1].parts[0].to = 0.2;
  EXPECT_EQ(judged_claims(claims, {.results = {six_launches()}}).findings[1].standing,
            ClaimStanding::over_bound);
}

TEST(Claims, OfAModelCountEpochs) {
  const ClaimPart part{
      .figure = ClaimedFigure::epochs_predicted, .from = 0.9, .to = 1, .model = "M0", .within = 0.05};
  std::vector<EpochError> epochs(8, {"M0", 0.2});
  EXPECT_EQ(ruled(part, {.epochs = epochs}).standing, ClaimStanding::shortfall);
  epochs.assign(100, {"M0", -0.01});
  EXPECT_EQ(ruled(part, {.epochs = epochs}).standing, ClaimStanding::confirmed);
  epochs.assign(100, {"M0", -0.01, 0.5});
  EXPECT_EQ(ruled(part, {.epochs = epochs}).standing, ClaimStanding::not_measured) << "beside other work";
  epochs.assign(100, {"M4", -0.01});
  EXPECT_EQ(ruled(part, {.epochs = epochs}).standing, ClaimStanding::not_measured);
}

TEST(Claims, DoNotBelieveABoundThatWasBeaten) {
  ClaimPart part = speedup_of(1.5, 2.5);
  part.bound = {.most = 1.2, .why = "a book says so"};
  const PartFinding beaten = ruled_part(part, {.results = {six_launches()}});
  EXPECT_EQ(beaten.standing, ClaimStanding::confirmed);
  EXPECT_THAT(beaten.why, HasSubstr("not believed"));
}

TEST(Claims, TakeTheWeightiestVerdictOfTheirParts) {
  const ClaimPart wrong{.figure = ClaimedFigure::agreement, .wrong = {"gemm/published"}};
  ClaimPart unknown = speedup_of(2, 3);
  unknown.trials = "^lora/";
  const ClaimEvidence evidence{
      .results = {six_launches()},
      .known_bad = {{.name = "gemm/published", .checks = 2, .rejected = 1, .first = {{"", "c[0] is 1"}}}}};
  const auto of = [&](std::vector<ClaimPart> parts) {
    return judged_claims({.claims = {{.id = "A-1", .parts = std::move(parts)}}}, evidence)
        .findings.front()
        .standing;
  };
  EXPECT_EQ(of({speedup_of(1.5, 2.5), wrong}), ClaimStanding::wrong);
  EXPECT_EQ(of({unknown, speedup_of(3, 5)}), ClaimStanding::shortfall);
  EXPECT_EQ(of({unknown, speedup_of(1.5, 2.5)}), ClaimStanding::confirmed);
}

std::string file_with(const std::string& part, const std::string& more = "") {
  return R"({"schema": "assay.claims/1", "about": "a", "claims": [{"id": "A-1", "source": "s", "scope": "kernel",
  "claim": "c", "parts": [)" +
         part + "]}" + more + "]}";
}

void expect_refused(const std::string& text, const std::string& why) {
  EXPECT_THAT([&] { claims_from_json(text, "claims.json"); },
              ThrowsMessage<Error>(AllOf(HasSubstr("claims.json"), HasSubstr(why))));
}

TEST(ClaimFiles, AreRefusedWithThePlaceOfAFault) {
  const std::string right = R"({"what": "w", "figure": "speed-up", "from": 2, "to": 3, "trials": "a"})";
  EXPECT_NO_THROW(claims_from_json(file_with(right), "claims.json"));
  expect_refused(file_with(R"({"what": "w", "figure": "speed", "from": 2, "to": 3, "trials": "a"})"),
                 "claims[0].parts[0].figure: is \"speed\", must be one of speed-up");
  expect_refused(file_with(R"({"what": "w", "figure": "speed-up", "from": 2, "to": 3})"), "needs \"trials\"");
  expect_refused(file_with(R"({"what": "w", "figure": "speed-up", "from": 3, "to": 2, "trials": "a"})"),
                 "\"to\" no less than it");
  expect_refused(file_with(R"({"what": "w", "figure": "speed-up", "from": 2, "to": 3, "trials": "("})"),
                 "claims[0].parts[0].trials: is no regular expression");
  expect_refused(file_with(R"({"what": "w", "figure": "rate", "from": 2, "to": 3, "trials": "a"})"),
                 "needs \"items\"");
  expect_refused(file_with(R"({"what": "w", "figure": "agreement", "trails": "a"})"), "is it \"trials");
  expect_refused(file_with(R"({"what": "w", "figure": "agreement"})"), "needs \"wrong\"");
  expect_refused(file_with(R"({"what": "w", "figure": "composed saved", "from": 0.1, "to": 0.2,
                           "composed": [{"share": 0.1, "claim": "B-1"}]})"),
                 "A-1 composed of B-1, which is not above it");
  expect_refused(file_with(R"({"what": "w", "figure": "composed saved", "from": 0.1, "to": 0.2,
                           "composed": [{"share": 0.6}, {"share": 0.5}]})"),
                 "more than the whole");
  expect_refused(
      file_with(right, R"(, {"id": "A-1", "source": "s", "scope": "kernel", "claim": "c", "parts": [)" +
                           right + "]}"),
      "repeats the claim A-1");
  expect_refused(file_with(""), "say what is claimed");
  expect_refused(std::string(R"({"schema": "assay.claims/2"})"), "assay.claims/1");
}

/// A page with every verdict, by which the template is held.
ClaimsReport every_verdict() {
  PublishedClaims claims{.about = "Three claims of a book."};
  const auto add = [&](const char* id, ClaimPart part) {
    part.what = "time";
    claims.claims.push_back(
        {.id = id, .source = "a book", .scope = "kernel", .claim = "It is faster.", .parts = {part}});
  };
  add("A-1", {.figure = ClaimedFigure::agreement, .wrong = {"gemm/published"}});
  add("A-2", speedup_of(25, 30));
  add("A-3", speedup_of(3, 5));
  add("A-4", speedup_of(1.5, 2.5));
  add("A-5", speedup_of(1.2, 1.5));
  add("A-6", {.from = 2, .to = 3, .trials = "^lora/"});
  claims.claims[1].known = "The roof is known.";
  return judged_claims(
      claims, {.files = {{"tiny.json", "00000000deadbeef", "results of suite tiny"}},
               .results = {six_launches()},
               .known_bad = {
                   {.name = "gemm/published", .checks = 2, .rejected = 1, .first = {{"", "c[0] is <1>"}}}}});
}

TEST(ClaimsReports, AreTheGoldenOne) {
  std::ifstream stream(ASSAY_GOLDEN_DIR "/golden_claims.md");
  const std::string golden{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_EQ(to_markdown(every_verdict()), golden);
}

TEST(ClaimsReports, CountVerdictsInOneLine) {
  const std::string text = to_text(every_verdict());
  EXPECT_THAT(text,
              ::testing::EndsWith("6 claims: 1 WRONG, 1 OVER BOUND, 1 SHORT, 1 CONFIRMED, 1 EXCEEDED, 1 NOT\n"
                                  "  MEASURED\n"));
  EXPECT_THAT(text, HasSubstr("A-4      CONFIRMED    time: 1.50x to 2.50x claimed, 2.00x found\n"));
}

TEST(ClaimsReports, EndWithWhatIsWrongOnATerminal) {
  const std::string text = to_text(every_verdict());
  std::vector<std::size_t> places;
  for (const char* claim : {"A-6 ", "A-5 ", "A-4 ", "A-3 ", "A-2 ", "A-1 "})
    places.push_back(text.find(claim));
  EXPECT_TRUE(std::ranges::is_sorted(places)) << text;
  EXPECT_NE(places.back(), std::string::npos);
}

TEST(ClaimsReports, SayWhichOfTheirFiguresCannotStandTogether) {
  ClaimsReport report = every_verdict();
  EXPECT_THAT(to_text(report), ::testing::Not(HasSubstr("WRONG interval")));
  report.findings[3].parts[0].value->middle = 9;
  EXPECT_THAT(to_text(report), HasSubstr("WRONG interval: claims[3].parts[0].value"));
  EXPECT_THAT(to_markdown(report), HasSubstr("cannot stand together:\n\n* WRONG interval: "));
}

TEST(ClaimsReports, SayInWordsWhatIsLostInPlaceOfSaved) {
  const auto found = [](const Interval& saved) {
    ClaimsReport report;
    const ClaimPart part{.figure = ClaimedFigure::time_saved, .from = 0.2, .to = 0.3};
    report.findings = {{.claim = {.id = "B-1"}, .parts = {{.part = part, .value = saved}}}};
    return to_text(report);
  };
  EXPECT_THAT(found({-0.044, -0.035, -0.0271}), HasSubstr("claimed, 3.50 % lost [2.71, 4.40] found"));
  EXPECT_THAT(found({-0.408, -0.0694, 0.333}),
              HasSubstr("6.94 % lost [40.8 lost to 33.3\n                      saved]"));
  EXPECT_THAT(found({-0.05, 0.299, 0.48}),
              HasSubstr("29.9 % saved [5.00 lost to\n                      48.0 saved]"));
  EXPECT_THAT(found({0.1, 0.2, 0.3}), HasSubstr("20.0 % [10.0, 30.0] found")) << "as claims have it";
}

TEST(ClaimsReports, HoldEveryKeyInJson) {
  const Json json = parse_json(to_json(every_verdict()), "the report");
  const Json& part = json.at("claims").at(3).at("parts").at(0);
  EXPECT_EQ(part.at("verdict"), "CONFIRMED");
  EXPECT_EQ(part.at("cases").at(0).at("key"), "gemm/packed/m=64,n=64,k=64#1");
  EXPECT_EQ(part.at("cases").at(0).at("against"), "gemm/naive/m=64,n=64,k=64#1");
}

}  // namespace
}  // namespace assay
