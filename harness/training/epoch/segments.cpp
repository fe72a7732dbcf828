// The segments of an epoch: its parts beside steps that find their records in memory.
#include "training/epoch/models.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace assay {
namespace {

/// Returns the time that the loop waits longer for batches that miss pages, as M4 plays it.
std::optional<Segment> cold_segment(const Calibration& c, double steps) {
  if (!c.cold || steps < 1 || c.load.empty() || c.rest.empty()) return std::nullopt;
  // Until e^-12 of the pages are missing, or for a while where that never comes: the epoch goes on like it.
  constexpr double gone = 12, longest = 20000;
  const double rate = c.cold->rate;
  const double most = std::min({steps, rate > 0 ? std::ceil(gone / rate) : longest, longest});
  const double scale = rate > 0 ? 1 : steps / most;
  const auto count = static_cast<Index>(most);
  const auto played = [&](double extra) {
    LoaderQueue queue = c.queue;
    queue.cold = {.first = extra, .rate = rate};
    return play_drawn(queue, count, c.load, c.rest).seconds;
  };
  const double warm = played(0);
  const auto longer = [&](double extra) { return scale * std::max(0.0, played(extra) - warm); };
  const Interval& extra = c.cold->extra;
  Segment out{.kind = SegmentKind::cold_pages, .mean = extra.middle};
  for (Index i = 0; i < count; ++i) out.count += scale * std::exp(-rate * static_cast<double>(i));
  out.seconds = {longer(extra.low), longer(extra.middle), longer(extra.high), extra.coverage};
  return out;
}

}  // namespace

std::string_view to_string(SegmentKind kind) {
  constexpr std::array<std::string_view, 3> words{"validation", "checkpoint", "cold pages"};
  return words[static_cast<std::size_t>(kind)];
}

std::vector<Segment> segments_of(const Calibration& c, const Target& target) {
  std::vector<Segment> out;
  const auto add = [&](SegmentKind kind, double count, const Spread& one) {
    if (count <= 0 || one.steps == 0) return;
    Interval seconds = sum_of_steps(one, count);
    seconds.low = std::max(0.0, seconds.low);  // few samples may say less than no time
    out.push_back({kind, count, one.mean, seconds});
  };
  add(SegmentKind::validation, target.validation_steps, c.validation);
  add(SegmentKind::checkpoint, target.checkpoints, c.checkpoint);
  if (target.from_start) {
    if (const auto cold = cold_segment(c, target.steps)) out.push_back(*cold);
  }
  return out;
}

double seconds_of(const std::vector<Segment>& segments) {
  double out = 0;
  for (const Segment& segment : segments) out += segment.seconds.middle;
  return out;
}

}  // namespace assay
