/// The record of a decision about a variable of the environment: the decision, a table, and what to set.
#pragma once

#include "assay/machine.hpp"
#include "bench/tune/variable.hpp"

#include <string>
#include <vector>

namespace assay {

struct VariableRecord {
  TunedVariable variable;
  std::string suite, date, commit, command;
  Machine machine;
  Weather weather;
  std::string about;                  ///< what reads it: the build of OpenBLAS, in its own words
  std::vector<std::string> not_here;  ///< trials that cannot run here, and why
  std::vector<ValueAttempt> attempts;
  VariableRuling ruling;
};

/// For a terminal of 80 columns, the decision as its last line.
std::string variable_text(const VariableRecord& record);
/// Markdown: decision, consequences, attempts, what not to try again, how to reproduce.
std::string variable_markdown(const VariableRecord& record);
/// `{"schema": ..., "environment": {"OPENBLAS_CORETYPE": "Haswell"}, ...}`; an empty environment keeps the
/// default.
std::string to_json(const VariableRecord& record);
class Fields;
void describe(Fields& f, VariableRecord& record);

}  // namespace assay
