#include "bench/compare/interval_plot.hpp"

#include "core/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace assay {
namespace {

constexpr std::size_t name_columns = 36, plot_columns = 43;
constexpr double widest_ratio = 2;

/// One character per column.
using Columns = std::vector<std::string>;

/// Keeps both ends: the start names the variant, the end the size and the threads.
std::string fitted(const std::string& name) {
  Columns characters;
  const std::string all = visible(name, Lines::one);
  for (std::string_view rest = all; !rest.empty(); rest.remove_prefix(characters.back().size()))
    characters.emplace_back(rest.substr(0, character_length(rest)));
  if (characters.size() > name_columns) {
    constexpr std::size_t head = name_columns / 2;
    const auto first = characters.begin() + head;
    characters.erase(first, first + static_cast<std::ptrdiff_t>(characters.size() - name_columns + 1));
    characters.insert(characters.begin() + head, "…");
  }
  characters.resize(name_columns, " ");
  std::string out;
  for (const std::string& one : characters) out += one;
  return out;
}

class Scale {
 public:
  explicit Scale(const std::vector<PlottedRatio>& rows) {
    double low = 0.99, high = 1.01;
    for (const PlottedRatio& row : rows) {
      low = std::min(low, row.ratio.low);
      high = std::max(high, row.ratio.high);
    }
    low_ = std::log(std::max(low, 1 / widest_ratio));
    high_ = std::log(std::min(high, widest_ratio));
  }
  bool below(double ratio) const { return std::log(ratio) < low_ - 1e-9; }
  bool above(double ratio) const { return std::log(ratio) > high_ + 1e-9; }
  std::size_t column(double ratio) const {
    const double share = (std::log(ratio) - low_) / (high_ - low_);
    return static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * (plot_columns - 1)));
  }

 private:
  double low_, high_;
};

std::string joined(const Columns& columns) {
  std::string out;
  for (const std::string& one : columns) out += one;
  return out.erase(out.find_last_not_of(' ') + 1);
}

/// Labels of round ratios where there is room, that of 1 first.
std::string labels(const Scale& scale) {
  constexpr std::array ticks{1.0, 0.5, 2.0,  0.8,  1.25, 0.7,  1.5,  0.9,
                             1.1, 1.2, 0.95, 1.05, 0.98, 1.02, 0.99, 1.01};
  std::string out(plot_columns, ' ');
  for (const double tick : ticks) {
    if (scale.below(tick) || scale.above(tick)) continue;
    const std::string label = fmt::format("{:g}x", tick);
    const std::size_t middle = scale.column(tick);
    const std::size_t start =
        std::min(middle - std::min(middle, label.size() / 2), plot_columns - label.size());
    const std::size_t from = start - std::min<std::size_t>(start, 2);
    const std::string_view there = std::string_view(out).substr(from, label.size() + 4);
    if (there.find_first_not_of(' ') == std::string_view::npos) out.replace(start, label.size(), label);
  }
  return out.erase(out.find_last_not_of(' ') + 1);
}

std::string bar(const Scale& scale, const Interval& ratio) {
  Columns out(plot_columns, " ");
  out[scale.column(1)] = "│";
  const std::size_t low = scale.column(ratio.low), high = scale.column(ratio.high);
  for (std::size_t i = low; i <= high; ++i) out[i] = "─";
  out[low] = scale.below(ratio.low) ? "◂" : "├";
  out[high] = scale.above(ratio.high) ? "▸" : "┤";
  if (!scale.below(ratio.middle) && !scale.above(ratio.middle)) out[scale.column(ratio.middle)] = "●";
  return joined(out);
}

}  // namespace

std::vector<std::string> interval_plot(const std::vector<PlottedRatio>& rows) {
  std::vector<PlottedRatio> drawn;
  std::ranges::copy_if(rows, std::back_inserter(drawn), [](const PlottedRatio& row) {
    return row.ratio.low > 0 && row.ratio.low <= row.ratio.middle && row.ratio.middle <= row.ratio.high &&
           std::isfinite(row.ratio.high);
  });
  if (drawn.empty()) return {};
  const Scale scale(drawn);
  std::vector<std::string> out{fitted("time now / time before") + " " + labels(scale)};
  for (const PlottedRatio& row : drawn) out.push_back(fitted(row.name) + " " + bar(scale, row.ratio));
  return out;
}

}  // namespace assay
