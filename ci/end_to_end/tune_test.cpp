// Break-even sizes and core types as a user asks for them.
#include "program.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <array>
#include <filesystem>

namespace assay::testing {
namespace {

using Json = nlohmann::json;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Tuning : public ::testing::Test {
 protected:
  Finished run(const std::string& arguments, const std::string& plant = "") {
    return run_program(arguments, folder_.path(), plant);
  }
  Folder folder_;
};

/// Few sizes and rounds, so that sanitized builds stay quick.
constexpr const char* relu =
    "tune threshold elementwise_relu/n=1,c=1,h=1 --vary w --from 16 --to 64 --step 2 --rounds 6 ";

TEST_F(Tuning, FindsOrRefusesAThresholdAndWritesAConstantOnlyWhenThereIsOne) {
  const Finished done =
      run(std::string(relu) + "--between naive,flat -o t.json --md t.md --header w.hpp --constant from_w");
  // The machine decides between the two; 3 is for ties everywhere and for curves that come back.
  ASSERT_THAT(done.exit_code, AnyOf(0, 3)) << done.output << done.errors;
  const Json json = Json::parse(folder_.read("t.json"));
  EXPECT_EQ(json.at("schema"), "assay.tuning/1");
  EXPECT_GE(json.at("sizes").at("rows").size(), 2U);
  EXPECT_THAT(done.output, HasSubstr(json.at("answer").get<std::string>() + ": "));
  EXPECT_THAT(folder_.read("t.md"),
              AllOf(HasSubstr("\n\n**"), HasSubstr("--header w.hpp --constant from_w --rounds 6\n")));
  const Json& constant = json.at("constant");
  if (constant.is_null()) {
    EXPECT_THAT(folder_.listing(), Not(HasSubstr("w.hpp")));
    EXPECT_THAT(done.output, HasSubstr("w.hpp was not written"));
  } else {
    EXPECT_THAT(folder_.read("w.hpp"), HasSubstr("std::ptrdiff_t from_w = " + constant.dump() + ";"));
  }
}

TEST_F(Tuning, EndsTheSearchAtAVariantThatIsWrong) {
  const Finished done =
      run("tune threshold gemm/m=2,n=2 --vary k --from 4 --to 9 --between naive,planted --rounds 6 "
          "-o t.json --header k.hpp --constant from_k",
          "wrong");
  EXPECT_EQ(done.exit_code, 1) << done.errors;
  EXPECT_THAT(done.output, HasSubstr("WRONG: gemm/planted/m=2,n=2,k=4#1: at the corner case"));
  EXPECT_EQ(Json::parse(folder_.read("t.json")).at("answer"), "WRONG");
  EXPECT_EQ(folder_.listing(), "t.json\n");
}

TEST_F(Tuning, SaysWhatIsWrongWithAQuestionAndMeasuresNothing) {
  const auto refused = [&](const std::string& arguments, const char* what) {
    const Finished done = run("tune threshold " + arguments);
    EXPECT_EQ(done.exit_code, 2) << arguments;
    EXPECT_THAT(done.errors, HasSubstr(what)) << arguments;
  };
  const std::string range = " --vary rows --from 1 --to 64 ";
  refused("layernrm/cols=8" + range + "--between naive,welford", "near it: layernorm");
  refused("layernorm/cols=8 --vary row --from 1 --to 64 --between naive,welford", "near it: rows");
  refused("layernorm/cols=8" + range + "--between naive,welfort", "near it: welford");
  refused("layernorm" + range + "--between naive,welford", "field 'cols' is missing");
  refused("layernorm/cols=8 --vary rows --from 64 --to 64 --between naive,welford",
          "--from must be the smaller");
  refused("layernorm/cols=8" + range + "--between naive,welford --header f.hpp --constant 2rows",
          "is no identifier of C++");
  EXPECT_EQ(folder_.listing(), "");
}

TEST_F(Tuning, TriesCoreTypesOfOpenBlasAndNeverOneThatIsUnknown) {
  folder_.write("tiny.json", R"({"schema": 1, "name": "tiny", "about": "end to end",
                                 "cases": [{"op": "gemm", "m": 24, "n": 24, "k": 24}]})");
  const std::string library = "tune library --suite tiny.json --threads 1 --rounds 6 ";
  const Finished done = run(library + "--core-types Prescott,Nehalem -o chosen.json --md adr.md");
  if (done.exit_code == 2 && (done.errors.find("OpenBLAS: ") != std::string::npos ||
                              done.errors.find("this processor lacks") != std::string::npos)) {
    GTEST_SKIP() << done.errors;
  }
  // The machine decides; 3 is for a control that moved.
  ASSERT_THAT(done.exit_code, AnyOf(0, 3)) << done.output << done.errors;
  const Json chosen = Json::parse(folder_.read("chosen.json"));
  EXPECT_EQ(chosen.at("schema"), "assay.tuning/1");
  EXPECT_TRUE(chosen.at("environment").is_object());
  EXPECT_EQ(chosen.at("attempts").at("rows").size(), 3U);
  EXPECT_EQ(chosen.at("rounds"), 6);
  EXPECT_THAT(done.output, AllOf(HasSubstr("gemm/openblas/m=24,n=24,k=24#1"), HasSubstr("control")));
  EXPECT_THAT(folder_.read("adr.md"), HasSubstr("## Not to be tried again here"));

  const Finished unknown = run(library + "--core-types Hasswell");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.errors, HasSubstr("near it: Haswell"));
  const Finished none = run(library + "-k gemm/naive");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.errors, HasSubstr("has a variant openblas"));
}

TEST_F(Tuning, TriesSizesOfCachesAndRemembersThoseOfThisMachine) {
  folder_.write("tiny.json", R"({"schema": 1, "name": "tiny", "about": "end to end",
                                 "cases": [{"op": "gemm", "m": 24, "n": 24, "k": 24}]})");
  const auto here = [&](const std::string& arguments) {
    return run_shell("unset ASSAY_CACHES; XDG_CACHE_HOME='" + folder_.path().string() +
                         "/cache' '" ASSAY_PROGRAM "' " + arguments,
                     folder_.path());
  };
  const Finished done = here(
      "tune kernels --suite tiny.json --threads 1 --rounds 6 --caches 16K/64K/1M -o chosen.json --md adr.md");
  // The machine decides; 3 is for a control that moved.
  ASSERT_THAT(done.exit_code, AnyOf(0, 3)) << done.output << done.errors;
  const Json chosen = Json::parse(folder_.read("chosen.json"));
  EXPECT_EQ(chosen.at("schema"), "assay.tuning/1");
  EXPECT_EQ(chosen.at("attempts").at("rows").at(1).at("name"), "16K/64K/1M");
  EXPECT_THAT(done.output, AllOf(HasSubstr("gemm/auto/m=24,n=24,k=24#1"), HasSubstr("control")));
  EXPECT_THAT(folder_.read("adr.md"), HasSubstr("# Caches that kernels reckon with for suite tiny"));

  const std::string few = "run --suite tiny.json -k gemm/auto -o r.json";
  ASSERT_EQ(here(few).exit_code, 0);
  const Json machine = Json::parse(folder_.read("r.json")).at("machine");
  const std::string version = here("--version").output.substr(std::string("assay ").size());
  const auto keep = [&](const std::string& key, const std::string& caches) {
    std::filesystem::create_directories(folder_.path() / "cache/assay");
    folder_.write("cache/assay/kernels.json", Json{{"schema", "assay.kernels/1"},
                                                   {"machine", key},
                                                   {"version", version.substr(0, version.find('\n'))},
                                                   {"caches", caches},
                                                   {"date", "2026-01-01T00:00:00Z"},
                                                   {"command", "assay tune kernels"}}
                                                  .dump());
  };
  keep(machine.at("key"), "16K/64K/1M");
  const Finished tuned = here(few);
  EXPECT_EQ(tuned.exit_code, 0) << tuned.errors;
  EXPECT_THAT(tuned.errors, Not(HasSubstr("ignored")));
  EXPECT_THAT(folder_.read("r.json"), AllOf(HasSubstr("ASSAY_CACHES"), HasSubstr("16K/64K/1M")));
  for (const auto& [key, caches, why] :
       {std::array<std::string, 3>{"another", "16K/64K/1M", "is ignored: it is of the machine another"},
        std::array<std::string, 3>{machine.at("key"), "64K/16K/1M", "smaller than the one before"}}) {
    keep(key, caches);
    const Finished ignored = here(few);
    EXPECT_EQ(ignored.exit_code, 0) << ignored.errors;
    EXPECT_THAT(ignored.errors, HasSubstr(why));
    EXPECT_THAT(folder_.read("r.json"), Not(HasSubstr("ASSAY_CACHES")));
  }
}

TEST_F(Tuning, TakesPrintedStepsPerSampleAndSaysThatAnotherBatchTrainsDifferently) {
  const Finished done =
      run("tune command --vary batch=10,20 --budget 16 --match 'step: ([0-9.]+) ms' -o t.json -- "
          "/bin/sh -c 'while :; do echo step: {batch} ms; sleep 0.01; done'");
  EXPECT_EQ(done.exit_code, 0) << done.output << done.errors;
  EXPECT_THAT(done.output, AllOf(HasSubstr("Another batch trains differently"), HasSubstr("batch=20")));
  EXPECT_THAT(done.output, HasSubstr("equally fast [1.000, 1.000]"));
}

TEST_F(Tuning, MergesSettingsThatWereDividedAmongJobs) {
  const auto shard = [&](const std::string& options) {
    return run("tune command --vary w=20,30,10 --budget 14 --match 'step: ([0-9.]+) ms' --shard-count 2 " +
               options + " -- /bin/sh -c 'while :; do echo step: {w} ms; sleep 0.01; done'");
  };
  const Finished first = shard("--shard-index 0 -o part0.json");
  EXPECT_EQ(first.exit_code, 0) << first.output << first.errors;
  EXPECT_THAT(first.output, HasSubstr("Keep the present setting"));
  const Finished lacking = run("merge part0.json -o all.json");
  EXPECT_EQ(lacking.exit_code, 3) << lacking.errors;
  EXPECT_THAT(lacking.errors,
              AllOf(HasSubstr("lacks shard 1 of 0 to 1"),
                    HasSubstr("--shard-count 2 --shard-index 1 -o part1.json -- /bin/sh -c")));
  EXPECT_THAT(folder_.listing(), Not(HasSubstr("all.json")));

  ASSERT_EQ(shard("--shard-index 1 -o part1.json --md part1.md").exit_code, 0);
  EXPECT_THAT(folder_.read("part1.md"),
              HasSubstr("Here, shard 1 of 0 to 1 holds 1 of the 2 selected cases."));
  const Finished whole = run("merge part1.json part0.json -o all.json --md all.md");
  EXPECT_EQ(whole.exit_code, 0) << whole.errors;
  EXPECT_THAT(whole.output, HasSubstr("Take w=10: 2.00x faster [2.00, 2.00] than the present setting"));
  const Json record = Json::parse(folder_.read("all.json"));
  EXPECT_EQ(record.at("schema"), "assay.tuning/1");
  EXPECT_EQ(record.at("chosen"), "w=10");
  EXPECT_EQ(record.at("attempts").at("rows").size(), 3U);
  EXPECT_THAT(folder_.read("all.md"), HasSubstr("Each of 2 shards had the present setting beside its own"));

  const Finished judged = run("merge part1.json part0.json -o all.json --drift-limit 1.1");
  EXPECT_EQ(judged.exit_code, 2);
  EXPECT_THAT(judged.errors, HasSubstr("is for shards of a gate of two builds"));
  // The control of one shard moved, and the setting of the other is slower.
  Json restless = Json::parse(folder_.read("part0.json")), quiet = Json::parse(folder_.read("part1.json"));
  for (Json& seconds : restless["trials"][1]["launches"][0]["seconds"]) seconds = seconds.get<double>() * 1.1;
  for (Json& seconds : quiet["trials"][0]["launches"][0]["seconds"]) seconds = seconds.get<double>() * 3;
  folder_.write("part0.json", restless.dump());
  folder_.write("part1.json", quiet.dump());
  const Finished open = run("merge part0.json part1.json -o all.json");
  EXPECT_EQ(open.exit_code, 3) << open.errors;
  EXPECT_THAT(open.output, HasSubstr("UNDECIDED: w=30: the present setting against itself was 1.10x slower"));
  const Finished confirmed = shard("--shard-index 0 --confirm");
  EXPECT_EQ(confirmed.exit_code, 2);
  EXPECT_THAT(confirmed.errors, HasSubstr("--confirm: speaks for the whole suite"));
}

// It says that its steps are faster, and sleeps behind them.
TEST_F(Tuning, DecidesNothingThatWholeRunsContradict) {
  const Finished done = run(
      "tune command --vary w=2,1 --budget 16 --confirm -o t.json -- /bin/sh -c 'n=0; while test $n -lt 60; "
      "do echo $n,0.0{w},0,1,training,$$,60,0 >> $ASSAY_STEPS; n=$((n + 1)); sleep 0.01; done; "
      "if test {w} = 1; then sleep 1; fi'");
  EXPECT_EQ(done.exit_code, 3) << done.output << done.errors;
  EXPECT_THAT(done.output,
              AllOf(HasSubstr("NOT CONFIRMED by one run of each: w=2 took"), HasSubstr("w=1 took")));
  EXPECT_EQ(Json::parse(folder_.read("t.json")).at("advice"), "UNDECIDED");
}

}  // namespace
}  // namespace assay::testing
