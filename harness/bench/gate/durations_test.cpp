#include "bench/gate/two_builds.hpp"

#include "assay/error.hpp"
#include "assay/files.hpp"
#include "assay/results.hpp"
#include "core/files/scratch.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::ThrowsMessage;

TEST(Durations, OfARunAreTheSecondsOfAllTrialsOfACase) {
  const ScratchFolder folder;
  Results results{.suite = "s"};
  for (const char* variant : {"naive", "packed", "skipped"}) {
    TrialResult trial{.key = std::string("gemm/") + variant + "/m=1#1",
                      .operation = "gemm",
                      .variant = variant,
                      .problem = "m=1"};
    if (trial.variant == "skipped") {
      trial.skipped = "no such processor";
    } else {
      trial.figures["prepare_seconds"] = 0.5;
      trial.launches = {{{.seconds = 0.25, .calls = 4}}, {{.seconds = 0.25, .calls = 2}}};
    }
    results.trials.push_back(trial);
  }
  results.trials.push_back({.key = "gemm/naive/m=2#1",
                            .operation = "gemm",
                            .variant = "naive",
                            .problem = "m=2",
                            .skipped = "is too large"});
  const auto file = folder.path() / "run.json";
  write_file(file, to_json(results));
  const Durations durations = durations_in(file);
  EXPECT_EQ(durations.file, file.string());
  // Twice 1 s and 0.5 s of slices, and 0.5 s of preparation in each launch.
  EXPECT_THAT(durations.seconds, ElementsAre(Pair("gemm/m=1", DoubleEq(5))));
}

TEST(Durations, OfAGateAreTheSecondsOfAllSides) {
  const ScratchFolder folder;
  TwoBuilds run{.suite = "s"};
  PairedTrial trial{
      .trial = {.key = "gemm/packed/m=1#1", .operation = "gemm", .variant = "packed", .problem = "m=1"}};
  // A call of a microsecond is one of many in its slice, which lasts 0.2 ms.
  trial.launches = {{.base = {1, 1e-6}, .head = {2, 1e-6}, .control = {1, 1e-6}}};
  run.trials = {trial};
  const auto file = folder.path() / "gate.json";
  write_file(file, to_json(run));
  EXPECT_THAT(durations_in(file).seconds, ElementsAre(Pair("gemm/m=1", DoubleEq(4 + 3 * 2e-4))));
}

TEST(Durations, AreNoneWithoutAFileAndRefusedOfOneThatHoldsNone) {
  EXPECT_THAT(durations_in("").seconds, IsEmpty());
  const ScratchFolder folder;
  const auto file = folder.path() / "bad.json";
  const auto expect_refused = [&](const std::string& text, const std::string& what) {
    write_file(file, text);
    EXPECT_THAT([&] { durations_in(file); },
                ThrowsMessage<Error>(AllOf(HasSubstr(file.string()), HasSubstr(what))));
  };
  expect_refused("{", "");
  expect_refused(R"({"schema": "assay.suite/1"})", "assay.suite/1");
  expect_refused(to_json(Results{.suite = "s"}), "holds no time of any case");
  EXPECT_THAT([&] { durations_in(folder.path() / "none.json"); },
              ThrowsMessage<Error>(HasSubstr("none.json")));
}

}  // namespace
}  // namespace assay
