#include "app/progress.hpp"

#include "app/interrupt.hpp"
#include "app/terminal.hpp"
#include "core/text/utf8.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace assay {
namespace {

constexpr std::size_t line_width = 79;
constexpr double seconds_between_plain_lines = 30;
constexpr double seconds_between_rewrites = 0.1;
constexpr double seconds_between_ticks = 1;  // with nothing new to say

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::string progress_line(double seconds, std::optional<double> left, std::string_view what) {
  constexpr double worth_telling = 5, known_after = 2;
  const bool told = left && seconds >= known_after && seconds + *left > worth_telling;
  return fmt::format("{:4.0f} s{}  {}", seconds, told ? ", " + remaining_text(*left) : "",
                     visible(what, Lines::one));
}

Progress::Progress(bool quiet)
    : quiet_(quiet), terminal_(may_rewrite_lines(STDERR_FILENO)), started_(now()), shown_at_(started_) {}

Progress::~Progress() {
  if (terminal_ && !quiet_) fmt::print(stderr, "\r{:{}}\r", "", line_width);
}

Hooks Progress::hooks() {
  return {.progress = [this](std::string_view what, std::optional<double> done) { say(what, done); },
          .stop =
              [this] {
                // The wait for a child asks this ten times a second.
                keep_fresh();
                return interrupted();
              }};
}

void Progress::say(std::string_view what, std::optional<double> done) {
  now_running(what);
  const double time = now();
  if (done) remaining_.note(time, *done);
  what_ = what;
  const double wait = terminal_ ? seconds_between_rewrites : seconds_between_plain_lines;
  if (time - shown_at_ >= wait) show(time);
}

void Progress::keep_fresh() {
  const double time = now();
  const double wait = terminal_ ? seconds_between_ticks : seconds_between_plain_lines;
  if (time - shown_at_ < wait) return;
  show(time);
}

void Progress::show(double time) {
  shown_at_ = time;
  if (quiet_) return;
  const std::string line = progress_line(time - started_, remaining_.left(time), what_);
  if (terminal_) {
    fmt::print(stderr, "\r{:{}.{}}", line, line_width, line_width);
    std::fflush(stderr);
  } else {
    fmt::print(stderr, "{}\n", line);
  }
}

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
  // Rounds up to a step that grows with the time, since the estimate is not exact.
  const auto up_to = [&](double step) { return step * std::ceil(seconds / step); };
  if (seconds <= minute)
    return fmt::format("about {:.0f} s left", std::max(1.0, up_to(seconds < 10 ? 1 : 5)));
  if (seconds <= 2 * minute) return fmt::format("about {:.0f} s left", up_to(10));
  if (seconds <= hour) return fmt::format("about {:.0f} min left", up_to(minute) / minute);
  const double rounded = up_to(5 * minute), hours = std::floor(rounded / hour);
  return fmt::format("about {:.0f} h {:.0f} min left", hours, (rounded - hours * hour) / minute);
}

}  // namespace assay
