#include "core/markup/shown_table.hpp"

#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay::doc {
namespace {

/// The first column names the row and stays. In a table of one row only empty columns fold.
bool is_folded(const Table& table, std::size_t column) {
  if (column == 0 || !table.columns[column].folds) return false;
  const std::string first = table.rows.front()[column].plain();
  if (table.rows.size() < 2 && !first.empty()) return false;
  return std::ranges::all_of(table.rows, [&](const auto& row) { return row[column].plain() == first; });
}

}  // namespace

ShownTable shown(const Table& table) {
  ShownTable out;
  std::vector<std::size_t> kept;
  std::vector<Text> same;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].data_only) continue;
    if (is_folded(table, i)) {
      const Text& value = table.rows.front()[i];
      if (!value.empty()) same.push_back(head_of(table.columns[i]) + " " + value);
    } else {
      kept.push_back(i);
      out.columns.push_back(&table.columns[i]);
    }
  }
  const std::size_t most = table.most == 0 ? table.rows.size() : std::min(table.most, table.rows.size());
  for (std::size_t i = 0; i < most; ++i) {
    auto& row = out.rows.emplace_back();
    for (const std::size_t column : kept) row.push_back(table.rows[i][column]);
  }
  out.more = table.rows.size() - most;
  if (!same.empty()) {
    out.same = fmt::format("In all {} rows: ", count_text(static_cast<std::int64_t>(table.rows.size()))) +
               joined(same, "; ") + ".";
  }
  return out;
}

std::string head_of(const Column& column) {
  if (!column.name.empty()) return column.name;
  std::string out = column.tag;
  std::ranges::replace(out, '_', ' ');
  return out;
}

bool stands_right(const ShownTable& table, std::size_t column) {
  const Column& own = *table.columns[column];
  if (own.left) return false;
  if (!own.unit.empty()) return true;
  bool has_numbers = false;
  for (const auto& row : table.rows) {
    if (row[column].empty()) continue;
    if (row[column].number() == nullptr) return false;
    has_numbers = true;
  }
  return has_numbers;
}

std::string rows_text(std::size_t rows) { return quantity_text(static_cast<std::int64_t>(rows), "row"); }

}  // namespace assay::doc
