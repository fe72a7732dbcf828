#include "core/files/child_process.hpp"
#include "assay/error.hpp"
#include "assay/files.hpp"
#include "core/files/scratch.hpp"

#include <gmock/gmock.h>

#include <sched.h>
#include <sys/personality.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>

namespace assay {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

class ChildProcess : public ::testing::Test {
 protected:
  ChildProcess() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder = fs::temp_directory_path() / ("assay_" + std::to_string(::getpid()) + "_" + test->name());
    fs::create_directories(folder);
  }
  ~ChildProcess() override { fs::remove_all(folder); }
  Command sh(const std::string& script) const { return {.words = {"sh", "-c", script}, .folder = folder}; }
  fs::path folder;
};

/// Whether a process runs: the dead may lie about until somebody reaps them.
bool runs(pid_t process) {
  const fs::path file = fs::path("/proc") / std::to_string(process) / "stat";
  std::ifstream in(file);
  std::string stat;
  if (!std::getline(in, stat)) return false;
  return stat[stat.rfind(')') + 2] != 'Z';
}

/// Starts a process that nobody waits for, in a group of its own, says who it is, and would stay for longer
/// than any test, whatever it is asked.
constexpr const char* lasting_grandchild =
    "setsid sh -c 'trap \"\" HUP INT TERM; echo $$ >tmp; mv tmp grandchild; sleep 1000' & sleep 1000";

TEST_F(ChildProcess, RunsInItsFolderAndSaysWithWhatItEnded) {
  const Answer answer = ask_child(sh("pwd; echo no >&2; exit 3"), Hooks{});
  EXPECT_EQ(answer.exit_code, 3);
  EXPECT_EQ(answer.output, folder.string() + "\n");
  EXPECT_EQ(answer.errors, "no\n");
  EXPECT_EQ(ask_child(sh("kill -9 $$"), Hooks{}).exit_code, 128 + SIGKILL);
}

TEST_F(ChildProcess, SaysWhatItTookWithItsChildren) {
  const Answer busy = ask_child(sh("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done | cat"), Hooks{});
  EXPECT_GT(busy.cpu_seconds, 0);
  EXPECT_GT(busy.seconds, 0);
  const Answer idle = ask_child(sh("sleep 0.2"), Hooks{});
  EXPECT_LT(idle.cpu_seconds, idle.seconds);
}

TEST_F(ChildProcess, MayBeKeptToOneCore) {
  cpu_set_t mine;
  ASSERT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
  int core = CPU_SETSIZE - 1;
  while (core > 0 && CPU_ISSET(static_cast<std::size_t>(core), &mine) == 0) --core;
  const pid_t child = start_child(sh("sed -n 's/Cpus_allowed_list:[[:space:]]*//p' /proc/self/status"),
                                  {.output = folder / "out", .core = core});
  EXPECT_TRUE(wait_for_children({child}).passed());
  EXPECT_EQ(read_file(folder / "out"), std::to_string(core) + "\n");
  cpu_set_t after;
  ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&mine, &after));
}

TEST_F(ChildProcess, GetsItsWordsAsTheyAre) {
  const Answer answer =
      ask_child({.words = {"printf", "%s|", "a b", "$HOME", "*", ""}, .folder = folder}, Hooks{});
  EXPECT_EQ(answer.output, "a b|$HOME|*||");
}

TEST_F(ChildProcess, AddsWhatItSaysToTheLog) {
  EXPECT_EQ(run_child(sh("echo one"), folder / "log", Hooks{}), 0);
  EXPECT_EQ(run_child(sh("echo two >&2; echo three >&2"), folder / "log", Hooks{}), 0);
  EXPECT_EQ(read_file(folder / "log"), "one\ntwo\nthree\n");
  EXPECT_EQ(last_lines(folder / "log", 2), "    two\n    three");
}

TEST_F(ChildProcess, ThatCannotBeStartedIsNamed) {
  const Command none{.words = {"no-such-program"}, .folder = folder};
  EXPECT_THAT([&] { ask_child(none, Hooks{}); },
              Throws<Error>(Property(&Error::what, HasSubstr("no-such-program"))));
}

TEST_F(ChildProcess, IsNotToldOfTheRepositoryWhoseHookThisRunsIn) {
  ::setenv("GIT_DIR", "/nowhere", 1);
  const Answer answer = ask_child(sh("echo \"${GIT_DIR-unset}\""), Hooks{});
  ::unsetenv("GIT_DIR");
  EXPECT_EQ(answer.output, "unset\n");
}

TEST_F(ChildProcess, IsEndedWithAllThatItStartedWhenTheUserAsksForAStop) {
  const Hooks hooks{.stop = [&] { return fs::exists(folder / "grandchild"); }};
  EXPECT_THROW(run_child(sh(lasting_grandchild), folder / "log", hooks), Stopped);
  EXPECT_FALSE(runs(std::stoi(read_file(folder / "grandchild"))));
}

TEST_F(ChildProcess, IsEndedWithAllThatItStartedWhenItsParentIsKilled) {
  const pid_t parent = fork_child([&] { return run_child(sh(lasting_grandchild), folder / "log", {}); });
  while (!fs::exists(folder / "grandchild")) std::this_thread::yield();
  ::kill(parent, SIGKILL);
  EXPECT_EQ(wait_for_children({parent}).signal, SIGKILL);
  while (runs(std::stoi(read_file(folder / "grandchild")))) std::this_thread::yield();
}

TEST_F(ChildProcess, IsNotStartedAfterAStop) {
  const Hooks hooks{.stop = [] { return true; }};
  EXPECT_THROW(run_child(sh("touch started"), folder / "log", hooks), Stopped);
  EXPECT_FALSE(fs::exists(folder / "started"));
}

TEST_F(ChildProcess, HasVariablesSetOrTakenOutOfItsOwnEnvironmentAlone) {
  const auto printed = [&](const Variables& environment) {
    fs::remove(folder / "out");
    const pid_t child = start_child(sh("printf %s \"${ASSAY_CHILD_TEST-none}\""),
                                    {.environment = environment, .output = folder / "out"});
    EXPECT_TRUE(wait_for_children({child}).passed());
    return read_file(folder / "out");
  };
  ::setenv("ASSAY_CHILD_TEST", "inherited", /*overwrite=*/1);
  EXPECT_EQ(printed({}), "inherited");
  EXPECT_EQ(printed({{"ASSAY_CHILD_TEST", "set"}}), "set");
  EXPECT_EQ(printed({{"ASSAY_CHILD_TEST", std::nullopt}}), "none");
  EXPECT_STREQ(std::getenv("ASSAY_CHILD_TEST"), "inherited");
  ::unsetenv("ASSAY_CHILD_TEST");
}

// Asking leaves this process as it was.
TEST_F(ChildProcess, IsAskedWhetherItsAddressesCanBeFixed) {
  const int before = personality(0xffffffff);
  const bool can = can_fix_addresses();
  EXPECT_EQ(personality(0xffffffff), before);
  EXPECT_EQ(can_fix_addresses(), can);
}

TEST_F(ChildProcess, ThatIsKilledMayHaveFoundNoMemory) {
  EXPECT_EQ(wait_for_children({start_child(sh("kill -KILL $$"))}).text(),
            "was ended by signal 9 (Killed, as where memory ends)");
}

TEST_F(ChildProcess, ThatFailsEndsTheOthersAndIsNamed) {
  const pid_t patient = start_child(sh("exec sleep 1000")), failing = start_child(sh("kill -SEGV $$"));
  const ChildEnd end = wait_for_children({patient, failing});
  EXPECT_EQ(end.child, failing);
  EXPECT_EQ(end.text(), "was ended by signal 11 (Segmentation fault)");
  EXPECT_NE(::kill(patient, 0), 0);
}

TEST_F(ChildProcess, IsKilledWhenItIsOverdue) {
  int asked = 0;
  const pid_t child = start_child(sh("trap '' TERM; while :; do sleep 1000; done"));
  const ChildEnd end = wait_for_children({child}, {.overdue = [&] { return ++asked > 1; }});
  EXPECT_TRUE(end.overdue);
  EXPECT_NE(::kill(child, 0), 0);
}

TEST_F(ChildProcess, IsKilledAfterAStopThatItIgnores) {
  const pid_t child = start_child(sh("trap '' TERM; touch ready; while :; do sleep 1000; done"));
  const ChildEnd end = wait_for_children({child}, {.stopped = [&] { return fs::exists(folder / "ready"); }});
  EXPECT_FALSE(end.passed());
  EXPECT_NE(::kill(child, 0), 0);
}

TEST_F(ChildProcess, MayBeACopyOfThisOne) {
  EXPECT_EQ(wait_for_children({fork_child([] { return 7; })}).exit_code, 7);
}

TEST_F(ChildProcess, DoesNotOutliveAParentThatIsKilled) {
  const pid_t parent = fork_child([&] {
    const pid_t program = start_child(sh("exec sleep 1000"));
    const pid_t copy = fork_child([] {
      for (;;) ::pause();
      return 0;
    });
    write_file(folder / "tmp", std::to_string(program) + " " + std::to_string(copy));
    fs::rename(folder / "tmp", folder / "children");
    return wait_for_children({program, copy}).exit_code;
  });
  while (!fs::exists(folder / "children")) std::this_thread::yield();
  ::kill(parent, SIGKILL);
  EXPECT_EQ(wait_for_children({parent}).signal, SIGKILL);
  const std::string said = read_file(folder / "children");
  const pid_t program = std::stoi(said), copy = std::stoi(said.substr(said.find(' ')));
  while (runs(program) || runs(copy)) std::this_thread::yield();
}

TEST_F(ChildProcess, WaitsForALockAndSaysForWhat) {
  std::string said;
  const Hooks hooks{.progress = [&](std::string_view what, std::optional<double>) { said = what; },
                    .stop = [&] { return !said.empty(); }};
  {
    const FileLock held(folder / "lock", "first", hooks);
    EXPECT_EQ(said, "");
    EXPECT_THROW(FileLock(folder / "lock", "build of 1f3c9d2", hooks), Stopped);
    EXPECT_THAT(said, HasSubstr("build of 1f3c9d2"));
  }
  EXPECT_NO_THROW(FileLock(folder / "lock", "third", Hooks{}));
}

TEST(FieldsOfStat, StandAtTheirNumbersWhateverTheNameHolds) {
  const std::string file = ::testing::TempDir() + "fields_of_stat";
  std::ofstream(file) << "17 (a) b) S 1 17 3\n";
  EXPECT_THAT(fields_of_stat(file), ::testing::ElementsAre("", "17", "", "S", "1", "17", "3"));
}

TEST(FieldsOfStat, AreThoseOfThisProcess) {
  const auto fields = fields_of_stat("/proc/self/stat");
  ASSERT_GT(fields.size(), 22U);
  EXPECT_EQ(fields[1], std::to_string(getpid()));
  EXPECT_EQ(fields[4], std::to_string(getppid()));
}

TEST(FieldsOfStat, AreNoneWhereThereIsNoProcess) {
  EXPECT_THAT(fields_of_stat("/proc/0/stat"), ::testing::IsEmpty());
}

}  // namespace

}  // namespace assay
