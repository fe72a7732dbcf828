// The idea: equally many tasks for each thread, in order. This is right if all tasks take equally long.

#include "team.hpp"

#include "assay/ops/chunks.hpp"
#include "assay/registry.hpp"

namespace assay::chunks {
namespace {

const Register registered{[](Registry& r) {
  const auto prepare = [](const Chunks::Problem& p, const auto&, const Context& context) {
    start_team(context.threads);
    return [p, threads = context.threads](const Chunks::Input& in, Chunks::Output& out) {
      on_team(threads, threads,
              [&](int part) { work(p, in, p.n * part / threads, p.n * (part + 1) / threads, out); });
    };
  };
  r.add<Chunks>({.name = "static_chunks",
                 .summary = "shares of equal counts on OpenMP threads",
                 .threaded = true,
                 .prepare = prepare});
}};

}  // namespace
}  // namespace assay::chunks
