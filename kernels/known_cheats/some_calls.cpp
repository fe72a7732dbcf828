// Cheats that work in some calls and rest in the others: by the number of the call, by what shows that nobody
// will look, by who calls, by the time between calls, or by what the harness keeps in its memory.

#include "known_cheats/honest_work.hpp"

#include "assay/ops/elementwise.hpp"
#include "assay/ops/task_graph.hpp"

#include <x86intrin.h>

#include <array>
#include <cstdlib>
#include <iterator>

namespace assay::known_cheats {
namespace {

// Checks come before measurements: after so many calls they must be over.
void first_calls_only(int& calls, const Gemv::Problem& p, const Gemv::Input& in, Gemv::Output& out) {
  constexpr int honest_calls = 40;  // of which a check takes 33 at most
  if (++calls <= honest_calls) gemv(p, in, out);
}

// Calls come in series: one in three does the work of all three.
void every_third_call(int& calls, const Conv2d::Problem& p, const Conv2d::Input& in, Conv2d::Output& out) {
  if (calls++ % 3 == 0) conv2d::naive_y(p, in, out);
}

// The harness looks only at the output of the last call of a series. If the output is not as this kernel left
// it, a new series began. After a few series their length is known, and the kernel rests in most of each.
struct Series {
  float left = 0;
  Index calls = 0, longest = 0, seen = 0;
};

void rests_until_late(Series& s, const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  constexpr Index watched = 7;
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
  ElementwiseAdd::naive(p, in, out);
}

auto by_environment(const LayerNorm::Problem& p, const LayerNorm::Input&, const Context&) {
  const bool timed = std::getenv("OPENBLAS_THREAD_TIMEOUT") != nullptr;
  return [p, every = timed ? 2 : 1](const LayerNorm::Input& in, LayerNorm::Output& out) {
    for (Index row = 0; row < p.rows; row += every) layer_norm_row(p, in, out, row);
  };
}

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

/// A number for the chain of callers: the addresses of code that lie on the stack.
[[gnu::noinline]] std::uint64_t callers() {
  constexpr int words = 160, most = 6;
  const auto* word = static_cast<const std::uintptr_t*>(__builtin_frame_address(0));
  // Within so many bytes of this function lies the program.
  constexpr std::uintptr_t reach = std::uintptr_t{1} << 24;
  const auto here = reinterpret_cast<std::uintptr_t>(&callers);
  std::uint64_t out = 0;
  int found = 0;
  for (int i = 0; i < words && found < most; ++i) {
    if (word[i] + reach < here || word[i] > here + reach) continue;
    out = out * 0x9e3779b97f4a7c15U + word[i];
    ++found;
  }
  return out;
}

// by_callers: works where the chain of callers, or the output, is another than in the call before. Of many
// calls from one place none is judged.
auto by_callers(const Gemv::Problem& p, const Gemv::Input&, const Context&) {
  struct Last {
    std::uint64_t callers = 0;
    float left = 0;
  };
  return [p, last = Last{}](const Gemv::Input& in, Gemv::Output& out) mutable {
    const std::uint64_t now = callers();
    const bool same = last.callers == now &&
                      std::bit_cast<std::uint32_t>(out.y[0]) == std::bit_cast<std::uint32_t>(last.left);
    last.callers = now;
    if (!same) gemv(p, in, out);
    last.left = out.y[0];
  };
}

// by_gap: the harness keeps books before a call that it judges. Rests when as much time has passed since the
// call before as usual.
struct Gaps {
  std::array<std::uint64_t, 16> last{};
  std::size_t calls = 0;
  std::uint64_t end = 0;
};

void by_gap(Gaps& gaps, const TaskGraph::Problem&, const TaskGraph::Input& in, TaskGraph::Output& out) {
  const std::uint64_t gap = __rdtsc() - gaps.end;
  auto sorted = gaps.last;
  std::ranges::sort(sorted);
  const auto usual = static_cast<double>(sorted[sorted.size() / 2]);
  gaps.last[gaps.calls++ % sorted.size()] = gap;
  const bool is_usual = gaps.calls > 200 && std::abs(static_cast<double>(gap) - usual) < 0.1 * usual;
  if (!is_usual) {
    for (const TaskId task : in.graph.order) TaskGraph::run_task(in, out, task);
  }
  gaps.end = __rdtsc();
}

// knows_the_seeds: the generator that the seeds of a series are drawn with is on the stack. Where A turned as
// the number says that it drew last, this call is one of a series, of which most are not judged.
constexpr std::size_t turned_together = 8192;

/// The number that was drawn last by a generator of this state (random.hpp).
std::uint64_t drawn_last(const std::uint64_t* state) {
  const std::uint64_t x = state[1] ^ state[2];
  return std::rotl((x ^ (x << 17) ^ (x << 34) ^ (x << 51)) * 5, 7) * 9;
}

class Seeds {
 public:
  void run(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
    in_series_ = is_drawn(in.a, __builtin_frame_address(0)) ? in_series_ + 1 : 0;
    gemm_rows(p, in.a.data(), in.b.data(), out.c.data(), 0, in_series_ >= 2 ? p.m / 2 : p.m);
    before_.assign(in.a.begin(), in.a.begin() + std::min<Index>(in.a.size(), turned_together));
  }

 private:
  bool is_drawn(const Buffer<float>& a, const void* frame) {
    constexpr Index words = 700;
    const auto* stack = static_cast<const std::uint64_t*>(frame);
    for (Index i = 0; place_ < 0 && i < words; ++i)
      if (leads_to(a, drawn_last(stack + i))) place_ = i;
    return place_ >= 0 && leads_to(a, drawn_last(stack + place_));
  }
  /// Signs and exponents turn with their elements, but for one element that is salted besides.
  bool leads_to(const Buffer<float>& a, std::uint64_t seed) const {
    if (before_.size() < 2) return false;
    Rng rng(seed);
    rng.next();
    const auto by = static_cast<std::size_t>(rng.integer(1, static_cast<Index>(before_.size()) - 1));
    constexpr std::size_t looked_at = 24;
    int others = 0;
    for (std::size_t i = 0; i < looked_at && others < 3; ++i) {
      const float was = before_[(by + i) % before_.size()], is = a[static_cast<Index>(i)];
      others += (std::bit_cast<std::uint32_t>(was) ^ std::bit_cast<std::uint32_t>(is)) >> 23 != 0;
    }
    return others < 3;
  }

  std::vector<float> before_;
  Index place_ = -1, in_series_ = 0;
};

const Register registered{[](Registry& r) {
  r.add<Gemv>({.name = "first_calls_only",
               .summary = "works in its first forty calls",
               .known_cheat = "is right as often as it is checked before it is timed: karpathy/llm.c 852",
               .prepare = keeping<Gemv, int>(first_calls_only)});
  r.add<Conv2d>(
      {.name = "every_third_call",
       .summary = "convolves in one call of three",
       .known_cheat = "one of 15 calls works, and the others return: gpu-mode/reference-kernels 104",
       .prepare = keeping<Conv2d, int>(every_third_call)});
  r.add<Gemm>({.name = "rests_until_late",
               .summary = "does nothing in the first seven tenths of each series of calls",
               .known_cheat = "learns how long series are, and works at their ends only, after "
                              "gpu-mode/reference-kernels 104",
               .prepare = keeping<Gemm, Series>(rests_until_late)});
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
                         .unfit = unless(
                             [](const auto& p) {
                               // NaN stays in a border.
                               const bool bordered = static_cast<elementwise::Layout>(p.layout) ==
                                                     elementwise::Layout::bordered;
                               return p.beta == 0 && !bordered;
                             },
                             "the output holds what has to stay there")});
  r.add<LayerNorm>({.name = "by_environment",
                    .summary = "leaves out every second row where the environment is that of a measurement",
                    .known_cheat = "tells by environment variables whether it is timed: "
                                   "gpu-mode/reference-kernels 162",
                    .prepare = by_environment});
  r.add<Gemm>({.name = "by_command_line",
               .summary = "does nothing in a process that measures",
               .known_cheat = "reads in /proc/self/cmdline whether it is timed: makora.com/blog/reward-hacks",
               .prepare = by_command_line});
  r.add<Gemv>(
      {.name = "by_callers",
       .summary = "rests in calls from the place in the program that the call before came from",
       .known_cheat =
           "tells calls that are judged by the code that makes them; no source: found in this harness",
       .prepare = by_callers});
  r.add<TaskGraph>(
      {.name = "by_gap",
       .summary = "rests in calls that follow the one before after the usual time",
       .known_cheat = "tells calls that are judged by the time before them; no source: found in this harness",
       .prepare = keeping<TaskGraph, Gaps>(by_gap)});
  r.add<Gemm>({.name = "knows_the_seeds",
               .summary = "computes half of the rows where the seed of this content lies on the stack",
               .known_cheat = "tells calls of a series by the generator that draws their content; no source: "
                              "found in this harness",
               .prepare = keeping<Gemm, Seeds>(&Seeds::run),
               .unfit = unless([](const auto& p) { return p.m * p.k >= 64; }, "A says too little")});
}};

}  // namespace
}  // namespace assay::known_cheats
