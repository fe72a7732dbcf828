/// Progress on standard error: one rewritten line on a terminal, a line now and then elsewhere.
#pragma once

#include "assay/hooks.hpp"

namespace assay {

/// Hooks that show progress, remember what is running for crash reports, and stop on an interrupt.
/// Clears its line when it goes.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  Hooks hooks();

 private:
  void show(std::string_view what);
  bool terminal_;
  double started_;
  double shown_;
};

}  // namespace assay
