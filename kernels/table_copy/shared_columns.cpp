// The idea: the derived table holds pointers to the columns of the original. It owns memory only for the
// added and the changed column: two columns are written in place of all.

#include "assay/ops/table_copy.hpp"
#include "assay/registry.hpp"

#include <memory>
#include <vector>

namespace assay::table_copy {
namespace {

struct Derived {
  Buffer<float> changed, added;
  std::vector<const float*> column;
};

const Register registered{[](Registry& r) {
  const auto prepare = [](const TableCopy::Problem& p, const auto&, const Context&) {
    const auto derived = std::make_shared<Derived>(Derived{Buffer<float>(p.rows), Buffer<float>(p.rows), {}});
    derived->column.resize(static_cast<std::size_t>(p.columns + 1));
    return [p, derived](const TableCopy::Input& in, TableCopy::Output& out) {
      const auto original = [&](Index c) { return in.table.data() + c * p.rows; };
      for (Index c = 0; c < p.columns; ++c) derived->column[static_cast<std::size_t>(c)] = original(c);
      derived->column.back() = derived->added.data();
      const float *first = original(0), *last = original(p.columns - 1);
      for (Index row = 0; row < p.rows; ++row) derived->added[row] = first[row] + last[row];
      // A column is copied when it is written to.
      for (Index row = 0; row < p.rows; ++row) derived->changed[row] = 2 * first[row];
      derived->column.front() = derived->changed.data();
      read(p, p.columns, original, out.original);
      read(
          p, p.columns + 1, [&](Index c) { return derived->column[static_cast<std::size_t>(c)]; }, out.read);
    };
  };
  r.add<TableCopy>(
      {.name = "shared_columns", .summary = "columns shared until they are written to", .prepare = prepare});
}};

}  // namespace
}  // namespace assay::table_copy
