// The verbs that the program, or another build of it, starts it with.

#include "app/interrupt.hpp"
#include "app/verb_functions.hpp"
#include "assay/pipeline.hpp"
#include "bench/measure/sides.hpp"
#include "bench/measure/turns.hpp"
#include "core/check/passed_corners.hpp"

namespace assay {
namespace {

/// Nobody looks at these processes: what runs is noted for crash reports alone.
Hooks served_hooks() {
  return {.progress = [](std::string_view what, std::optional<double>) { now_running(what); },
          .stop = interrupted};
}

}  // namespace

Outcome launch_verb(const ServedOptions& options, const Registry& registry) {
  serve_launch(registry, options.request, options.answer, served_hooks());
  return {};
}

Outcome turns_verb(const ServedOptions& options, const Registry& registry) {
  serve_turns(registry, options.request, options.answer, served_hooks());
  return {};
}

Outcome describe_verb(const ServedOptions& options, const Registry& registry) {
  serve_description(registry, options.request, options.answer, usual_passed_corners(), served_hooks());
  return {};
}

}  // namespace assay
