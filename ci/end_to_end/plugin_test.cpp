// Plug-ins: sound ones through all verbs, and what is said of those that are not.

#include "program.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <utility>

namespace assay::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

const std::string library = PLUGIN;

Finished with_fault(const std::string& fault, const std::string& arguments, const Folder& folder) {
  return run_shell("PLUGIN_FAULT='" + fault + "' " + ASSAY_PROGRAM + " --plugin " + library + " " + arguments,
                   folder.path());
}

TEST(Plugin, IsCheckedAndMeasured) {
  const Folder folder;
  const Finished check = with_fault("", "check -k scale", folder);
  EXPECT_EQ(check.exit_code, 0) << check.output << check.errors;
  EXPECT_THAT(check.output, AllOf(HasSubstr("plain"), HasSubstr("fears the number 13")));
  const Finished run = with_fault("", "run scale/n=64 -o r.json", folder);
  ASSERT_EQ(run.exit_code, 0) << run.output << run.errors;
  EXPECT_THAT(run.output, HasSubstr("  plain  "));
  const Json results = Json::parse(folder.read("r.json"));
  ASSERT_EQ(results.at("trials").size(), 2U);
  for (const Json& trial : results.at("trials")) EXPECT_FALSE(trial.at("launches").empty());
  EXPECT_THAT(results.at("command").get<std::string>(), HasSubstr("--plugin " + library));
}

TEST(Plugin, MayNameItselfByTheEnvironment) {
  const Folder folder;
  const Finished all = run_shell("ASSAY_PLUGINS=" + library + " " + ASSAY_PROGRAM + " list", folder.path());
  EXPECT_THAT(all.output, AllOf(HasSubstr("y = 3 x + v"), HasSubstr("the reference, in double precision")));
}

TEST(Plugin, IsRejectedForWhatItsKernelDoes) {
  const Folder folder;
  const std::pair<const char*, const char*> faults[]{
      {"kernel is wrong", "compared elements disagree"},    {"kernel writes beyond", "wrote outside y"},
      {"kernel writes input", "wrote into its input x"},    {"kernel crashes", "was ended by signal 11"},
      {"kernel hangs", "did not end within 1 s"},           {"kernel fails", "run() returned 3 and not 0"},
      {"cannot wait", "synchronize() returned 5 and not 0"}};
  for (const auto& [fault, said] : faults) {
    const Finished check = with_fault(fault, "check -k scale/plain --time-limit 1", folder);
    EXPECT_NE(check.exit_code, 0) << fault << check.output;
    EXPECT_NE(check.exit_code, 2) << fault << check.errors;
    EXPECT_THAT(check.output, HasSubstr(said)) << fault;
  }
}

TEST(Plugin, IsNotTimedWhereItDropsNaN) {
  const Folder folder;
  const std::string base = "cp " + library + " base.so && cp " + library + " head.so && ",
                    program = std::string(" XDG_CACHE_HOME=\"$PWD/cache\" PLUGIN_FAULT='kernel drops NaN' ") +
                              ASSAY_PROGRAM + " ",
                    suite = " -s gemv/m=64,n=64 ", selected = "-k 'gemv/(naive|drops_nan)'";
  // The second `run` finds what the first one kept.
  for (const std::string& verb :
       {"--plugin ./base.so run" + suite + selected, "--plugin ./base.so run" + suite + selected,
        "--plugin ./base.so record --reason r --baselines b" + suite,
        "gate --base ./base.so --head ./head.so --identical" + suite + selected}) {
    const Finished found = run_shell(base + program + verb, folder.path());
    EXPECT_EQ(found.exit_code, 1) << verb << found.output << found.errors;
    EXPECT_THAT(found.output,
                AllOf(HasSubstr("drops_nan"), HasSubstr("at the corner case"), HasSubstr("values=special")))
        << verb;
  }
  const std::string passed = folder.read("cache/assay/corners");
  EXPECT_THAT(passed, AllOf(HasSubstr(" gemv/naive\n"), Not(HasSubstr("drops_nan"))));
}

TEST(Plugin, IsRejectedForWhatItDoesWhileTimed) {
  const Folder folder;
  const std::pair<const char*, const char*> faults[]{
      {"answers again while timed", "its process answered "},
      {"changes code while timed", "its process changed code in its memory: libc.so"}};
  for (const auto& [fault, said] : faults) {
    EXPECT_EQ(with_fault(fault, "check -k scale", folder).exit_code, 0) << fault;
    for (const char* kernels : {"plain", "naive|plain"}) {
      const Finished run =
          with_fault(fault, std::string("run scale/n=64 -k '") + kernels + "' -o r.json", folder);
      EXPECT_NE(run.exit_code, 0) << fault << run.output;
      EXPECT_THAT(run.output, HasSubstr(said)) << fault << run.errors;
      const Json results = Json::parse(folder.read("r.json"));
      for (const Json& trial : results.at("trials")) {
        EXPECT_EQ(trial.at("launches").empty(), trial.at("variant") == "plain") << fault << run.output;
      }
    }
  }
}

TEST(Plugin, DoesNothingAfterItsProcessHasAnswered) {
  const Folder folder;
  const std::string trace = (folder.path() / "trace").string();
  const Finished run = with_fault("acts at exit " + trace, "run scale/n=64", folder);
  EXPECT_EQ(run.exit_code, 0) << run.output << run.errors;
  EXPECT_FALSE(std::filesystem::exists(trace));
}

TEST(Plugin, IsRefusedWhereItMakesNoSense) {
  const Folder folder;
  const std::pair<const char*, const char*> faults[]{
      {"crashes", "assay_plugin_v1() was ended by signal 11"},
      {"returns nothing", "what assay_plugin_v1() returns is NULL"},
      {"other version", "version 99"},
      {"shorter", "the size of kernel 0 is 8"},
      {"no run", "run of kernel scale/plain is NULL"},
      {"no reference", "reference of operation scale is NULL"},
      {"no corner case", "operation scale has no corner case"},
      {"bad corner case", "corner case of scale"},
      {"twice", "registered twice"},
      {"unknown operation", "unknown operation"},
      {"bad name", "not a usable variant name"},
      {"name of another", "two contracts have this name"},
      {"describe crashes", "was ended by signal 11"},
      {"describe refuses", "describe() returned -1"},
      {"describe lies", "describe() gave x an extent of -"},
      {"names twice", "named two tensors x"},
      {"reference fails", "reference() returned 7 and not 0"},
      {"reference differs", "the reference of scale gives two results for one input"},
      {"reference leaves a hole", "the reference of scale leaves y["}};
  for (const auto& [fault, said] : faults) {
    const Finished check = with_fault(fault, "check -k scale/plain", folder);
    EXPECT_EQ(check.exit_code, 2) << fault << check.output;
    EXPECT_THAT(check.errors, AllOf(HasSubstr(said), HasSubstr(library))) << fault;
  }
  EXPECT_THAT(run_program("--plugin ./missing.so list", folder.path()).errors, HasSubstr("no such file"));
  folder.write("text.so", "no library");
  EXPECT_THAT(run_program("--plugin ./text.so list", folder.path()).errors, HasSubstr("cannot be loaded"));
  EXPECT_THAT(run_program("list --plugin", folder.path()).errors, HasSubstr("names no file"));
}

TEST(Plugin, HasNoClockOfItsOwnWhereNoAcceleratorIsUsed) {
  const Folder folder;
  const Finished run = with_fault("clock of a second", "run scale/n=64 -k plain -o r.json", folder);
  ASSERT_EQ(run.exit_code, 0) << run.output << run.errors;
  EXPECT_THAT(run.output, HasSubstr("timed by our"));
  const Finished device = with_fault("clock of a device", "run scale/n=64 -k plain", folder);
  EXPECT_THAT(device.output, AllOf(HasSubstr("works elsewhere"), HasSubstr("timed by our")));
}

TEST(Plugin, MayBeFasterThanThisProcessorWhereItWaitsForADevice) {
  const Folder folder;
  const Finished device = with_fault("device", "run scale/n=64 -k plain", folder);
  EXPECT_THAT(device.output, AllOf(HasSubstr("naive\n      IMPOSSIBLE"), HasSubstr("works elsewhere"),
                                   Not(HasSubstr("plain\n      IMPOSSIBLE"))))
      << device.errors;
  const Finished none = with_fault("no device", "run scale/n=64 -k plain", folder);
  EXPECT_THAT(none.output, AllOf(HasSubstr("naive\n      IMPOSSIBLE"), HasSubstr("plain\n      IMPOSSIBLE")))
      << none.errors;
}

TEST(Plugin, IsComparedWithAnotherBuildOfIt) {
  const Folder folder;
  const std::string base = "cp " + library + " base.so && cp " + library + " head.so && echo >>head.so && ";
  const std::string gate =
      std::string(ASSAY_PROGRAM) + " gate --base ./base.so --head ./head.so --budget 20 -s scale/n=64";
  const Finished same = run_shell(base + gate, folder.path());
  EXPECT_NE(same.exit_code, 1) << same.output << same.errors;
  EXPECT_THAT(same.output, HasSubstr("identical machine code")) << same.errors;
  const Finished alone =
      run_shell(std::string(ASSAY_PROGRAM) + " gate --base ./base.so -s scale/n=64", folder.path());
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_THAT(alone.errors, HasSubstr("--head"));
}

}  // namespace
}  // namespace assay::testing
