// The idea: two staging areas. While one batch is worked on, a second thread copies the next one into the
// other area; if it is late, this thread copies. If a batch is used many times, the copy is a small part of
// the work and there is little to hide: the share of the copy bounds the gain.

#include "task_graph/crew.hpp"

#include "assay/ops/training_loop.hpp"

#include <algorithm>
#include <atomic>
#include <memory>

namespace assay::staged_copy {

const Register registered{[](Registry& r) {
  const auto prepare = [](const StagedCopy::Problem& p, const auto&, const Context& context) {
    const auto crew = std::make_shared<task_graph::Crew>(std::min(context.threads, 2));
    return [p, crew, stages = Buffer<float>(2 * p.n)](const auto& in, auto& out) mutable {
      const auto stage = [&](Index b) { return stages.data() + b % 2 * p.n; };
      const auto copy = [&](Index b) { std::copy_n(in.x.data() + b * p.n, p.n, stage(b)); };
      copy(0);
      for (Index b = 0; b < p.batches; ++b) {
        std::atomic<bool> taken{b + 1 == p.batches};
        crew->run([&](int member) {
          if (member == 0) consume(p.rounds, stage(b), p.n, out.y.data() + b * p.n);
          if (!taken.exchange(true)) copy(b + 1);
        });
      }
    };
  };
  r.add<StagedCopy>({.name = "double_buffered",
                     .summary = "the next batch copied by a second thread during the work on this one",
                     .threaded = true,
                     .prepare = prepare});
}};

}  // namespace assay::staged_copy
