/// Makes results of options, for run, record and gate alike.
#pragma once

#include "app/options.hpp"
#include "assay/pipeline.hpp"

namespace assay {

RunRequest run_request(const SelectionOptions& selection, int launches, const Registry& registry);

/// run() with progress, in processes of their own.
Results run_with_progress(const Registry& registry, const RunRequest& request, bool quiet);

}  // namespace assay
