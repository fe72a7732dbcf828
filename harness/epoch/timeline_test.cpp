#include "epoch/timeline.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

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
  const auto trace = nlohmann::json::parse(timeline_json("small \"job\"", {step}));
  const auto& events = trace.at("traceEvents");
  const auto named = [&](const std::string& name) {
    for (const auto& event : events)
      if (event.at("name") == name) return event;
    return nlohmann::json();
  };
  EXPECT_EQ(events.front().at("args").at("name"), "small \"job\"");
  EXPECT_DOUBLE_EQ(named("step 0").at("dur").get<double>(), 7500);
  EXPECT_DOUBLE_EQ(named("forward").at("ts").get<double>(), 4000);
  EXPECT_DOUBLE_EQ(named("optimizer").at("ts").get<double>(), 6000);
  EXPECT_DOUBLE_EQ(named("batch 7").at("ts").get<double>(), 1000);
  EXPECT_EQ(named("batch 7").at("tid"), 1);
  EXPECT_EQ(named("ready").at("args").at("ready"), 3);
  EXPECT_TRUE(named("loss").is_null()) << "phases that took no time have no slice";
}

}  // namespace
}  // namespace assay
