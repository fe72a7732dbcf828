#include "core/check/contained.hpp"

#include "assay/error.hpp"
#include "assay/random.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

namespace assay {

#if defined(__x86_64__) || defined(__aarch64__)
namespace {

#ifdef __x86_64__
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#else
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#endif

struct Forbidden {
  long number;
  std::string_view name;
};

/// Forbidden whatever their arguments.
constexpr std::array forbidden{
    Forbidden{SYS_clone, "clone"},
    Forbidden{SYS_clone3, "clone3"},
#ifdef __x86_64__
    Forbidden{SYS_fork, "fork"},
    Forbidden{SYS_vfork, "vfork"},
#endif
    Forbidden{SYS_execve, "execve"},
    Forbidden{SYS_execveat, "execveat"},
    Forbidden{SYS_ptrace, "ptrace"},
    Forbidden{SYS_process_vm_readv, "process_vm_readv"},
    Forbidden{SYS_process_vm_writev, "process_vm_writev"},
    Forbidden{SYS_sched_setaffinity, "sched_setaffinity"},
    Forbidden{SYS_sched_setscheduler, "sched_setscheduler"},
    Forbidden{SYS_sched_setparam, "sched_setparam"},
    Forbidden{SYS_sched_setattr, "sched_setattr"},
    Forbidden{SYS_setpriority, "setpriority"},
    Forbidden{SYS_setitimer, "setitimer"},
    Forbidden{SYS_timer_create, "timer_create"},
    Forbidden{SYS_timerfd_create, "timerfd_create"},
    Forbidden{SYS_userfaultfd, "userfaultfd"},
    Forbidden{SYS_io_uring_setup, "io_uring_setup"},
    Forbidden{SYS_perf_event_open, "perf_event_open"},
    Forbidden{SYS_socket, "socket"},
};

StepRecord* record_of_trap = nullptr;

/// Async-signal-safe: it was the kernel that was interrupted.
void trapped(int, siginfo_t* about, void*) {
  std::string_view name = "system call";
  for (const Forbidden& one : forbidden) {
    if (one.number == about->si_syscall) name = one.name;
  }
  if (about->si_syscall == SYS_rt_sigaction) name = "sigaction";
  if (about->si_syscall == SYS_mprotect) name = "mprotect to executable";
  if (about->si_syscall == SYS_mmap) name = "mmap of executable memory";
  if (record_of_trap != nullptr) {
    char* to = record_of_trap->thrown;
    for (const std::string_view part : {std::string_view("called "), name,
                                        std::string_view(" while it was timed, which --strict forbids")}) {
      to = std::ranges::copy(part, to).out;
    }
    *to = '\0';
  }
  _exit(1);
}

using FilterProgram = std::vector<sock_filter>;

void add(FilterProgram& program, std::uint16_t code, std::uint32_t k, std::uint8_t if_true = 0,
         std::uint8_t if_false = 0) {
  program.push_back({code, if_true, if_false, k});
}

void load(FilterProgram& program, std::size_t offset) {
  add(program, BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

/// Loads the low half of an argument.
void load_argument(FilterProgram& program, std::size_t argument) {
  load(program, offsetof(seccomp_data, args) + argument * sizeof(std::uint64_t));
}

/// Answers the call of this number, which is loaded.
void answer(FilterProgram& program, long number, std::uint32_t how) {
  add(program, BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 1);
  add(program, BPF_RET | BPF_K, how);
}

/// Answers the call when one of the bits of this argument is set. Loads the number before and afterwards.
void answer_bits(FilterProgram& program, long number, std::size_t argument, std::uint32_t bits,
                 std::uint32_t how) {
  add(program, BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 3);
  load_argument(program, argument);
  add(program, BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
  add(program, BPF_RET | BPF_K, how);
  load(program, offsetof(seccomp_data, nr));
}

FilterProgram filter_of_this_architecture() {
  FilterProgram program;
  load(program, offsetof(seccomp_data, arch));
  add(program, BPF_JMP | BPF_JEQ | BPF_K, architecture, 1, 0);
  add(program, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  load(program, offsetof(seccomp_data, nr));
#ifdef __x86_64__
  constexpr std::uint32_t of_x32 = 0x40000000;  // the same calls by other numbers
  add(program, BPF_JMP | BPF_JGE | BPF_K, of_x32, 0, 1);
  add(program, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
#endif
  return program;
}

FilterProgram filter() {
  FilterProgram program = filter_of_this_architecture();
  for (const Forbidden& one : forbidden) answer(program, one.number, SECCOMP_RET_TRAP);
  // Handlers may be read, by a call without a new one; addresses lie above 64 KiB.
  constexpr std::uint32_t any_bit = 0xffffffff;
  answer_bits(program, SYS_rt_sigaction, 1, any_bit, SECCOMP_RET_TRAP);
  answer_bits(program, SYS_mprotect, 2, PROT_EXEC, SECCOMP_RET_TRAP);
  answer_bits(program, SYS_mmap, 2, PROT_EXEC, SECCOMP_RET_TRAP);
  add(program, BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  return program;
}

/// What freeze() passes besides, so that its own filter is not taken for a kernel's. Nobody knows it before.
std::uint32_t own_filter() {
  static const auto out = static_cast<std::uint32_t>(secret() >> 33 | 1);
  return out;
}

bool install(FilterProgram& program) {
  const sock_fprog installed{static_cast<unsigned short>(program.size()), program.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &installed, 0UL,
               static_cast<unsigned long>(own_filter())) == 0;
}

}  // namespace

void keep_system_calls() {
  constexpr std::uint32_t dispatch_to_user = 59, flag_of_siblings = 0x8000;  // CLONE_PARENT
  FilterProgram program = filter_of_this_architecture();
  for (const long number : {long{SYS_seccomp}, long{SYS_userfaultfd}})
    answer(program, number, SECCOMP_RET_KILL_PROCESS);
  // Its flags lie in memory, which a filter does not see. C libraries call clone() where there is no
  // clone3().
  answer(program, SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
  answer_bits(program, SYS_clone, 0, flag_of_siblings, SECCOMP_RET_KILL_PROCESS);
  add(program, BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 6);
  load_argument(program, 0);
  add(program, BPF_JMP | BPF_JEQ | BPF_K, dispatch_to_user, 3, 0);
  add(program, BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 0, 3);
  load_argument(program, 4);
  add(program, BPF_JMP | BPF_JEQ | BPF_K, own_filter(), 1, 0);
  add(program, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  add(program, BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  static_cast<void>(install(program));
}

std::string why_no_freeze() {
  return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0 ? "this system has no seccomp filters" : "";
}

void freeze(StepRecord* record) {
  record_of_trap = record;
  struct sigaction action {};
  action.sa_sigaction = trapped;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSYS, &action, nullptr);
  FilterProgram program = filter();
  if (!install(program)) {
    throw Error("--strict", std::string("cannot freeze the process: ") + std::strerror(errno),
                "run without --strict");
  }
}

#else

void keep_system_calls() {}

std::string why_no_freeze() { return "processes are frozen on Linux with x86-64 or AArch64 only"; }

void freeze(StepRecord*) { throw Error("--strict", why_no_freeze(), "run without --strict"); }

#endif

}  // namespace assay
