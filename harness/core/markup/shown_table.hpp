/// The part of a table that readers see: without columns of data alone, and without those that are all the
/// same.
#pragma once

#include "core/markup/document.hpp"

namespace assay::doc {

struct ShownTable {
  std::vector<const Column*> columns;
  std::vector<std::vector<Text>> rows;  ///< as long as `columns`
  Text same;                            ///< the columns that were left out, in a sentence; may be empty
  std::size_t more = 0;                 ///< rows beyond the most that the table shows
};

ShownTable shown(const Table& table);

/// The name of the column in the head of a table.
std::string head_of(const Column& column);

/// Whether the column has numbers, which stand right.
bool stands_right(const ShownTable& table, std::size_t column);

/// "12 rows", of a table that is folded away.
std::string rows_text(std::size_t rows);

}  // namespace assay::doc
