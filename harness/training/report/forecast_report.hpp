/// Forecasts of an epoch, for the terminal, for documents and for programs.
#pragma once

#include "core/json/json.hpp"
#include "training/epoch/forecast.hpp"

#include <string>

namespace assay {

/// Findings first, then doubts, models, limits, changes and scores, in lines of at most 80 characters.
/// The last of them is the outcome.
std::string to_text(const Forecast& forecast);
/// The two parts of that: all but the outcome, and the outcome.
std::string findings_text(const Forecast& forecast);
std::string verdict_text(const Forecast& forecast);
std::string to_markdown(const Forecast& forecast);
/// Full precision, seconds, as files hold it; `made` is the time of the prediction.
Json to_value(const Forecast& forecast, const std::string& made);
std::string to_json(const Forecast& forecast, const std::string& made);
Json forecast_schema();  ///< of that

/// `12.5 % too short`.
std::string error_text(double error);
/// `520.50 x 2.00 ms = 1.04 s [1.02, 1.06]`, without an interval where none is known.
std::string segment_text(const Segment& segment);
/// Says what earlier epochs make of the interval; empty without any.
std::string experience_text(const Experience& experience);
/// The last line, and the heading of a document: what is predicted, or why nothing is; MISSED, with what the
/// weather was, where the epoch was run and lay outside its interval.
std::string outcome_text(const Forecast& forecast);

}  // namespace assay
