#include "training/job/busy_time.hpp"

#include <algorithm>

namespace assay {

void BusyTime::add(double begin, double end) {
  if (end <= begin) return;
  // Half a megabyte before the first merge; then whenever as many were added as remained, so that merging
  // costs a constant number of sorts per interval.
  constexpr std::size_t slack = 32768;
  spans_.push_back({begin, end});
  if (spans_.size() > 2 * merged_ + slack) merge();
}

void BusyTime::merge() {
  std::ranges::sort(spans_, {}, &Span::begin);
  std::size_t kept = 0;
  for (const Span& span : spans_) {
    if (kept > 0 && span.begin <= spans_[kept - 1].end) {
      spans_[kept - 1].end = std::max(spans_[kept - 1].end, span.end);
    } else {
      spans_[kept++] = span;
    }
  }
  spans_.resize(kept);
  merged_ = kept;
}

const std::vector<Span>& BusyTime::spans() {
  merge();
  return spans_;
}

std::vector<double> BusyTime::within(std::span<const Span> windows) {
  merge();
  std::vector<double> out;
  auto next = spans_.begin();
  for (const Span& window : windows) {
    while (next != spans_.end() && next->end <= window.begin) ++next;
    double busy = 0;
    for (auto one = next; one != spans_.end() && one->begin < window.end; ++one) {
      busy += std::min(one->end, window.end) - std::max(one->begin, window.begin);
    }
    out.push_back(busy);
  }
  return out;
}

BusyTime either(BusyTime& first, BusyTime& second) {
  BusyTime out;
  for (BusyTime* one : {&first, &second}) {
    for (const Span& span : one->spans()) out.add(span.begin, span.end);
  }
  return out;
}

}  // namespace assay
