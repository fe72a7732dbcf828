// The idea: in a chain of L layers, keep the activation before every sqrt(L)-th layer and recompute those
// between, segment by segment from the last. This takes about 2 sqrt(L) activations in memory in place of L,
// for nearly another forward pass. It is faster only if the activations of a full pass would not stay in a
// cache.

#include "checkpointing/segments.hpp"

#include "assay/ops/training_loop.hpp"

#include <algorithm>

namespace assay::checkpointing {

const Register registered{[](Registry& r) {
  const auto prepare = [](const Checkpointing::Problem& p, const auto&, const Context&) {
    const Segments segments(p.layers);
    // First the activations before the segments, without x, then those inside a segment.
    return [=, kept = Buffer<float>(segments.kept() * p.n)](const auto& in, auto& out) mutable {
      float* const inside = kept.data() + (segments.count() - 1) * p.n;
      const auto w = [&](Index layer) { return in.w.data() + layer * p.n; };
      const auto before = [&](Index segment) -> const float* {
        return segment == 0 ? in.x.data() : kept.data() + (segment - 1) * p.n;
      };
      for (Index segment = 0; segment + 1 < segments.count(); ++segment) {
        const float* from = before(segment);
        for (Index step = 0; step < segments.length; ++step) {
          // The last step writes to its kept place. The others alternate between two rows of dw, which is
          // written later.
          float* const to =
              step + 1 == segments.length ? kept.data() + segment * p.n : out.dw.data() + step % 2 * p.n;
          forward(w(segment * segments.length + step), from, p.n, to);
          from = to;
        }
      }
      std::ranges::copy(in.dy, out.dx.begin());
      for (Index segment = segments.count(); segment-- > 0;) {
        const Index first = segment * segments.length, end = std::min(p.layers, first + segments.length);
        const auto activation = [&](Index layer) -> const float* {
          return layer == first ? before(segment) : inside + (layer - first - 1) * p.n;
        };
        for (Index layer = first; layer + 1 < end; ++layer) {
          forward(w(layer), activation(layer), p.n, inside + (layer - first) * p.n);
        }
        for (Index layer = end; layer-- > first;) {
          backward(w(layer), activation(layer), p.n, out.dx.data(), out.dw.data() + layer * p.n);
        }
      }
    };
  };
  r.add<Checkpointing>(
      {.name = "recomputed",
       .summary = "every sqrt(layers)-th activation kept; workspace: about 2 sqrt(layers) n floats",
       .prepare = prepare});
}};

}  // namespace assay::checkpointing
