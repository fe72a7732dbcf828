/// Two builds that took turns on one machine: their samples, and the findings from these.
#pragma once

#include "assay/compare.hpp"
#include "assay/shard.hpp"
#include "bench/compare/pull_request.hpp"
#include "bench/gate/sequential.hpp"
#include "bench/measure/merge.hpp"
#include "bench/measure/sides.hpp"
#include "bench/measure/turns.hpp"
#include "core/json/fields.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Build::layout_remark of programs that were not linked here.
inline constexpr const char* layout_of_programs =
    "one layout only, since programs are compared as they were linked";

/// What TwoBuilds::timing begins with where commands print rates: seconds are the inverse of these.
inline constexpr const char* rates_of_commands = "rates as the commands print them";

/// Seconds of a repetition of another program's benchmark, at least: longer ones show no more, and shorter
/// ones are spent on switching processes.
inline constexpr double repetition_seconds = 0.005;
/// A launch that goes on is ended at this share of the budget, and none begins that would last longer.
inline constexpr double latest_end = 1.1;

/// TwoBuilds::restriction where address randomization cannot be turned off.
inline constexpr const char* addresses_move =
    "address randomization stays on here (containers forbid turning it off): launches differ by more";

struct Build {
  std::string name;  ///< as the user called it
  std::string commit;
  std::vector<Fact> facts;
  std::size_t links = 1;      ///< differently ordered links that took turns
  std::string layout_remark;  ///< the doubt that a single link leaves, or why there are fewer than asked for
};

/// The sides of a launch: the control is a copy of the base.
enum LaunchSide : std::size_t { base_side, head_side, control_side };
inline constexpr std::size_t launch_sides = 3;

/// One launch of one trial: seconds per call in each slice of each side. Slices of one number ran together.
struct PairedLaunch {
  std::vector<double> base, head, control;
  std::size_t base_link = 0, head_link = 0;
};

/// A count that launches of other programs have beside their times, such as allocations or bytes of memory.
struct Counted {
  Figure figure;     ///< without its value
  double noise = 0;  ///< values that differ by less are taken as equal; 0: equal ones never differ at all
  std::array<std::vector<double>, launch_sides> values{};  ///< by launch
};

/// The medians of base and head. They are one where launches do not tell the sides apart: a difference counts
/// when, in 6 launches at least where noise is not known, every value of one side is beyond all of the others
/// by a twentieth and by the noise, or when no side ever varies. Of equal sides 1 in 18,000 is told apart.
std::array<Figure, 2> settled(const Counted& counted);

/// The frequency of a case in one epoch of a suite.
struct Occurrence {
  std::string suite;
  double per_epoch = 0;
};

struct PairedTrial {
  TrialRequest trial;
  std::vector<Occurrence> occurrences;  ///< in every suite that has this case and steps per epoch
  std::string base_code, head_code;
  /// Why not in the tested family: identical code, another workload, skipped, on one side only, a fault.
  Finding left_out;  ///< `why` is empty for the tested family
  std::vector<PairedLaunch> launches;
  Allocations base_allocations, head_allocations;  ///< of one call
  /// Figures of the outputs that were checked, or as launches settled them.
  std::vector<Figure> base_figures, head_figures;
  std::vector<Counted> counted;  ///< in no file
  double resolution = 0;  ///< of head / base, as a logarithm, where they print their numbers with few digits
  double patience = 1;    ///< of its next launch: times the usual number of slices
  std::vector<std::string> pointers;  ///< lines on where to look, of a trial that became slower
  std::string cause;                  ///< the changed source file, or function, that those lines are about

  bool tested() const { return left_out.why.empty(); }
};

/// The trials of a suite that one of several jobs compared.
struct ComparedShard {
  Shard shard;
  std::size_t trials = 0;   ///< of all shards, those that were left out included
  std::string fingerprint;  ///< of all of them and of their code on both sides: equal in all shards
};

/// A run of the gate. Everything that was decided can be decided again from it.
struct TwoBuilds {
  std::string suite;
  Build base, head;
  Machine machine;
  Weather weather;
  std::string date;
  std::uint64_t seed = 0;
  std::string command;  ///< repeats this run, together with -k and the filter
  bool busy = false;    ///< taken beside a core that a self-test kept busy
  std::string filter;
  SequentialPolicy policy;
  double budget_seconds = 0, seconds = 0;
  double screen_seconds = 0;  ///< the part of `seconds` that the screen took; 0: not known
  double launch_seconds = 0;  ///< that the next launch may take; 0: as little as it can
  bool partial = false;       ///< interrupted
  std::string restriction;    ///< a demand of the method that this machine does not allow
  std::string timing;         ///< how programs that are not assay's were timed; empty for builds of assay
  std::optional<ComparedShard> shard;  ///< nothing when all trials were compared in one go
  int merged_shards = 0;               ///< number of shards that were merged into it; 0: none
  /// Why seconds of the trials do not belong together: their shards ran on different machines. Ratios stand.
  std::string mixed_machines;
  std::string unfit_shard;  ///< why the machine of one of the merged shards could not be judged on
  /// Slow-downs of the head by key, 0.03 for 3 %: of self-tests.
  std::map<std::string, double> planted;
  std::vector<PairedTrial> trials;
};

/// Whether the user asked for the trial of that key.
using Selects = std::function<bool(const std::string& key)>;

/// Matches the trials of both sides. Trials that are not tested have the reason. Identical code is tested
/// only if deciding facts of the builds differ, or with `identical_too`, which self-tests need.
std::vector<PairedTrial> matched(const Description& base, const Description& head, const Selects& selects,
                                 bool identical_too);

/// Leaves out the tested trials that failed a corner case on either side, as both sides found that were asked
/// for them (DescriptionRequest::corners).
void leave_out_wrong(std::vector<PairedTrial>& trials, const Description& base, const Description& head);

/// The logarithms of a trial, one per launch: the median over slices that ran together. A disturbance of both
/// sides cancels within a pair, and a disturbance of a single slice does not move the median. Of programs
/// that are not assay's, the ratio of the means of their middle halves.
TrialLogs logs_of(const PairedTrial& trial);

/// Runs one launch of the trials with these positions, and appends to their `launches`.
using PairedSample = std::function<void(TwoBuilds&, const std::vector<std::size_t>& trials, int launch)>;

/// Samples the screen, then the undecided trials until all are decided, or looks or budget are spent. Drops
/// trials whose calls are too long for the screen after the first launch, unless one process start reports
/// all trials `together`, as a command does that prints several times: dropping would save nothing.
void sample_two_builds(TwoBuilds& run, const PairedSample& sample, const Hooks& hooks, bool together = false);

/// Two real programs, for paired_launches().
struct PairedPrograms {
  std::vector<std::filesystem::path> base, head;  ///< links of each side, which take turns launch by launch
  /// Slow-downs of the head, by key: 0.03 for 3 %. For self-tests.
  std::map<std::string, double> planted;
  TurnPolicy policy;
  std::size_t shared_bytes = 0;  ///< the most that a case may take
};

/// Returns which of its links a launch runs. All take turns in a drawn order: each runs once before any runs
/// again. Both sides run the link of the same number, so that unchanged functions lie at the same place in
/// both as often as possible.
std::size_t link_of(std::uint64_t seed, int launch, std::size_t links);

/// Each launch runs base, head and a copy of that base. The first one checks all variants on both sides:
/// those that disagree with the oracle leave the tested family.
PairedSample paired_launches(PairedPrograms programs, const Hooks& hooks);

/// Bytes of shared memory for the largest of these cases.
std::size_t shared_bytes_for(const Registry& registry, const std::vector<Case>& cases);

/// The findings of a run, from its samples alone.
struct GateFindings {
  Comparison comparison;          ///< one row per trial, in order
  SequentialDecisions decisions;  ///< of the tested trials, in order
  std::vector<double> visible;    ///< smallest_visible() of the tested trials, in order
};
GateFindings findings_of(const TwoBuilds& run);

/// One side as results, for readers of times.
Results base_results(const TwoBuilds& run);
Results head_results(const TwoBuilds& run);

/// Returns how far the order of the code moved the launches: the standard deviation of head against base
/// beyond that of the control. 0 if no side has several links.
double moved_by_layout(const PairedTrial& trial);

inline constexpr std::string_view two_builds_schema = "assay.two_builds/1";
/// Throws Error naming `where` and the key at fault.
TwoBuilds two_builds_from_json(const std::string& text, const std::string& where);
/// The same for readers that parse a file before they know its schema.
TwoBuilds two_builds_from(const Json& file, const std::string& where);
/// Whether a file is one of these, by its schema.
bool holds_two_builds(const Json& file);
void describe(Fields& f, TwoBuilds& run);

PullRequest pull_request_of(const TwoBuilds& run, const GateFindings& findings);

/// Returns, from a file of `run`, `gate` or `merge`, the seconds in which all trials of a case were timed,
/// launch by launch. Cases without a time are left out. No file gives no durations. Throws Error naming the
/// file when it is none of these, or holds no time at all.
Durations durations_in(const std::filesystem::path& file);

/// Leaves the trials of one shard, balanced where there are durations, in a run that was not sampled yet. Its
/// level stays that of the whole suite: the rules go on to count the trials of all shards, so that the jobs
/// together raise a false alarm no more often than one would.
void keep_shard(TwoBuilds& run, const Shard& shard, const Durations& durations);

/// Joins the runs of all shards. A trial that a shard called slower is slower in the whole; as Holm's
/// procedure goes through all trials there, it may find one more.  Throws Error naming the file for what is
/// no shard or was interrupted, for a shard that is there twice, and for another suite, filter, seed, commit,
/// code or rules; MissingShards where nothing else is wrong. Machines may differ, since both sides of a trial
/// ran on one of them; `mixed_machines` says so, and seconds are withheld.
TwoBuilds merged(std::vector<NamedRun<TwoBuilds>> files);

// Programs and commands that time themselves, or are timed from outside, as sides of a gate: each process
// start reports times by name.

/// Times that process starts of one side reported by one name.
struct Reported {
  std::vector<double> seconds;
  std::vector<Figure> figures{};  ///< counted by the last start
  double resolution = 0;          ///< half of the last digit of a printed number, by that number
  double sampled = 0;             ///< seconds of all calls of a repetition, where calls are counted
  std::string error;              ///< why there are none, as the program said it; empty where it said nothing
  bool failed = false;            ///< the error is a fault; else the benchmark was skipped on purpose
};
using ReportedTimes = std::map<std::string, Reported>;

/// Appends what a later start of the same side reported.
void append(ReportedTimes& all, ReportedTimes later);

/// Names of both as trials. Those that one side lacks, or that are ambiguous, are left out with the reason.
std::vector<PairedTrial> matched(const std::vector<std::string>& base, const std::vector<std::string>& head);

inline constexpr std::array<std::string_view, launch_sides> launch_side_names{"base", "head", "control"};

/// Reports of all sides in one launch, in the order of LaunchSide.
using LaunchReports = std::array<ReportedTimes, launch_sides>;

/// Adds a launch to each of these trials that all sides have times of. The others are left out with the
/// reason: one that reports an error in the head alone is wrong.
void add_launch(TwoBuilds& run, const std::vector<std::size_t>& trials, LaunchReports reports);

/// Decides how many slices the launches of a trial are given: by how much its pairs vary in earlier launches,
/// and never by which side was slower, as bench/README.md argues. The few trials that the screen leaves open
/// get far more for the same seconds, so that its launches are made longer only within a share of the budget.
struct PatiencePolicy {
  double luck = 0.008;            ///< deviation of a launch's number by its slices alone that is good enough
  double most = 32;               ///< times the usual number of slices
  std::size_t learning = 3;       ///< launches from which the variation of pairs is known
  double screen = 0.18;           ///< share of the budget by whose end the screen is to be over
  double screen_of_others = 0.5;  ///< likewise of programs that are not assay's, which take no turns
};

/// Times the usual number of slices with which luck within a launch is as small as asked; 1 while launches
/// are too few to tell.
double wanted_patience(const PairedTrial& trial, const PatiencePolicy& policy);

/// Seconds that all sides spend in slices of a launch. A slice is one call, or as many as last `shortest`.
double slice_seconds(const PairedLaunch& launch, double shortest);

/// Seconds that all sides spend in the usual slices of a launch.
double usual_slice_seconds(const PairedTrial& trial);

/// Gives these trials the patience they want. Where that would take more than `spare` seconds, all get the
/// same share of what they want beyond the usual. Returns the seconds that it takes.
double grant_patience(std::vector<PairedTrial>& trials, const std::vector<std::size_t>& which, double spare,
                      const PatiencePolicy& policy);

/// Grants patience and seconds launch by launch, so that the screen ends within its share of the budget, and
/// the budget lasts until a trial can be told that has a few stray launches: the third look, then the next.
class PatiencePlan {
 public:
  explicit PatiencePlan(const PatiencePolicy& policy = {}) : policy_(policy) {}
  /// Before a launch of these trials, with `launches` behind them and so much of the budget left.
  void plan(TwoBuilds& run, const std::vector<std::size_t>& which, std::size_t launches, double seconds_left);
  /// After it.
  void took(double seconds);

 private:
  PatiencePolicy policy_;
  double slice_seconds_ = 0;  ///< planned for the slices of this launch
  /// The cost of a launch for each second of slices, by the last one: starting, filling inputs, handing over,
  /// and on a busy machine the time that others take.
  double per_slice_second_ = 1;
};

}  // namespace assay
