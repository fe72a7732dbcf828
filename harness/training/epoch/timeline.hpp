/// One epoch as a trace that Perfetto and chrome://tracing show.
#pragma once

#include "assay/training.hpp"

#include <string>

namespace assay {

/// JSON in the Trace Event Format: the training loop as thread 0 with a slice per step and per phase, one per
/// checkpoint, one for validation and for each phase of its batches; each worker with a slice per batch; and
/// a counter of batches that are ready. Times are microseconds since the run began.
std::string timeline_json(const std::string& name, const EpochTimes& epoch);

}  // namespace assay
