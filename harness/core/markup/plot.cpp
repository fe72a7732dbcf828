#include "core/markup/plot.hpp"

#include "core/markup/escaping.hpp"
#include "core/text/figures.hpp"
#include "core/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string_view>

namespace assay {
namespace {

// Percents of the width that the picture keeps free of marks on both sides.
constexpr double left_edge = 3, right_edge = 97;
/// So many bytes of a name from outside are shown; titles have more.
constexpr std::size_t most_shown_bytes = 64, most_title_bytes = 400;

struct Drawing {
  const char* shape;  ///< path around the origin
  const char* fill;   ///< readable on white and on black
};

Drawing drawing(Look look) {
  // As in the marks of tables: a cross for slower, upwards for faster.
  constexpr const char *circle = "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", *up = "M0-5L5 4H-5z",
                       *cross = "M-5-4L-4-5 0-1.4 4-5 5-4 1.4 0 5 4 4 5 0 1.4-4 5-5 4-1.4 0z",
                       *square = "M-3.5-3.5h7v7h-7z", *diamond = "M0-5L5 0L0 5L-5 0z";
  switch (look) {
    case Look::better: return {up, "#2a8a4a"};
    case Look::worse: return {cross, "#d33c3c"};
    case Look::open: return {diamond, "#b58100"};
    case Look::equal: return {circle, "#7b8794"};
    case Look::first: return {circle, "#3b82c4"};
    case Look::second: return {square, "#c2691f"};
    case Look::third: return {diamond, "#8a8a8a"};
  }
  return {circle, "#7b8794"};
}

bool is_place(double value, bool logarithmic) { return std::isfinite(value) && (!logarithmic || value > 0); }

bool is_place(const Interval& value, bool logarithmic) {
  return is_place(value.low, logarithmic) && is_place(value.middle, logarithmic) &&
         is_place(value.high, logarithmic);
}

/// The least and the largest of the values that have a place.
struct Extremes {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  void take(const Interval& value) {
    take(value.low);
    take(value.high);
  }
  bool empty() const { return low > high; }
  /// Adds room at both ends, and some width where all values are equal.
  Extremes widened(bool logarithmic, double least) const {
    if (logarithmic) {
      const double by = std::max(std::pow(high / low, 0.05), 1 + least);
      return {low / by, high * by};
    }
    const double by = std::max((high - low) * 0.06, std::abs(high) * least);
    return {std::min(low, std::max(low - by, low >= 0 ? 0.0 : low - by)), high + by};
  }
};

/// A scale from values to places.
class Axis {
 public:
  Axis(const Extremes& range, double from, double to, bool logarithmic)
      : low_(range.low), high_(range.high), from_(from), to_(to), logarithmic_(logarithmic) {}

  double at(double value) const {
    const double share = (along(value) - along(low_)) / (along(high_) - along(low_));
    return from_ + (to_ - from_) * std::clamp(share, -0.02, 1.02);
  }
  double low() const { return low_; }
  double high() const { return high_; }

  /// At most eight round values.
  std::vector<double> ticks() const {
    if (logarithmic_ && high_ / low_ > 8) return decades();
    const double raw = (high_ - low_) / 6, power = std::pow(10, std::floor(std::log10(raw)));
    const double step = (raw <= power ? 1 : raw <= 2 * power ? 2 : raw <= 5 * power ? 5 : 10) * power;
    std::vector<double> out;
    for (double i = std::ceil(low_ / step); i * step <= high_ && out.size() < 8; ++i) out.push_back(i * step);
    return out;
  }

 private:
  double along(double value) const { return logarithmic_ ? std::log(value) : value; }

  std::vector<double> decades() const {
    const double first = std::floor(std::log10(low_)), last = std::ceil(std::log10(high_));
    const double stride = std::max(1.0, std::ceil((last - first) / 7));
    std::vector<double> out;
    for (double decade = first; decade <= last; decade += stride) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        const double value = factor * std::pow(10, decade);
        if (factor > 1 && last - first > 2) continue;
        if (value >= low_ && value <= high_) out.push_back(value);
      }
    }
    return out;
  }

  double low_, high_, from_, to_;
  bool logarithmic_;
};

constexpr const char *ink = "currentColor", *grey = "#8b949e";

/// Collects the shapes of a plot. Places have two decimals: finer than any screen.
class Picture {
 public:
  Picture(const std::string& label, double height)
      : out_{.label = abridged(label, most_title_bytes), .height = height} {}
  void line(double x1, double y1, double x2, double y2, const char* stroke, double width,
            const char* dashes = "none") {
    lines_ += fmt::format(
        "<line x1=\"{:.2f}%\" y1=\"{:.2f}\" x2=\"{:.2f}%\" y2=\"{:.2f}\" stroke=\"{}\" "
        "stroke-width=\"{:.2f}\" stroke-dasharray=\"{}\"/>\n",
        x1, y1, x2, y2, stroke, width, dashes);
  }
  /// `anchor` is start, middle or end.
  void text(double x, double y, const std::string& text, const char* anchor, const char* fill = ink) {
    texts_ += fmt::format("<text x=\"{:.2f}%\" y=\"{:.2f}\" text-anchor=\"{}\" fill=\"{}\">{}</text>\n", x, y,
                          anchor, fill, escaped(abridged(text, most_shown_bytes), Place::html));
  }
  void mark(double x, double y, Look look, const std::string& title) {
    const Drawing drawn = drawing(look);
    marks_ += fmt::format(
        "<svg x=\"{:.2f}%\" y=\"{:.2f}\" overflow=\"visible\"><path d=\"{}\" fill=\"{}\">{}</path></svg>\n",
        x, y, drawn.shape, drawn.fill, title_of(title));
  }
  void stretch(double from, double to, double y, Look look, const std::string& title) {
    marks_ += fmt::format(
        "<line x1=\"{0:.2f}%\" y1=\"{1:.2f}\" x2=\"{2:.2f}%\" y2=\"{1:.2f}\" stroke=\"{3}\" "
        "stroke-width=\"12\" stroke-opacity=\"0.7\">{4}</line>\n",
        from, y, to, drawing(look).fill, title_of(title));
    for (const double end : {from, to}) line(end, y - 8, end, y + 8, ink, 0.8);
  }
  /// Dots at `path`, in thousandths of the width.
  void samples(const std::string& path, Look look, const char* cap, double width, const std::string& title) {
    samples_ += fmt::format(
        "<svg width=\"100%\" height=\"{0:.2f}\" viewBox=\"0 0 1000 {0:.2f}\" preserveAspectRatio=\"none\">"
        "<path d=\"{1}\" fill=\"none\" stroke=\"{2}\" stroke-width=\"{3:.2f}\" stroke-linecap=\"{4}\" "
        "stroke-opacity=\"0.7\" vector-effect=\"non-scaling-stroke\">{5}</path></svg>\n",
        out_.height, path, drawing(look).fill, width, cap, title_of(title));
  }
  void left_out(std::size_t count) {
    if (count > 0) out_.label += fmt::format("; {} without a place left out", count);
  }
  /// Says in a line and in the label how many rows are in a table alone.
  void more(std::size_t count, double y) {
    if (count == 0) return;
    const std::string words =
        fmt::format("{} more in the table alone", count_text(static_cast<double>(count)));
    text(left_edge, y, words, "start");
    out_.label += "; " + words;
  }
  Plot take() {
    out_.shapes = lines_ + texts_ + samples_ + marks_;
    return std::move(out_);
  }

 private:
  static std::string title_of(const std::string& text) {
    return "<title>" + escaped(abridged(text, most_title_bytes), Place::html) + "</title>";
  }

  Plot out_;
  std::string lines_, texts_, samples_, marks_;  ///< marks lie on top
};

/// Three digits, and no more zeros than there are; never as a power of ten.
std::string plain_text(double value) {
  constexpr double rounds_to_a_thousand = 999.5, needs_many_zeros = 1e-4;
  if (value >= rounds_to_a_thousand || value < needs_many_zeros) return figure(value);
  return fmt::format("{:.3g}", value);
}

std::string ratio_text(double value) { return plain_text(value) + "x"; }

std::string tick_text(double value, PlotScale scale) {
  return scale == PlotScale::ratios ? ratio_text(value) : value == 0 ? "0" : seconds_text(value);
}

double room_for(std::size_t more) { return more > 0 ? 16 : 0; }

/// Powers of two, in which sizes in bytes are told.
std::vector<double> powers_of_two(double low, double high) {
  const double first = std::ceil(std::log2(low)), last = std::floor(std::log2(high));
  const double stride = std::max(1.0, std::ceil((last - first) / 7));
  std::vector<double> out;
  for (double power = first; power <= last; power += stride) out.push_back(std::exp2(power));
  return out;
}

/// Vertical lines with their values below.
void draw_ticks(Picture& out, const Axis& axis, const std::vector<double>& ticks, double top, double bottom,
                const std::function<std::string(double)>& words) {
  double last = -100;
  for (const double value : ticks) {
    const double x = axis.at(value);
    out.line(x, top, x, bottom, grey, 0.3);
    if (x - last < 11) continue;  // narrow screens have room for nine values
    last = x;
    out.text(x, bottom + 14, words(value), x < 6 ? "start" : x > 94 ? "end" : "middle");
  }
}

Plot without_marks(const std::string& label, double height, const std::string& why) {
  Picture out(label, height);
  out.text(left_edge, 40, why, "start");
  return out.take();
}

/// `more` are attributes, `behind` lies behind the plot.
std::string svg(const Plot& plot, std::string_view width, std::string_view more, std::string_view behind) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{0}\" width=\"{1}\" "
      "height=\"{2:.2f}\" font-family=\"sans-serif\" "
      "font-size=\"12\"{3}>\n{4}<title>{0}</title>\n{5}\n</svg>\n",
      escaped(plot.label, Place::html), width, plot.height, more, behind, plot.shapes);
}

}  // namespace

Plot forest_plot(const std::string& label, const std::string& axis_words,
                 const std::vector<PlottedInterval>& rows, PlotScale scale,
                 const std::vector<std::pair<double, std::string>>& lines, std::size_t more) {
  if (rows.empty()) return {};
  const bool logarithmic = scale == PlotScale::ratios;
  std::vector<const PlottedInterval*> shown;
  Extremes range;
  for (const PlottedInterval& row : rows) {
    if (!is_place(row.value, logarithmic)) continue;
    shown.push_back(&row);
    range.take(row.value);
  }
  for (const auto& [value, name] : lines) range.take(value);
  range.take(logarithmic ? 1 : 0);

  constexpr double row_height = 32, head = 34;
  const double bottom = head + row_height * static_cast<double>(shown.size()) + 4;
  Picture out(label, bottom + 22 + room_for(more));
  const Axis axis(range.widened(logarithmic, 0.01), left_edge, right_edge, logarithmic);
  out.text(left_edge, 13, axis_words, "start");
  draw_ticks(out, axis, axis.ticks(), head, bottom, [&](double value) { return tick_text(value, scale); });
  for (const auto& [value, name] : lines) {
    const double x = axis.at(value);
    out.text(x, 28, name, x < 50 ? "start" : "end", drawing(Look::worse).fill);
  }
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const PlottedInterval& row = *shown[i];
    const double y = head + row_height * static_cast<double>(i) + 24;
    const char* stroke = drawing(row.look).fill;
    out.text(left_edge, y - 10, row.name, "start");
    // The line at 1 is broken, so that it crosses no name.
    if (logarithmic) out.line(axis.at(1), y - 7, axis.at(1), y + 7, ink, 1);
    for (const auto& [value, name] : lines) {
      out.line(axis.at(value), y - 7, axis.at(value), y + 7, drawing(Look::worse).fill, 1.5, "4 2");
    }
    out.line(axis.at(row.value.low), y, axis.at(row.value.high), y, stroke, 2);
    for (const double end : {row.value.low, row.value.high})
      out.line(axis.at(end), y - 4, axis.at(end), y + 4, stroke, 1.5);
    out.mark(axis.at(row.value.middle), y, row.look, row.title);
  }
  out.more(more, bottom + 30);
  out.left_out(rows.size() - shown.size());
  return out.take();
}

Plot roofline_plot(const std::string& label, const std::vector<PlottedRoof>& roofs,
                   const std::vector<PlottedRate>& rates, std::size_t more) {
  Extremes across, up;
  std::vector<const PlottedRate*> shown;
  for (const PlottedRate& one : rates) {
    if (!is_place(one.flops_per_byte, true) || !is_place(one.flops_per_second, true)) continue;
    shown.push_back(&one);
    across.take(one.flops_per_byte);
    up.take(one.flops_per_second);
  }
  double peak = 0;
  for (const PlottedRoof& roof : roofs) {
    if (roof.sloped || !is_place(roof.rate, true)) continue;
    up.take(roof.rate);
    peak = std::max(peak, roof.rate);
  }
  for (const PlottedRoof& roof : roofs) {
    if (roof.sloped && is_place(roof.rate, true) && peak > 0) across.take(peak / roof.rate);
  }
  const auto slopes = std::ranges::count_if(
      roofs, [](const PlottedRoof& roof) { return roof.sloped && is_place(roof.rate, true); });
  constexpr double top = 24, bottom = 300, legend = bottom + 50;
  const double end_of_legend = legend + 16 * static_cast<double>((slopes + 1) / 2);
  const double height = end_of_legend + room_for(more);
  if (across.empty() || up.empty()) return without_marks(label, height, "nothing to draw");
  Picture out(label, height);
  // The names of rates stand behind the last mark.
  const Axis x(across.widened(true, 0.3), left_edge, right_edge - 17, true),
      y(up.widened(true, 0.3), bottom, top, true);
  draw_ticks(out, x, x.ticks(), top, bottom, plain_text);
  out.text(50, bottom + 32, "FLOP per byte of the contract", "middle");
  for (const double value : y.ticks()) {
    out.line(left_edge, y.at(value), right_edge, y.at(value), grey, 0.3);
    out.text(right_edge, y.at(value) - 3, figure(value / 1e9) + " GFLOP/s", "end", grey);
  }
  constexpr std::array kinds{"none", "8 3", "4 3", "1 3", "9 3 2 3"};
  std::size_t named = 0;
  for (const PlottedRoof& roof : roofs) {
    if (!is_place(roof.rate, true)) continue;
    if (!roof.sloped) {
      out.line(left_edge, y.at(roof.rate), right_edge, y.at(roof.rate), ink, 1.2);
      out.text(right_edge, y.at(roof.rate) - 4, roof.name, "end");
      continue;
    }
    // Slopes lie too close together for names beside them.
    const char* dashes = kinds[named % kinds.size()];
    const double column = left_edge + (named % 2 == 0 ? 0 : 50);
    const double row = legend + 16 * static_cast<double>(named / 2);
    ++named;
    out.line(column, row - 4, column + 7, row - 4, ink, 1.2, dashes);
    out.text(column + 8, row, roof.name, "start");
    // From the left or lower edge up to the highest roof.
    const double from = std::max(x.low(), y.low() / roof.rate);
    const double to = std::min({x.high(), y.high() / roof.rate, peak > 0 ? peak / roof.rate : x.high()});
    if (from >= to) continue;
    out.line(x.at(from), y.at(from * roof.rate), x.at(to), y.at(to * roof.rate), ink, 1.2, dashes);
  }
  for (const PlottedRate* one : shown)
    out.mark(x.at(one->flops_per_byte), y.at(one->flops_per_second), one->look, one->title);
  out.more(more, end_of_legend + 8);
  out.left_out(rates.size() - shown.size());
  return out.take();
}

Plot strip_plot(const std::string& label, const std::vector<PlottedSamples>& sides, PlotScale scale,
                const std::string& axis) {
  const bool logarithmic = scale == PlotScale::ratios;
  Extremes range;
  std::size_t longest = 0, left_out = 0;
  for (const PlottedSamples& side : sides) {
    std::size_t count = 0;
    for (const auto& launch : side.launches) {
      count += launch.size();
      for (const double value : launch) {
        if (is_place(value, logarithmic))
          range.take(value);
        else
          ++left_out;
      }
    }
    longest = std::max(longest, count);
  }
  constexpr double top = 22, bottom = 110;
  if (range.empty()) return without_marks(label, bottom + 24, "no samples");
  Picture out(label, bottom + 24);
  if (logarithmic) range.take(1);
  const Axis y(range.widened(logarithmic, 0.005), bottom, top, logarithmic);
  constexpr double first = left_edge + 9;  // behind the names of the scale
  const auto x = [&](std::size_t i) {
    return first + (right_edge - first) * (static_cast<double>(i) + 0.5) / static_cast<double>(longest);
  };
  double last = bottom + 100;
  for (const double value : y.ticks()) {
    out.line(left_edge, y.at(value), right_edge, y.at(value), grey, 0.3);
    if (last - y.at(value) < 14) continue;
    last = y.at(value);
    out.text(left_edge, last - 2, tick_text(value, scale), "start", grey);
  }
  if (logarithmic) out.line(left_edge, y.at(1), right_edge, y.at(1), ink, 0.8);
  const auto& divided = sides.front().launches;
  std::size_t at = 0;
  const bool several = std::ranges::any_of(divided, [](const auto& launch) { return launch.size() > 1; });
  for (std::size_t i = 0; several && i + 1 < divided.size(); ++i) {
    at += divided[i].size();
    if (at == 0) continue;
    const double between = (x(at) + x(at - 1)) / 2;
    out.line(between, top, between, bottom, grey, 0.6, "2 3");
  }
  constexpr std::array looks{Look::first, Look::second, Look::third};
  for (std::size_t s = 0; s < std::min(sides.size(), looks.size()); ++s) {
    std::string path;
    std::size_t i = 0;
    for (const auto& launch : sides[s].launches) {
      for (const double value : launch) {
        if (is_place(value, logarithmic)) path += fmt::format("M{:.0f} {:.1f}h0", 10 * x(i), y.at(value));
        ++i;
      }
    }
    if (path.empty()) continue;
    out.samples(path, looks[s], s == 1 ? "square" : "round", s == 0 ? 5 : 4, sides[s].name);
    const double place_of_name = left_edge + 32 * static_cast<double>(s);
    out.mark(place_of_name + 1, 9, looks[s] == Look::third ? Look::equal : looks[s], sides[s].name);
    out.text(place_of_name + 3, 13, sides[s].name, "start");
  }
  out.text(50, bottom + 18,
           !axis.empty() ? axis
           : several     ? "samples in run order, launch by launch"
                         : "launches in run order",
           "middle");
  out.left_out(left_out);
  return out.take();
}

Plot sizes_plot(const std::string& label, const std::vector<PlottedSize>& sizes) {
  Extremes across, up;
  up.take(1);
  std::vector<const PlottedSize*> shown;
  for (const PlottedSize& size : sizes) {
    if (!is_place(size.bytes, true) || !is_place(size.ratio, true)) continue;
    shown.push_back(&size);
    across.take(size.bytes);
    up.take(size.ratio);
  }
  constexpr double top = 20, bottom = 150;
  if (shown.empty()) return without_marks(label, bottom + 36, "no sizes");
  Picture out(label, bottom + 36);
  const Axis x(across.widened(true, 0.2), left_edge + 8, right_edge, true),
      y(up.widened(true, 0.05), bottom, top, true);
  draw_ticks(out, x, powers_of_two(x.low(), x.high()), top, bottom,
             [](double value) { return bytes_text(value); });
  for (const double value : y.ticks()) {
    out.line(left_edge, y.at(value), right_edge, y.at(value), grey, 0.3);
    out.text(left_edge, y.at(value) - 3, ratio_text(value), "start", grey);
  }
  out.line(left_edge, y.at(1), right_edge, y.at(1), ink, 1);
  out.text(right_edge, y.at(1) - 4, "as fast", "end");
  out.text(50, bottom + 32, "bytes of a call", "middle");
  std::ranges::stable_sort(shown, {}, [](const PlottedSize* size) { return size->bytes; });
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const PlottedSize& size = *shown[i];
    const Interval& ratio = size.ratio;
    const Look look = ratio.low > 1 ? Look::better : ratio.high < 1 ? Look::worse : Look::open;
    const double at = x.at(size.bytes);
    if (i > 0)
      out.line(x.at(shown[i - 1]->bytes), y.at(shown[i - 1]->ratio.middle), at, y.at(ratio.middle), grey, 1);
    out.line(at, y.at(ratio.low), at, y.at(ratio.high), drawing(look).fill, 1.5);
    out.mark(at, y.at(ratio.middle), look, size.title);
  }
  out.left_out(sizes.size() - shown.size());
  return out.take();
}

Plot bars_plot(const std::string& label, const std::string& axis_words, const std::vector<PlottedBar>& bars,
               std::size_t more) {
  Extremes range;
  for (const PlottedBar& bar : bars) {
    for (const PlottedStretch& one : bar.stretches) {
      if (std::isfinite(one.end) && one.end > one.begin) range.take(one.end);
    }
  }
  if (range.empty()) return {};
  constexpr double row_height = 40, head = 24;
  const double bottom = head + row_height * static_cast<double>(bars.size()) + 4;
  Picture out(label, bottom + 22 + room_for(more));
  const Axis axis({0, range.high}, left_edge, right_edge, false);
  out.text(left_edge, 13, axis_words, "start");
  draw_ticks(out, axis, axis.ticks(), head, bottom,
             [](double value) { return tick_text(value, PlotScale::seconds); });
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double y = head + row_height * static_cast<double>(i) + 30;
    std::string words = bars[i].name;
    std::string_view between = ": ";
    for (const PlottedStretch& one : bars[i].stretches) {
      if (!std::isfinite(one.end) || one.end <= one.begin) continue;
      out.stretch(axis.at(one.begin), axis.at(one.end), y, one.look, one.title);
      if (one.title.empty()) continue;
      words += fmt::format("{}{}", between, one.title);
      between = " | ";
    }
    out.text(left_edge, y - 12, words, "start");
  }
  out.more(more, bottom + 30);
  return out.take();
}

std::string svg_in_page(const Plot& plot) { return svg(plot, "100%", "", ""); }

std::string svg_file(const Plot& plot) {
  return svg(plot, "760", " color=\"#1f2328\"", "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
}

}  // namespace assay
