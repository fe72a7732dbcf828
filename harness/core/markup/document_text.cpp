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

/// A cell, and the interval of its number, which has a place of its own so that numbers stand below another.
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

/// Columns side by side where they fit. Else each row names its cells, below its first.
std::string grid(const ShownTable& table) {
  const std::size_t columns = table.columns.size();
  std::vector<std::vector<Cell>> cells(1);
  for (const Column* column : table.columns) cells[0].push_back({head_of(*column), ""});
  for (const auto& row : table.rows) {
    auto& own = cells.emplace_back();
    for (const Text& text : row) own.push_back(cell_of(text));
  }
  std::vector<std::size_t> middle(columns), range(columns);
  std::size_t width = 0;
  for (std::size_t i = 0; i < columns; ++i) {
    for (const auto& row : cells) range[i] = std::max(range[i], display_width(row[i].range));
    for (std::size_t r = 0; r < cells.size(); ++r) {
      // The head may stand over the interval as well.
      const std::size_t spare = r == 0 && range[i] > 0 ? range[i] + 1 : 0;
      const std::size_t own = display_width(cells[r][i].middle);
      middle[i] = std::max(middle[i], own - std::min(own, spare));
    }
    width += middle[i] + (range[i] > 0 ? range[i] + 1 : 0) + 2;
  }
  std::string out;
  if (width > widest + 2) {
    for (std::size_t r = 1; r < cells.size(); ++r) {
      out += wrapped_line(cells[r][0].middle, "", "    ");
      std::string rest;
      for (std::size_t i = 1; i < columns; ++i) {
        if (cells[r][i].middle.empty()) continue;
        rest += (rest.empty() ? "" : ", ") + cells[0][i].middle + " " + cells[r][i].middle;
        if (!cells[r][i].range.empty()) rest += " " + cells[r][i].range;
      }
      if (!rest.empty()) out += wrapped_line(rest, "    ", "    ");
    }
    return out;
  }
  for (std::size_t r = 0; r < cells.size(); ++r) {
    std::string line;
    for (std::size_t i = 0; i < columns; ++i) {
      const bool right = stands_right(table, i);
      std::string own;
      if (range[i] == 0) {
        own = padded(cells[r][i].middle, middle[i], right);
      } else if (r == 0) {
        own = padded(cells[r][i].middle, middle[i] + 1 + range[i], false);
      } else {
        own = padded(cells[r][i].middle, middle[i], right) + " " + padded(cells[r][i].range, range[i], right);
      }
      line += own + "  ";
    }
    out += without_blanks_at_end(std::move(line));
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
  std::string out = grid(shown);
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
    const std::string body = section.folded ? "" : to_text(section.blocks);
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
