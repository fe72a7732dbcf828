/// Pictures of intervals, rates and samples.
///
/// Across, places are percents of the width and marks keep their size, so that one picture fits a telephone
/// and a wide screen without script or style sheet. Marks differ in shape, not in colour alone, and each has
/// a title. Values without a place, such as NaN or a time of zero, are left out and counted in the label.
#pragma once

#include "assay/interval.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace assay {

/// A picture, empty where there is nothing to show.
struct Plot {
  std::string label{};   ///< all of it in words
  double height = 0;     ///< in pixels
  std::string shapes{};  ///< elements of SVG, in which texts from outside are escaped

  bool empty() const { return height == 0; }
};

/// An element of a page, as wide as the page, and a file for places that show no pages.
std::string svg_in_page(const Plot& plot);
std::string svg_file(const Plot& plot);

enum class Look { better, worse, open, equal, first, second, third };

/// One mark with the interval around it.
struct PlottedInterval {
  std::string name;   ///< shown above the mark
  std::string title;  ///< all of it in words
  Interval value;
  Look look = Look::equal;
};

enum class PlotScale { ratios, seconds };

/// A row for each mark, around `lines`: ratios with their names, such as {1.05, "limit"}. `axis` says what is
/// drawn; ratios stand on a logarithmic scale around 1, seconds on one that begins at 0. `more` rows, which
/// are in a table alone, are told below. Empty without rows.
Plot forest_plot(const std::string& label, const std::string& axis, const std::vector<PlottedInterval>& rows,
                 PlotScale scale, const std::vector<std::pair<double, std::string>>& lines = {},
                 std::size_t more = 0);

/// A limit that no kernel exceeds, by name: `rate` of FLOPs per second, or of bytes where it is `sloped`.
struct PlottedRoof {
  std::string name;
  double rate = 0;
  bool sloped = false;
};
struct PlottedRate {
  std::string title;
  double flops_per_byte = 0, flops_per_second = 0;
  Look look = Look::equal;
};

/// Rates by FLOPs per byte, both logarithmic, below the roofs; `more` as of forest_plot().
Plot roofline_plot(const std::string& label, const std::vector<PlottedRoof>& roofs,
                   const std::vector<PlottedRate>& rates, std::size_t more = 0);

/// The samples of one side in the order they were taken, launch by launch.
struct PlottedSamples {
  std::string name;
  std::vector<std::vector<double>> launches;
};

/// Samples of up to three sides in run order; a line divides launches of several samples. `axis` says what
/// stands side by side, where these are no launches.
Plot strip_plot(const std::string& label, const std::vector<PlottedSamples>& sides, PlotScale scale,
                const std::string& axis = "");

/// Ratios by the bytes of a call, both logarithmic, with a line at 1: above it is faster.
struct PlottedSize {
  std::string title;
  double bytes = 0;
  Interval ratio;
};
Plot sizes_plot(const std::string& label, const std::vector<PlottedSize>& sizes);

/// A part of a bar, in seconds from the begin of all bars; its title is all of it in words.
struct PlottedStretch {
  std::string title;
  double begin = 0, end = 0;
  Look look = Look::first;
};
struct PlottedBar {
  std::string name;
  std::vector<PlottedStretch> stretches;
};
/// A bar for each row on one scale of seconds from 0 on, below its name and the titles of its stretches.
/// Lines stand at their ends. Stretches without a length are left out, and gaps show as such.
Plot bars_plot(const std::string& label, const std::string& axis, const std::vector<PlottedBar>& bars,
               std::size_t more = 0);

/// A document of one file, and the pictures in it by names of files without an ending.
struct Page {
  std::string html;
  std::vector<std::pair<std::string, Plot>> plots;
};

}  // namespace assay
