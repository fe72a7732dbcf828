/// The text that tables of rows share: marks, and text from untrusted changes made harmless for the terminal.
#pragma once

#include "assay/compare.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// States differ in shape and not in colour alone.
std::string_view mark(Standing standing);

/// Nothing in it moves the cursor, and it is no wider than `width`.
std::string printable(std::string_view text, std::size_t width);

/// Times of trials in words, by key; none where they were measured on machines of which no reader knows which
/// was which.
std::map<std::string, std::string> times_in_words(const Results& results,
                                                  const std::vector<TrialResult>& trials);

/// A finding that several trials share: its key is that of the first of them, and `why` is without times.
struct SharedFinding {
  Finding finding;
  std::size_t trials = 0;
};
/// Each finding once, in the order of the first row that has it. Rows without a reason have none.
std::vector<SharedFinding> shared_findings(const std::vector<const ComparedRow*>& rows);

}  // namespace assay
