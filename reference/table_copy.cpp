#include "assay/ops/table_copy.hpp"

namespace assay {
namespace {

using Problem = TableCopy::Problem;

void naive(const Problem& p, const TableCopy::Input& in, TableCopy::Output& out) {
  const auto derived_column = [rows = p.rows](auto& derived, Index c) { return derived.data() + c * rows; };
  std::vector<float> derived(in.table.begin(), in.table.end());
  derived.resize(static_cast<std::size_t>((p.columns + 1) * p.rows));
  float *const first = derived_column(derived, 0), *const last = derived_column(derived, p.columns - 1),
               *const added = derived_column(derived, p.columns);
  for (Index row = 0; row < p.rows; ++row) added[row] = first[row] + last[row];
  for (Index row = 0; row < p.rows; ++row) first[row] *= 2;
  table_copy::read(
      p, p.columns, [&](Index c) { return in.table.data() + c * p.rows; }, out.original);
  table_copy::read(
      p, p.columns + 1, [&](Index c) { return derived_column(derived, c); }, out.read);
}

const Register registered{[](Registry& r) {
  r.add<TableCopy>({.name = "naive", .summary = "a deep copy, then the columns", .run = naive});
}};

}  // namespace

auto TableCopy::corner_cases() -> std::vector<Problem> {
  std::vector<Problem> out;
  for (const auto& [columns, rows] : {std::pair{1, 1}, {1, 33}, {2, 7}, {3, 16}, {8, 100}}) {
    out.push_back({.columns = columns, .rows = rows});
  }
  out.push_back({.columns = 3, .rows = 10, .every = 3});
  out.push_back({.columns = 2, .rows = 5, .every = 9});
  return out;
}

auto TableCopy::expect(const Problem& p, const Input& in, Setting&) -> Expected {
  Expected want;
  for (Index c = 0; c <= p.columns; ++c) {
    for (Index row = 0; row < p.rows; row += p.every) {
      const auto at = [&](Index column) { return in.table[column * p.rows + row]; };
      if (c < p.columns) want.original.value.push_back(at(c));
      want.read.value.push_back(c == p.columns ? at(0) + at(p.columns - 1) : (c == 0 ? 2 : 1) * at(c));
    }
  }
  for (auto* part : {&want.original, &want.read}) part->bound.resize(part->value.size(), 0);
  return want;
}

Cost TableCopy::cost(const Problem& p) {
  const double read = product(p.columns, p.rows_read());
  return {.flops = 2 * static_cast<double>(p.rows_read()),
          .bytes_read = 4 * read,
          .bytes_written = 4 * (2 * read + static_cast<double>(p.rows_read()))};
}

template class detail::TypedOperation<TableCopy>;

}  // namespace assay
