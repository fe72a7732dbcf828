// The idea: a row is fetched while those before it are copied, since no processor guesses where an id points.
// The copy is that of the C library. Limit: a table in the second-level cache has nothing to wait for.

#include "team.hpp"

#include "assay/ops/embedding.hpp"

#include <algorithm>

namespace assay::embedding {
namespace {

constexpr Index line = 64 / sizeof(float);
/// Rows between the fetch and the copy, and lines of a row that are fetched: those behind them follow each
/// other, which processors see for themselves.
constexpr Index ahead = 4, lines = 8;

void copy(const Problem& p, const Embedding::Input& in, Embedding::Output& out, Index first, Index last) {
  const auto row = [&](Index i) { return in.table.data() + in.ids[i] * p.d; };
  for (Index i = first; i < last; ++i) {
    if (i + ahead < last) {
      const float* const next = row(i + ahead);
      for (Index j = 0; j < std::min(p.d, lines * line); j += line) __builtin_prefetch(next + j);
    }
    std::copy_n(row(i), p.d, out.y.data() + i * p.d);
  }
}

/// Numbers of y below which a call is too short for a second thread. Chosen, not measured: that of copies in
/// the second-level cache.
constexpr Index break_even = 65536;

const Register registered{[](Registry& r) {
  r.add<Embedding>({.name = "prefetched",
                    .summary = "rows are fetched four ids ahead of their copy",
                    .run = [](const Problem& p, const Embedding::Input& in, Embedding::Output& out) {
                      copy(p, in, out, 0, p.n);
                    }});
  add_threaded<Embedding>(
      r, "prefetched on every thread, ids divided",
      [](const Problem& p, const Embedding::Input&, const Context& context) {
        return [p, threads = started_team(context, p.n * p.d < break_even, p.n)](const auto& in, auto& out) {
          on_rows(threads, p.n, [&](Index first, Index last) { copy(p, in, out, first, last); });
        };
      });
}};

}  // namespace
}  // namespace assay::embedding
