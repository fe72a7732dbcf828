// The verbs that the program, or another build of it, starts it with.

#include "app/interrupt.hpp"
#include "app/verbs.hpp"
#include "assay/pipeline.hpp"
#include "bench/measure/description.hpp"
#include "bench/measure/turns.hpp"

namespace assay {

int launch_verb(const Options& options, const Registry& registry) {
  serve_launch(registry, options.first, options.second, {.progress = now_running, .stop = interrupted});
  return exit_code::passed;
}

int turns_verb(const Options& options, const Registry& registry) {
  serve_turns(registry, options.first, options.second, {.progress = now_running, .stop = interrupted});
  return exit_code::passed;
}

int describe_verb(const Options& options, const Registry& registry) {
  serve_description(registry, options.first, options.second);
  return exit_code::passed;
}

}  // namespace assay
