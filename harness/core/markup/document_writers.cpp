// Documents as data (JSON of a whole, CSV of a table), as GitHub and GitLab show Markdown, as one file of
// HTML, and as a terminal shows them.

#include "core/markup/document.hpp"

#include "core/markup/embedded_page.hpp"
#include "core/markup/escaping.hpp"
#include "core/text/figures.hpp"
#include "core/text/parts.hpp"
#include "core/text/utf8.hpp"

#include <fmt/format.h>

#include <cmath>
#include <concepts>

namespace assay::doc {
namespace {

/// Writes null for an empty text: the value is not known.
Json value_of(const Text& text) {
  if (text.empty()) return nullptr;
  const Amount* number = text.number();
  if (number == nullptr) return text.plain();
  const Interval& value = number->value;
  if (!number->has_interval()) {
    constexpr double exact = 1e15;  // whole numbers below 2^53 are exact
    const bool whole = number->unit.empty() && std::trunc(value.middle) == value.middle;
    if (whole && std::abs(value.middle) < exact) return static_cast<Index>(value.middle);
    return json_number(value.middle);
  }
  return {{"low", json_number(value.low)},
          {"middle", json_number(value.middle)},
          {"high", json_number(value.high)},
          {"coverage", value.coverage}};
}

Json value_of(const Column& column) {
  Json out{{"tag", column.tag}};
  if (!column.name.empty()) out["name"] = column.name;
  if (!column.unit.empty()) out["unit"] = column.unit;
  if (!column.about.empty()) out["about"] = column.about;
  return out;
}

Json value_of(const Fence& fence) { return fence.lines; }

Json value_of(const List& list) {
  Json items = Json::array();
  for (const List::Item& item : list.items) items.push_back(item.text.plain());
  return items;
}

Json value_of(const Table& table) {
  Json columns = Json::array(), rows = Json::array();
  for (const Column& column : table.columns) columns.push_back(value_of(column));
  for (const auto& row : table.rows) {
    Json::Object own;
    for (std::size_t i = 0; i < row.size(); ++i) own.emplace_back(table.columns[i].tag, value_of(row[i]));
    rows.push_back(Json::object(std::move(own)));
  }
  return {{"columns", std::move(columns)}, {"rows", std::move(rows)}};
}

/// Adds the blocks that have a tag.
void add(Json& out, const std::vector<Block>& blocks) {
  const auto add_one = [&]<class One>(const One& one) {
    if constexpr (std::same_as<One, Details>) add(out, one.blocks);
    if constexpr (requires { one.tag; }) {
      if (!one.tag.empty()) out[one.tag] = value_of(one);
    }
  };
  for (const Block& block : blocks) std::visit(add_one, block);
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  return '"' + spelled(text, {{'"', "\"\""}}) + '"';
}

std::string csv_number(double value) { return std::isfinite(value) ? fmt::format("{:.9g}", value) : ""; }

std::string head_of(const Column& column) {
  if (!column.name.empty()) return column.name;
  std::string out = column.tag;
  std::ranges::replace(out, '_', ' ');
  return out;
}

/// The first column names the row and stays. In a table of one row only empty columns fold.
bool is_folded(const Table& table, std::size_t column) {
  if (column == 0 || !table.columns[column].folds) return false;
  const std::string first = table.rows.front()[column].plain();
  if (table.rows.size() < 2 && !first.empty()) return false;
  return std::ranges::all_of(table.rows, [&](const auto& row) { return row[column].plain() == first; });
}

/// The part of a table that readers see, without columns of data alone, or of one value.
struct ShownTable {
  std::vector<const Column*> columns;
  std::vector<std::vector<Text>> rows;  ///< as long as `columns`
  Text same;                            ///< the columns that were left out, in a sentence; may be empty
  std::size_t more = 0;                 ///< rows beyond the most that the table shows
};

ShownTable shown_part(const Table& table) {
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

/// Whether the column has numbers, which stand right.
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

/// "12 rows", of a table that is folded away.
std::string rows_text(std::size_t rows) { return quantity_text(static_cast<std::int64_t>(rows), "row"); }

std::string line_of(const Text& text, Place prose_place, Place code_place) {
  std::string out, prose;
  const auto end_prose = [&] {
    out += escaped(prose, prose_place);
    prose.clear();
  };
  for (const Text::Piece& piece : text.pieces()) {
    if (piece.kind == Text::Kind::code) {
      end_prose();
      out += escaped(piece.text, code_place);
    } else if (piece.kind == Text::Kind::strong) {
      end_prose();
      out += "**" + escaped(piece.text, prose_place) + "**";
    } else {
      prose += piece.plain();
    }
  }
  end_prose();
  return out;
}

std::string prose(const Text& text) { return line_of(text, Place::prose, Place::span); }
std::string cell(const Text& text) { return line_of(text, Place::cell, Place::cell_span); }

/// As HTML, each piece escaped by `escape`.
template <class Escape>
std::string html(const Text& text, const Escape& escape) {
  std::string out;
  for (const Text::Piece& piece : text.pieces()) {
    const std::string inner = escape(piece.plain());
    out += piece.kind == Text::Kind::code     ? "<code>" + inner + "</code>"
           : piece.kind == Text::Kind::strong ? "<strong>" + inner + "</strong>"
                                              : inner;
  }
  return out;
}

/// Forges read no Markdown within HTML, but find names in it.
std::string summary(const Text& text) {
  return html(text, [](const std::string& piece) { return escaped(piece, Place::summary); });
}

std::string folded(const std::string& summary, const std::string& body) {
  return fmt::format("<details><summary>{}</summary>\n\n{}\n</details>\n", summary, body);
}

class MarkdownWriter {
 public:
  std::string blocks(const std::vector<Block>& all) {
    std::string out;
    for (const Block& block : all) {
      const std::string own = std::visit([&](const auto& one) { return of(one); }, block);
      if (own.empty()) continue;
      if (!out.empty()) out += "\n";
      out += own;
    }
    return out;
  }

  std::string section(const Section& section) {
    if (section.folded) return of(Details{section.title, section.blocks});
    const std::string body = blocks(section.blocks);
    if (body.empty() || section.title.empty()) return body;
    return fmt::format("{} {}\n\n{}", std::string(static_cast<std::size_t>(2 + section.depth), '#'),
                       prose(section.title), body);
  }

 private:
  static std::string of(const Paragraph& one) {
    if (one.text.empty()) return "";
    return (one.look == Paragraph::Look::quoted ? "> " : "") + prose(one.text) + "\n";
  }

  static std::string of(const List& list) {
    std::string out;
    for (std::size_t i = 0; i < list.shown(); ++i) {
      out += "* " + prose(list.items[i].text) + "\n";
      for (const Text& line : list.items[i].below) out += "  * " + prose(line) + "\n";
    }
    if (list.more() > 0) out += fmt::format("* and {} more\n", list.more());
    return out;
  }

  std::string of(const Table& table) const {
    if (table.rows.empty()) return table.instead.empty() ? "" : escaped(table.instead) + "\n";
    const ShownTable shown = shown_part(table);
    std::string out = "|", rule = "|";
    for (std::size_t i = 0; i < shown.columns.size(); ++i) {
      out += fmt::format(" {} |", cell(head_of(*shown.columns[i])));
      rule += stands_right(shown, i) ? "---:|" : "---|";
    }
    out += "\n" + rule + "\n";
    for (const auto& row : shown.rows) {
      out += "|";
      for (const Text& text : row) out += fmt::format(" {} |", cell(text));
      out += "\n";
    }
    if (shown.more > 0) out += fmt::format("\nand {} more\n", shown.more);
    if (!shown.same.empty()) out += "\n" + prose(shown.same) + "\n";
    Text legend;
    for (const Column* column : shown.columns) {
      if (!column->about.empty())
        legend += (legend.empty() ? "" : " ") + head_of(*column) + ": " + column->about;
    }
    if (!legend.empty()) out += "\n" + prose(legend) + "\n";
    return depth_ == 0 && shown.rows.size() > few_rows ? folded(rows_text(shown.rows.size()), out) : out;
  }

  static std::string of(const Fence& fence) {
    if (fence.lines.empty()) return "";
    std::string out = "```" + fence.language + "\n";
    for (const std::string& line : fence.lines) out += escaped(line, Place::fence) + "\n";
    return out + "```\n";
  }

  static std::string of(const Picture&) { return ""; }

  std::string of(const Details& details) {
    ++depth_;
    const std::string body = blocks(details.blocks);
    --depth_;
    if (body.empty()) return "";
    return depth_ > 0 ? "**" + prose(details.summary) + "**\n\n" + body
                      : folded(summary(details.summary), body);
  }

  int depth_ = 0;  ///< of details
};

/// Longer texts from outside are cut; texts of real reports are shorter. The data has them whole.
constexpr std::size_t most_text_bytes = 600;

std::string attribute(std::string_view text) { return escaped(abridged(text, most_text_bytes), Place::html); }

std::string html(const Text& text) { return html(text, attribute); }

std::string details(const std::string& summary, const std::string& body, bool open) {
  return fmt::format("<details{}><summary>{}</summary>\n{}</details>\n", open ? " open=\"open\"" : "",
                     summary, body);
}

class PageWriter {
 public:
  explicit PageWriter(std::vector<std::pair<std::string, Plot>>& plots) : plots_(plots) {}

  std::string blocks(const std::vector<Block>& all) {
    std::string out;
    for (const Block& block : all) out += std::visit([&](const auto& one) { return of(one); }, block);
    return out;
  }

 private:
  static std::string of(const Paragraph& one) {
    if (one.text.empty()) return "";
    const std::string marked = fmt::format(
        "<p{}>{}</p>", one.look == Paragraph::Look::soft ? " class=\"soft\"" : "", html(one.text));
    return (one.look == Paragraph::Look::quoted ? "<blockquote>" + marked + "</blockquote>" : marked) + "\n";
  }

  static std::string of(const List& list) {
    if (list.items.empty()) return "";
    std::string out = "<ul>\n";
    for (std::size_t i = 0; i < list.shown(); ++i) {
      out += "<li>" + html(list.items[i].text);
      std::string below;
      for (const Text& line : list.items[i].below) below += "<li>" + html(line) + "</li>\n";
      if (!below.empty()) out += "\n<ul>\n" + below + "</ul>";
      out += "</li>\n";
    }
    if (list.more() > 0) out += fmt::format("<li>and {} more</li>\n", list.more());
    return out + "</ul>\n";
  }

  /// Numbers sort by value. NaN and infinity stay at the end, as empty cells do.
  static std::string sort_key(const Text& cell) {
    const Amount* number = cell.number();
    if (number == nullptr) return "";
    return std::isfinite(number->number()) ? fmt::format(" data-value=\"{}\"", number->number())
                                           : " data-value=\"\"";
  }

  std::string of(const Table& table) const {
    if (table.rows.empty()) return table.instead.empty() ? "" : "<p>" + html(table.instead) + "</p>\n";
    const ShownTable shown = shown_part(table);
    std::string out =
        fmt::format("<div class=\"wide\"><table{}>\n<thead><tr>", table.sorts ? " class=\"sorted\"" : "");
    std::vector<bool> right;
    for (std::size_t i = 0; i < shown.columns.size(); ++i) {
      right.push_back(stands_right(shown, i));
      const std::string& about = shown.columns[i]->about;
      out += fmt::format("<th{}{}>{}</th>", right[i] ? " class=\"n\"" : "",
                         about.empty() ? "" : " title=\"" + attribute(about) + "\"",
                         html(head_of(*shown.columns[i])));
    }
    out += "</tr></thead>\n<tbody>\n";
    for (const auto& row : shown.rows) {
      out += "<tr>";
      for (std::size_t i = 0; i < row.size(); ++i) {
        const bool is_key = i == 0 && !row[i].empty() && row[i].pieces()[0].kind == Text::Kind::code;
        out += fmt::format("<td{}{}>{}</td>",
                           right[i] ? " class=\"n\""
                           : is_key ? " class=\"key\""
                                    : "",
                           sort_key(row[i]), html(row[i]));
      }
      out += "</tr>\n";
    }
    out += "</tbody></table></div>\n";
    if (shown.more > 0) out += fmt::format("<p>and {} more</p>\n", shown.more);
    if (!shown.same.empty()) out += "<p class=\"soft\">" + html(shown.same) + "</p>\n";
    return depth_ == 0 && shown.rows.size() > few_rows ? details(rows_text(shown.rows.size()), out, false)
                                                       : out;
  }

  static std::string of(const Fence& fence) {
    if (fence.lines.empty()) return "";
    std::string out = "<pre>";
    for (const std::string& line : fence.lines) out += escaped(line, Place::html) + "\n";
    return out + "</pre>\n";
  }

  std::string of(const Picture& picture) {
    if (picture.plot.empty()) return "";
    plots_.emplace_back(picture.name, picture.plot);
    return "<figure>\n" + svg_in_page(picture.plot) + "</figure>\n" +
           of(Paragraph{picture.caption, Paragraph::Look::soft});
  }

  std::string of(const Details& one) {
    ++depth_;
    const std::string body = blocks(one.blocks);
    --depth_;
    return body.empty() ? "" : details(html(one.summary), body, one.open);
  }

  std::vector<std::pair<std::string, Plot>>& plots_;
  int depth_ = 0;  ///< of details
};

std::string script(const std::string& id, const std::string& json) {
  return fmt::format("<script type=\"application/json\" id=\"{}\">{}</script>\n", attribute(id),
                     escaped(json, Place::json));
}

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
  return wrapped(first + text, terminal_width, next) + "\n";
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
      std::size_t& widest_range = range.emplace_back(0);
      std::size_t& widest = middle.emplace_back(0);
      for (const auto& row : rows) widest_range = std::max(widest_range, display_width(row[i].range));
      for (const auto& row : rows) {
        // The head may stand over the interval as well.
        const std::size_t spare = &row == &rows[0] && widest_range > 0 ? widest_range + 1 : 0;
        const std::size_t own = display_width(row[i].middle);
        widest = std::max(widest, own - std::min(own, spare));
      }
    }
  }

  const ShownTable& table;
  std::vector<std::vector<Cell>> rows;  ///< the first has the heads
  std::vector<std::size_t> middle, range;
  std::vector<bool> is_number;
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
    if (table.columns[i]->heads) {
      indent = 2;
      continue;
    }
    width += grid.middle[i] + (grid.range[i] > 0 ? grid.range[i] + 1 : 0) + 2;
    const bool fits = indent + width <= terminal_width + 2 && !table.columns[i]->wraps && below.empty();
    (fits || beside.empty() ? beside : below).push_back(i);
  }
  std::string out, head;
  for (std::size_t r = 0; r < grid.rows.size(); ++r) {
    for (std::size_t i = 0; i < table.columns.size() && r > 0; ++i) {
      const std::string& own = grid.rows[r][i].middle;
      if (!table.columns[i]->heads || own == head) continue;
      head = own;
      out += wrapped_line(own, "", "    ");
    }
    std::string line(indent, ' '), rest;
    for (const std::size_t i : beside) line += in_column(grid, r, i) + "  ";
    for (const std::size_t i : below) {
      const Cell& cell = grid.rows[r][i];
      const Amount* number = r > 0 ? table.rows[r - 1][i].number() : nullptr;
      if (r == 0 || cell.middle.empty() || (number != nullptr && number->number() == 0)) continue;
      rest += (rest.empty() ? "" : ", ") + (table.columns[i]->wraps ? "" : grid.rows[0][i].middle + " ") +
              cell.middle;
      if (!cell.range.empty()) rest += " " + cell.range;
    }
    out += line.erase(line.find_last_not_of(' ') + 1) + "\n";
    if (!rest.empty()) out += wrapped_line(rest, std::string(indent + 4, ' '), std::string(indent + 4, ' '));
  }
  return out;
}

std::string of(const Paragraph& one) {
  return one.text.empty() ? "" : wrapped_line(terminal(one.text), "", "  ");
}

std::string of(const List& list) {
  std::string out;
  for (std::size_t i = 0; i < list.shown(); ++i) {
    out += wrapped_line(terminal(list.items[i].text), "  ", "      ");
    for (const Text& line : list.items[i].below) out += wrapped_line(terminal(line), "    ", "      ");
  }
  if (list.more() > 0) out += fmt::format("  and {} more\n", list.more());
  return out;
}

std::string of(const Table& table) {
  if (table.rows.empty()) return table.instead.empty() ? "" : wrapped_line(table.instead, "", "  ");
  const ShownTable shown = shown_part(table);
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

Json to_value(const Document& document) {
  Json out = Json::object();
  if (!document.schema.empty()) out["schema"] = document.schema;
  for (const Document::Fact& fact : document.facts) out[fact.tag] = value_of(fact.value);
  if (!document.outcome.empty()) out["outcome"] = document.outcome.plain();
  for (const Section& section : document.sections) add(out, section.blocks);
  return out;
}

std::string to_json(const Document& document) { return json_text(to_value(document)); }

Json schema_of(const Members& members) {
  const auto list_of = [](const Json& items) { return Json{{"type", "array"}, {"items", items}}; };
  const auto map_of = [](const Json& values) {
    return Json{{"type", "object"}, {"additionalProperties", values}};
  };
  const Json text{{"type", "string"}}, number{{"type", "number"}};
  const Json scalar{{"type", Json::array({"number", "string", "null"})}};
  const Json interval{
      {"type", "object"},
      {"properties", {{"low", scalar}, {"middle", scalar}, {"high", scalar}, {"coverage", number}}},
      {"required", Json::array({"low", "middle", "high", "coverage"})},
      {"additionalProperties", false}};
  const Json cell{{"anyOf", Json::array({scalar, interval})}};
  const Json table{{"type", "object"},
                   {"properties", {{"columns", list_of(map_of(text))}, {"rows", list_of(map_of(cell))}}}};
  Json properties{{"schema", {{"const", members.schema}}}, {"outcome", text}};
  std::vector<std::string> required{"schema", "outcome"};
  const auto add = [&](const std::vector<const char*>& names, const Json& type, bool always) {
    for (const char* name : names) {
      properties[name] = type;
      if (always) required.emplace_back(name);
    }
  };
  add(members.facts, cell, true);
  add(members.optional_facts, cell, false);
  add(members.lists, list_of(text), true);
  add(members.optional_lists, list_of(text), false);
  add(members.tables, table, true);
  add(members.optional_tables, table, false);
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", required},
          {"additionalProperties", false}};
}

std::string to_csv(const Table& table) {
  std::vector<bool> has_interval(table.columns.size());
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (const Amount* number = row[i].number(); number != nullptr && number->has_interval())
        has_interval[i] = true;
    }
  }
  std::string out;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string& tag = table.columns[i].tag;
    out += (i > 0 ? "," : "") + csv_cell(tag);
    if (has_interval[i]) out += "," + csv_cell(tag + "_low") + "," + csv_cell(tag + "_high");
  }
  out += "\n";
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const Amount* number = row[i].number();
      out +=
          (i > 0 ? "," : "") + (number != nullptr ? csv_number(number->number()) : csv_cell(row[i].plain()));
      if (!has_interval[i]) continue;
      const bool own = number != nullptr && number->has_interval();
      out += "," + (own ? csv_number(number->value.low) : "") + "," +
             (own ? csv_number(number->value.high) : "");
    }
    out += "\n";
  }
  return out;
}

std::string to_markdown(const std::vector<Block>& blocks) { return MarkdownWriter().blocks(blocks); }

std::string to_markdown(const Document& document) {
  std::string out = "# " + prose(document.title) + "\n";
  if (!document.outcome.empty()) out += "\n**" + prose(document.outcome) + "**\n";
  if (!document.kicker.empty()) out += "\n" + prose(document.kicker) + "\n";
  for (const Section& section : document.sections) {
    if (section.in == Section::In::pages) continue;
    const std::string own = MarkdownWriter().section(section);
    if (!own.empty()) out += "\n" + own;
  }
  return out;
}

Page to_page(const Document& document) {
  Page out;
  std::string nav, main;
  for (const Section& section : document.sections) {
    if (section.in == Section::In::texts) continue;
    const std::string body = PageWriter(out.plots).blocks(section.blocks);
    if (body.empty()) continue;
    if (!section.title.empty()) {
      const char* head = section.depth == 0 ? "h2" : "h3";
      const std::string anchor = section.tag.empty() ? "" : fmt::format(" id=\"{}\"", attribute(section.tag));
      main += fmt::format("<{}{}>{}</{}>\n", head, anchor, html(section.title), head);
      if (!section.tag.empty() && section.depth == 0) {
        nav +=
            fmt::format("<a href=\"#{}\">{}</a>\n", attribute(section.tag),
                        attribute(section.short_title.empty() ? section.title.plain() : section.short_title));
      }
    }
    main += body;
  }
  const Text& answer = document.outcome.empty() ? document.title : document.outcome;
  out.html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>{}</title>\n{}"
      "</head>\n<body>\n<header>\n{}<h1 "
      "id=\"outcome\">{}</h1>\n<nav>\n{}</nav>\n</header>\n<main>\n{}</main>\n",
      attribute(document.title.plain()), page_style,
      document.kicker.empty() ? "" : "<p class=\"soft\">" + html(document.kicker) + "</p>\n", html(answer),
      nav, main);
  const std::size_t dot = document.schema.find('.'), slash = document.schema.find('/');
  if (slash != std::string::npos) {
    out.html +=
        script("assay-" + document.schema.substr(dot + 1, slash - dot - 1), to_value(document).dump());
  }
  for (const auto& [id, json] : document.data) out.html += script(id, json);
  out.html += page_script;
  out.html += "</body>\n</html>\n";
  return out;
}

std::string to_text(const std::vector<Block>& blocks) {
  std::string out;
  for (const Block& block : blocks) out += std::visit([](const auto& one) { return of(one); }, block);
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
