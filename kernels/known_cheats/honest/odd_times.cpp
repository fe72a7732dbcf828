// Kernels whose times look odd: one that yields, one that reads the clock, one whose first call is slow.

#include "known_cheats/honest_work.hpp"

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace assay::known_cheats {
namespace {

void sleeps_briefly(const Gemv::Problem& p, const Gemv::Input& in, Gemv::Output& out) {
  gemv(p, in, out);
  std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::microseconds(5));
}

auto reads_the_clock(const AdamWPaper::Problem& p, const AdamWPaper::Input&, const Context&) {
  struct Spent {
    double seconds = 0;
    Index calls = 0;
  };
  return [p, spent = std::make_shared<Spent>()](const AdamWPaper::Input& in, AdamWPaper::Output& out) {
    const auto start = std::chrono::steady_clock::now();
    adamw_step(p, in, out);
    spent->seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    ++spent->calls;
  };
}

/// A table of sines, which takes a while. The first call makes it.
const std::vector<double>& table() {
  static const std::vector<double> made = [] {
    std::vector<double> out(std::size_t{1} << 18);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::sin(static_cast<double>(i));
    return out;
  }();
  return made;
}

auto slow_at_first(const LayerNorm::Problem& p, const LayerNorm::Input&, const Context&) {
  return [p, calls = 0](const LayerNorm::Input& in, LayerNorm::Output& out) mutable {
    if (calls++ == 0 && table().empty()) return;
    layer_norm(p, in, out);
  };
}

const Register registered{[](Registry& r) {
  r.add<Gemv>({.name = "sleeps_briefly",
               .summary = "yields and sleeps for some microseconds in each call",
               .known_honest = "takes longer than it works, as if somebody else did the work",
               .run = sleeps_briefly});
  r.add<AdamWPaper>({.name = "reads_the_clock",
                     .summary = "adds up what its calls take",
                     .known_honest = "reads the clock, as a kernel does that behaves while it is timed",
                     .prepare = reads_the_clock});
  r.add<LayerNorm>({.name = "slow_at_first",
                    .summary = "makes a table in its first call",
                    .known_honest = "its first call takes many times as long as the others",
                    .prepare = slow_at_first});
}};

}  // namespace
}  // namespace assay::known_cheats
