// The idea: equally many tasks for each thread, in order. This is right if all tasks take equally long.

#include "team.hpp"

#include "assay/ops/training_loop.hpp"

namespace assay::chunks {

const Register registered{[](Registry& r) {
  const auto prepare = [](const Chunks::Problem& p, const auto&, const Context& context) {
    return [p, threads = started_team(context, false)](const auto& in, auto& out) {
      on_rows(threads, p.n, [&](Index first, Index last) { work(p, in, first, last, out); });
    };
  };
  r.add<Chunks>({.name = "static_chunks",
                 .summary = "shares of equal counts on OpenMP threads",
                 .threaded = true,
                 .prepare = prepare});
}};

}  // namespace assay::chunks
