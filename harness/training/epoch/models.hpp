/// Five models of the time of steps, side by side, so that the elaborate ones earn their place. Pure
/// functions; all times are seconds. With W workers, P batches under way for each, load L of a batch, rest C
/// of a step (means l, c), N steps and one-off cost A:
///
///   M0  N mean                 as a progress bar: start-up is spread over the steps
///   M1  A + b N                the line through windows of different lengths, see spread.hpp
///   M2  A + N max(l / W, c)    as in most tuning guides; without workers A + N (l + c)
///   M3  A + N (c + p l / W)    p = (1 - r) / (1 - r^(K + 1)), r = c W / l, K = W P; for r = 1 1 / (K + 1):
///                              the chance that an M/M/1/K queue is empty. tf.data tunes with this formula
///                              (Murray et al. 2021, tf.data: A Machine Learning Data Processing Framework;
///                              tensorflow/core/framework/model.cc, ComputeWaitTime)
///   M4  A + the queue, played  see loader_queue.hpp, L and C drawn from measured times, with
///                              hand_over() in each step
///
/// A of M2 to M4 is without the first fill, which they contain: l, or the first wait that M4 plays. The last
/// smaller batch and the segments of an epoch, each with its own interval, are added to all of them.
#pragma once

#include "training/epoch/calibration.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

enum class Model { mean, line, largest, queue_formula, queue };
inline constexpr std::array all_models{Model::mean, Model::line, Model::largest, Model::queue_formula,
                                       Model::queue};
std::string_view name_of(Model model);  ///< `M0`
std::string in_words(Model model);      ///< `M0 mean x N`

/// The stretch that is predicted: full steps, a last smaller batch as a share of a full one, validation
/// steps, checkpoints, and whether start-up belongs to it.
struct Target {
  double steps = 0;
  double partial = 0;
  double validation_steps = 0;
  double checkpoints = 0;
  bool from_start = true;
};

/// The parts of an epoch beside steps that find their records in memory.
enum class SegmentKind { validation, checkpoint, cold_pages };
std::string_view to_string(SegmentKind kind);

/// A part of an epoch beside its steps: a number of batches of validation, of checkpoints, or of batches that
/// would have missed all their pages. The seconds of the latter are the additional wait of the loop as M4
/// plays it.
struct Segment {
  SegmentKind kind = SegmentKind::validation;
  double count = 0;
  double mean = 0;   ///< seconds of one
  Interval seconds;  ///< of all; coverage 0 and no width where the mean alone is known
};
/// Returns the segments that the target has and the calibration knows. Validation and checkpoints run by
/// themselves, so that their times are added: batches that workers make meanwhile are not taken off.
std::vector<Segment> segments_of(const Calibration& calibration, const Target& target);
double seconds_of(const std::vector<Segment>& segments);

/// The answer of a model, part by part.
struct ModelPrediction {
  Model model = Model::mean;
  std::string impossible;  ///< why it has no answer; nothing below is set then
  double one_off = 0;
  double period = 0;        ///< of a full step, first fill apart
  double partial = 0;       ///< of the last, smaller batch
  Interval seconds;         ///< of all; coverage 0 where no interval can be told, or drift made it a guess
  std::string no_interval;  ///< why
};

/// The queue of a calibration. Where the contention was not measured, it is fitted, so that M4 takes the
/// measured time of a step: by two factors where the wait is known, one on loading and one on the rest, else
/// by one on all times. Factors are 1 at least.
LoaderQueue fitted_queue(const Calibration& calibration);
/// Returns the measured time of a step over the time that M4 makes of its parts; 1 where either is not known,
/// and without workers.
double measured_by_played(const Calibration& calibration);

/// Returns the time that a step waits longer than M4 makes of its parts: for waking threads, and for moving
/// batches from core to core. 0 without workers, where the wait is not known, and where contention was
/// fitted, which contains it.
double hand_over(const Calibration& calibration);

/// Seconds per step of the formulas; `load` and `rest` are means.
double largest_resource(const LoaderQueue& queue, double load, double rest);
double queue_formula(const LoaderQueue& queue, double load, double rest);

/// An interval whose ends differ by a larger factor decides nothing.
inline constexpr double widest_prediction = 1.5;
/// Returns how many of its first steps, more than were measured, would narrow the interval of an epoch, which
/// is `now`, to that; 0 where none would, or nobody can tell.
Index enough_steps(const Calibration& calibration, const Target& target, const Interval& now);

/// Intervals are wider by the pace of the calibration.
std::vector<ModelPrediction> predict_with_all(const Calibration& calibration, const Target& target);

/// The most elaborate model that has an answer; null when none has.
const ModelPrediction* most_elaborate(const std::vector<ModelPrediction>& predictions);

/// Draws of M4, the same for every configuration, so that differences are not luck.
inline constexpr std::uint64_t queue_seed = 42;
QueueRun play_drawn(const LoaderQueue& queue, Index steps, const std::vector<double>& load,
                    const std::vector<double>& rest);

}  // namespace assay
