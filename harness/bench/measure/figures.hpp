/// Joining the figures that launches measured.
#pragma once

#include "assay/measure.hpp"

namespace assay {

/// Joins the value of another launch to that of `launches` before it.
double joined(Figure::Join join, double all, double more, double launches);

/// Joins the figures of another launch to those of `launches` before it, each as measured_figures() says.
void join(FigureValues& all, const FigureValues& more, std::size_t launches);

}  // namespace assay
