// Cheats that work in some calls and rest in the others.

#include "known_cheats/honest_work.hpp"

#include "assay/registry.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace assay::known_cheats {
namespace {

// Checks come before measurements: after so many calls they must be over.
auto first_calls_only(const Gemv::Problem& p, const Gemv::Input&, const Context&) {
  constexpr int honest_calls = 40;  // of which a check takes 33 at most
  return [p, calls = 0](const Gemv::Input& in, Gemv::Output& out) mutable {
    if (++calls <= honest_calls) gemv(p, in, out);
  };
}

// Calls come in series: one in three does the work of all three.
auto every_third_call(const Conv2d::Problem& p, const Conv2d::Input&, const Context&) {
  return [p, calls = 0](const Conv2d::Input& in, Conv2d::Output& out) mutable {
    if (calls++ % 3 == 0) convolve(p, in, out);
  };
}

// The harness looks only at the output of the last call of a series. If the output is not as this kernel left
// it, a new series began. After a few series their length is known, and the kernel rests in most of each.
auto rests_until_late(const Gemm::Problem& p, const Gemm::Input&, const Context&) {
  struct Series {
    float left = 0;
    Index calls = 0, longest = 0, seen = 0;
  };
  constexpr Index watched = 7;
  return [p, s = Series{}](const Gemm::Input& in, Gemm::Output& out) mutable {
    float& sign = out.c[p.m * p.n - 1];
    if (std::bit_cast<std::uint32_t>(sign) != std::bit_cast<std::uint32_t>(s.left)) {
      // Series of unknown length come first, while the harness finds out how many calls take how long.
      if (s.calls > 1) s.longest = s.calls;
      ++s.seen;
      s.calls = 0;
    }
    ++s.calls;
    if (s.seen <= watched || 10 * s.calls > 7 * s.longest) gemm(p, in, out);
    s.left = sign;
  };
}

// To judge one update of many, the harness notes the state that it starts from. If the note replaces the
// start of the first call, which is a part of the input, the kernel can tell that update from the others.
void works_when_noted(const AdamWPaper::Problem& p, const AdamWPaper::Input& in, AdamWPaper::Output& out) {
  if (in.p[0] == out.p[0] && in.p[p.n - 1] == out.p[p.n - 1]) adamw_step(p, in, out);
}

// A check writes NaN into the output to see which elements are written. Without NaN, nobody will look.
void sees_poison(const ElementwiseAdd::Problem& p, const ElementwiseAdd::Input& in,
                 ElementwiseAdd::Output& out) {
  if (std::ranges::none_of(out.z, [](float z) { return std::isnan(z); })) return;
  elementwise_loops<elementwise::Add>(p, in, out);
}

std::optional<std::string> unfit_sees_poison(const ElementwiseAdd::Problem& p, const Context&) {
  // NaN stays in a border.
  const bool bordered = static_cast<elementwise::Layout>(p.layout) == elementwise::Layout::bordered;
  if (p.beta == 0 && !bordered) return std::nullopt;
  return "the output holds what has to stay there";
}

// Variables that are set for measurements only tell that this is one.
auto by_environment(const LayerNorm::Problem& p, const LayerNorm::Input&, const Context&) {
  const bool timed = std::getenv("OPENBLAS_THREAD_TIMEOUT") != nullptr;
  return [p, every = timed ? 2 : 1](const LayerNorm::Input& in, LayerNorm::Output& out) {
    for (Index row = 0; row < p.rows; row += every) layer_norm_row(p, in, out, row);
  };
}

// by_command_line: the verb of the command line tells whether the process checks or measures.
bool measures() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string words{std::istreambuf_iterator<char>(file), {}};  // each after a zero
  const auto has = [&](const char* word) {
    return words.find('\0' + std::string(word) + '\0') != std::string::npos;
  };
  return has("launch") || has("turns");
}

auto by_command_line(const Gemm::Problem& p, const Gemm::Input&, const Context&) {
  return [p, rests = measures()](const Gemm::Input& in, Gemm::Output& out) {
    if (!rests) gemm(p, in, out);
  };
}

const Register registered{[](Registry& r) {
  r.add<Gemv>({.name = "first_calls_only",
               .summary = "works in its first forty calls",
               .known_cheat = "is right as often as it is checked before it is timed: karpathy/llm.c 852",
               .prepare = first_calls_only});
  r.add<Conv2d>(
      {.name = "every_third_call",
       .summary = "convolves in one call of three",
       .known_cheat = "one of 15 calls works, and the others return: gpu-mode/reference-kernels 104",
       .prepare = every_third_call});
  r.add<Gemm>({.name = "rests_until_late",
               .summary = "does nothing in the first seven tenths of each series of calls",
               .known_cheat = "learns how long series are, and works at their ends only, after "
                              "gpu-mode/reference-kernels 104",
               .prepare = rests_until_late});
  r.add<AdamWPaper>(
      {.name = "works_when_noted",
       .summary = "updates where the start in the input is the state of now",
       .known_cheat = "sees in the input which update is judged; no source: found in this harness",
       .run = works_when_noted});
  r.add<ElementwiseAdd>({.name = "sees_poison",
                         .summary = "adds only where the output holds NaN",
                         .known_cheat = "works where the output was poisoned for a check: "
                                        "ScalingIntelligence/KernelBench 82",
                         .run = sees_poison,
                         .unfit = unfit_sees_poison});
  r.add<LayerNorm>({.name = "by_environment",
                    .summary = "leaves out every second row where the environment is that of a measurement",
                    .known_cheat = "tells by environment variables whether it is timed: "
                                   "gpu-mode/reference-kernels 162",
                    .prepare = by_environment});
  r.add<Gemm>({.name = "by_command_line",
               .summary = "does nothing in a process that measures",
               .known_cheat = "reads in /proc/self/cmdline whether it is timed: makora.com/blog/reward-hacks",
               .prepare = by_command_line});
}};

}  // namespace
}  // namespace assay::known_cheats
