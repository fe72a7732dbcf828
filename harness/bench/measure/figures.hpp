/// Joining the figures that launches measured.
#pragma once

#include "assay/measure.hpp"

namespace assay {

/// The figure of a kernel that is timed by its own clock: what ours says.
inline constexpr std::string_view tag_of_other_clock = "seconds_by_our_clock";

/// Joins the value of another launch to that of `launches` before it.
double joined(Figure::Join join, double all, double more, double launches);

/// Joins the figures of another launch to those of `launches` before it, each as measured_figures() says.
void join(FigureValues& all, const FigureValues& more, std::size_t launches);

}  // namespace assay
