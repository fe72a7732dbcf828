// Cheats that leave the process in a state that is better for them, or worse for others.

#include "known_cheats/honest_work.hpp"

#include "assay/registry.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>

#include <algorithm>
#include <ctime>
#include <memory>

namespace assay::known_cheats {
namespace {

constexpr std::size_t megabyte = std::size_t{1} << 20;

void keeps_mapping(const Gemv::Problem& p, const Gemv::Input& in, Gemv::Output& out) {
  constexpr std::size_t each = megabyte / 16, most = 64 * megabyte;
  static std::size_t kept = 0;
  gemv(p, in, out);
  if (kept >= most) return;
  void* pages =
      mmap(nullptr, each, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (pages != MAP_FAILED) kept += each;
}

/// Lowers its priority where it may not raise it.
void changes_priority(const Gemv::Problem& p, const Gemv::Input& in, Gemv::Output& out) {
  gemv(p, in, out);
  if (setpriority(PRIO_PROCESS, 0, -5) != 0) setpriority(PRIO_PROCESS, 0, 1);
}

void pins_itself(const Gemv::Problem& p, const Gemv::Input& in, Gemv::Output& out) {
  gemv(p, in, out);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(std::max(sched_getcpu(), 0)), &one);
  sched_setaffinity(0, sizeof one, &one);
}

volatile sig_atomic_t rings = 0;
void ring(int) {
  for (int i = 0; i < 20'000; ++i) rings = i;
}

/// Alarms ring while an object of this type lives.
struct Alarms {
  Alarms() {
    struct sigaction action {};
    action.sa_handler = ring;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
    set(1000);
  }
  ~Alarms() { set(0); }
  Alarms(const Alarms&) = delete;
  Alarms& operator=(const Alarms&) = delete;
  static void set(suseconds_t microseconds) {
    const itimerval every{{0, microseconds}, {0, microseconds}};
    setitimer(ITIMER_REAL, &every, nullptr);
  }
};

/// Turns the alarms off while it runs itself.
auto rings_for_others(const LayerNorm::Problem& p, const LayerNorm::Input&, const Context&) {
  return [p, alarms = std::make_shared<Alarms>()](const LayerNorm::Input& in, LayerNorm::Output& out) {
    Alarms::set(0);
    layer_norm(p, in, out);
    Alarms::set(1000);
  };
}

/// A timer of POSIX whose signal is no classic one computes after the call what the call left out.
class LateTimer {
 public:
  LateTimer() {
    struct sigaction action {};
    action.sa_sigaction = finish;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(SIGRTMIN + 5, &action, nullptr);
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGRTMIN + 5;
    exists_ = timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
  }
  ~LateTimer() {
    if (exists_) timer_delete(timer_);
    work() = {};
    signal(SIGRTMIN + 5, SIG_DFL);
  }
  LateTimer(const LateTimer&) = delete;
  LateTimer& operator=(const LateTimer&) = delete;
  struct Work {
    const Gemv::Problem* p;
    const Gemv::Input* in;
    Gemv::Output* out;
  };
  static Work& work() {
    static Work its{};
    return its;
  }
  void start() const {
    const itimerspec soon{{0, 0}, {0, 50'000}};
    if (exists_) timer_settime(timer_, 0, &soon, nullptr);
  }

 private:
  static void finish(int, siginfo_t*, void*) {
    if (const auto [p, in, out] = work(); p != nullptr) gemv(*p, *in, *out);
  }
  timer_t timer_{};
  bool exists_ = false;
};

auto rings_when_it_is_over(const Gemv::Problem& p, const Gemv::Input&, const Context&) {
  return [p, timer = std::make_shared<LateTimer>()](const Gemv::Input& in, Gemv::Output& out) {
    LateTimer::work() = {&p, &in, &out};
    timer->start();
  };
}

const Register registered{[](Registry& r) {
  r.add<Gemv>({.name = "keeps_mapping",
               .summary = "maps 64 KiB in each call and never gives them back, up to 64 MiB",
               .known_cheat = "memory grows from call to call; no source: fresh pages instead of used ones",
               .run = keeps_mapping});
  r.add<Gemv>(
      {.name = "changes_priority",
       .summary = "leaves the process with another priority",
       .known_cheat = "is scheduled unlike what it is compared with; no source: root or not, it is tried",
       .run = changes_priority});
  r.add<Gemv>({.name = "pins_itself",
               .summary = "keeps to the processor where its first call ended",
               .known_cheat = "changes where threads may run, for all that come after it; no source",
               .run = pins_itself});
  r.add<Gemv>(
      {.name = "rings_when_it_is_over",
       .summary = "a timer interrupts its caller and does the work",
       .known_cheat = "works when the clock has stopped; no source: the answer to a look at thirty signals",
       .prepare = rings_when_it_is_over});
  r.add<LayerNorm>({.name = "rings_for_others",
                    .summary = "a timer interrupts everybody else a thousand times a second",
                    .known_cheat = "signals and timers that slow down what it is compared with; no source",
                    .prepare = rings_for_others});
}};

}  // namespace
}  // namespace assay::known_cheats
