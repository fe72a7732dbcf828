/// The record of a decision about the core type of OpenBLAS: a table, the decision, and the environment to
/// set.
#pragma once

#include "assay/machine.hpp"
#include "bench/tune/library.hpp"

#include <string>
#include <vector>

namespace assay {

struct LibraryRecord {
  std::string suite, date, commit, command;
  Machine machine;
  Weather weather;
  std::string library;                ///< the build of OpenBLAS, in its own words
  std::vector<std::string> not_here;  ///< trials that cannot run here, and why
  std::vector<CoreAttempt> attempts;
  LibraryRuling ruling;
};

/// For a terminal of 80 columns, the decision as its last line.
std::string library_text(const LibraryRecord& record);
/// Markdown: decision, consequences, attempts, what not to try again, how to reproduce.
std::string library_markdown(const LibraryRecord& record);
/// `{"schema": ..., "environment": {"OPENBLAS_CORETYPE": "Haswell"}, ...}`; an empty environment keeps the
/// default.
std::string to_json(const LibraryRecord& record);
class Fields;
void describe(Fields& f, LibraryRecord& record);

}  // namespace assay
