/// The record of a decision about the settings of a training, for whoever asks again in a year.
#pragma once

#include "assay/machine.hpp"
#include "training/tune/rounds.hpp"

#include <string>

namespace assay {

struct TuneRecord {
  TrainingJob job;
  std::string date, commit, command;
  Machine machine;
  Weather weather;
  TunePolicy policy;
  std::vector<Attempt> attempts;
  TuneRuling ruling;
};

/// Markdown: decision, consequences, physical limits and what can be reached, attempts, what not to try
/// again, how to reproduce.
std::string decision_record(const TuneRecord& record);
/// A table of the attempts for a terminal of 80 columns, the decision as its last line.
std::string decision_text(const TuneRecord& record);
/// The chosen settings as a job.
std::string to_json(const TuneRecord& record);

}  // namespace assay
