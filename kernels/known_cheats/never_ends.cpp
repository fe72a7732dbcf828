// Trick: what never ends is never slower, and a harness that waits reports nothing.

#include "known_cheats/honest_work/conv2d.hpp"
#include "known_cheats/honest_work/gemv.hpp"

#include "assay/registry.hpp"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>

namespace assay::known_cheats {
namespace {

void hangs(const Gemv::Problem&, const Gemv::Input&, Gemv::Output&) {
  for (;;) pause();
}

void throws(const Conv2d::Problem&, const Conv2d::Input&, Conv2d::Output&) {
  throw std::runtime_error("no such tile");
}

void crashes(const Conv2d::Problem&, const Conv2d::Input&, Conv2d::Output&) { std::raise(SIGSEGV); }

/// Right, and a thread that outlives the call takes the process down, whoever has its turn by then.
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
}};

}  // namespace
}  // namespace assay::known_cheats
