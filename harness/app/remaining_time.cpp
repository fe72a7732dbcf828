#include "app/remaining_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay {

void RemainingTime::note(double time, double share) {
  if (last_ && share < last_->share / 2) *this = {};
  if (!first_) {
    first_ = last_ = Point{time, share};
    return;
  }
  if (share <= last_->share) return;
  const double passed = time - first_->time, since = time - last_->time;
  last_ = Point{time, share};
  if (passed <= 0) return;
  const double whole = time + (1 - share) * passed / (share - first_->share);
  constexpr double follows_within = 0.1, least_seconds = 0.5;
  const bool earlier = whole_ && whole < *whole_;
  const double weight = earlier ? 1 - std::exp(-since / std::max(least_seconds, follows_within * passed)) : 1;
  whole_ = earlier ? *whole_ + weight * (whole - *whole_) : whole;
}

std::optional<double> RemainingTime::left(double time) const {
  if (!whole_) return std::nullopt;
  return std::max(*whole_ - time, (time - last_->time) / 4);
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
