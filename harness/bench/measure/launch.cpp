// Launches: process starts that sample, and the JSON they are asked and answer with.

#include "assay/error.hpp"
#include "assay/measure.hpp"
#include "bench/measure/results_fields.hpp"
#include "core/files/child_process.hpp"
#include "core/files/scratch.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace assay {

// Beside the types, where argument-dependent lookup finds them.
void describe(Fields& f, MeasurePolicy& policy) {
  f("launches", policy.launches);
  f("slices", policy.slices);
  f("slice_seconds", policy.slice_seconds);
  f("calls_per_slice", policy.calls_per_slice);
  f("trial_seconds", policy.trial_seconds);
  f("seed", policy.seed);
}

void describe(Fields& f, LaunchRequest& request) {
  f("policy", request.policy);
  f("index", request.index);
  f("trials", request.trials);
}

void describe(Fields& f, TrialSample& sample) {
  f("key", sample.key);
  f("slices", sample.slices);
  f("allocations_per_call", sample.allocations_per_call);
  f("allocated_bytes_per_call", sample.allocated_bytes_per_call);
  f("workspace_bytes", sample.workspace_bytes);
}

namespace {

struct LaunchAnswer {
  std::vector<TrialSample> samples;
};

void describe(Fields& f, LaunchAnswer& answer) { f("samples", answer.samples); }

/// OpenBLAS's worker spins for 2^26 cycles after a call by default, on the core that the next trial's second
/// thread needs. 2^18 cycles still cover back-to-back calls.
Variables quiet_thread_pools() {
  if (std::getenv("OPENBLAS_THREAD_TIMEOUT") != nullptr) return {};
  return {{"OPENBLAS_THREAD_TIMEOUT", "18"}};
}

}  // namespace

std::string to_json(const LaunchRequest& request) { return to_value(request).dump(); }

std::vector<TrialSample> sample_in_new_process(const LaunchRequest& request, const Hooks& hooks) {
  const ScratchFolder scratch;
  const auto request_file = (scratch.path() / "request.json").string();
  const auto answer_file = (scratch.path() / "answer.json").string();
  write_file(request_file, to_json(request));
  hooks.say(fmt::format("launch {} of {}", request.index + 1, request.policy.launches));
  const pid_t child = start_child({.words = {"/proc/self/exe", "launch", request_file, answer_file}},
                                  {.environment = quiet_thread_pools()});
  const ChildEnd end = wait_for_children({child}, {.stopped = hooks.stop});
  if (!std::filesystem::exists(answer_file)) {
    if (hooks.stopped()) return {};
    throw std::runtime_error(fmt::format("a launch {} and gave no answer", end.text()));
  }
  const Json answer = parse_json(read_file(answer_file), answer_file);
  return value_from<LaunchAnswer>(JsonField(answer, answer_file, "measure again")).samples;
}

void serve_launch(const Registry& registry, const std::filesystem::path& request,
                  const std::filesystem::path& answer, const Hooks& hooks) {
  const Json file = parse_json(read_file(request), request.string());
  const auto wanted = value_from<LaunchRequest>(
      JsonField(file, request.string(), "`launch` is for the program itself; use `assay run`"));
  write_file(answer, to_value(LaunchAnswer{sample_here(registry, wanted, hooks)}).dump());
}

}  // namespace assay
