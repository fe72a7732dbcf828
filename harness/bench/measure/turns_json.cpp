// The requests to the sides of a launch and their answers, as JSON. The other side may be an older program.
#include "assay/error.hpp"
#include "bench/measure/baton.hpp"
#include "bench/measure/results_fields.hpp"
#include "bench/measure/turns.hpp"

namespace assay {

// Beside the types, where argument-dependent lookup finds them.
void describe(Fields& f, TurnTrial& wanted) {
  describe(f, wanted.trial);
  f("slowdown", wanted.slowdown);
  f("patience", wanted.patience, {.optional = true});
}

void describe(Fields& f, TurnsRequest& request) {
  constexpr Index most_descriptors = 1 << 20;
  f("side", request.side, {.low = 0, .high = most_sides - 1});
  f("sides", request.sides, {.low = 1, .high = most_sides});
  f("descriptor", request.descriptor, {.low = 0, .high = most_descriptors});
  f("core", request.core, {.low = 0, .high = most_threads});
  f("order", request.order);
  f("check", request.check);
  f("slice_seconds", request.policy.slice_seconds);
  f("side_seconds", request.policy.side_seconds);
  f("seed", request.policy.seed);
  f("time_limit", request.policy.time_limit, {.optional = true});
  if (f.reads()) request.policy.audited = false;
  f("audited", request.policy.audited, {.optional = true});
  f("trials", request.trials);
}

void describe(Fields& f, TurnSample& sample) {
  f("key", sample.key);
  f("seconds", sample.seconds);
  f("calls", sample.calls, {.low = 1});
  f("allocations_per_call", sample.allocations_per_call);
  f("allocated_bytes_per_call", sample.allocated_bytes_per_call);
  f("agrees", sample.agrees);
  f("disagreement", sample.disagreement);
  f("figures", sample.figures, {.terse = true});
}

std::string to_json(const TurnsRequest& request) { return to_value(request).dump(); }

std::vector<TurnSample> turn_samples_from_json(const std::string& text, const std::string& where) {
  const Json file = parse_json(text, where);
  return value_from<std::vector<TurnSample>>(JsonField(file, where, "build both programs anew"));
}

void serve_turns(const Registry& registry, const std::filesystem::path& request,
                 const std::filesystem::path& answer, const Hooks& hooks) {
  const Json file = parse_json(read_file(request), request.string());
  const auto wanted = value_from<TurnsRequest>(
      JsonField(file, request.string(), "`turns` is for the program itself; use `assay gate --base`"));
  leave_crashes_to_parent();
  look_like_all_others();
  write_file(answer, to_value(take_turns(registry, wanted, hooks)).dump());
}

}  // namespace assay
