/// Forecasts of an epoch, for the terminal, for documents and for programs.
#pragma once

#include "epoch/forecast.hpp"

#include <string>

namespace assay {

/// Findings first, then doubts, models, limits, changes and scores, in lines of at most 80 characters.
std::string to_text(const Forecast& forecast);
std::string to_markdown(const Forecast& forecast);
/// Full precision, seconds; `made` is the time of the prediction.
std::string to_json(const Forecast& forecast, const std::string& made);

/// `12.5 % too short`.
std::string error_text(double error);
/// The last line: what is predicted, or why nothing is.
std::string outcome_text(const Forecast& forecast);

}  // namespace assay
