/// A training job as a prediction needs it, from any source: our own run, a profiler's trace, a list of step
/// times, or numbers typed in from a report. All times are seconds, all steps count from 0.
#pragma once

#include "assay/machine.hpp"
#include "assay/problem.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

enum class Quantity { seconds, samples_per_second, share, count };

/// A figure as somebody else printed it, in SI units, and how far it may be from the figure that was rounded;
/// a share is a fraction, not a percentage.
struct Quoted {
  double value = 0;
  double rounding = 0;  ///< half a unit of the last digit: the exact figure lies within value +- rounding
  Quantity quantity = Quantity::seconds;
  std::string text;  ///< as it was printed
};

/// `0.0997 s`, `56.7 min`, `5,641/s`, `44.3 %`: digits with an optional point, commas between thousands, and
/// a unit out of ns, us, µs, ms, s, min, h, /s, samples/s and %; without a unit it is a count, which is
/// exact. Texts rather than numbers, since the digits that were printed say how exact the figure is: 0.0100 s
/// is known ten times better than 0.010 s. Nothing when `text` is none of these.
std::optional<Quoted> parse_quoted(std::string_view text);

/// Seconds in a unit of time, `ms` or `milliseconds`; 0 for any other word.
double seconds_in(std::string_view unit);

/// Half a unit of the last digit of the shortest decimal that is this number: the largest difference between
/// a number that was typed in and the figure before rounding. At most a hundredth of it, since zeros at the
/// end are lost: 10 may have been 10.0.
double typed_rounding(double value);

/// Whether two figures can be the same before rounding: their ranges meet. The second is the
/// computed value of the first, with the half-width that follows from the rounding of its inputs.
bool can_agree(const Quoted& stated, double computed, double half_width);

/// The purpose that a step spends time on.
enum class PhaseKind {
  load,     ///< making a batch: reading, decoding, collating; or waiting for one
  copy,     ///< moving it to the accelerator
  compute,  ///< forward, loss, backward, optimizer
  sync,     ///< waiting for other workers or devices
  other
};
inline constexpr std::array<std::string_view, 5> phase_kind_words{"load", "copy", "compute", "sync", "other"};
inline std::string_view to_string(PhaseKind kind) { return phase_kind_words[static_cast<std::size_t>(kind)]; }

/// The whole that a phase is a part of: a step of training, a batch of validation, a checkpoint. Parts of
/// different scopes are never added.
enum class Scope { training, validation, checkpoint };
inline constexpr std::array<std::string_view, 3> scope_words{"training", "validation", "checkpoint"};
inline std::string_view to_string(Scope scope) { return scope_words[static_cast<std::size_t>(scope)]; }

/// State of the page cache when a window was measured.
enum class PageCache { unknown, cold, warm };
inline constexpr std::array<std::string_view, 3> page_cache_words{"unknown", "cold", "warm"};
inline std::string_view to_string(PageCache cache) {
  return page_cache_words[static_cast<std::size_t>(cache)];
}

struct StepPhase {
  std::string name;
  PhaseKind kind = PhaseKind::other;
  Scope scope = Scope::training;
  /// Runs beside the step, in a worker of the loader or on another stream, and adds nothing to its wall time
  /// by itself. A `load` phase that overlaps is the time of a worker for one batch. A `load` phase that does
  /// not is the time of the training loop: all of the loading without workers, and only the waiting with
  /// them.
  bool overlaps = false;
  double mean_seconds = 0;      ///< per step, or whatever else the scope has
  Index samples = 0;            ///< steps behind the mean; 0: not known
  std::vector<double> seconds;  ///< of single steps in order, windows one after the other; may be empty
  std::optional<Quoted> share;  ///< of the step, as the source states it
};

/// Consecutive steps that were timed together.
struct TimedWindow {
  Index first_step = 0;  ///< 0: begins with an epoch, so that start-up is in it
  Index steps = 0;
  double wall_seconds = 0;
  PageCache cache = PageCache::unknown;
  int run = 0;                       ///< windows with the same number are parts of one run, so they may nest
  double began = 0;                  ///< seconds after the first window of the measurement; 0: not known
  std::vector<double> step_seconds;  ///< of each step; empty or `steps` of them
  /// Pages of the records that were in memory when it began and ended, as shares of all; where known.
  std::optional<double> resident_before, resident_after;
  double mean() const { return wall_seconds / static_cast<double>(steps); }
};

struct Dataset {
  Index train = 0;  ///< samples of an epoch; 0 when not stated
  Index validation = 0;
  Index batch = 0;  ///< samples of a step; 0 when not stated
  bool drop_last = false;
  Index checkpoint_every = 0;  ///< steps from one checkpoint to the next; 0 when there are none
};

struct LoaderSetup {
  std::optional<Index> workers;  ///< 0 loads in the training loop itself
  Index prefetch = 2;            ///< batches that are under way per worker; 2 is PyTorch's default
  bool prefetch_stated = false;
  bool in_order = true;
  /// Times of a worker and of a step when both run, by the same times when each runs alone. They share cores
  /// and memory bandwidth, so that these are measured by running both together.
  std::optional<double> load_contention, compute_contention;
};

/// One row of a report about the job, checked for its arithmetic and otherwise unused.
struct Claim {
  std::string where;  ///< the row or paragraph it stands in
  std::optional<Index> batch;
  std::optional<Index> steps;
  std::optional<Quoted> step, throughput, epoch;
  std::optional<Quoted> minimum;   ///< "cannot take less than"
  std::vector<Quoted> derivation;  ///< factors whose product the minimum is said to be
  std::optional<Quoted> total;     ///< said to be the sum of the phases in `of`
  std::vector<std::string> of;
  std::optional<Quoted> slower;             ///< so many times as long as before
  std::optional<Quoted> throughput_change;  ///< said of the same: a share, below zero for less
};

struct Job {
  std::string name;
  std::string hardware;
  Dataset dataset;
  LoaderSetup loader;
  std::vector<TimedWindow> windows;
  std::vector<StepPhase> phases;
  /// The cost of an epoch beyond steps times period: starting workers, filling the first batches, warming up.
  std::optional<double> one_off_seconds;
  std::optional<double> epoch_seconds;  ///< as measured, to score predictions with
  Weather weather;               ///< while the windows were taken; of no seconds where it was not watched
  Index process = 0;             ///< that writes the file; 0: not known
  Index validated = 0;           ///< samples of validation since the last step of training, in such a file
  Index cores = 0;               ///< that the job may use; 0: not known
  double processor_seconds = 0;  ///< of a step, with all processes of the job; 0: not known
  double worker_processor_seconds = 0;  ///< of these, of the workers; 0: not known
  std::vector<Claim> claims;
  std::string source;              ///< the file or files
  std::vector<std::string> notes;  ///< what imports dropped or assumed, and why; each note once
};

/// A phase and a window whose single times are known.
StepPhase timed_phase(std::string name, PhaseKind kind, std::vector<double> seconds, bool overlaps = false,
                      Scope scope = Scope::training);
TimedWindow timed_window(Index first_step, std::vector<double> step_seconds);

/// Full batches, and the samples in a last, smaller one; it is a step only where it is not dropped.
struct StepCount {
  Index full = 0;
  Index partial_samples = 0;
  Index steps() const { return full + (partial_samples > 0 ? 1 : 0); }
};

/// floor(samples / batch) full batches; the rest is a partial batch unless dropped. `batch` > 0.
StepCount count_steps(Index samples, Index batch, bool drop_last);

/// Adds the windows of `more`, a later measurement of the same job, and the times of its phases. Throws Error
/// when they are measurements of different jobs: another batch, other workers, other phases.
void append_windows(Job& job, const Job& more);

}  // namespace assay
