/// The text that tables of verdicts share: marks, and text from untrusted changes made harmless for the
/// terminal.
#pragma once

#include "assay/compare.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// On a terminal, what matters most comes last, right above the verdict: it shows the end of what is long.
inline constexpr std::array lightest_first{
    Standing::same,   Standing::skipped,   Standing::not_comparable, Standing::added,  Standing::gone,
    Standing::faster, Standing::undecided, Standing::accepted,       Standing::slower, Standing::impossible,
    Standing::wrong,  Standing::timed_out, Standing::crashed};

/// States differ in shape and not in colour alone.
std::string_view mark(Standing standing);

/// Nothing in it moves the cursor, and it is no wider than `width`.
std::string printable(std::string_view text, std::size_t width);

/// Times of trials in words, by key; none where they were measured on machines of which no reader knows which
/// was which.
std::map<std::string, std::string> times_in_words(const Results& results,
                                                  const std::vector<TrialResult>& trials);

/// A reason of verdicts of one standing, without the times behind it.
struct SharedReason {
  const ComparedRow* first = nullptr;
  std::string text;
  std::size_t trials = 0;
};
/// Each reason once, in the order of the first verdict that it holds for.
std::vector<SharedReason> shared_reasons(const std::vector<const ComparedRow*>& verdicts);

}  // namespace assay
