// The verb against a registry of planted kernels, timed in this process.

#include "app/known_verbs.hpp"
#include "assay/error.hpp"
#include "core/check/doubling_test.hpp"
#include "core/json/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::AllOf;
using testing::doubled;
using testing::Doubling;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

/// Right in its first call of each slice, as long as it lies in the same arrays.
auto replays(const Doubling::Problem& p, const Doubling::Input&, const Context&) {
  return [p, last = static_cast<const float*>(nullptr)](const Doubling::Input& in,
                                                        Doubling::Output& out) mutable {
    if (last != in.x.data()) doubled(p, in, out);
    last = in.x.data();
  };
}

CheatSampling in_this_process(const Registry& registry) {
  const auto run = [&registry](const LaunchRequest& request, const Hooks& hooks) {
    return sample_here(registry, request, hooks);
  };
  return {.run = run, .sides = [run](const PairRequest& request, const Hooks& hooks) {
            std::vector<std::vector<TurnSample>> sides(request.sides.size());
            for (auto& side : sides) {
              for (const TrialSample& sample : run({.trials = request.trials}, hooks))
                side.push_back({.key = sample.key,
                                .agrees = sample.audit.fault.empty(),
                                .disagreement = sample.audit.fault});
            }
            return sides;
          }};
}

struct Told {
  int exit_code;
  std::string text;
};

Told told(const Registry& registry, KnownCheatsOptions options = {}) {
  ::testing::internal::CaptureStdout();
  const int code = try_known_cheats(options, registry, in_this_process(registry)).exit_code();
  return {code, ::testing::internal::GetCapturedStdout()};
}

Registry with(const std::string& cheat, const std::string& honest) {
  Registry registry = testing::doubling_registry();
  registry.add<Doubling>(
      {.name = "replays", .known_cheat = cheat, .known_honest = honest, .prepare = replays});
  return registry;
}

TEST(KnownCheatsVerb, PassesWhenCheatsAreRejectedAndHonestOnesAreNot) {
  Registry registry = with("replays by pointer: an issue", "");
  registry.add<Doubling>({.name = "suspicious", .known_honest = "looks odd", .run = doubled});
  const Told found = told(registry);
  EXPECT_EQ(found.exit_code, exit_code::passed) << found.text;
  EXPECT_THAT(found.text, AllOf(HasSubstr("AS IT SHOULD BE: 1 cheats rejected, 1 honest variants passed"),
                                HasSubstr("trick    replays by pointer: an issue"),
                                HasSubstr("rejected by run:"), HasSubstr("looks    looks odd")));
}

TEST(KnownCheatsVerb, FailsForAnHonestKernelThatIsSaidToCheat) {
  Registry registry = testing::doubling_registry();
  registry.add<Doubling>({.name = "framed", .known_cheat = "none at all", .run = doubled});
  const Told found = told(registry);
  EXPECT_EQ(found.exit_code, exit_code::found);
  EXPECT_THAT(found.text, HasSubstr("NOT REJECTED: doubling/framed"));
}

TEST(KnownCheatsVerb, FailsForACheatThatIsSaidToBeHonest) {
  const Told found = told(with("", "it only looks odd"));
  EXPECT_EQ(found.exit_code, exit_code::found);
  EXPECT_THAT(found.text, HasSubstr("REJECTED THOUGH HONEST: doubling/replays"));
}

TEST(KnownCheatsVerb, CountsRepeats) {
  const Told found = told(with("replays", ""), {.repeats = 3});
  EXPECT_EQ(found.exit_code, exit_code::passed);
  EXPECT_THAT(found.text, HasSubstr("3/3    3/3    3/3"));
}

TEST(KnownCheatsVerb, FitsATerminalAndTellsTheSameAsJson) {
  const Registry registry =
      with("replays the answer for the same pointers, which a long text says at length", "");
  std::istringstream lines(told(registry).text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  KnownCheatsOptions options;
  options.check.json = "-";
  const Json json = parse_json(told(registry, options).text, "standard output");
  const Json& only = json.at("variants").items().front();
  EXPECT_EQ(only.at("name"), "doubling/replays");
  EXPECT_EQ(only.at("run").at("rejected"), 1);
  EXPECT_EQ(only.at("as_it_should_be"), true);
}

TEST(KnownCheatsVerb, SkipsWhatCannotRunHereAndSaysSo) {
  Registry registry = testing::doubling_registry();
  registry.add<Doubling>({.name = "exotic",
                          .known_cheat = "none",
                          .run = doubled,
                          .unfit = [](const Doubling::Problem&, const Context&) {
                            return std::optional<std::string>("needs a unicorn");
                          }});
  const Told found = told(registry);
  EXPECT_EQ(found.exit_code, exit_code::all_skipped);
  EXPECT_THAT(found.text, AllOf(HasSubstr("skipped: needs a unicorn"), Not(HasSubstr("NOT REJECTED"))));
}

TEST(KnownCheatsVerb, RefusesAFilterThatSelectsNone) {
  const Registry registry = with("replays", "");
  KnownCheatsOptions options;
  options.check.filter = "naive";
  EXPECT_THAT([&] { told(registry, options); }, ThrowsMessage<Error>(HasSubstr("selects no known cheat")));
  ::testing::internal::GetCapturedStdout();
}

}  // namespace
}  // namespace assay
