/// Where the steps of a traced training loop lie: what both readers of a profiler's trace ask of it.
#pragma once

#include "training/job/busy_time.hpp"
#include "training/job/trace_events.hpp"

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace assay {

/// N of `ProfilerStep#N`.
std::optional<Index> step_number(std::string_view name);
/// `enumerate(DataLoader)#...__next__`
bool is_fetch(std::string_view name);

/// A step lasts from its marker to the next one, or to its own end where none follows; without markers from
/// one fetch of the data loader to the next. Times are microseconds since the first event that has a place.
class TraceSteps {
 public:
  explicit TraceSteps(const std::filesystem::path& file) : file_(file) {}

  /// Nothing for an event without a time, or with a duration that is negative or of more than 30 years.
  std::optional<Span> place(const TraceEvent& event);
  void add_marker(Index number, Span span);
  /// Throws Error where two processes load batches.
  void add_fetch(const TraceEvent& event, Span span);
  /// In order. Throws Error where there are none of the trace's `events`, or where steps overlap.
  std::vector<Span> spans(std::size_t events);

  bool has_markers() const { return !markers_.empty(); }
  bool has_fetches() const { return !fetches_.empty(); }
  /// The number of the first marker, or 1: the place of fetches in an epoch is not known.
  Index first() const { return has_markers() ? markers_.begin()->first : 1; }
  /// Markers that spans() found to be missing between others.
  Index missing() const { return missing_; }
  /// Markers that repeat others.
  std::size_t repeated() const { return repeated_; }

 private:
  const std::filesystem::path& file_;
  std::optional<double> origin_;
  std::map<Index, Span> markers_;
  std::vector<double> fetches_;    ///< when they began
  std::optional<double> process_;  ///< of the fetches
  Index missing_ = 0;
  std::size_t repeated_ = 0;
};

}  // namespace assay
