// The idea: a row is fetched while those before it are copied, since no processor guesses where an id points.
// The copy is that of the C library. Limit: a table in the second-level cache has nothing to wait for.

#include "embedding/divided.hpp"
#include "team.hpp"

#include <algorithm>

namespace assay::embedding {

Variant<Embedding>::Kernel prefetched(const Problem& p, int threads) {
  constexpr Index line = 64 / sizeof(float);
  // Rows between the fetch and the copy, and lines of a row that are fetched: those behind them follow each
  // other, which processors see for themselves.
  constexpr Index ahead = 4, lines = 8;
  return [p, threads](const Embedding::Input& in, Embedding::Output& out) {
    const auto row = [&](Index i) { return in.table.data() + in.ids[i] * p.d; };
    on_rows(threads, p.n, [&](Index first, Index last) {
      for (Index i = first; i < last; ++i) {
        if (i + ahead < last) {
          const float* const next = row(i + ahead);
          for (Index j = 0; j < std::min(p.d, lines * line); j += line) __builtin_prefetch(next + j);
        }
        std::copy_n(row(i), p.d, out.y.data() + i * p.d);
      }
    });
  };
}

const Register registered{[](Registry& r) {
  r.add<Embedding>(
      {.name = "prefetched",
       .summary = "rows are fetched four ids ahead of their copy",
       .prepare = [](const Problem& p, const auto&, const Context&) { return prefetched(p, 1); }});
}};

}  // namespace assay::embedding
