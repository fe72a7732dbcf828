// Cheats that tell the calls that are judged from those that are timed: by who calls, by the time between
// calls, or by what the harness keeps in its memory.

#include "known_cheats/fault_handler.hpp"
#include "known_cheats/honest_work.hpp"

#include "assay/ops/task_graph.hpp"
#include "assay/registry.hpp"

#include <x86intrin.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <vector>

namespace assay::known_cheats {
namespace {

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
    int calls = 0;
  };
  return [p, last = Last{}](const Gemv::Input& in, Gemv::Output& out) mutable {
    const std::uint64_t now = callers();
    const bool same = last.callers == now &&
                      std::bit_cast<std::uint32_t>(out.y[0]) == std::bit_cast<std::uint32_t>(last.left);
    last.callers = now;
    last.calls = same ? last.calls + 1 : 0;
    if (last.calls == 0) gemv(p, in, out);
    last.left = out.y[0];
  };
}

// by_gap: the harness keeps books before a call that it judges. Rests when as much time has passed since the
// call before as usual.
auto by_gap(const TaskGraph::Problem& p, const TaskGraph::Input& input, const Context&) {
  struct Gaps {
    std::vector<Index> order;
    std::array<std::uint64_t, 16> last{};
    std::size_t calls = 0;
    std::uint64_t end = 0;
  };
  auto gaps = std::make_shared<Gaps>();
  const Index tasks = p.tasks;
  static_cast<void>(input);
  return [tasks, gaps](const TaskGraph::Input& in, TaskGraph::Output& out) {
    const std::uint64_t gap = __rdtsc() - gaps->end;
    auto sorted = gaps->last;
    std::ranges::sort(sorted);
    const auto usual = static_cast<double>(sorted[sorted.size() / 2]);
    gaps->last[gaps->calls++ % sorted.size()] = gap;
    const bool is_usual = gaps->calls > 200 && std::abs(static_cast<double>(gap) - usual) < 0.1 * usual;
    if (!is_usual) {
      for (Index task = 0; task < tasks; ++task) TaskGraph::run_task(in, out, static_cast<TaskId>(task));
    }
    gaps->end = __rdtsc();
  };
}

std::optional<std::string> unfit_by_gap(const TaskGraph::Problem& p, const Context&) {
  if (p.ids == 0) return std::nullopt;
  return "runs tasks in the order of their numbers";
}

const Register registered{[](Registry& r) {
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
       .prepare = by_gap,
       .unfit = unfit_by_gap});
}};

}  // namespace
}  // namespace assay::known_cheats
