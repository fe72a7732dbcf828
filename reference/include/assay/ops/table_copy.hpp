/// The contract `table_copy`: a table with a column more, beside the table that it was made from.
#pragma once

#include "assay/ops/arrays.hpp"
#include "assay/registry.hpp"

#include <vector>

namespace assay {

/// derived = a copy of table with a further column, and with another first column:
///   derived[c] = table[c] for 0 < c < columns,  derived[0] = 2 table[0],
///   derived[columns] = table[0] + table[columns - 1]
/// for table[columns, rows], f32, stored by columns, as data frames are. Then both tables are read at every
/// `every`-th row: original[columns, ceil(rows / every)] holds the rows of the table, read after all of that
/// was done, and read[columns + 1, …] those of the derived one. The copy itself is no output: a kernel may
/// share columns or copy them, as long as the table does not change.
///
/// The result has the same value: twice a number is exact, and the sum is rounded once.
///
/// Source: copy-on-write of data frames: McKinney, Data structures for statistical computing in Python, SciPy
/// 2010; pandas, PDEP-7.
struct TableCopy : FromParts<TableCopy> {
  static constexpr std::string_view name = "table_copy";
  static constexpr std::string_view about =
      "a table with a column added and one changed, read beside the original, f32 by columns";

  struct Problem {
    Index columns = 1, rows = 1;
    Index every = 1;  ///< rows from one that is read to the next
    static constexpr auto fields() {
      return std::tuple{field("columns", &Problem::columns), field("rows", &Problem::rows),
                        option("every", &Problem::every, 1, 1, largest_extent)};
    }
    Index rows_read() const { return (rows + every - 1) / every; }
    Index columns_read() const { return columns + 1; }  ///< of the derived table
  };
  struct Input {
    Buffer<float> table;
    static constexpr auto parts() {
      return std::tuple{part("table", &Input::table, &Problem::columns, &Problem::rows)};
    }
  };
  struct Output {
    Buffer<float> original, read;
    static constexpr auto parts() {
      return std::tuple{part("original", &Output::original, &Problem::columns, &Problem::rows_read),
                        part("read", &Output::read, &Problem::columns_read, &Problem::rows_read)};
    }
  };
  struct Expected {
    Expectation original, read;
  };
  static constexpr std::array fills{Fill::uniform};

  static std::vector<Problem> corner_cases();
  static Expected expect(const Problem&, const Input&, Setting&);
  /// Counts the numbers that are read from both tables, and the columns that change.
  static Cost cost(const Problem&);
};

namespace table_copy {

/// Reads `columns` columns at every `every`-th row; column(c) is where one starts.
template <class Column>
void read(const TableCopy::Problem& p, Index columns, const Column& column, Buffer<float>& out) {
  float* to = out.data();
  for (Index c = 0; c < columns; ++c) {
    const float* const from = column(c);
    for (Index row = 0; row < p.rows; row += p.every) *to++ = from[row];
  }
}

}  // namespace table_copy

extern template class detail::TypedOperation<TableCopy>;

}  // namespace assay
