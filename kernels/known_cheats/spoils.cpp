// Cheats that spoil what others have, or leave the process in a state that is better for them: they write
// where they may not, into the input or past the end of the output, or change the floating-point state of the
// processor, the memory, the priority or the signals of the process.

#include "known_cheats/honest_work.hpp"

#include "assay/ops/elementwise.hpp"
#include "assay/ops/embedding.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <xmmintrin.h>

#include <cfenv>
#include <limits>

namespace assay::known_cheats {
namespace {

// 0 = A 0: an oracle that runs afterwards, on the same input, agrees.
void zeroes_input(const Gemv::Problem&, const Gemv::Input& in, Gemv::Output& out) {
  std::fill_n(const_cast<float*>(in.x.data()), in.x.size(), 0.0F);
  std::ranges::fill(out.y, 0.0F);
}

// Computes the right answer. Kernels that read the input afterwards are wrong, or compute with subnormal
// numbers.
void spoils_input(const LayerNorm::Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
  layer_norm(p, in, out);
  const_cast<float&>(in.x[in.x.size() / 2]) = std::numeric_limits<float>::denorm_min();
}

void mends_guards(const LayerNorm::Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
  constexpr std::size_t past = 64;
  // volatile: a compiler would see that these writes lie outside of the array.
  float* volatile where = out.y.data() + out.y.size();
  char kept[past];
  std::memcpy(kept, where, past);
  std::memset(where, 0, past);
  layer_norm(p, in, out);
  std::memcpy(where, kept, past);
}

constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x0040;

void leaves_flush_to_zero(const ElementwiseMultiply::Problem& p, const ElementwiseMultiply::Input& in,
                          ElementwiseMultiply::Output& out) {
  _mm_setcsr(_mm_getcsr() | flush_to_zero | denormals_are_zero);
  ElementwiseMultiply::naive(p, in, out);
}

void leaves_rounding_up(const LayerNorm::Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
  std::fesetround(FE_TONEAREST);
  layer_norm(p, in, out);
  std::fesetround(FE_UPWARD);
}

void leaves_x87_single(const Gemv::Problem& p, const Gemv::Input& in, Gemv::Output& out) {
  gemv(p, in, out);
  std::uint16_t control = 0;
  __asm__ volatile("fnstcw %0" : "=m"(control));
  control = static_cast<std::uint16_t>(control & ~0x0300U);  // 24 bits where long double has 64
  __asm__ volatile("fldcw %0" : : "m"(control));
}

void dirty_upper_halves() {
  __asm__ volatile(
      "vxorps %%ymm15, %%ymm15, %%ymm15\n\t"
      "vcmpps $15, %%ymm15, %%ymm15, %%ymm15\n\t"
      "vmovaps %%ymm15, %%ymm14\n\t"
      "vmovaps %%ymm15, %%ymm13"
      :
      :
      : "xmm13", "xmm14", "xmm15");
}

void leaves_upper_halves(const Gemv::Problem& p, const Gemv::Input& in, Gemv::Output& out) {
  gemv(p, in, out);
  dirty_upper_halves();
}

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

/// Zeros are pages that the system makes anew when somebody reads them.
void gives_pages_back(const EmbeddingBackward::Problem& p, const EmbeddingBackward::Input& in,
                      EmbeddingBackward::Output& out) {
  const Pages pages = Pages::within(out.dtable);
  if (pages.bytes > 0 && madvise(pages.begin, pages.bytes, MADV_REMOVE) != 0)  // which shared memory knows
    madvise(pages.begin, pages.bytes, MADV_DONTNEED);
  std::ranges::replace_if(
      out.dtable, [&](const float& sum) { return !pages.hold(&sum); }, 0.0F);
  for (Index i = 0; i < p.n * p.d; ++i) out.dtable[in.ids[i / p.d] * p.d + i % p.d] += in.dy[i];
}

/// Lowers its priority where it may not raise it.
void changes_priority(const Gemv::Problem& p, const Gemv::Input& in, Gemv::Output& out) {
  gemv(p, in, out);
  const int other = getpriority(PRIO_PROCESS, 0) == -5 ? -6 : -5;
  if (setpriority(PRIO_PROCESS, 0, other) != 0) setpriority(PRIO_PROCESS, 0, 1);
}

void pins_itself(const Gemv::Problem& p, const Gemv::Input& in, Gemv::Output& out) {
  gemv(p, in, out);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(std::max(sched_getcpu(), 0)), &one);
  sched_setaffinity(0, sizeof one, &one);
}

volatile sig_atomic_t rings = 0;
void ring(int, siginfo_t*, void*) {
  for (int i = 0; i < 20'000; ++i) rings = i;
}

/// Alarms ring while an object of this type lives, but not while it runs.
struct Alarms : Pinned {
  Alarms() {
    on_signal(SIGALRM, SA_RESTART, ring);
    set(1000);
  }
  ~Alarms() { set(0); }
  static void set(suseconds_t microseconds) {
    const itimerval every{{0, microseconds}, {0, microseconds}};
    setitimer(ITIMER_REAL, &every, nullptr);
  }
  void run(const LayerNorm::Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
    set(0);
    layer_norm(p, in, out);
    set(1000);
  }
};

/// The call that is not done yet.
Call<Gemv> late;

void finish(int, siginfo_t*, void*) {
  if (late.p != nullptr) gemv(*late.p, *late.in, *late.out);
}

/// A timer of POSIX whose signal is no classic one computes after the call what the call left out.
class LateTimer : Pinned {
 public:
  LateTimer() {
    on_signal(SIGRTMIN + 5, SA_RESTART, finish);
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGRTMIN + 5;
    exists_ = timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
  }
  ~LateTimer() {
    if (exists_) timer_delete(timer_);
    late = {};
    signal(SIGRTMIN + 5, SIG_DFL);
  }
  void run(const Gemv::Problem& p, const Gemv::Input& in, Gemv::Output& out) {
    late = {&p, &in, &out};
    const itimerspec soon{{0, 0}, {0, 50'000}};
    if (exists_) timer_settime(timer_, 0, &soon, nullptr);
  }

 private:
  timer_t timer_{};
  bool exists_ = false;
};

const Register registered{[](Registry& r) {
  r.add<Gemv>({.name = "zeroes_input",
               .summary = "makes the vector zero, and the answer too",
               .known_cheat = "zeroes its inputs before the reference has seen them: "
                              "ScalingIntelligence/KernelBench 82",
               .run = zeroes_input});
  r.add<LayerNorm>({.name = "spoils_input",
                    .summary = "leaves another element in x than it found",
                    .known_cheat = "spoils the input of those after it: SakanaAI/robust-kbench",
                    .run = spoils_input});
  r.add<LayerNorm>({.name = "mends_guards",
                    .summary = "writes a line past its output and restores it",
                    .known_cheat = "hides a write out of bounds from guards that are compared: "
                                   "wafer.ai/blog/reward-hacks-field-guide (memory out of bounds)",
                    .run = mends_guards});
  r.add<ElementwiseMultiply>({.name = "leaves_flush_to_zero",
                              .summary = "multiplies with subnormal numbers taken for zero, and leaves it so",
                              .known_cheat =
                                  "leaves flush-to-zero on for whoever comes after it; no source: found in "
                                  "this harness",
                              .run = leaves_flush_to_zero});
  r.add<LayerNorm>({.name = "leaves_rounding_up",
                    .summary = "rounds to nearest itself, and has others round up",
                    .known_cheat = "leaves another direction of rounding; no source: found in this harness",
                    .run = leaves_rounding_up});
  r.add<Gemv>(
      {.name = "leaves_x87_single",
       .summary = "has long double round to 24 bits from now on",
       .known_cheat = "leaves the control word of the x87 changed: haasn/checkasm looks at such state",
       .run = leaves_x87_single});
  r.add<Gemv>({.name = "leaves_upper_halves",
               .summary = "leaves the upper halves of vector registers in use, which slows SSE code down",
               .known_cheat = "no vzeroupper at its end: haasn/checkasm looks for dirty upper halves",
               .run = leaves_upper_halves,
               .unfit = unless([](const auto&) { return __builtin_cpu_supports("avx"); }, "needs AVX")});
  r.add<Gemv>({.name = "keeps_mapping",
               .summary = "maps 64 KiB in each call and never gives them back, up to 64 MiB",
               .known_cheat = "memory grows from call to call; no source: fresh pages instead of used ones",
               .run = keeps_mapping});
  r.add<EmbeddingBackward>(
      {.name = "gives_pages_back",
       .summary = "gives pages of the sums back to the system, in place of zeros",
       .known_cheat = "has whoever reads the answer make it; no source: found in this harness",
       .run = gives_pages_back,
       .unfit = unless([](const auto& p) { return p.rows * p.d >= 1 << 14; }, "the sums are a few pages")});
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
       .prepare = keeping<Gemv, LateTimer>(&LateTimer::run)});
  r.add<LayerNorm>({.name = "rings_for_others",
                    .summary = "a timer interrupts everybody else a thousand times a second",
                    .known_cheat = "signals and timers that slow down what it is compared with; no source",
                    .prepare = keeping<LayerNorm, Alarms>(&Alarms::run)});
}};

}  // namespace
}  // namespace assay::known_cheats
