/// Forecasts of an epoch, for the terminal, for documents and for programs.
#pragma once

#include "assay/outcome.hpp"
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

/// The word of outcome_text(): missed, no_epoch, no_prediction, undecided or predicted.
Word word_of(const Forecast& forecast);
/// The last line, and the heading of a document: the prediction, or why there is none; UNDECIDED where its
/// ends differ by more than a factor of 1.5; MISSED if what was measured later lay outside its interval, of
/// an epoch that was run with the share of the machine that others took.
std::string outcome_text(const Forecast& forecast);

}  // namespace assay
