// A cheat that has the system hand its own process's calls to it. The judge reads a clock by a system call
// just before it starts the one that counts: the work is done there.

#include "known_cheats/honest_work.hpp"

#include "assay/registry.hpp"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <csignal>

namespace assay::known_cheats {
namespace {

/// The call that is expected next, and whether it is done.
Call<Gemm> expected;
bool is_done = false;

/// Passed besides, it lets a call through.
constexpr long own = 0x5a5a;

void instead_of_clock(int, siginfo_t*, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  if (expected.p != nullptr) gemm(*expected.p, *expected.in, *expected.out);
  is_done = expected.p != nullptr;
  long answer = SYS_clock_gettime;
  asm volatile("syscall"
               : "+a"(answer)
               : "D"(registers[REG_RDI]), "S"(registers[REG_RSI]), "d"(own)
               : "rcx", "r11", "memory");
  registers[REG_RAX] = answer;
}

void take_clock() {
  on_signal(SIGSYS, SA_NODEFER, instead_of_clock);
  const auto load = [](std::size_t offset) {
    return sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(offset)};
  };
  const auto unless = [](std::uint32_t value, std::uint8_t skipped) {
    return sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 0, skipped, value};
  };
  sock_filter program[]{load(offsetof(seccomp_data, nr)),
                        unless(SYS_clock_gettime, 4),
                        load(offsetof(seccomp_data, args) + 2 * sizeof(std::uint64_t)),
                        {BPF_JMP | BPF_JEQ | BPF_K, 2, 0, own},
                        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_TRAP},
                        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
                        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  const sock_fprog installed{std::size(program), program};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &installed, 0, 0);
}

auto works_before_the_clock(const Gemm::Problem& p, const Gemm::Input&, const Context&) {
  take_clock();
  return [p](const Gemm::Input& in, Gemm::Output& out) {
    if (!is_done || expected.out != &out) gemm(p, in, out);
    expected = {&p, &in, &out};
    is_done = false;
  };
}

const Register registered{[](Registry& r) {
  r.add<Gemm>({.name = "works_before_the_clock",
               .summary = "multiplies in place of a system call that the judge makes",
               .known_cheat = "does the work where the clock does not run; no source: found in this harness",
               .prepare = works_before_the_clock,
               .unfit = unless_beta_is_0});
}};

}  // namespace
}  // namespace assay::known_cheats
