// Cheats that tell the calls that are judged from those that are timed, by who calls or by the time between
// calls.

#include "known_cheats/honest_work.hpp"

#include "assay/ops/task_graph.hpp"
#include "assay/registry.hpp"

#include <x86intrin.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>

namespace assay::known_cheats {
namespace {

// by_gap: the harness keeps books before a call that it judges. Rests when as much time has passed since the
// call before as usual.
auto by_gap(const TaskGraph::Problem& p, const TaskGraph::Input& input, const Context&) {
  struct Gaps {
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
  r.add<TaskGraph>(
      {.name = "by_gap",
       .summary = "rests in calls that follow the one before after the usual time",
       .known_cheat = "tells calls that are judged by the time before them; no source: found in this harness",
       .prepare = by_gap,
       .unfit = unfit_by_gap});
}};

}  // namespace
}  // namespace assay::known_cheats
