#include "core/json/json.hpp"
#include "training/epoch/epoch_prediction.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace assay {
namespace {

TEST(Timelines, ShowStepsPhasesWorkersAndTheQueue) {
  // Milliseconds: the batch is made from 1 to 3, the loop waits until 4, then 2 of forward and 1 of
  // optimizer.
  const StepTimes step{.batch = 7,
                       .begin = 0,
                       .end = 0.0075,
                       .wait = 0.004,
                       .forward = 0.002,
                       .optimize = 0.001,
                       .load_begin = 0.001,
                       .load = 0.002,
                       .worker = 1,
                       .ready = 3};
  const auto trace = Json::parse(timeline_json("small \"job\"", {.steps = {step}}));
  const auto& events = trace.at("traceEvents").items();
  const auto named = [&](const std::string& name) {
    for (const auto& event : events)
      if (event.at("name") == name) return event;
    return Json();
  };
  EXPECT_EQ(events.front().at("args").at("name"), "small \"job\"");
  EXPECT_DOUBLE_EQ(named("step 0").at("dur").number(), 7500);
  EXPECT_DOUBLE_EQ(named("forward").at("ts").number(), 4000);
  EXPECT_DOUBLE_EQ(named("optimizer").at("ts").number(), 6000);
  EXPECT_DOUBLE_EQ(named("batch 7").at("ts").number(), 1000);
  EXPECT_EQ(named("batch 7").at("tid"), 1);
  EXPECT_EQ(named("ready").at("args").at("ready"), 3);
  EXPECT_TRUE(named("loss").is_null()) << "phases that took no time have no slice";
  EXPECT_TRUE(named("validation").is_null());
}

// Milliseconds: a step until 2, a checkpoint until 5, validation in two batches from 7 to 9 and from 9 to 12.
TEST(Timelines, ShowCheckpointsAndValidation) {
  const EpochTimes epoch{.steps = {{.end = 0.002, .forward = 0.002}},
                         .checkpoints = {{.step = 1, .begin = 0.002, .end = 0.005}},
                         .validation = {{.begin = 0.007, .end = 0.009, .load = 0.0005, .forward = 0.001},
                                        {.begin = 0.009, .end = 0.012, .load = 0.001, .forward = 0.0015}}};
  const auto trace = Json::parse(timeline_json("job", epoch));
  std::vector<std::string> slices;
  for (const auto& event : trace.at("traceEvents").items()) {
    if (event.at("ph") != "X") continue;
    EXPECT_EQ(event.at("tid"), 0);
    slices.push_back(
        fmt::format("{} {} {}", event.at("name").text(), event.at("ts").number(), event.at("dur").number()));
  }
  EXPECT_THAT(slices, ::testing::UnorderedElementsAre(
                          "step 0 0 2000", "forward 0 2000", "checkpoint 2000 3000", "validation 7000 5000",
                          "load 7000 500", "forward 7500 1000", "load 9000 1000", "forward 10000 1500"));
}

}  // namespace
}  // namespace assay
