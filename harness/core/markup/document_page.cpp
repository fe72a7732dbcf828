// Documents as one file of HTML.
#include "core/markup/embedded_page.hpp"
#include "core/markup/escaping.hpp"
#include "core/markup/shown_table.hpp"
#include "core/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay::doc {
namespace {

/// Longer texts from outside are cut; texts of real reports are shorter. The data has them whole.
constexpr std::size_t most_text_bytes = 600;

std::string attribute(std::string_view text) { return escaped(abridged(text, most_text_bytes), Place::html); }

std::string html(const Text& text) {
  std::string out;
  for (const Text::Piece& piece : text.pieces()) {
    switch (piece.kind) {
      case Text::Kind::prose: out += attribute(piece.text); break;
      case Text::Kind::amount: out += attribute(amount_text(piece.number)); break;
      case Text::Kind::code: out += "<code>" + attribute(piece.text) + "</code>"; break;
      case Text::Kind::strong: out += "<strong>" + attribute(piece.text) + "</strong>"; break;
    }
  }
  return out;
}

std::string details(const std::string& summary, const std::string& body, bool open) {
  return fmt::format("<details{}><summary>{}</summary>\n{}</details>\n", open ? " open=\"open\"" : "",
                     summary, body);
}

std::string anchor(const std::string& tag) {
  return tag.empty() ? "" : fmt::format(" id=\"{}\"", attribute(tag));
}

class PageWriter {
 public:
  explicit PageWriter(std::vector<std::pair<std::string, Plot>>& plots) : plots_(plots) {}

  std::string blocks(const std::vector<Block>& all) {
    std::string out;
    for (const Block& block : all) {
      out += std::visit([&](const auto& one) { return of(one); }, static_cast<const Block::variant&>(block));
    }
    return out;
  }

 private:
  static std::string of(const Paragraph& one) {
    if (one.text.empty()) return "";
    switch (one.look) {
      case Paragraph::Look::soft: return "<p class=\"soft\">" + html(one.text) + "</p>\n";
      case Paragraph::Look::quoted: return "<blockquote><p>" + html(one.text) + "</p></blockquote>\n";
      case Paragraph::Look::usual: break;
    }
    return "<p>" + html(one.text) + "</p>\n";
  }

  static std::string of(const List& list) {
    if (list.items.empty()) return "";
    std::string out = "<ul>\n";
    const std::size_t most = list.most == 0 ? list.items.size() : std::min(list.most, list.items.size());
    for (std::size_t i = 0; i < most; ++i) {
      out += "<li>" + html(list.items[i].text);
      std::string below;
      for (const Text& line : list.items[i].below) below += "<li>" + html(line) + "</li>\n";
      if (!below.empty()) out += "\n<ul>\n" + below + "</ul>";
      out += "</li>\n";
    }
    if (most < list.items.size()) out += fmt::format("<li>and {} more</li>\n", list.items.size() - most);
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
    const ShownTable shown = doc::shown(table);
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

}  // namespace

Page to_page(const Document& document) {
  Page out;
  std::string nav, main;
  for (const Section& section : document.sections) {
    if (section.in == Section::In::texts) continue;
    const std::string body = PageWriter(out.plots).blocks(section.blocks);
    if (body.empty()) continue;
    if (!section.title.empty()) {
      const char* head = section.depth == 0 ? "h2" : "h3";
      main += fmt::format("<{}{}>{}</{}>\n", head, anchor(section.tag), html(section.title), head);
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

}  // namespace assay::doc
