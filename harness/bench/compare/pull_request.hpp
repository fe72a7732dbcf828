/// A comparison as people read it: in a pull request, with outcome, causes, cost and a picture first and the
/// rest folded, as a page, and on a terminal.
#pragma once

#include "assay/compare.hpp"
#include "core/markup/plot.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace assay {

/// GitHub refuses a comment of more than 65,536 characters.
inline constexpr std::size_t most_comment_bytes = 60'000;

/// Seconds that an epoch of a suite takes longer because of one trial.
struct EpochCost {
  std::string suite;
  Interval seconds;
};

/// Facts about a trial beside its row.
struct ChangedTrial {
  double before = 0, after = 0;       ///< seconds per call; 0 where they are not known
  bool is_rate = false;               ///< they are the inverse of rates, which are shown
  std::string cause;                  ///< the changed source file, or function; empty where it is not known
  std::vector<std::string> pointers;  ///< lines on where to look
  std::vector<EpochCost> epochs;
  std::vector<PlottedSamples> samples;   ///< of each side, in run order
  PlotScale scale = PlotScale::seconds;  ///< of those: seconds per call, or ratios to the base
};

/// Texts may come from an untrusted change.
struct PullRequest {
  std::string outcome;               ///< one line, with the word that the program ended with where it has one
  std::vector<std::string> remarks;  ///< reasons to doubt the whole
  std::vector<std::string> seen;     ///< the slow-downs that would have been seen
  std::vector<std::string> notes;    ///< on how it was measured
  std::string command;               ///< repeats the run; `-k` and a filter are to follow. May be empty
  std::string suite;                 ///< its name; may be empty
  std::vector<Fact> before_facts, after_facts;  ///< of machines and builds
  std::string kept;  ///< says where rows are that have no room: "gate.json has them"
  Comparison comparison;
  std::vector<ChangedTrial> trials;  ///< one for each row
  /// Rows of each standing that a terminal shows; it counts the others, and shows none that stayed the same
  /// or have no times. 0: it shows all.
  std::size_t most_rows_on_screen = 0;
  bool shows_same = false;  ///< also those that stayed the same and have a ratio
};

/// Two sets of results. `outcome`, `command` and `kept` are the caller's to fill; without an outcome the
/// first line is comparison_sentence().
PullRequest pull_request_of(const Comparison& comparison, const Results& before, const Results& after);

/// Markdown of at most `most_bytes`. Trials that have no room are dropped from the end, where those that
/// are slower or fail do not stand, and counted.
std::string pull_request_markdown(const PullRequest& change, std::size_t most_bytes = most_comment_bytes);

/// For a terminal, at most 80 columns but for keys: the heaviest row last.
std::string pull_request_text(const PullRequest& change);
/// The rows of that text that are urgent, all of them, and nothing else.
std::string urgent_text(const PullRequest& change);

/// A ratio that is drawn with letters, for places that have no pictures.
struct PlottedRatio {
  std::string name;
  Interval ratio;  ///< time now / time before
};

/// Lines of at most 80 columns: a scale of ratios, logarithmic and around 1, then a line for each row. Ends
/// beyond a factor of two are arrows. Empty without rows that have an interval.
std::vector<std::string> interval_plot(const std::vector<PlottedRatio>& rows);

/// How a mark of that standing looks, and the ratios of a comparison, largest changes first; null where there
/// is no interval.
Look look_of(Standing standing);
Plot ratios_plot(const Comparison& comparison);

/// The same, all trials and with pictures, as one file of HTML.
Page pull_request_page(const PullRequest& change);

}  // namespace assay
