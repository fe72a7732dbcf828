/// Hooks: how a stage that takes long says what it does, and learns that the user wants it to stop.
#pragma once

#include <functional>
#include <string_view>

namespace assay {

/// Both may be empty.
struct Hooks {
  std::function<void(std::string_view what)> progress;
  std::function<bool()> stop;  ///< true once the user interrupted: finish nothing more
  void say(std::string_view what) const {
    if (progress) progress(what);
  }
  bool stopped() const { return stop && stop(); }
};

/// Thrown when the user asked for a stop while a child ran or a lock was waited for. No fault: functions that
/// others call return what their headers say of it.
struct Stopped {};

}  // namespace assay
