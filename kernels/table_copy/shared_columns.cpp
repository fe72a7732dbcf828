// The idea: the derived table holds pointers to the columns of the original. It owns memory only for the
// added and the changed column: two columns are written in place of all.

#include "assay/ops/training_loop.hpp"

#include <vector>

namespace assay::table_copy {

const Register registered{[](Registry& r) {
  const auto prepare = [](const TableCopy::Problem& p, const auto&, const Context&) {
    return [p, changed = Buffer<float>(p.rows), added = Buffer<float>(p.rows),
            column = std::vector<const float*>(static_cast<std::size_t>(p.columns + 1))](const auto& in,
                                                                                         auto& out) mutable {
      const auto original = [&](Index c) { return in.table.data() + c * p.rows; };
      for (Index c = 0; c < p.columns; ++c) column[static_cast<std::size_t>(c)] = original(c);
      column.back() = added.data();
      const float *first = original(0), *last = original(p.columns - 1);
      for (Index row = 0; row < p.rows; ++row) added[row] = first[row] + last[row];
      // A column is copied when it is written to.
      for (Index row = 0; row < p.rows; ++row) changed[row] = 2 * first[row];
      column.front() = changed.data();
      read(p, p.columns, original, out.original);
      read(
          p, p.columns + 1, [&](Index c) { return column[static_cast<std::size_t>(c)]; }, out.read);
    };
  };
  r.add<TableCopy>(
      {.name = "shared_columns", .summary = "columns shared until they are written to", .prepare = prepare});
}};

}  // namespace assay::table_copy
