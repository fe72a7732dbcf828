#include "app/remaining_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay {

void RemainingTime::note(double time, double share) {
  if (!points_.empty() && share <= points_.back().share) {
    if (share >= points_.back().share / 2) return;
    points_.clear();
    whole_.reset();
  }
  // Points that lie close to each other say the same of the halves of the time.
  constexpr double close = 0.02;
  if (points_.size() > 1 && time - points_[points_.size() - 2].time < close * (time - points_.front().time)) {
    points_.back() = {time, share};
  } else {
    points_.push_back({time, share});
  }
  const double half = (points_.front().time + time) / 2;
  const double gained = share - share_at(half);
  if (time > half && gained > 0) whole_ = time + (1 - share) * (time - half) / gained;
}

double RemainingTime::share_at(double time) const {
  const auto after = std::ranges::find_if(points_, [&](const Point& one) { return one.time >= time; });
  if (after == points_.begin()) return after->share;
  const Point &a = *(after - 1), &b = *after;
  return a.share + (b.share - a.share) * (time - a.time) / (b.time - a.time);
}

std::optional<double> RemainingTime::left(double time) const {
  if (!whole_) return std::nullopt;
  return std::max(*whole_ - time, (time - points_.back().time) / 4);
}

std::string remaining_text(double seconds) {
  constexpr double minute = 60, hour = 3600;
  // Rounded up to a step that grows with the time: what is told is not exact.
  const auto up_to = [&](double step) { return step * std::ceil(seconds / step); };
  if (seconds <= minute)
    return fmt::format("about {:.0f} s left", std::max(1.0, up_to(seconds < 10 ? 1 : 5)));
  if (seconds <= 2 * minute) return fmt::format("about {:.0f} s left", up_to(10));
  if (seconds <= hour) return fmt::format("about {:.0f} min left", up_to(minute) / minute);
  const double rounded = up_to(5 * minute), hours = std::floor(rounded / hour);
  return fmt::format("about {:.0f} h {:.0f} min left", hours, (rounded - hours * hour) / minute);
}

}  // namespace assay
