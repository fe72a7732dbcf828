// Processes that overwrite code of theirs.
#include "core/code/changed_code.hpp"

#include "core/files/answers.hpp"
#include "core/files/child_process.hpp"

#include <gmock/gmock.h>

#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// The code that a copy of this process has changed when it is done with `work`.
template <class Work>
std::string changed_by(const Work& work) {
  Answers answers;
  std::string out = "nobody looked";
  const pid_t child = fork_child([&] {
    answers.take_over();
    work();
    answers.seal();
    return 0;
  });
  answers.when_sealed([&] { out = changed_code(child); });
  EXPECT_TRUE(wait_for_children({child}, {.answers = {&answers}}).passed());
  return out;
}

/// Whether the page of this code can be given such rights.
bool protects(const void* code, int rights) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(code) / page * page;
  return mprotect(reinterpret_cast<void*>(begin), page, rights) == 0;
}

/// Overwrites the first byte there.
void overwrite(void* code, unsigned char by) {
  if (!protects(code, PROT_READ | PROT_WRITE | PROT_EXEC)) _exit(1);
  std::memcpy(code, &by, 1);
  protects(code, PROT_READ | PROT_EXEC);
}

constexpr unsigned char returns = 0xc3, breakpoint = 0xcc;

TEST(ChangedCode, IsNoneWhereAProcessRunsItsFiles) {
  EXPECT_THAT(changed_by([] {}), IsEmpty());
  EXPECT_THAT(changed_code(getpid()), IsEmpty());
}

TEST(ChangedCode, IsNamedByTheFile) {
  EXPECT_THAT(changed_by([] { overwrite(reinterpret_cast<void*>(&changed_code), returns); }),
              HasSubstr("core_tests"));
  EXPECT_THAT(changed_by([] { overwrite(reinterpret_cast<void*>(&std::labs), returns); }),
              StartsWith("libc.so"));
}

TEST(ChangedCode, IsNamedInTheClockOfTheSystem) {
  // Not the first bytes, by which it is found.
  constexpr std::uintptr_t inside = 0x500;
  auto* const clock = reinterpret_cast<void*>(getauxval(AT_SYSINFO_EHDR) + inside);
  if (!protects(clock, PROT_READ | PROT_WRITE | PROT_EXEC))
    GTEST_SKIP() << "this system lets nobody change its clock";
  protects(clock, PROT_READ | PROT_EXEC);
  EXPECT_EQ(changed_by([&] { overwrite(clock, returns); }), "the clock of the system");
}

TEST(ChangedCode, IsNoneWhereSomebodyTracesCalls) {
  EXPECT_THAT(changed_by([] { overwrite(reinterpret_cast<void*>(&std::labs), breakpoint); }), IsEmpty());
}

TEST(ChangedCode, IsNoneOfCodeThatAProcessMakes) {
  EXPECT_THAT(changed_by([] {
                void* const made = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                if (made == MAP_FAILED) _exit(1);
                std::memset(made, returns, 4096);
              }),
              IsEmpty());
}

TEST(ChangedCode, CannotBeHidden) {
  if (geteuid() == 0) GTEST_SKIP() << "nothing is hidden from root";
  EXPECT_THAT(changed_by([] { prctl(PR_SET_DUMPABLE, 0); }), HasSubstr("hides"));
}

}  // namespace
}  // namespace assay
