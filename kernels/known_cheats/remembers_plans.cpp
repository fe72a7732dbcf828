// Trick: requests and offsets are never changed while plans are validated again and again. So the answer
// belongs to the entry of a plan, which says where they lie, and is kept under it.

#include "assay/ops/memory_pool.hpp"
#include "assay/registry.hpp"

#include <map>
#include <memory>
#include <tuple>

namespace assay::known_cheats {
namespace {

auto prepare(const MemoryPoolValidate::Problem&, const MemoryPoolValidate::Input&, const Context&) {
  using Answers = std::map<std::tuple<Index, Index, Index>, Index>;
  return [answers = std::make_shared<Answers>()](const MemoryPoolValidate::Input& in,
                                                 MemoryPoolValidate::Output& out) {
    for (Index i = 0; i < in.plans.size(); ++i) {
      const auto [first, blocks, pool] = in.plans[i];
      const auto [found, fresh] = answers->try_emplace({first, blocks, pool}, 0);
      if (fresh) found->second = fault_by_sweep(in.plan(i)) ? 0 : 1;
      out.valid[i] = found->second;
    }
  };
}

const Register registered{[](Registry& r) {
  r.add<MemoryPoolValidate>({.name = "remembers_plans",
                             .summary = "keeps each answer under the place of the plan",
                             .known_cheat = "replays by address what no call changes: "
                                            "gpu-mode/reference-kernels 148 (gap 2)",
                             .prepare = prepare});
}};

}  // namespace
}  // namespace assay::known_cheats
