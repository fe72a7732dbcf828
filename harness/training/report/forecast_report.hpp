/// Forecasts of an epoch, for the terminal, for documents and for programs.
#pragma once

#include "core/markup/document.hpp"
#include "training/epoch/forecast.hpp"

#include <string>

namespace assay {

/// Findings first, then doubts, the step, models, changes and scores; `made` is the time of the prediction.
doc::Document document_of(const Forecast& forecast, const std::string& made = "");
Json forecast_schema();  ///< of its JSON

/// The text for a terminal, with `before_the_outcome` as the lines above its last one.
std::string to_text(const Forecast& forecast, const std::string& before_the_outcome = "");
std::string to_markdown(const Forecast& forecast);
std::string to_json(const Forecast& forecast, const std::string& made);

/// The last line, and the heading of a document: the prediction, or why there is none; MISSED, with the share
/// of the machine that others took, if the epoch was run and lay outside its interval.
std::string outcome_text(const Forecast& forecast);

}  // namespace assay
