// Common where a deep copy is replaced by a shallow one: adding a column is harmless, but the derived table
// changes one that it shares, and the original changes with it. Whoever reads the original next finds numbers
// of another table.

#include "assay/ops/table_copy.hpp"
#include "assay/registry.hpp"

#include <vector>

namespace assay {
namespace {

void run(const TableCopy::Problem& p, const TableCopy::Input& in, TableCopy::Output& out) {
  std::vector<float> added(static_cast<std::size_t>(p.rows));
  const auto original = [&](Index c) { return in.table.data() + c * p.rows; };
  // What a language with references to arrays does not ask for.
  float* const first = const_cast<float*>(original(0));
  for (Index row = 0; row < p.rows; ++row) {
    added[static_cast<std::size_t>(row)] = first[row] + original(p.columns - 1)[row];
  }
  for (Index row = 0; row < p.rows; ++row) first[row] *= 2;
  table_copy::read(p, p.columns, original, out.original);
  table_copy::read(
      p, p.columns + 1, [&](Index c) { return c < p.columns ? original(c) : added.data(); }, out.read);
}

const Register registered{[](Registry& r) {
  r.add<TableCopy>({.name = "aliased_column",
                    .summary = "all columns shared, one of them changed",
                    .known_bad = "PyTorch LSTM task analysis: a shallow copy of a table that is written to",
                    .run = run});
}};

}  // namespace
}  // namespace assay
