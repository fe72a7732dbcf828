/// Progress on standard error: one rewritten line on a terminal, a line now and then elsewhere.
#pragma once

#include "app/remaining_time.hpp"
#include "assay/hooks.hpp"

#include <atomic>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace assay {

/// "  12 s, about 40 s left  launch 2 of 6". What is left is told where it is known and all takes more than
/// five seconds.
std::string progress_line(double seconds, std::optional<double> left, std::string_view what);

/// Hooks that show progress, remember what is running for crash reports, and stop on an interrupt. They work
/// in forked children as well: whoever spoke last keeps the line fresh. Clears its line when it goes. A quiet
/// one shows nothing.
class Progress {
 public:
  explicit Progress(bool quiet = false);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  Hooks hooks();

 private:
  void say(std::string_view what, std::optional<double> done);
  /// Shows that time goes on while nobody says anything.
  void keep_fresh();
  void show(double time);
  bool quiet_, terminal_;
  /// In memory that children share: a line that one of them showed is fresh for all.
  struct Shown {
    std::atomic<double> at;
    std::atomic<pid_t> speaker;  ///< the process that spoke last
  };
  static Shown* shared(double now);
  double started_;
  RemainingTime remaining_;
  std::string what_;
  Shown* shown_;
};

}  // namespace assay
