// Documents as GitHub and GitLab show Markdown.
#include "core/markup/escaping.hpp"
#include "core/markup/shown_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay::doc {
namespace {

std::string line_of(const Text& text, Place prose_place, Place code_place) {
  std::string out, prose;
  const auto end_prose = [&] {
    out += escaped(prose, prose_place);
    prose.clear();
  };
  for (const Text::Piece& piece : text.pieces()) {
    switch (piece.kind) {
      case Text::Kind::prose: prose += piece.text; continue;
      case Text::Kind::amount: prose += amount_text(piece.number); continue;
      case Text::Kind::code:
        end_prose();
        out += escaped(piece.text, code_place);
        break;
      case Text::Kind::strong:
        end_prose();
        out += "**" + escaped(piece.text, prose_place) + "**";
        break;
    }
  }
  end_prose();
  return out;
}

std::string prose(const Text& text) { return line_of(text, Place::prose, Place::span); }
std::string cell(const Text& text) { return line_of(text, Place::cell, Place::cell_span); }

/// Forges read no Markdown within HTML, but find names in it.
std::string summary(const Text& text) {
  std::string out;
  for (const Text::Piece& piece : text.pieces()) {
    const std::string inner =
        escaped(piece.kind == Text::Kind::amount ? amount_text(piece.number) : piece.text, Place::summary);
    out += piece.kind == Text::Kind::code     ? "<code>" + inner + "</code>"
           : piece.kind == Text::Kind::strong ? "<strong>" + inner + "</strong>"
                                              : inner;
  }
  return out;
}

std::string folded(const std::string& summary, const std::string& body) {
  return fmt::format("<details><summary>{}</summary>\n\n{}\n</details>\n", summary, body);
}

class MarkdownWriter {
 public:
  std::string blocks(const std::vector<Block>& all) {
    std::string out;
    for (const Block& block : all) {
      const std::string own =
          std::visit([&](const auto& one) { return of(one); }, static_cast<const Block::variant&>(block));
      if (own.empty()) continue;
      if (!out.empty()) out += "\n";
      out += own;
    }
    return out;
  }

  std::string section(const Section& section) {
    const int outside = depth_;
    depth_ += section.folded ? 1 : 0;
    const std::string body = blocks(section.blocks);
    depth_ = outside;
    if (body.empty() || section.title.empty()) return body;
    if (section.folded) return folded(summary(section.title), body);
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
    const std::size_t most = list.most == 0 ? list.items.size() : std::min(list.most, list.items.size());
    for (std::size_t i = 0; i < most; ++i) {
      out += "* " + prose(list.items[i].text) + "\n";
      for (const Text& line : list.items[i].below) out += "  * " + prose(line) + "\n";
    }
    if (most < list.items.size()) out += fmt::format("* and {} more\n", list.items.size() - most);
    return out;
  }

  std::string of(const Table& table) const {
    if (table.rows.empty()) return table.instead.empty() ? "" : escaped(table.instead) + "\n";
    const ShownTable shown = doc::shown(table);
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

}  // namespace

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

}  // namespace assay::doc
