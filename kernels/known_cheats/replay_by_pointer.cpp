// Trick: nothing changed if the pointers are those of the last call, so that its answer must still be there.

#include "known_cheats/honest_work/gemm.hpp"

#include "assay/registry.hpp"

#include <memory>

namespace assay::known_cheats {
namespace {

auto prepare(const Gemm::Problem& p, const Gemm::Input&, const Context&) {
  struct Last {
    const void *a = nullptr, *c = nullptr;
  };
  return [p, last = std::make_shared<Last>()](const Gemm::Input& in, Gemm::Output& out) {
    if (last->a == in.a.data() && last->c == out.c.data()) return;
    gemm(p, in, out);
    *last = {in.a.data(), out.c.data()};
  };
}

const Register registered{[](Registry& r) {
  r.add<Gemm>({.name = "replay_by_pointer",
               .summary = "works when it is handed other arrays than last time",
               .known_cheat = "replays the answer for the same pointers: gpu-mode/reference-kernels 102, "
                              "gpu-mode/kernelbot 501",
               .prepare = prepare});
}};

}  // namespace
}  // namespace assay::known_cheats
