// A table of kernels that misbehave beside a right one: each is named, the answers of the others are kept,
// the test comes to its end, and nothing is left behind.
#include "assay/check.hpp"
#include "assay/error.hpp"
#include "core/check/contained.hpp"
#include "core/check/doubling_test.hpp"
#include "core/code/differing_functions.hpp"
#include "core/files/child_process.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fcntl.h>
#include <fenv.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cfenv>
#include <clocale>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace assay {
namespace {
/// Whether a kernel ends this child. A sanitizer that looked for leaks then would stop it for seconds.
bool exits = false;
}  // namespace
}  // namespace assay

extern "C" int __lsan_is_turned_off() { return assay::exits ? 1 : 0; }

namespace assay {
namespace {

using testing::Doubling;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct BadKernel {
  const char* name;
  void (*misbehave)();  ///< after the right answer
  const char* told;     ///< in its verdict; empty where it harms nobody
  const char* printed = "";
};

/// In the first call of a process.
void print_much() {
  static bool done = false;
  if (done) return;
  done = true;
  const std::string line(1 << 16, 'x');
  for (int i = 0; i < 160; ++i) static_cast<void>(!write(STDOUT_FILENO, line.data(), line.size()));
}

/// A process that would live on.
void leave(bool twice) {
  const pid_t child = fork();
  if (child != 0) {
    if (twice) waitpid(child, nullptr, 0);
    return;
  }
  if (twice) {
    setsid();
    if (fork() != 0) _exit(0);
  }
  for (;;) pause();
}

/// Without an end that a compiler sees.
int descend(int depth) {
  volatile char frame[4096] = {};
  frame[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : descend(depth + 1) + frame[0];
}

/// Does something with every socket there is.
template <class Do>
void with_sockets(const Do& something) {
  constexpr int first = 3, most = 64;
  for (int descriptor = first; descriptor < most; ++descriptor) {
    struct stat about {};
    if (fstat(descriptor, &about) == 0 && S_ISSOCK(about.st_mode)) something(descriptor);
  }
}

/// Sends an answer in the judge's place.
void answer(const std::string& text) {
  const std::uint64_t size = text.size();
  with_sockets([&](int socket) {
    static_cast<void>(!write(socket, &size, sizeof size));
    static_cast<void>(!write(socket, text.data(), text.size()));
  });
}

void seal() {
  with_sockets([](int socket) { shutdown(socket, SHUT_WR); });
}

/// Has a function of the C library, which nobody here calls, return at once.
void change_code() {
  constexpr unsigned char returns = 0xc3;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  auto* const function = reinterpret_cast<void*>(&std::labs);
  auto* const begin = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(function) / page * page);
  if (mprotect(begin, page, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return;
  std::memcpy(function, &returns, sizeof returns);
  mprotect(begin, page, PROT_READ | PROT_EXEC);
}

void exit_with(int code) {
  exits = true;
  std::exit(code);
}

constexpr const char* agreement = R"({"agreement":{"agrees":true,"worst_error":0,"detail":""}})";

constexpr std::array bad_kernels{
    BadKernel{"crash", [] { std::raise(SIGSEGV); }, "was ended by signal 11"},
    BadKernel{"abort", [] { std::abort(); }, "was ended by signal 6"},
    BadKernel{"exit_0", [] { exit_with(0); }, "called exit(0)"},
    BadKernel{"exit_3", [] { exit_with(3); }, "called exit(3)"},
    BadKernel{"quick_exit", [] { _exit(0); }, "called exit(0)"},
    BadKernel{"throws", [] { throw std::out_of_range("tile 7"); }, "threw std::out_of_range: tile 7"},
    BadKernel{"says_why",
              [] {
                std::fputs("lost \033[31mtile\n", stdout);
                throw 1;
              },
              R"(threw int; it printed: "lost \x1b[31mtile\n")"},
    BadKernel{"closes_its_output",
              [] {
                close(STDOUT_FILENO);
                close(STDERR_FILENO);
              },
              "closed descriptors that it did not open"},
    BadKernel{"closes_everything",
              [] {
                constexpr int most = 1024;
                for (int descriptor = 0; descriptor < most; ++descriptor) close(descriptor);
              },
              "closed descriptors that it did not open"},
    BadKernel{"replaces_its_output",
              [] {
                const int file = open("/dev/null", O_WRONLY);
                dup2(file, STDOUT_FILENO);
                close(file);
              },
              "closed descriptors that it did not open"},
    BadKernel{"prints_10_mb", print_much, "", "it printed: ... \"xxx"},
    BadKernel{"prints_10_mb_and_aborts",
              [] {
                print_much();
                std::abort();
              },
              R"(was ended by signal 6 (Aborted); it printed: ... "xxx)"},
    BadKernel{"sleeps",
              [] {
                for (;;) pause();
              },
              "did not end within 0.3 s, of which it had a processor for 0"},
    BadKernel{"spins",
              [] {
                for (volatile bool on = true; on;) {
                }
              },
              "did not end within 0.3 s, of which it had a processor for"},
    BadKernel{"ends_its_parent", [] { kill(getppid(), SIGTERM); },
              "sent signal 15 (Terminated) to the process"},
    BadKernel{"interrupts_its_parent", [] { kill(getppid(), SIGINT); },
              "sent signal 2 (Interrupt) to the process"},
    BadKernel{"ends_itself", [] { std::raise(SIGTERM); }, "was ended by signal 15"},
    BadKernel{"kills_itself", [] { kill(getpid(), SIGKILL); }, "was ended by signal 9"},
    BadKernel{"changes_folder", [] { static_cast<void>(!chdir("/")); }, "changed the folder"},
    BadKernel{"changes_umask", [] { umask(0123); }, "changed the permissions of new files"},
    BadKernel{"blocks_signals",
              [] {
                sigset_t all;
                sigfillset(&all);
                sigprocmask(SIG_BLOCK, &all, nullptr);
              },
              "left signal 1 (Hangup) blocked"},
    BadKernel{"handles_a_real_time_signal", [] { std::signal(SIGRTMIN + 3, SIG_IGN); },
              "changed the handler of signal 37"},
    BadKernel{"starts_a_timer_of_posix",
              [] {
                timer_t timer{};
                sigevent none{};
                none.sigev_notify = SIGEV_NONE;
                timer_create(CLOCK_MONOTONIC, &none, &timer);
              },
              "started a timer"},
    BadKernel{"lowers_a_limit",
              [] {
                const rlimit small{.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
                setrlimit(RLIMIT_FSIZE, &small);
              },
              "changed a limit of the process, on file sizes"},
    BadKernel{"leaves_a_process", [] { leave(false); }, "started a process"},
    BadKernel{"leaves_a_daemon", [] { leave(true); }, "started a process"},
    BadKernel{"leaves_a_daemon_and_crashes",
              [] {
                leave(true);
                std::raise(SIGSEGV);
              },
              "was ended by signal 11"},
    BadKernel{"divides_by_zero", [] { std::raise(SIGFPE); }, "was ended by signal 8"},
    BadKernel{"executes_no_instruction", [] { __builtin_trap(); }, "was ended by signal 4"},
    BadKernel{"reads_past_a_file",
              [] {
                const int file = memfd_create("empty", 0);
                void* at = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0);
                close(file);
                static_cast<void>(*static_cast<volatile char*>(at));
              },
              "was ended by signal 7"},
    BadKernel{"overflows_its_stack", [] { descend(0); }, "was ended by signal 11"},
    BadKernel{"terminates", [] { std::terminate(); }, "was ended by signal 6"},
    BadKernel{"throws_no_exception",
              [] {
                struct Tile {};
                throw Tile();
              },
              "threw "},
    BadKernel{"asks_for_all_memory", [] { throw std::bad_alloc(); }, "threw std::bad_alloc"},
    BadKernel{"stops_itself", [] { kill(getpid(), SIGSTOP); }, "did not end within 0.3 s"},
    BadKernel{"rings_later", [] { alarm(60); }, "started a timer"},
    BadKernel{"prints_for_ever",
              [] {
                const std::string line(1 << 12, 'x');
                for (;;) static_cast<void>(!write(STDERR_FILENO, line.data(), line.size()));
              },
              "did not end within 0.3 s"},
    BadKernel{"leaves_many_processes",
              [] {
                for (int i = 0; i < 8; ++i) leave(i % 2 == 0);
              },
              "started a process"},
    BadKernel{"becomes_another_program", [] { execl("/bin/true", "true", nullptr); }, "called exit(0)"},
    BadKernel{"ends_its_thread", [] { pthread_exit(nullptr); }, "was ended by signal 6"},
    BadKernel{"rounds_up", [] { std::fesetround(FE_UPWARD); }, "left the floating-point environment"},
    BadKernel{"unmasks_exceptions", [] { feenableexcept(FE_DIVBYZERO); },
              "left the floating-point environment"},
    BadKernel{"changes_the_locale", [] { std::setlocale(LC_ALL, "C.UTF-8"); }, ""},
    BadKernel{"changes_the_environment", [] { setenv("TZ", "Antarctica/Troll", 1); }, ""},
    BadKernel{"lowers_its_priority", [] { setpriority(PRIO_PROCESS, 0, 5); }, "changed its priority"},
    BadKernel{"keeps_to_a_processor",
              [] {
                cpu_set_t one;
                CPU_ZERO(&one);
                CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
                sched_setaffinity(0, sizeof one, &one);
              },
              "changed the processors that it may run on"},
    BadKernel{"forbids_itself_everything", [] { prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT); },
              "made a system call that no kernel may make"},
    BadKernel{"unmaps_its_code",
              [] {
                const auto page = reinterpret_cast<std::uintptr_t>(&print_much) & ~std::uintptr_t{4095};
                munmap(reinterpret_cast<void*>(page), 4096);
                print_much();
              },
              "was ended by signal 11"},
    BadKernel{"answers_for_itself",
              [] {
                for (int step = 0; step < 40; ++step) answer(fmt::format("f{} {}", step, agreement));
              },
              "answered twice for a kernel, or for another"},
    BadKernel{"answers_for_the_last", [] { answer(fmt::format("f39 {}", agreement)); },
              "answered twice for a kernel, or for another"},
    BadKernel{"answers_with_an_error", [] { answer("e0 the user: is to stop"); },
              "answered twice for a kernel, or for another"},
    BadKernel{"answers_nonsense", [] { answer("nonsense"); }, "answered twice for a kernel, or for another"},
    BadKernel{"answers_too_much",
              [] {
                for (int i = 0; i < 20; ++i) answer(std::string(1 << 20, 'x'));
              },
              "answered twice for a kernel, or for another"},
    BadKernel{
        "answers_half",
        [] { with_sockets([](int socket) { static_cast<void>(!write(socket, "half of an answer", 17)); }); },
        "answered with what is no answer"},
    BadKernel{"seals_the_answers",
              [] {
                seal();
                _exit(0);
              },
              "called exit(0)"},
    BadKernel{"seals_the_answers_and_goes_on", seal, "closed its answers before the last"},
    BadKernel{"changes_code", change_code, "changed code in its memory: libc.so"},
    BadKernel{"leaves_descriptors", [] { static_cast<void>(open("/dev/null", O_RDONLY)); },
              "leaves descriptors open"},
};

const BadKernel* planted = nullptr;

void right_and_bad(const Doubling::Problem& problem, const Doubling::Input& in, Doubling::Output& out) {
  testing::doubled(problem, in, out);
  planted->misbehave();
}

/// As the program does it: its user is the only one who stops it.
void ask_for_a_stop(int signal, siginfo_t* about, void*) {
  if (!is_sent_by_kernel(signal, *about)) _exit(1);
}

class BadKernels : public ::testing::TestWithParam<BadKernel> {
 protected:
  void SetUp() override {
    struct sigaction action {};
    action.sa_sigaction = ask_for_a_stop;
    action.sa_flags = SA_SIGINFO;
    for (std::size_t i = 0; i < signals_.size(); ++i) sigaction(signals_[i], &action, &before_[i]);
  }
  void TearDown() override {
    for (std::size_t i = 0; i < signals_.size(); ++i) sigaction(signals_[i], &before_[i], nullptr);
  }

 private:
  static constexpr std::array signals_{SIGINT, SIGTERM};
  std::array<struct sigaction, signals_.size()> before_{};
};

std::ptrdiff_t files_open() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

TEST_P(BadKernels, AreNamedAndCostNobodyElse) {
  planted = &GetParam();
  Registry registry = testing::doubling_registry();
  registry.add<Doubling>({.name = "bad", .run = right_and_bad});
  registry.add<Doubling>({.name = "right", .run = testing::doubled});
  const std::vector<pid_t> children = children_of_process();
  const std::ptrdiff_t files = files_open();
  std::size_t right = 0, naive = 0;
  std::string told, printed;
  ::testing::internal::CaptureStdout();
  for (const CornerCheck& check :
       check_corners(registry, "doubling", 1, 42, {}, Kin::sound, {.own_process = true, .time_limit = 0.3})) {
    if (check.variant == "bad") {
      if (told.empty()) told = check.agreement.detail;
      if (!check.remark.empty()) printed = check.remark;
      continue;
    }
    EXPECT_EQ(check.remark, "") << check.variant;
    EXPECT_TRUE(check.agreement.agrees) << check.variant << ": " << check.agreement.detail;
    ++(check.variant == "right" ? right : naive);
  }
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "") << "its output is none of ours";
  EXPECT_GT(right, 1U);
  EXPECT_EQ(right, naive);
  if (*planted->told == '\0') {
    EXPECT_EQ(told, "");
    EXPECT_THAT(printed, StartsWith(planted->printed));
  } else {
    EXPECT_THAT(told, HasSubstr(planted->told));
  }
  EXPECT_EQ(children_of_process(), children);
  EXPECT_EQ(files_open(), files);
}

TEST(ChangedInMemory, IsTheKernelsOrOfALibraryThatWasLoadedBefore) {
  EXPECT_EQ(changed_in_memory("libc.so.6"), "changed code in its memory: libc.so.6");
  const pid_t child = fork();
  if (child == 0) {
    change_code();
    try {
      static_cast<void>(changed_in_memory(changed_code(getpid())));
    } catch (const Error& error) {
      _exit(std::string_view(error.what()).find("before any kernel") == std::string_view::npos ? 2 : 0);
    }
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

INSTANTIATE_TEST_SUITE_P(Table, BadKernels, ::testing::ValuesIn(bad_kernels),
                         [](const auto& about) { return std::string(about.param.name); });

}  // namespace
}  // namespace assay
