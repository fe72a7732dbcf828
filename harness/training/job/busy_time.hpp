/// The times at which something was busy: the union of many intervals, in bounded memory, and how much of it
/// lies where.
#pragma once

#include <span>
#include <vector>

namespace assay {

/// [begin, end).
struct Span {
  double begin = 0, end = 0;
};

/// Intervals may come in any order and overlap. Overlaps are merged every so often, so that memory grows with
/// the number of separate busy times, not with the number of intervals.
class BusyTime {
 public:
  void add(double begin, double end);
  /// Disjoint and in order.
  const std::vector<Span>& spans();
  /// Returns how much of each window was busy; windows are disjoint and in order.
  std::vector<double> within(std::span<const Span> windows);

 private:
  void merge();
  std::vector<Span> spans_;
  std::size_t merged_ = 0;  ///< spans that were left by the last merge
};

/// Busy when either was.
BusyTime either(BusyTime& first, BusyTime& second);

}  // namespace assay
