/// Records of decisions about settings, for somebody who asks again in a year.
#pragma once

#include "assay/machine.hpp"
#include "core/markup/document.hpp"
#include "core/tune/turns.hpp"

#include <string>
#include <vector>

namespace assay {

/// When, where and how something was measured.
struct Circumstances {
  std::string date, commit, command;
  Machine machine;
  Weather weather;
};

struct TuneRecord {
  std::string title;
  TuneWords words;
  std::string variable;  ///< of the environment that takes a setting; empty where a job does
  std::string rate;  ///< `samples/s`, where seconds are those of one sample; empty where they mean nothing
  Circumstances made;
  std::string method;
  std::vector<std::string> consequences;  ///< paragraphs below the decision
  std::vector<std::string> not_here;      ///< cases that cannot run here, and why
  std::vector<std::string> cases;         ///< names
  TuneRuling ruling;                      ///< its candidates are there before it is ruled on them
};

/// A document of the schema assay.tuning/1 that ends with the circumstances; sections go before them.
doc::Document record_document(doc::Text title, std::string outcome, const Circumstances& made,
                              std::vector<doc::Section> sections);

/// The decision, its consequences, the attempts, the reasons, and the settings not to try again.
doc::Document record_document(const TuneRecord& record);

/// Its JSON, with "environment" where a variable is set: {"OPENBLAS_CORETYPE": "Haswell"}, and {} for the
/// present setting.
std::string record_json(const TuneRecord& record);

/// The JSON Schema of all records.
Json tuning_schema();

/// The section `attempts` of a record for a terminal, the decision as its last line.
std::string record_text(const doc::Document& document);

}  // namespace assay
