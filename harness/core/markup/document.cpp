#include "core/markup/document.hpp"

#include "assay/csv.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

namespace assay::doc {
namespace {

std::string factor_text(double ratio) {
  const double factor = std::max(ratio, 1 / ratio);
  return figure(factor) + (factor < 1.005 ? "x as fast" : ratio > 1 ? "x faster" : "x slower");
}

std::string factor_text(const Amount& amount) {
  const Interval& ratio = amount.value;
  std::string out = factor_text(ratio.middle);
  if (!amount.has_interval()) return out;
  const bool is_faster = ratio.middle >= 1;
  return fmt::format("{} [{}, {}]", out, figure(is_faster ? ratio.low : 1 / ratio.high),
                     figure(is_faster ? ratio.high : 1 / ratio.low));
}

/// A number in units of `scale`, and the interval around it, if any.
std::string scaled(const Amount& amount, double scale, const char* unit) {
  const std::string middle = figure(amount.value.middle / scale) + unit;
  if (!amount.has_interval()) return middle;
  return fmt::format("{} [{}, {}]", middle, figure(amount.value.low / scale),
                     figure(amount.value.high / scale));
}

}  // namespace

Amount amount(double value, std::string unit) {
  return {.value = {.low = value, .middle = value, .high = value}, .unit = std::move(unit)};
}

Amount amount(const Interval& value, std::string unit) { return {.value = value, .unit = std::move(unit)}; }

Amount throughput(double flops_per_second, double bytes_per_second) {
  return flops_per_second >= bytes_per_second ? amount(flops_per_second, "FLOP/s")
                                              : amount(bytes_per_second, "B/s");
}

std::string amount_text(const Amount& amount) {
  const Interval& value = amount.value;
  const std::string& unit = amount.unit;
  if (unit == "s") return amount.has_interval() ? seconds_text(value) : seconds_text(value.middle);
  if (unit == "s, fine") return fine_seconds_text(value);
  if (unit == "B") return bytes_text(value.middle);
  if (unit == "share") return scaled(amount, 0.01, " %");
  if (unit == "x") return speedup_text(value);
  if (unit == "times") return scaled(amount, 1, "x");
  if (unit == "faster") return factor_text(amount);
  if (unit == "FLOP/s") return scaled(amount, 1e9, " GFLOP/s");
  if (unit == "B/s") return scaled(amount, 1e9, " GB/s");
  if (unit == "/s" && value.middle >= 1e6) return scaled(amount, 1e6, " million/s");
  if (unit == "/s") return scaled(amount, 1, "/s");
  if (unit == "ratio") return scaled(amount, 1, "");
  return count_text(value.middle) + (unit.empty() ? "" : " " + unit);
}

Text::Text(Piece piece) {
  if (piece.kind == Kind::amount || !piece.text.empty()) pieces_.push_back(std::move(piece));
}

const Amount* Text::number() const {
  return pieces_.size() == 1 && pieces_.front().kind == Kind::amount ? &pieces_.front().number : nullptr;
}

std::string Text::plain() const {
  std::string out;
  for (const Piece& piece : pieces_) out += piece.plain();
  return out;
}

Text& Text::operator+=(const Text& more) {
  for (const Piece& piece : more.pieces_) {
    // Prose is joined, since its escapes depend on the neighbouring characters.
    if (piece.kind == Kind::prose && !empty() && pieces_.back().kind == Kind::prose) {
      pieces_.back().text += piece.text;
    } else {
      pieces_.push_back(piece);
    }
  }
  return *this;
}

Text code(std::string text) { return Text({.kind = Text::Kind::code, .text = std::move(text)}); }

Text strong(std::string text) { return Text({.kind = Text::Kind::strong, .text = std::move(text)}); }

Text joined(const std::vector<Text>& texts, std::string_view between) {
  Text out;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) out += between;
    out += texts[i];
  }
  return out;
}

Text codes(const std::vector<std::string>& texts, std::string_view between) {
  std::vector<Text> all;
  for (const std::string& text : texts) all.push_back(code(text));
  return joined(all, between);
}

Paragraph soft(Text text) { return {std::move(text), Paragraph::Look::soft}; }

List list_of(const std::vector<std::string>& lines, std::string tag) {
  List out{.tag = std::move(tag)};
  for (const std::string& line : lines) out.items.emplace_back(line);
  return out;
}

std::vector<Column> columns(std::string_view line) {
  std::vector<Column> out;
  const auto cut = [](std::string_view& text, std::string_view mark) {
    const std::size_t at = text.find(mark);
    const std::string_view after =
        at == std::string_view::npos ? std::string_view() : csv::trimmed(text.substr(at + mark.size()));
    text = csv::trimmed(text.substr(0, at));
    return after;
  };
  for (std::string_view rest = line; !rest.empty();) {
    std::string_view own = rest;
    rest = cut(own, ";");
    Column& column = out.emplace_back();
    column.about = cut(own, ":");
    std::string_view unit = cut(own, "[");
    static_cast<void>(cut(unit, "]"));
    column.unit = unit;
    column.name = cut(own, " = ");
    const std::string_view marks = own.substr(0, own.find_first_not_of("!<-"));
    column.folds = marks.find('!') == marks.npos;
    column.left = marks.find('<') != marks.npos;
    column.data_only = marks.find('-') != marks.npos;
    column.tag = own.substr(marks.size());
  }
  return out;
}

}  // namespace assay::doc
