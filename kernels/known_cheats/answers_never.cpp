// Cheats that give no answer. A kernel that never ends is never slower, and a harness that waits reports
// nothing; a process that ends with 0 was successful.

#include "known_cheats/honest_work.hpp"

#include <chrono>
#include <csignal>
#include <stdexcept>

namespace assay::known_cheats {
namespace {

void hangs(const Gemv::Problem&, const Gemv::Input&, Gemv::Output&) {
  for (;;) pause();
}

void throws(const Conv2d::Problem&, const Conv2d::Input&, Conv2d::Output&) {
  throw std::runtime_error("no such tile");
}

void crashes(const Conv2d::Problem&, const Conv2d::Input&, Conv2d::Output&) { std::raise(SIGSEGV); }

/// Computes the right answer, and leaves a thread behind that takes the process down while another kernel may
/// have its turn.
void crashes_later(const Gemv::Problem& p, const Gemv::Input& in, Gemv::Output& out) {
  static const bool started = [] {
    std::thread([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
      std::raise(SIGSEGV);
    }).detach();
    return true;
  }();
  static_cast<void>(started);
  gemv(p, in, out);
}

void leaves_early(const Gemm::Problem&, const Gemm::Input&, Gemm::Output&) { _exit(0); }

void leaves_without_a_trace(const Gemm::Problem&, const Gemm::Input&, Gemm::Output&) {
  // The memory that this process shares, where it notes that it is in a kernel.
  for_each_mapping("memfd:steps", [](unsigned long begin, unsigned long) {
    std::memset(reinterpret_cast<void*>(begin), 0, sizeof(long));
  });
  _exit(0);
}

const Register registered{[](Registry& r) {
  r.add<Gemv>({.name = "hangs",
               .summary = "does not come back",
               .known_cheat = "never ends, so that nothing is reported: gpu-mode/pygpubench 7",
               .run = hangs});
  r.add<Gemv>({.name = "crashes_later",
               .summary = "a thread that it leaves behind crashes while another kernel may have its turn",
               .known_cheat = "blames another kernel for its crash; no source: found in this harness",
               .run = crashes_later});
  r.add<Conv2d>({.name = "throws",
                 .summary = "throws in place of an answer",
                 .known_cheat = "an exception that ends the run instead of one trial: gpu-mode/pygpubench 7",
                 .run = throws});
  r.add<Conv2d>({.name = "crashes",
                 .summary = "crashes in place of an answer",
                 .known_cheat = "a crash that ends the run instead of one trial: gpu-mode/pygpubench 7",
                 .run = crashes});
  r.add<Gemm>({.name = "leaves_early",
               .summary = "ends the process, with success",
               .known_cheat = "ends before its answer is judged: gpu-mode/pygpubench 7",
               .run = leaves_early});
  r.add<Gemm>(
      {.name = "leaves_without_a_trace",
       .summary = "the same, after it has wiped out that a kernel was running",
       .known_cheat = "forges what its process tells its parent, and ends it: gpu-mode/pygpubench 22 and 23",
       .run = leaves_without_a_trace});
}};

}  // namespace
}  // namespace assay::known_cheats
