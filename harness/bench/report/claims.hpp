/// Verdicts on claims of public write-ups about training performance. A file of claims names a range for
/// each, and the cases that decide it; results that were measured here are compared with the range.
#pragma once

#include "assay/interval.hpp"
#include "assay/results.hpp"
#include "core/json/fields.hpp"

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// The figure that a part of a claim is about. Shares and savings are fractions, times seconds.
enum class ClaimedFigure {
  speedup,            ///< time of the other trial / time of the trial
  time_saved,         ///< 1 - 1 / speed-up
  slowdown,           ///< 1 / speed-up
  seconds,            ///< of a call
  rate,               ///< `items` of a call / its seconds
  workspace_saved,    ///< 1 - workspace / workspace of the other trial
  allocations_saved,  ///< 1 - bytes that a call allocates / bytes of the other trial
  traffic_saved,      ///< of memory, without fusion: it is not counted; the contract bounds it
  epoch_speedup,      ///< of the cases of a suite together, with `operation` or all of them replaced
  epoch_time_saved,   ///< 1 - 1 / epoch_speedup
  composed_speedup,   ///< by Amdahl's law, of shares with the measured speed-ups of other claims
  composed_saved,     ///< 1 - 1 / composed_speedup
  epochs_predicted,   ///< share of epochs that a model predicts to `within`
  agreement,          ///< published code computes what it should
  arithmetic          ///< published figures follow from each other
};
inline constexpr std::array<std::string_view, 15> claimed_figures{
    "speed-up",          "time saved",        "slow-down",        "seconds",        "rate",
    "workspace saved",   "allocations saved", "traffic saved",    "epoch speed-up", "epoch time saved",
    "composed speed-up", "composed saved",    "epochs predicted", "agreement",      "arithmetic"};
/// Their units, as those of doc::Amount; agreement and arithmetic have none.
inline constexpr std::array<std::string_view, 15> claimed_units{"times", "share", "times", "s",     "/s",
                                                                "share", "share", "share", "times", "share",
                                                                "times", "share", "share", "",      ""};
inline std::string_view unit_of(ClaimedFigure figure) {
  return claimed_units[static_cast<std::size_t>(figure)];
}

/// A share of a whole that a claim acts on, as its source states it.
struct ClaimShare {
  double share = 0;
  std::string claim;  ///< whose first part says how many times faster it becomes; empty: it takes no time
};

/// The largest possible value of a figure, and the reason.
struct ClaimBound {
  double most = 0;
  std::string why;
};

struct ClaimPart {
  std::string what;  ///< the figure in words: `time of element-wise operations`
  ClaimedFigure figure = ClaimedFigure::speedup;
  double from = 0, to = 0;    ///< as claimed
  std::string trials;         ///< regular expression of keys that decide; the best trial of each case counts
  std::string against;        ///< variant that they are compared with, in the same case; empty: `naive`
  std::string against_trial;  ///< or a regular expression of one key of any case
  double items = 0;           ///< of a call, for a rate
  std::string suite;          ///< whose results decide, or make an epoch; empty: all
  /// Its time includes waiting, so that nothing is decided beside other work. Trials with several threads are
  /// treated as if this were set.
  bool quiet = false;
  std::string cases;      ///< regular expression of the cases that make the whole; empty: all
  std::string operation;  ///< the replaced operation; empty: all
  /// The suite lists only a part of the whole, so that the gain of the whole is at most the gain found.
  bool part_of_whole = false;
  std::vector<ClaimShare> composed;
  std::string model;               ///< that predicted epochs
  double within = 0;               ///< largest relative error of a right prediction
  std::vector<std::string> wrong;  ///< published code, kept as known to be bad: operation/variant
  std::string job, field;          ///< a job with figures as published, and the field of the figure
  std::optional<ClaimBound> bound;
  std::string not_measured;  ///< why nothing here can decide it
};

struct PublishedClaim {
  std::string id, source, scope, claim;
  std::string known;  ///< known facts that need no measurement
  std::vector<ClaimPart> parts;
};

struct PublishedClaims {
  std::string about;
  std::vector<PublishedClaim> claims;
};

/// By weight: the first that holds for a part holds for the claim.
enum class ClaimStanding { wrong, over_bound, shortfall, confirmed, exceeded, not_measured };
inline constexpr std::array<std::string_view, 6> claim_standings{"WRONG",     "OVER BOUND", "SHORT",
                                                                 "CONFIRMED", "EXCEEDED",   "NOT MEASURED"};
inline std::string_view to_string(ClaimStanding standing) {
  return claim_standings[static_cast<std::size_t>(standing)];
}

struct EvidenceFile {
  std::string name, hash, what;
};
/// Returns the entry of a file with the content `text`; `what` says in words what it holds.
EvidenceFile evidence_file(const std::filesystem::path& file, std::string_view text, std::string what);

/// The checks of a variant that is kept to show what they reject, such as published code known to be bad.
struct RejectedCode {
  static constexpr std::string_view schema = "assay.known_bad/1";
  struct First {
    std::string what;    ///< problem, fill, placement and threads
    std::string detail;  ///< the first element that was wrong
  };
  std::string name;       ///< operation/variant
  std::string published;  ///< what sets it apart: where it was seen, and what it gets wrong
  std::size_t checks = 0, rejected = 0;
  std::optional<First> first{};  ///< the first check that it failed
};

/// A figure of a published job that its other figures contradict.
struct Contradiction {
  std::string job, field, text;
};

/// The error of a predicted epoch, relative to the measured epoch.
struct EpochError {
  std::string model;
  double error = 0;
  double other_busy_share = 0;  ///< of processor time while it ran
};

struct ClaimEvidence {
  std::vector<EvidenceFile> files;
  std::vector<Results> results;
  std::vector<RejectedCode> known_bad;
  std::vector<std::string> jobs;  ///< jobs whose figures were examined
  std::vector<Contradiction> contradictions;
  std::vector<EpochError> epochs;
};

/// One case that decides: its best trial, and the trial that this was compared with.
struct DecidingCase {
  std::string key, against;
  Interval value;
  std::optional<double> bound;  ///< of the value, by the roofs of the run
};

struct PartFinding {
  ClaimPart part;
  ClaimStanding standing = ClaimStanding::not_measured;
  std::optional<Interval> value;  ///< geometric mean over the cases where there are several
  std::optional<ClaimBound> bound;
  std::string why;  ///< a sentence
  std::vector<DecidingCase> cases;
};

struct ClaimFinding {
  PublishedClaim claim;
  ClaimStanding standing = ClaimStanding::not_measured;
  std::vector<PartFinding> parts;
};

/// The run of a results file.
struct ClaimsRun {
  std::string suite, machine, date, commit, command;
  std::size_t launches = 0;  ///< most of any trial
  Weather weather;
};

ClaimsRun run_facts(const Results& results);

struct ClaimsReport {
  std::string about;
  std::vector<ClaimFinding> findings;  ///< in the order of the claims
  std::vector<EvidenceFile> files;
  std::vector<ClaimsRun> runs;
  std::size_t count(ClaimStanding standing) const;
};

/// Decides by whole intervals: a part is SHORT where all of it lies below the claimed range, CONFIRMED or
/// EXCEEDED where none does, and open where it reaches to both sides of the lower end. Intervals of a single
/// process start decide nothing.
ClaimsReport judged_claims(PublishedClaims claims, const ClaimEvidence& evidence);

/// Throws Error naming the file and the field at fault: an unknown figure, an expression that is none, a part
/// without what its figure needs, a claim that is named and not there.
PublishedClaims claims_from_json(const std::string& text, const std::string& where);

/// One line per claim, and counts at the end.
std::string to_text(const ClaimsReport& report);
std::string to_markdown(const ClaimsReport& report);

void describe(Fields& f, ClaimsRun& run);
void describe(Fields& f, EvidenceFile& file);
void describe(Fields& f, RejectedCode& one);
void describe(Fields& f, PublishedClaims& claims);
void describe(Fields& f, ClaimsReport& report);

}  // namespace assay
