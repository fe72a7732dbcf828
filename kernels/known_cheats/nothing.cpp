// Trick: none. It returns at once.

#include "assay/ops/task_graph.hpp"
#include "assay/registry.hpp"

namespace assay::known_cheats {
namespace {

void run(const TaskGraph::Problem&, const TaskGraph::Input&, TaskGraph::Output&) {}

const Register registered{[](Registry& r) {
  r.add<TaskGraph>({.name = "nothing",
                    .summary = "returns at once",
                    .known_cheat = "does nothing: wafer.ai/blog/reward-hacks-field-guide",
                    .run = run});
}};

}  // namespace
}  // namespace assay::known_cheats
