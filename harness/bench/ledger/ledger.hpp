/// The ledger of a suite: slow-downs that were accepted until a day, and the steps since the last release,
/// whose sum shows what no single comparison can.
///
/// A gate that looks at one commit at a time lets through whatever stays below its limit, again and again.
/// Hence each step is kept with its estimate, and the sum is judged, too. A slow-down that is wanted is
/// accepted up to a ratio, with a reason and a last day: a promise, which fails the gate once it has run out.
#pragma once

#include "assay/compare.hpp"
#include "assay/outcome.hpp"
#include "bench/compare/words.hpp"
#include "core/json/fields.hpp"
#include "core/machine/clock.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// A slow-down of one trial, or a worse figure of its output, that was decided to be worth its price.
struct Acceptance {
  std::string key;       ///< operation/variant/problem#threads
  std::string figure{};  ///< its name; empty where it is the time
  double value = 0;      ///< worst one that is accepted, in the unit of that figure
  double ratio = 1;      ///< time after / time before that is accepted at most, the interval included
  std::string reason;
  Date until{};  ///< the last day
  Date accepted_on{};
  std::string commit;   ///< of the program that accepted it
  std::string release;  ///< the one whose sum holds the slow-down
};

/// The slow-down of a trial as a logarithm, with its standard deviation.
struct Estimate {
  double log_ratio = 0;
  double deviation = 0;
  std::size_t launches = 0;  ///< on the side that has fewer; without a meaning where the deviation is 0
};

/// The estimates of one comparison that passed, from the commit before to the commit after.
struct Step {
  std::string base, head;
  Date date{};
  std::map<std::string, Estimate> rows;  ///< by key
};

struct Ledger {
  std::string suite;
  std::string release;         ///< a tag or a commit, as it was named; empty before the first
  std::string release_commit;  ///< where the sum begins
  Date released_on{};
  std::vector<Acceptance> acceptances;
  std::vector<Step> steps;  ///< since the release, each beginning where the one before ended
};

/// `<folder>/<suite>.ledger.json`, whatever the machine.
std::filesystem::path ledger_path(const std::filesystem::path& folder, std::string_view suite);
/// Returns nothing when there is no such file. Throws Error naming file and key when it cannot be used.
std::optional<Ledger> load_ledger(const std::filesystem::path& file);
void describe(Fields& f, Ledger& ledger);
/// Makes the folders of `file` as needed. Throws Error.
void save_ledger(const std::filesystem::path& file, const Ledger& ledger);

/// Whether both name the same commit, each with seven digits or more. A build of changed files has no commit.
bool same_commit(std::string_view one, std::string_view other);
/// Tells whether a step can begin or end there.
bool is_commit(std::string_view text);

/// Enters an acceptance. An older one of the same key and figure is renewed, and stays in its sum. Throws
/// Error when there is no reason, the last day is past, or the ratio accepts nothing.
void accept(Ledger& ledger, Acceptance acceptance);
/// Throws Error when no figure of that name, or no slow-down where there is no name, was accepted for `key`.
void withdraw(Ledger& ledger, std::string_view key, std::string_view figure = "");
/// "gemm/packed/m=64#1 up to 1.08x", "height of memory_pool_plan/by_size/blocks=9#1 up to 1,300"
std::string in_words(const Acceptance& acceptance);
/// The options by which it is accepted again: "--accept KEY --ratio 1.08".
std::string accepting_options(const Acceptance& acceptance);
/// Begins a new sum. Acceptances stay and still run out, but cover no comparison with this release or a later
/// commit: their slow-downs count as part of the base. The commit is `release` itself if that is one. Throws
/// Error when there is no commit to begin at.
void begin_release(Ledger& ledger, const std::string& release, const std::string& commit, Date today);

/// Steps from the release to `commit`; nothing when the ledger does not know it.
std::optional<std::size_t> steps_before(const Ledger& ledger, std::string_view commit);

/// Throws Error unless a step from `base` to `head` continues the ledger: a step that is not written down
/// would be missing from the sum.
void require_next(const Ledger& ledger, const std::string& base, const std::string& head);
/// Makes a step of the estimates of all trials that have a time on both sides. It has no rows if the machine
/// moved too far. Called before the ledger is applied, which replaces the ratios of rows.
Step step_of(const Comparison& comparison, const std::string& base, const std::string& head, Date date);

/// The comparison at hand: its commits and its day, and the suite that commands name.
struct Occasion {
  Date today{};
  /// Commit; empty when there is no single one. A commit that changed nothing but the ledger is none of its
  /// ends: name the one before.
  std::string base;
  std::string suite;          ///< file, as commands name it
  double drift_limit = 1.03;  ///< sum of steps since the release that is still the same
  bool part = false;          ///< of a comparison that several jobs divided: the whole has the sums
};

/// Changes the comparison to what the ledger says of it: slower rows become accepted, rows that crept become
/// slower, with the sum as their ratio, and acceptances that ran out become objections. Figures that are
/// worse become accepted as well: up to a value and not a ratio, so that steps and releases change nothing
/// there. Returns what it found, as lines for the terminal.
///
/// An acceptance that ran out fails whatever the row does now. Between two builds the row looks the same, as
/// the base has the slow-down as well; only the promise to remove it can tell.
std::vector<std::string> apply(Comparison& comparison, const Ledger& ledger, const Occasion& occasion);

/// The chance of a false alarm by any sum of a ledger, if every trial lies exactly at the limit. Each sum has
/// an equal share (Bonferroni). Unchanged code lies far below it (drift_simulation_test).
inline constexpr double drift_level = 0.01;

/// Returns the estimate of a row, over the launches that were taken whatever they showed; nothing without an
/// interval that tells how sure it is.
///
/// Steps come with order-statistic or rank intervals, so the deviation is taken from those: the half width of
/// the logarithms over the Student quantile that belongs to the interval's coverage, 1.96 for 95 % and many
/// launches. The row's own spread between recordings, where there is one, is added to its variance: launches
/// of one recording share its luck. A row without any width, such as identical machine code, is exact.
std::optional<Estimate> estimate_of(const ComparedRow& row);

/// A sum of independent estimates: variances add. Degrees of freedom after Welch and Satterthwaite.
struct DriftSum {
  double log_ratio = 0;
  double variance = 0;
  /// Sum over the terms of variance² / degrees of freedom: half the variance of `variance`.
  double doubt = 0;
  std::size_t terms = 0;

  void add(const Estimate& estimate);
  /// The lower bound of the true sum, which lies below it with chance `tail`.
  double low(double tail) const;
  /// Returns the interval as time ratios.
  Interval interval(double coverage) const;
};

/// The rows of `key` in `steps`; those that lack it are left out, which `terms` shows.
DriftSum sum_of(std::span<const Step> steps, std::string_view key);

/// The folder of baselines and ledgers, unless the user names others.
inline const std::filesystem::path usual_baselines = "baselines";

using Folders = std::vector<std::filesystem::path>;

struct StoredLedger {
  std::filesystem::path file;
  Ledger ledger;
};

/// Rules that gates have in common, whatever they compare with.
struct GateRules {
  Folders baselines{usual_baselines};  ///< folders of baselines and ledgers: the first that has one counts
  FailurePolicy failing;
  double drift_limit = Occasion{}.drift_limit;
  Date today{};
  bool record_step = false;  ///< into the ledger, if the gate passes
  std::string suite;         ///< file, as commands name it
};

/// Returns the ledger of the first folder of baselines that has one. Throws Error when it cannot be used, or
/// a folder that was named is not there.
std::optional<StoredLedger> find_ledger(const Folders& baselines, const std::string& suite,
                                        const std::filesystem::path& made = {});

/// Throws Error for each folder that was named and is not there: a mistyped folder would be one without
/// baselines and acceptances. `made`, the folder of --record-missing, is made when it is needed.
void require_baselines(const Folders& baselines, const std::filesystem::path& made = {});

/// The suite as commands name it, `suites/smoke.json --baselines FOLDER`: with the folder that has the
/// ledger, or else the first, unless that is the usual one.
std::string suite_in_commands(const std::string& suite, const Folders& baselines,
                              const std::optional<StoredLedger>& stored);

/// Throws Error where --record-step cannot be done, so that it does not take a measurement to find out.
void require_recordable(const std::optional<StoredLedger>& stored, const std::string& suite_in_commands,
                        const std::string& base, const std::string& head);

/// The commit itself, or the one at which the ledger ends where they differ in the ledger's file alone: a
/// step is committed after it was recorded, and that commit begins the next one. Commits that git cannot find
/// here are themselves.
std::string step_end(const StoredLedger& stored, const std::string& commit);

/// Writes the step of a gate that passed into the ledger, which it reads again first. Returns `passed` with a
/// line that says so, or the obstacle.
Outcome recorded(StoredLedger stored, Step step, Outcome passed);

}  // namespace assay
