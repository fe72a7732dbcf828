/// Comparing results: with a stored baseline of this machine, or with another results file.
#pragma once

#include "assay/interval.hpp"
#include "assay/results.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Seconds per call: median with an interval. Over launches when there are several, else over slices. All
/// zero for a trial without samples.
Interval time_of(const TrialResult& trial);

/// Estimates how many times faster `trial` is than `reference` (above 1 is faster), from launches paired by
/// position; with one launch from its slices. All zero when either has no samples.
Interval speedup(const TrialResult& reference, const TrialResult& trial);

/// `accepted` is slower, as the ledger of the suite allows for now. `probably_slower` was left open, with its
/// whole interval above the limit. `not_slower`: the interval ends within the limit, but reaches far below
/// it. `impossible` is faster than any kernel can be on this machine, and compared with nothing.
enum class Standing {
  same,
  faster,
  not_slower,
  slower,
  accepted,
  probably_slower,
  undecided,
  not_comparable,
  wrong,
  skipped,
  added,
  gone,
  crashed,
  timed_out,
  impossible
};
std::string_view to_string(Standing standing);
Standing standing_of(const Failure& failure);
/// Crashed or timed out.
bool has_failed(Standing standing);
/// Failed, wrong or impossible: found without anything to compare with.
bool is_fault(Standing standing);

/// A piece of evidence: what was seen, and where.
struct Finding {
  Standing standing = Standing::undecided;
  std::string why;    ///< a sentence a stranger can read
  std::string key{};  ///< of the trial; empty where the reader knows it
};

/// A figure of an output on both sides, which is judged: exactly, since it does not vary.
struct FigureChange {
  Figure before, after;
  bool accepted = false;  ///< worse, and the ledger allows it
  std::string remark{};   ///< of the ledger: what it allows, and until when
};
/// Whether it is worse than before without being accepted, which fails.
bool is_worse(const FigureChange& change);
/// The figures that both sides have, and that are better lower or higher.
std::vector<FigureChange> changes_of(const std::vector<Figure>& before, const std::vector<Figure>& after);

/// A trial that was compared: its standing, and the findings behind it.
struct ComparedRow {
  std::string key;
  Standing standing = Standing::undecided;
  /// Time after / time before, with what the machine did by itself taken out: this is judged. For a
  /// row that is slower by drift alone, since the release.
  Interval ratio;
  double limit = 1;          ///< ratio above which it is slower: 1 + tolerance of this case
  std::string why;           ///< a sentence a stranger can read
  Interval time_ratio{};     ///< time after / time before as measured
  Interval to_naive{};       ///< the same relative to the naive variant of its case in the same launches
  std::size_t launches = 0;  ///< behind `ratio`, on the side that has fewer
  double chance = 0;         ///< of 1, that a trial which is probably slower is so
  double visible = 0;        ///< smallest slow-down, as a ratio, that would have been seen; 0: not known
  /// Deviation of the logarithm by which it moves between recordings of the same code; 0 where both sides
  /// were measured in turns.
  double spread = 0;
  /// `ratio` over launches that were taken whatever they showed, and how many; none where all were. A trial
  /// that goes on only while it looks slower is estimated too low on the average, and sums of such estimates
  /// by more.
  Interval unselected{};
  std::size_t unselected_launches = 0;
  bool afresh = false;  ///< judged by what was measured a second time
  std::string
      crept_since;  ///< the release since which its steps add up to a slow-down; empty where they do not
  /// Judged whatever the machine and its times, as long as the workload is the same.
  std::vector<FigureChange> figures{};
};
/// Whether a figure of its output is worse than before, which fails whatever its time does.
bool has_worse_figure(const ComparedRow& row);

struct Comparison {
  std::vector<ComparedRow> rows;         ///< in the order of the current results, then those gone
  std::vector<std::string> differences;  ///< between the fingerprints
  bool comparable = true;                ///< false: the deciding facts differ, and every row says so
  double machine_moved = 1;  ///< median time ratio of the naive variants: what the machine did by itself
  /// There are none, so that `machine_moved` is of all rows, and may be what the code did.
  bool no_naive = false;
  std::string unfit;  ///< why the machine cannot be judged on, so that nothing is decided; empty when it can
  std::vector<std::string> objections;  ///< failures besides the rows: acceptances that ran out
  std::vector<std::string> failures;    ///< trials that had a time before and report an error now
  std::size_t count(Standing standing) const;
};

struct GatePolicy {
  double limit = 1.05;  ///< ratio that is still the same, where a case's own spread is not larger
  std::map<std::string, double, std::less<>> limits{};  ///< of trials that have one of their own, by key
  double limit_of(const std::string& key) const {
    const auto own = limits.find(key);
    return own == limits.end() ? limit : own->second;
  }
};

/// Recordings of one suite on one machine, oldest first.
struct Recording {
  std::string reason;
  Results results;
};
struct Baseline {
  std::string suite, machine_key;
  std::vector<Recording> recordings;
};

/// `<folder>/<machine key>/<suite>.json`
std::filesystem::path baseline_path(const std::filesystem::path& folder, std::string_view machine_key,
                                    std::string_view suite);
/// Returns nothing when there is no such file. Throws Error when it is truncated, of another schema, of
/// another suite or machine than its name says, without recordings, or otherwise unusable.
std::optional<Baseline> load_baseline(const std::filesystem::path& file);
/// Samples are kept with seven digits, more than a clock tick of 1 ns is worth.
std::string to_json(const Baseline& baseline);
/// Makes the folders of `file` as needed. Throws Error.
void save_baseline(const std::filesystem::path& file, const Baseline& baseline);

/// Compares current results with the recordings. A regression must show in the time and in the time relative
/// to the naive variant of the same case; a case's tolerance is its own spread between recordings where that
/// is larger. bench/compare/judge.hpp states the rules.
Comparison compare(const Results& current, const Baseline& baseline, const GatePolicy& policy);

/// Compares one results file with another.
Comparison compare(const Results& before, const Results& after, const GatePolicy& policy);

/// Combines two comparisons, the second made of doubtful rows measured afresh: with 100 rows some stray once
/// by chance, so a row is slower only when it is slower both times. A slower row that `again` did not measure
/// is undecided; other rows that it did not measure stay as they are. A fault in either is one of both.
Comparison confirmed(Comparison first, const Comparison& again);

/// Measures the cases of these trials a second time.
using MeasureAfresh = std::function<Results(const std::vector<std::string>& keys)>;

struct Confirmation {
  Comparison comparison;
  std::optional<Results> again;  ///< the second measurement; partial if it was interrupted
};

/// A regression must show twice: what `first` calls slower is measured afresh, and called so when both say
/// so.
Confirmation confirm(Comparison first, const Baseline& baseline, const GatePolicy& policy,
                     const MeasureAfresh& afresh);

/// "1.11x slower [1.08, 1.14]", "1.09x faster [1.06, 1.12]", "same [0.99, 1.01]".
std::string in_words(const ComparedRow& row);
/// "height 1,234 → 1,300 bytes (5.3 % more)", "height 1,234 bytes as before".
std::string in_words(const FigureChange& change);

/// The table of a comparison, most important rows first, its first line the outcome with counts: as Markdown,
/// with names escaped, since they may come from untrusted changes, and as text of at most 100 columns.
std::string comparison_markdown(const Comparison& comparison, const Results& before, const Results& after);
std::string comparison_text(const Comparison& comparison, const Results& before, const Results& after);

/// For other programs; "ratio" is time after / time before.
std::string to_json(const Comparison& comparison);

}  // namespace assay
