#include "core/check/contained.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <functional>
#include <string>
#include <thread>

#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace assay {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A frozen process does `work`: returns its last words to its parent, empty when nothing stopped it.
std::string told_by(const std::function<void()>& work) {
  const SharedRecord record;
  const pid_t child = fork();
  if (child == 0) {
    const StepReporter reporter(record.get());
    freeze(record.get());
    reporter.call(0, 10, work);
    _exit(0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  const ChildEnd end{.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                     .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0};
  return end.passed() ? "" : StepWatch(*record).failed_step(end).value().failure.reason;
}

class Freeze : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_freeze(); !why.empty()) GTEST_SKIP() << why;
  }
};

TEST_F(Freeze, AllowsWhatKernelsDo) {
  EXPECT_THAT(told_by([] {
                std::vector<float> space(1 << 20, 1);
                void* mapped =
                    mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                madvise(mapped, 1 << 20, MADV_DONTNEED);
                munmap(mapped, 1 << 20);
                sched_yield();
                struct sigaction present {};
                sigaction(SIGUSR1, nullptr, &present);
              }),
              IsEmpty());
}

/// The signal that ends a process which keeps its system calls and does `work`; 0 where none does.
int ended_by(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    keep_system_calls();
    work();
    _exit(0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST_F(Freeze, KeepsSystemCallsFromKernels) {
  EXPECT_EQ(ended_by([] {
              std::thread([] {}).join();
              prctl(PR_SET_NAME, "any");
              if (fork() == 0) _exit(0);
            }),
            0);
  EXPECT_EQ(ended_by([] { prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, nullptr, 0, 0); }), SIGSYS);
  EXPECT_EQ(ended_by([] { prctl(59, 0, 0, 0, 0); }), SIGSYS) << "dispatch of system calls to a handler";
  EXPECT_EQ(ended_by([] { syscall(SYS_seccomp, 1, 0, nullptr); }), SIGSYS);
  EXPECT_EQ(ended_by([] { syscall(SYS_userfaultfd, 1); }), SIGSYS);
  EXPECT_EQ(ended_by([] { syscall(SYS_clone, CLONE_PARENT, 0, 0, 0, 0); }), SIGSYS);
}

TEST_F(Freeze, FollowsOnKeptSystemCalls) {
  EXPECT_EQ(ended_by([] { freeze(nullptr); }), 0);
}

TEST_F(Freeze, EndsAProcessThatStartsAnother) {
  // Some C libraries block signals in it, and then nobody can say which call it was.
  EXPECT_THAT(told_by([] { fork(); }), AnyOf(HasSubstr("called clone while it was timed"),
                                             HasSubstr("made a system call that no kernel may make")));
}

TEST_F(Freeze, EndsAProcessThatChangesAHandler) {
  EXPECT_THAT(told_by([] { std::signal(SIGUSR1, SIG_IGN); }), HasSubstr("called sigaction"));
}

TEST_F(Freeze, EndsAProcessThatMovesToAnotherProcessor) {
  EXPECT_THAT(told_by([] {
                cpu_set_t all{};
                CPU_SET(0, &all);
                sched_setaffinity(0, sizeof all, &all);
              }),
              HasSubstr("called sched_setaffinity"));
}

TEST_F(Freeze, EndsAProcessThatMakesMemoryExecutable) {
  EXPECT_THAT(told_by([] {
                void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                mprotect(page, 4096, PROT_READ | PROT_EXEC);
              }),
              HasSubstr("called mprotect to executable"));
}

}  // namespace
}  // namespace assay
