/// Forecasts of an epoch, for the terminal, for documents and for programs.
#pragma once

#include "core/markup/document.hpp"
#include "training/epoch/forecast.hpp"

#include <string>

namespace assay {

/// Findings first, then doubts, the step, models, changes and scores; `made` is the time of the prediction.
doc::Document document_of(const Forecast& forecast, const std::string& made = "");
Json forecast_schema();  ///< of its JSON

/// The text for a terminal, and its two parts: all but the outcome, and the outcome.
std::string to_text(const Forecast& forecast);
std::string findings_text(const Forecast& forecast);
std::string verdict_text(const Forecast& forecast);
std::string to_markdown(const Forecast& forecast);
std::string to_json(const Forecast& forecast, const std::string& made);

/// `12.5 % too short`.
std::string error_text(double error);
/// Says what earlier epochs make of the interval; empty without any.
std::string experience_text(const Experience& experience);
/// The last line, and the heading of a document: the prediction, or why there is none; MISSED, with what
/// others took of the machine, where the epoch was run and lay outside its interval.
std::string outcome_text(const Forecast& forecast);

}  // namespace assay
