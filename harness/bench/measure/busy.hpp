/// A process that keeps a core busy, for tests of measurements on a busy machine.
#pragma once

#include <sys/types.h>

namespace assay {

/// Keeps about one core and some of the memory's bandwidth busy as long as it lives, in a process of its own,
/// on whichever core the system gives it.
class BusyCore {
 public:
  BusyCore();
  ~BusyCore();
  BusyCore(const BusyCore&) = delete;
  BusyCore& operator=(const BusyCore&) = delete;

 private:
  pid_t child_;
};

}  // namespace assay
