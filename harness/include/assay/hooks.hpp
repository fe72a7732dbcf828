/// Hooks: how a stage that takes long says what it does and how far it is, and learns that the user wants it
/// to stop.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

namespace assay {

/// Both may be empty.
struct Hooks {
  /// `done` is the share of the stage's time that is over, from 0 to 1; nothing where nobody can tell.
  std::function<void(std::string_view what, std::optional<double> done)> progress;
  std::function<bool()> stop;  ///< true once the user interrupted: finish nothing more
  void say(std::string_view what, std::optional<double> done = std::nullopt) const {
    if (progress) progress(what, done);
  }
  bool stopped() const { return stop && stop(); }

  /// Returns hooks for a stage that is a part of this one, which begins and ends at these shares. A part of
  /// no width is one whose own shares say nothing of the whole.
  Hooks part(double begin, double end) const {
    if (!progress) return *this;
    return {.progress =
                [whole = progress, begin, end](std::string_view what, std::optional<double> done) {
                  whole(what, done ? std::optional(begin + (end - begin) * *done) : std::nullopt);
                },
            .stop = stop};
  }
};

/// Thrown when the user asked for a stop while a child ran or a lock was waited for. No fault: functions that
/// others call return what their headers say of it.
struct Stopped {};

}  // namespace assay
