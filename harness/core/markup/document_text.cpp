// Documents as a terminal shows them.
#include "core/markup/escaping.hpp"
#include "core/markup/shown_table.hpp"
#include "core/text/utf8.hpp"
#include "core/text/wrapped.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay::doc {
namespace {

constexpr std::size_t widest = 80;
constexpr std::size_t most_terminal_bytes = 400;

std::string terminal(const Text& text) {
  std::string out;
  for (const Text::Piece& piece : text.pieces()) {
    out += piece.kind == Text::Kind::amount
               ? amount_text(piece.number)
               : escaped(abridged(piece.text, most_terminal_bytes), Place::terminal);
  }
  return out;
}

std::string wrapped_line(const std::string& text, const std::string& first, const std::string& next) {
  return wrapped(first + text, widest, next) + "\n";
}

/// A cell, and apart from it the interval of its number, so that numbers are aligned.
struct Cell {
  std::string middle, range;
};

Cell cell_of(const Text& text) {
  const std::string all = terminal(text);
  const Amount* number = text.number();
  const std::size_t bracket =
      number != nullptr && number->has_interval() ? all.find(" [") : std::string::npos;
  if (bracket == std::string::npos) return {all, ""};
  return {all.substr(0, bracket), all.substr(bracket + 1)};
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string pad(width - std::min(width, display_width(text)), ' ');
  return right ? pad + text : text + pad;
}

std::string without_blanks_at_end(std::string line) {
  while (line.ends_with(' ')) line.pop_back();
  return line + "\n";
}

struct Grid {
  explicit Grid(const ShownTable& shown) : table(shown) {
    rows.emplace_back();
    for (const Column* column : table.columns) rows[0].push_back({head_of(*column), ""});
    for (const auto& row : table.rows) {
      auto& own = rows.emplace_back();
      for (const Text& text : row) own.push_back(cell_of(text));
    }
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      is_number.push_back(stands_right(table, i));
      set_widths(i);
    }
  }

  bool heads(std::size_t column) const { return table.columns[column]->heads; }
  bool wraps(std::size_t column) const { return table.columns[column]->wraps; }

  const ShownTable& table;
  std::vector<std::vector<Cell>> rows;  ///< the first has the heads
  std::vector<std::size_t> middle, range;
  std::vector<bool> is_number;

 private:
  void set_widths(std::size_t i) {
    range.push_back(0);
    middle.push_back(0);
    for (const auto& row : rows) range[i] = std::max(range[i], display_width(row[i].range));
    for (std::size_t r = 0; r < rows.size(); ++r) {
      // The head may stand over the interval as well.
      const std::size_t spare = r == 0 && range[i] > 0 ? range[i] + 1 : 0;
      const std::size_t own = display_width(rows[r][i].middle);
      middle[i] = std::max(middle[i], own - std::min(own, spare));
    }
  }
};

std::string in_column(const Grid& grid, std::size_t row, std::size_t i) {
  const Cell& cell = grid.rows[row][i];
  const bool right = grid.is_number[i];
  if (grid.range[i] == 0) return padded(cell.middle, grid.middle[i], right);
  if (row == 0) return padded(cell.middle, grid.middle[i] + 1 + grid.range[i], false);
  return padded(cell.middle, grid.middle[i], right) + " " + padded(cell.range, grid.range[i], right);
}

/// Puts as many columns side by side as fit; the other cells of a row stand below it with their names.
std::string lines_of(const ShownTable& table) {
  const Grid grid(table);
  std::size_t width = 0, indent = 0;
  std::vector<std::size_t> beside, below;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (grid.heads(i)) {
      indent = 2;
      continue;
    }
    width += grid.middle[i] + (grid.range[i] > 0 ? grid.range[i] + 1 : 0) + 2;
    const bool fits = indent + width <= widest + 2 && !grid.wraps(i) && below.empty();
    (fits || beside.empty() ? beside : below).push_back(i);
  }
  std::string out, head;
  for (std::size_t r = 0; r < grid.rows.size(); ++r) {
    for (std::size_t i = 0; i < table.columns.size() && r > 0; ++i) {
      const std::string& own = grid.rows[r][i].middle;
      if (!grid.heads(i) || own == head) continue;
      head = own;
      out += wrapped_line(own, "", "    ");
    }
    std::string line(indent, ' '), rest;
    for (const std::size_t i : beside) line += in_column(grid, r, i) + "  ";
    for (const std::size_t i : below) {
      const Cell& cell = grid.rows[r][i];
      const Amount* number = r > 0 ? table.rows[r - 1][i].number() : nullptr;
      if (r == 0 || cell.middle.empty() || (number != nullptr && number->number() == 0)) continue;
      rest += (rest.empty() ? "" : ", ") + (grid.wraps(i) ? "" : grid.rows[0][i].middle + " ") + cell.middle;
      if (!cell.range.empty()) rest += " " + cell.range;
    }
    out += without_blanks_at_end(std::move(line));
    if (!rest.empty()) out += wrapped_line(rest, std::string(indent + 4, ' '), std::string(indent + 4, ' '));
  }
  return out;
}

std::string of(const Paragraph& one) {
  return one.text.empty() ? "" : wrapped_line(terminal(one.text), "", "  ");
}

std::string of(const List& list) {
  std::string out;
  const std::size_t most = list.most == 0 ? list.items.size() : std::min(list.most, list.items.size());
  for (std::size_t i = 0; i < most; ++i) {
    out += wrapped_line(terminal(list.items[i].text), "  ", "      ");
    for (const Text& line : list.items[i].below) out += wrapped_line(terminal(line), "    ", "      ");
  }
  if (most < list.items.size()) out += fmt::format("  and {} more\n", list.items.size() - most);
  return out;
}

std::string of(const Table& table) {
  if (table.rows.empty()) return table.instead.empty() ? "" : wrapped_line(table.instead, "", "  ");
  const ShownTable shown = doc::shown(table);
  std::string out = lines_of(shown);
  if (shown.more > 0) out += fmt::format("and {} more\n", shown.more);
  if (!shown.same.empty()) out += wrapped_line(terminal(shown.same), "", "  ");
  return out;
}

/// Commands stay whole, so that they can be copied.
std::string of(const Fence& fence) {
  std::string out;
  for (const std::string& line : fence.lines) out += "  " + escaped(line, Place::terminal) + "\n";
  return out;
}

std::string of(const Picture&) { return ""; }
std::string of(const Details&) { return ""; }

}  // namespace

std::string to_text(const std::vector<Block>& blocks) {
  std::string out;
  for (const Block& block : blocks) {
    out += std::visit([](const auto& one) { return of(one); }, static_cast<const Block::variant&>(block));
  }
  return out;
}

std::string to_text(const Document& document) {
  std::string out;
  for (const Section& section : document.sections) {
    const bool shows = !section.folded && section.in != Section::In::pages;
    const std::string body = shows ? to_text(section.blocks) : "";
    if (body.empty()) continue;
    if (!out.empty()) out += "\n";
    if (!section.title.empty()) out += wrapped_line(terminal(section.title), "", "  ");
    out += body;
  }
  // The answer comes last: a terminal shows the end of a long text.
  if (!document.outcome.empty())
    out += (out.empty() ? "" : "\n") + wrapped_line(terminal(document.outcome), "", "  ");
  return out;
}

}  // namespace assay::doc
