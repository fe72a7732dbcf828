#include "app/measuring.hpp"

#include "app/progress.hpp"

namespace assay {

RunRequest run_request(const SelectionOptions& selection, int launches, const Registry& registry) {
  return {.suite = load_suite(selection.suite, registry),
          .selection = {.filter = selection.filter, .threads = selection.threads, .seed = selection.seed},
          .measuring = {.launches = launches, .seed = selection.seed, .time_limit = selection.time_limit},
          .checking = {.own_process = true, .time_limit = selection.time_limit},
          .command = command_of("run", RunOptions{.selection = selection, .launches = launches})};
}

Results run_with_progress(const Registry& registry, const RunRequest& request, bool quiet) {
  Progress progress(quiet);
  return run(registry, request, sample_in_new_process, progress.hooks());
}

}  // namespace assay
