// Corner cases before anything is timed: who is refused there, and who is called again.
#include "core/check/passed_corners.hpp"

#include "assay/files.hpp"
#include "assay/pick.hpp"
#include "core/check/doubling_test.hpp"
#include "core/files/scratch.hpp"
#include "core/registry/erased_operation.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace assay {
namespace {

using ::testing::AllOf;
using testing::doubled;
using testing::Doubling;
using ::testing::Each;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

/// Doubling with a NaN in a corner case.
struct Special : Doubling {
  static constexpr std::string_view name = "special";
  static std::vector<Problem> corner_cases() { return {{1, 1}, {3, 5}, {1, 17, 1}}; }
  static Input make_input(const Problem& p, Setting& setting) {
    Input in = Doubling::make_input(p, setting);
    if (p.mode == 1) in.x[2] = std::numeric_limits<float>::quiet_NaN();
    return in;
  }
};

int calls = 0;
void counted(const Doubling::Problem& p, const Doubling::Input& in, Doubling::Output& out) {
  ++calls;
  doubled(p, in, out);
}
void drops_nan(const Doubling::Problem& p, const Doubling::Input& in, Doubling::Output& out) {
  doubled(p, in, out);
  for (float& y : out.y) y = std::isnan(y) ? 0 : y;
}
void flings(const Doubling::Problem& p, const Doubling::Input& in, Doubling::Output& out) {
  if (p.columns == 17) throw std::runtime_error("no such tail");
  doubled(p, in, out);
}

using Run = void (*)(const Doubling::Problem&, const Doubling::Input&, Doubling::Output&);

/// naive and `mine`, with their codes.
Registry registry_with(Run run, const std::string& code = "01", const std::string& code_of_naive = "02") {
  Registry out;
  out.add<Special>({.name = "another", .run = doubled});
  const auto add = [&](std::string_view name, Run its_run, const std::string& its_code) {
    out.add("special",
            std::make_unique<detail::TypedVariant<Special>>(VariantInfo{.name = std::string(name)},
                                                            Variant<Special>{.run = its_run}),
            {.code = its_code});
  };
  add("naive", doubled, code_of_naive);
  add("mine", run, code);
  return out;
}

/// `system` decides nothing, and `check` alone sets the last one.
const Machine machine{.key = "m", .facts = {{"processor", "x"}, {"system", "y", false}}, .cores = 2};

std::vector<Trial> trials_of(const Registry& registry, const std::string& variant = "mine") {
  const Suite suite{.name = "s", .cases = {{"special", "rows=2,columns=2"}, {"special", "rows=4,columns=4"}}};
  return make_plan(registry, suite, {.filter = "/(naive|" + variant + ")/"}, Machine{.memory_bytes = 1e9});
}

const Checked& verdict_on(const std::string& variant, const std::vector<Trial>& trials,
                          const std::vector<Checked>& verdicts) {
  const auto at = std::ranges::find_if(
      trials, [&](const Trial& trial) { return trial.operation->variants()[trial.variant].name == variant; });
  return verdicts.at(static_cast<std::size_t>(at - trials.begin()));
}

/// The file of a test, in a folder that is not there yet.
struct Kept {
  ScratchFolder folder;
  fs::path file = folder.path() / "assay" / "corners";

  /// How often `mine` is called before it is timed.
  int calls_of(const Registry& registry, const Machine& here = machine) const {
    calls = 0;
    check_corners(trials_of(registry), here, 42, file, {});
    return calls;
  }
};

TEST(Corners, RefuseAKernelThatDropsNaNAndNameTheCase) {
  const Registry registry = registry_with(drops_nan);
  const std::vector<Trial> trials = trials_of(registry);
  const std::vector<Checked> verdicts = check_corners(trials, machine, 42, {}, {});
  ASSERT_EQ(verdicts.size(), 4U);
  EXPECT_TRUE(verdict_on("naive", trials, verdicts).agrees);
  const Checked& found = verdict_on("mine", trials, verdicts);
  EXPECT_FALSE(found.agrees);
  EXPECT_FALSE(found.failure);
  EXPECT_THAT(found.detail, HasSubstr("at the corner case rows=1,columns=17,mode=fancy, exact fill"));
  EXPECT_THAT(check(trials, 42, {}), Each(::testing::Field("agrees", &Checked::agrees, true)))
      << "on what is timed it is right";
}

TEST(Corners, KeepVerdictsOfTrialsThatAreNotCheckedAnyMore) {
  const Registry registry = registry_with(drops_nan);
  const std::vector<Trial> trials = trials_of(registry);
  const auto found = check(trials, 42, {}, {}, Sizes::own, check_corners(trials, machine, 42, {}, {}));
  EXPECT_THAT(verdict_on("mine", trials, found).detail, HasSubstr("at the corner case"));
  EXPECT_EQ(verdict_on("naive", trials, found).compared, 4);
}

TEST(Corners, NameTheCaseWhereAProcessEnds) {
  const Registry registry = registry_with(flings);
  const std::vector<Trial> trials = trials_of(registry);
  const auto verdicts = check_corners(trials, machine, 42, {}, {}, {.own_process = true});
  const Checked& found = verdict_on("mine", trials, verdicts);
  ASSERT_TRUE(found.failure);
  EXPECT_THAT(found.failure->reason,
              AllOf(HasSubstr("no such tail, at the corner case rows=1,columns=17"), EndsWith("threads 1")));
}

TEST(Corners, OfAVariantThatPicksAreThoseOfThePickedOne) {
  Registry registry = registry_with(drops_nan);
  static constexpr Pick pick{.operation = "special",
                             .name = "auto",
                             .summary = "",
                             .of = [](std::string_view problem, const Context&) {
                               return Choice(problem.starts_with("rows=2") ? "mine" : "another");
                             }};
  auto operation = registry.take("special");
  dynamic_cast<ErasedOperation&>(*operation).add_pick(pick, {});
  registry.put(std::move(operation));
  const std::vector<Trial> trials = trials_of(registry, "auto");
  const std::vector<Checked> verdicts = check_corners(trials, machine, 42, {}, {});
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const bool is_wrong = trials[i].key.starts_with("special/auto/rows=2");
    EXPECT_EQ(verdicts[i].agrees, !is_wrong) << trials[i].key;
  }
}

TEST(Corners, AreCheckedOnce) {
  const Kept kept;
  EXPECT_GT(kept.calls_of(registry_with(counted)), 0);
  EXPECT_EQ(kept.calls_of(registry_with(counted)), 0);
  const std::string text = read_file(kept.file);
  EXPECT_THAT(text, AllOf(HasSubstr(" special/naive\n"), HasSubstr(" special/mine\n")));
  EXPECT_EQ(kept.calls_of(registry_with(counted),
                          {.key = "n",
                           .facts = {{"processor", "x"}, {"system", "z", false}, {"GOMP_SPINCOUNT", "3000"}},
                           .cores = 2}),
            0)
      << "neither decides";
}

TEST(Corners, AreCheckedAgainWhereAnythingIsOther) {
  const Kept kept;
  kept.calls_of(registry_with(counted));
  EXPECT_GT(kept.calls_of(registry_with(counted, "03")), 0) << "the code of the kernel";
  EXPECT_GT(kept.calls_of(registry_with(counted, "01", "03")), 0) << "the code of the reference";
  EXPECT_GT(kept.calls_of(registry_with(counted), {.key = "m", .facts = {{"processor", "z"}}, .cores = 2}), 0)
      << "the machine";
  EXPECT_GT(kept.calls_of(registry_with(counted), {.key = "m", .facts = machine.facts, .cores = 4}), 0)
      << "its cores";
  EXPECT_EQ(kept.calls_of(registry_with(counted)), 0) << "the first is still known";
}

TEST(Corners, AreCheckedEachTimeWhereNothingIdentifiesTheCode) {
  const Kept kept;
  for (int times = 0; times < 2; ++times) {
    EXPECT_GT(kept.calls_of(registry_with(counted, "")), 0);
    EXPECT_GT(kept.calls_of(registry_with(counted, "01", "")), 0) << "that of the reference";
  }
  EXPECT_THAT(read_file(kept.file), Not(HasSubstr("mine")));
}

TEST(Corners, NeverKeepAKernelThatFailed) {
  const Kept kept;
  for (int times = 0; times < 2; ++times) {
    const Registry registry = registry_with(drops_nan);
    const std::vector<Trial> trials = trials_of(registry);
    EXPECT_FALSE(verdict_on("mine", trials, check_corners(trials, machine, 42, kept.file, {})).agrees);
    EXPECT_THAT(read_file(kept.file), AllOf(HasSubstr(" special/naive\n"), Not(HasSubstr("mine"))));
  }
}

TEST(Corners, ForgetAKernelThatAWholeCheckRejected) {
  const Kept kept;
  const Registry registry = registry_with(counted);
  kept.calls_of(registry);
  PassedCorners passed(kept.file, machine);
  const CornerCheck wrong{
      .operation = "special", .variant = "mine", .agreement = {Agreement{.agrees = false}, {}}};
  const CornerCheck right{.operation = "special", .variant = "mine"};
  passed.note(registry.operations(), std::vector{wrong, right});
  passed.save();
  EXPECT_GT(kept.calls_of(registry), 0);
}

/// The file to which a kernel writes what would let it pass.
fs::path forged_file;
std::string forged_text;
void forges(const Doubling::Problem& p, const Doubling::Input& in, Doubling::Output& out) {
  write_file(forged_file, forged_text);
  drops_nan(p, in, out);
}

TEST(Corners, AreNotPassedByAKernelThatWritesToTheFile) {
  const Kept kept;
  kept.calls_of(registry_with(counted));
  forged_file = kept.file;
  forged_text = read_file(kept.file);
  ASSERT_THAT(forged_text, HasSubstr(" special/mine\n"));
  write_file(kept.file, "");
  const Registry registry = registry_with(forges);
  for (int times = 0; times < 2; ++times) {
    const std::vector<Trial> trials = trials_of(registry);
    EXPECT_FALSE(verdict_on("mine", trials, check_corners(trials, machine, 42, kept.file, {})).agrees);
    EXPECT_THAT(read_file(kept.file), Not(HasSubstr("mine")));
  }
}

TEST(Corners, AreCheckedWhereTheFileIsDamaged) {
  const Kept kept;
  const Registry registry = registry_with(counted);
  const int all = kept.calls_of(registry);
  const std::string whole = read_file(kept.file);
  const std::size_t half = whole.find(" special/mine");
  for (const std::string& damaged :
       {std::string(), std::string("\0\xff\n\n \n", 6), std::string(5'000'000, 'a'), whole.substr(0, half),
        "x" + whole.substr(whole.rfind('\n', half) + 1)}) {
    write_file(kept.file, damaged);
    EXPECT_EQ(kept.calls_of(registry), all) << damaged.size();
    EXPECT_EQ(kept.calls_of(registry), 0) << "it was mended";
  }
  write_file(kept.file, "no line\n" + whole);
  EXPECT_EQ(kept.calls_of(registry), 0) << "lines that make sense hold";
}

TEST(Corners, AreCheckedWhereNothingCanBeKept) {
  Kept kept;
  const fs::path text = kept.folder.path() / "text";
  write_file(text, "");
  fs::create_directories(kept.folder.path() / "folder");
  for (const fs::path& file : {fs::path(), text / "assay" / "corners", fs::path("/proc/assay/corners"),
                               fs::path("/dev/full"), kept.folder.path() / "folder"}) {
    kept.file = file;
    for (int times = 0; times < 2; ++times) EXPECT_GT(kept.calls_of(registry_with(counted)), 0) << file;
  }
}

TEST(PassedCorners, HoldTheNewestOfManyThousand) {
  const Kept kept;
  PassedCorners passed(kept.file, machine);
  std::vector<Registry> builds;
  constexpr int many = 4100;
  for (int i = 0; i < many; ++i) builds.push_back(registry_with(counted, std::to_string(i)));
  const std::size_t mine = testing::variant_index(builds[0].at("special"), "mine");
  const std::vector right{CornerCheck{.operation = "special", .variant = "mine"}};
  for (const Registry& build : builds) passed.note(build.operations(), right);
  passed.note(builds[0].operations(), right);
  passed.save();
  const PassedCorners again(kept.file, machine);
  EXPECT_TRUE(again.hold(builds[0].at("special"), mine)) << "it passed once more";
  EXPECT_TRUE(again.hold(builds[many - 1].at("special"), mine));
  EXPECT_FALSE(again.hold(builds[1].at("special"), mine));
}

}  // namespace
}  // namespace assay
