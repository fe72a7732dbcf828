// What the sides of a launch are asked, and what they answer, as JSON.
#include "assay/error.hpp"
#include "assay/results.hpp"
#include "bench/measure/baton.hpp"
#include "bench/measure/turns.hpp"
#include "core/json/json.hpp"

namespace assay {
namespace {

constexpr const char* remedy = "`turns` is for the program itself; use `assay gate --base`";

TurnsRequest request_from(const JsonField& field) {
  TurnsRequest out{.side = static_cast<int>(field.at("side").integer(0, most_sides - 1)),
                   .sides = static_cast<int>(field.at("sides").integer(1, most_sides)),
                   .descriptor = static_cast<int>(field.at("descriptor").integer(0, 1 << 20)),
                   .core = static_cast<int>(field.at("core").integer(0, 1 << 20)),
                   .order = field.at("order").unsigned_integer(),
                   .check = field.at("check").boolean(),
                   .policy = {.slice_seconds = field.at("slice_seconds").number(),
                              .side_seconds = field.at("side_seconds").number(),
                              .seed = field.at("seed").unsigned_integer()}};
  for (const JsonField& trial : field.at("trials").items()) {
    out.trials.push_back({.trial = {.key = trial.at("key").text(),
                                    .operation = trial.at("operation").text(),
                                    .variant = trial.at("variant").text(),
                                    .problem = trial.at("problem").text(),
                                    .threads = static_cast<int>(trial.at("threads").integer(1, 4096))},
                          .slowdown = trial.at("slowdown").number()});
    // Programs from before there was patience do not say it.
    if (const auto patience = trial.find("patience")) out.trials.back().patience = patience->number();
  }
  return out;
}

Json to_value(const TurnSample& sample) {
  return {{"key", sample.key},
          {"seconds", sample.seconds},
          {"calls", sample.calls},
          {"allocations_per_call", sample.allocations_per_call},
          {"allocated_bytes_per_call", sample.allocated_bytes_per_call},
          {"agrees", sample.agrees},
          {"disagreement", sample.disagreement}};
}

}  // namespace

std::string to_json(const TurnsRequest& request) {
  Json trials = Json::array();
  for (const TurnTrial& wanted : request.trials) {
    trials.push_back({{"key", wanted.trial.key},
                      {"operation", wanted.trial.operation},
                      {"variant", wanted.trial.variant},
                      {"problem", wanted.trial.problem},
                      {"threads", wanted.trial.threads},
                      {"slowdown", wanted.slowdown},
                      {"patience", wanted.patience}});
  }
  const Json value{{"side", request.side},
                   {"sides", request.sides},
                   {"descriptor", request.descriptor},
                   {"core", request.core},
                   {"order", request.order},
                   {"check", request.check},
                   {"slice_seconds", request.policy.slice_seconds},
                   {"side_seconds", request.policy.side_seconds},
                   {"seed", request.policy.seed},
                   {"trials", std::move(trials)}};
  return value.dump();
}

std::vector<TurnSample> turn_samples_from_json(const std::string& text, const std::string& where) {
  const Json value = parse_json(text, where);
  std::vector<TurnSample> out;
  for (const JsonField& sample : JsonField(value, where, "build both programs anew").items()) {
    out.push_back({.key = sample.at("key").text(),
                   .seconds = sample.at("seconds").numbers(),
                   .calls = sample.at("calls").integer(1, std::numeric_limits<Index>::max()),
                   .allocations_per_call = sample.at("allocations_per_call").number(),
                   .allocated_bytes_per_call = sample.at("allocated_bytes_per_call").number(),
                   .agrees = sample.at("agrees").boolean(),
                   .disagreement = sample.at("disagreement").text()});
  }
  return out;
}

void serve_turns(const Registry& registry, const std::filesystem::path& request,
                 const std::filesystem::path& answer, const Hooks& hooks) {
  const Json value = parse_json(read_file(request), request.string());
  const TurnsRequest wanted = request_from(JsonField(value, request.string(), remedy));
  Json samples = Json::array();
  for (const TurnSample& sample : take_turns(registry, wanted, hooks)) samples.push_back(to_value(sample));
  write_file(answer, samples.dump());
}

}  // namespace assay
