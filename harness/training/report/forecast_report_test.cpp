#include "training/report/forecast_report.hpp"

#include "core/json/json.hpp"
#include "core/text/utf8.hpp"

#include <gmock/gmock.h>

#include <sstream>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::Not;

/// Twenty steps of 0.1 s, drifting to 0.12 s, with a claim that contradicts itself.
Job job_by_hand() {
  std::vector<double> steps(20, 0.1), load(20, 0.04);
  for (std::size_t i = 12; i < 20; ++i) steps[i] = 0.12;
  Job job{
      .name = "a job with a name that is long enough to need a second line | <b>",
      .hardware = "an accelerator, and a processor with more than a few cores",
      .dataset = {.train = 10050, .validation = 10, .batch = 100},
      .loader = {.workers = 4, .prefetch = 2, .prefetch_stated = true},
      .windows = {{.first_step = 3, .steps = 20, .wall_seconds = 2.16, .step_seconds = steps}},
      .phases =
          {{.name = "worker", .kind = PhaseKind::load, .overlaps = true, .mean_seconds = 0.3},
           {.name = "load", .kind = PhaseKind::load, .mean_seconds = 0.04, .samples = 20, .seconds = load},
           {.name = "forward", .kind = PhaseKind::compute, .mean_seconds = 0.06, .samples = 20}},
      .source = "a/long/path/to/a/file/that/somebody/measured.json",
      .notes = {"dropped 12 events of the unknown category whatever, since nobody knows what they are"}};
  job.claims = {{.where = "the table", .step = parse_quoted("0.100 s"), .throughput = parse_quoted("700/s")}};
  return job;
}

TEST(ForecastText, FitsEightyColumns) {
  Job job = job_by_hand(), later = job;
  later.windows[0].first_step = 40;
  std::istringstream text(to_text(forecast(job, &later)));
  for (std::string line; std::getline(text, line);) EXPECT_THAT(display_width(line), Le(80U)) << line;
}

TEST(ForecastText, TellsManyWindowsTogether) {
  Job job{.name = "j", .dataset = {.train = 1000, .batch = 100}};
  for (Index i = 0; i < 6; ++i) {
    const PageCache cache = i < 5 ? PageCache::warm : PageCache::cold;
    job.windows.push_back({.steps = 2 + i, .wall_seconds = 0.1 * static_cast<double>(2 + i), .cache = cache});
  }
  const std::string text = to_text(forecast(job));
  EXPECT_THAT(text, HasSubstr("5 windows of 2 to 6 steps, 100 ms to 100 ms each, warm cache"));
  EXPECT_THAT(text, HasSubstr("7 steps, 100 ms to 100 ms each, cold cache"));
}

TEST(ForecastText, PutsFindingsBeforeAnythingPredicted) {
  const std::string text = to_text(forecast(job_by_hand()));
  EXPECT_LT(text.find("700/s contradicts"), text.find("Doubts\n"));
  EXPECT_LT(text.find("drift: "), text.find("M0 mean x N"));
  EXPECT_LT(text.find("M4 loader queue"), text.find("PREDICTED: "));
  EXPECT_THAT(text, HasSubstr("dropped 12 events"));
}

TEST(ForecastText, TellsWhatEarlierEpochsMakeOfTheInterval) {
  Forecast f = forecast(job_by_hand());
  EXPECT_THAT(to_text(f), Not(HasSubstr("Experience")));
  f.experience = {.epochs = 8, .seconds = {11, 11, 11, 0}};
  EXPECT_THAT(to_text(f), AllOf(HasSubstr("Experience: 8 epochs in the log"), HasSubstr("there are 9")));
  f.experience = {.epochs = 20, .seconds = {10, 11, 14, 0.9}};
  for (const std::string& text : {to_text(f), to_markdown(f)}) {
    EXPECT_THAT(text, AllOf(HasSubstr("20 epochs in the log"), HasSubstr("PREDICTED: 11.00 s")));
    EXPECT_THAT(text, Not(HasSubstr("this one")));
  }
  f.known = KnownEpoch{.seconds = 15, .predicted = f.experience.seconds};
  EXPECT_THAT(to_markdown(f), HasSubstr("this one did not"));
  const auto json = Json::parse(to_json(f, "now"));
  EXPECT_EQ(json.at("experience_seconds").at("high"), 14);
  EXPECT_EQ(json.at("experience_inside"), "no");
}

TEST(ForecastText, NamesEachModelOrWhatItLacks) {
  Job job = job_by_hand();
  const std::string text = to_text(forecast(job));
  EXPECT_THAT(text, AllOf(HasSubstr("M0 mean x N"), HasSubstr("M1: no window begins with step 0")));
  job.phases.erase(job.phases.begin());
  EXPECT_THAT(to_text(forecast(job)), HasSubstr("M2, M3, M4: what a worker takes"));
}

TEST(ForecastText, TellsARangeWithoutAPoint) {
  Forecast f = forecast(job_by_hand());
  f.what_if = {{.change = "8 workers", .least = 4, .most = 21, .given = "nobody knows"}};
  EXPECT_THAT(to_text(f), AllOf(HasSubstr("8 workers (1)"), HasSubstr("4.00 s to 21.0 s"),
                                HasSubstr("(1) given that nobody knows")));
}

TEST(ForecastText, SaysThatThereIsNoEpoch) {
  Job job = job_by_hand();
  job.dataset = {};
  EXPECT_THAT(to_text(forecast(job)),
              AllOf(HasSubstr("NO EPOCH: the batch is not known"), Not(HasSubstr("M0"))));
}

TEST(ForecastText, SaysHowManyOfASegmentThereAre) {
  Forecast f = forecast(job_by_hand());
  f.segments = {
      {.count = 520.5, .mean = 0.002, .seconds = {1.02, 1.041, 1.06, 0.9}},
      {.kind = SegmentKind::checkpoint, .count = 2812, .mean = 0.25, .seconds = {703, 703, 703, 0}}};
  const std::string text = to_text(f);
  EXPECT_THAT(text, ContainsRegex("validation +520.50 +2.00 ms +1.04 s \\[1.02, 1.06\\]\n"));
  EXPECT_THAT(text, ContainsRegex("checkpoint +2,812 +250 ms +703 s\n"));
}

TEST(Forecasts, HaveSegmentsInEveryForm) {
  Job job = job_by_hand();
  job.dataset.checkpoint_every = 25;
  job.phases.push_back(
      {.name = "checkpoint", .kind = PhaseKind::other, .scope = Scope::checkpoint, .mean_seconds = 0.5});
  Job later = job;
  const Forecast f = forecast(job, &later);
  EXPECT_THAT(to_text(f), ContainsRegex("checkpoint +4 +500 ms +2.00 s"));
  EXPECT_THAT(to_text(f), HasSubstr("checkpoint, per write"));
  EXPECT_THAT(to_markdown(f), AllOf(HasSubstr("| checkpoint | 4 | 500 ms | 2.00 s |"),
                                    HasSubstr("| checkpoint, per write |")));
  const auto json = Json::parse(to_json(f, "2026-01-02T03:04:05Z"));
  const Json& segments = json.at("segments").at("rows");
  ASSERT_EQ(segments.size(), 1U);
  EXPECT_EQ(segments.at(0).at("segment"), "checkpoint");
  EXPECT_EQ(segments.at(0).at("count"), 4);
  EXPECT_EQ(segments.at(0).at("seconds"), 2) << "a mean alone has no interval";
}

TEST(ForecastText, SaysErrorsInWords) {
  EXPECT_EQ(error_text(0.143), "14.3 % too long");
  EXPECT_EQ(error_text(-0.125), "12.5 % too short");
  EXPECT_EQ(error_text(0.0004), "exact to 0.05 %");
}

TEST(ForecastMarkdown, EscapesWhatComesFromOutside) {
  const std::string text = to_markdown(forecast(job_by_hand()));
  EXPECT_THAT(text, HasSubstr("second line \\| &lt;b>"));
  EXPECT_THAT(text, AllOf(HasSubstr("* WRONG throughput: "), HasSubstr("**drift**"),
                          HasSubstr("| M4 loader queue |")));
}

TEST(ForecastJson, HasEveryFigure) {
  Job job = job_by_hand(), later = job;
  const Forecast f = forecast(job, &later);
  const auto json = Json::parse(to_json(f, "2026-01-02T03:04:05Z"));
  EXPECT_EQ(json.at("schema"), "assay.forecast/2");
  EXPECT_EQ(json.at("full_steps"), 100);
  EXPECT_EQ(json.at("partial_samples"), 50);
  const Json& models = json.at("models").at("rows");
  ASSERT_EQ(models.size(), 5U);
  EXPECT_NEAR(models.at(0).at("seconds").at("middle").number(), f.models[0].seconds.middle, 1e-12);
  EXPECT_TRUE(models.at(1).at("impossible").is_string());
  EXPECT_THAT(json.at("doubts").at(0).text(), ::testing::StartsWith("drift: "));
  EXPECT_THAT(json.at("findings").at(0).text(), ::testing::StartsWith("WRONG throughput: "));
  EXPECT_NEAR(json.at("scores").at("rows").at(0).at("error").number(), 0, 1e-9);
}

TEST(ForecastText, IsUndecidedWhereItsEndsDifferByMoreThanAHalf) {
  Forecast f = forecast(job_by_hand());
  f.experience = {.epochs = 20, .seconds = {9, 11, 14, 0.9}};
  f.enough = 60;
  EXPECT_EQ(word_of(f), Word::undecided);
  EXPECT_THAT(outcome_text(f), AllOf(::testing::StartsWith("UNDECIDED: 11.00 s [9.000, 14.00] per epoch"),
                                     HasSubstr("time the first 60 steps")));
}

TEST(ForecastText, IsHeadedMissedWhereALaterMeasurementLayOutside) {
  Job job = job_by_hand(), later = job;
  EXPECT_NE(word_of(forecast(job, &later)), Word::missed);
  for (double& seconds : later.windows[0].step_seconds) seconds *= 3;
  later.windows[0].wall_seconds *= 3;
  const Forecast f = forecast(job, &later);
  EXPECT_EQ(word_of(f), Word::missed);
  EXPECT_THAT(outcome_text(f),
              AllOf(::testing::StartsWith("MISSED: 20 steps from step 3 on"), HasSubstr("too short")));
}

TEST(ForecastText, IsHeadedMissedEverywhereWhereTheEpochLayOutsideItsInterval) {
  Forecast f = forecast(job_by_hand());
  ASSERT_THAT(outcome_text(f), ::testing::StartsWith("PREDICTED: "));
  f.known = KnownEpoch{10, {4, 5, 8, 0.9}, {.seconds = 10, .other_busy_share = 0.79}};
  const std::string missed =
      "MISSED: the epoch took 10.0 s, 25.0 % more than the most that was predicted, 5.000 s [4.000, 8.000]; "
      "other "
      "processes used 79.0 % of the processors meanwhile, and the host took 0 %";
  EXPECT_EQ(outcome_text(f), missed);
  EXPECT_THAT(to_text(f), HasSubstr("\nMISSED: the epoch took 10.0 s, 25.0 % more"));
  EXPECT_THAT(to_markdown(f), HasSubstr("\n\n**" + missed + "**\n"));
  const Json json = Json::parse(to_json(f, "now"));
  EXPECT_EQ(json.at("outcome").text(), missed);
  EXPECT_EQ(json.at("epoch_inside"), "no");
  EXPECT_EQ(json.at("other_busy_share").number(), 0.79);

  f.known = KnownEpoch{3, {4, 5, 8, 0.9}};
  EXPECT_THAT(outcome_text(f), HasSubstr("took 3.00 s, 25.0 % less than the least that was predicted"));
  f.known = KnownEpoch{5, {4, 5, 8, 0.9}};
  EXPECT_THAT(outcome_text(f),
              AllOf(::testing::StartsWith("PREDICTED: "), ::testing::EndsWith("; it took 5.00 s")));
}

}  // namespace
}  // namespace assay
