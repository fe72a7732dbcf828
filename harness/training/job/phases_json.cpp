#include "training/job/phases_json.hpp"

#include "core/json/json.hpp"
#include "core/text/near_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace assay {
namespace {

constexpr const char* remedy = "harness/training/README.md describes the format";
constexpr Index most = Index{1} << 50;

void require_known(const JsonField& field, std::initializer_list<const char*> keys) {
  const std::vector<std::string> known(keys.begin(), keys.end());
  (void)field.find("");  // refuses what is no object
  for (const auto& [key, value] : field.value().members()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    std::string near;
    for (const std::string& name : near_names(key, known, 2)) {
      near += fmt::format("{}\"{}\"", near.empty() ? "" : " or ", name);
    }
    field.refuse(fmt::format("has an unknown key \"{}\"; is it {}?", key, near));
  }
}

double finite(const JsonField& field) {
  const double out = field.number();
  if (!std::isfinite(out)) field.refuse("must be a finite number");
  return out;
}

std::vector<double> finite_list(const JsonField& field) {
  std::vector<double> out = field.numbers();
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!std::isfinite(out[i])) field.items()[i].refuse("must be a finite number");
  }
  return out;
}

template <typename Choice>
Choice word(const JsonField& field, std::span<const Choice> choices) {
  const std::string text = field.text();
  std::string names;
  for (const Choice choice : choices) {
    if (text == to_string(choice)) return choice;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", to_string(choice));
  }
  field.refuse(fmt::format("is {}, must be one of {}", text, names));
}

constexpr std::array kinds{PhaseKind::load, PhaseKind::copy, PhaseKind::compute, PhaseKind::sync,
                           PhaseKind::other};
constexpr std::array scopes{Scope::training, Scope::validation, Scope::checkpoint};
constexpr std::array caches{PageCache::unknown, PageCache::cold, PageCache::warm};

Quoted quoted_field(const JsonField& field, Quantity quantity, const char* example) {
  const std::string text = field.text();
  const auto out = parse_quoted(text);
  if (!out || out->quantity != quantity) {
    field.refuse(
        fmt::format("is \"{}\", must be a figure with its unit as a text, such as \"{}\"", text, example));
  }
  return *out;
}

std::optional<Quoted> maybe_quoted(const JsonField& parent, const char* key, Quantity quantity,
                                   const char* example) {
  const auto field = parent.find(key);
  if (!field) return std::nullopt;
  return quoted_field(*field, quantity, example);
}

Dataset dataset_of(const JsonField& field) {
  require_known(field, {"train", "validation", "batch", "drop_last", "checkpoint_every"});
  Dataset out;
  if (const auto train = field.find("train")) out.train = train->integer(0, most);
  if (const auto validation = field.find("validation")) out.validation = validation->integer(0, most);
  if (const auto batch = field.find("batch")) out.batch = batch->integer(1, most);
  if (const auto drop = field.find("drop_last")) out.drop_last = drop->boolean();
  if (const auto every = field.find("checkpoint_every")) out.checkpoint_every = every->integer(0, most);
  return out;
}

std::optional<double> factor(const JsonField& parent, const char* key) {
  const auto field = parent.find(key);
  if (!field) return std::nullopt;
  const double out = finite(*field);
  if (out <= 0) field->refuse("must be above 0: the time together by the time alone");
  return out;
}

LoaderSetup loader_of(const JsonField& field) {
  require_known(field, {"workers", "prefetch", "in_order", "load_contention", "compute_contention"});
  LoaderSetup out;
  if (const auto workers = field.find("workers")) out.workers = workers->integer(0, 4096);
  if (const auto prefetch = field.find("prefetch")) {
    out.prefetch = prefetch->integer(1, 4096);
    out.prefetch_stated = true;
  }
  if (const auto order = field.find("in_order")) out.in_order = order->boolean();
  out.load_contention = factor(field, "load_contention");
  out.compute_contention = factor(field, "compute_contention");
  return out;
}

TimedWindow window_of(const JsonField& field, int run) {
  require_known(field, {"first_step", "steps", "wall_seconds", "cache", "run", "step_seconds"});
  TimedWindow out{.run = run};
  if (const auto first = field.find("first_step")) out.first_step = first->integer(0, most);
  if (const auto own = field.find("run")) out.run = static_cast<int>(own->integer(0, 1'000'000));
  if (const auto cache = field.find("cache")) out.cache = word<PageCache>(*cache, caches);
  if (const auto seconds = field.find("step_seconds")) {
    out.step_seconds = finite_list(*seconds);
    if (out.step_seconds.empty()) seconds->refuse("must hold the time of at least one step");
    out.steps = static_cast<Index>(out.step_seconds.size());
    for (const double one : out.step_seconds) out.wall_seconds += one;
  }
  if (const auto steps = field.find("steps")) {
    const Index count = steps->integer(1, most);
    if (out.steps > 0 && count != out.steps) {
      steps->refuse(fmt::format("is {}, but step_seconds holds {}", count, out.steps));
    }
    out.steps = count;
  } else if (out.steps == 0) {
    field.at("steps");
  }
  if (const auto wall = field.find("wall_seconds")) {
    out.wall_seconds = finite(*wall);
  } else if (out.step_seconds.empty()) {
    field.at("wall_seconds");
  }
  return out;
}

StepPhase phase_of(const std::string& name, const JsonField& field) {
  require_known(field, {"mean_seconds", "samples", "kind", "overlaps", "scope", "seconds", "share"});
  StepPhase out{.name = name, .kind = word<PhaseKind>(field.at("kind"), kinds)};
  if (const auto scope = field.find("scope")) out.scope = word<Scope>(*scope, scopes);
  if (const auto overlaps = field.find("overlaps")) out.overlaps = overlaps->boolean();
  if (const auto seconds = field.find("seconds")) {
    out.seconds = finite_list(*seconds);
    if (out.seconds.empty()) seconds->refuse("must hold the time of at least one step");
    for (const double one : out.seconds) out.mean_seconds += one;
    out.mean_seconds /= static_cast<double>(out.seconds.size());
    out.samples = static_cast<Index>(out.seconds.size());
  } else {
    out.mean_seconds = finite(field.at("mean_seconds"));
  }
  if (const auto samples = field.find("samples")) {
    const Index count = samples->integer(1, most);
    if (!out.seconds.empty() && count != out.samples) {
      samples->refuse(fmt::format("is {}, but seconds holds {}", count, out.samples));
    }
    out.samples = count;
  }
  if (const auto mean = field.find("mean_seconds"); mean && !out.seconds.empty()) {
    const double stated = finite(*mean);
    if (std::abs(stated - out.mean_seconds) > 0.02 * std::abs(out.mean_seconds)) {
      mean->refuse(fmt::format("is {}, but the mean of seconds is {}", stated, out.mean_seconds));
    }
  }
  out.share = maybe_quoted(field, "share", Quantity::share, "44.3 %");
  return out;
}

Claim claim_of(const JsonField& field) {
  require_known(field, {"where", "batch", "steps", "step", "throughput", "epoch", "minimum", "derivation",
                        "total", "of"});
  Claim out{.where = field.text_or("where", "")};
  if (const auto batch = field.find("batch")) out.batch = batch->integer(1, most);
  if (const auto steps = field.find("steps")) out.steps = steps->integer(1, most);
  out.step = maybe_quoted(field, "step", Quantity::seconds, "0.0997 s");
  out.throughput = maybe_quoted(field, "throughput", Quantity::samples_per_second, "5,641/s");
  out.epoch = maybe_quoted(field, "epoch", Quantity::seconds, "56.7 min");
  out.minimum = maybe_quoted(field, "minimum", Quantity::seconds, "21.7 min");
  out.total = maybe_quoted(field, "total", Quantity::seconds, "0.0238 s");
  if (const auto factors = field.find("derivation")) {
    for (const JsonField& one : factors->items()) {
      const auto parsed = parse_quoted(one.text());
      if (!parsed)
        one.refuse(fmt::format("is \"{}\", must be a figure such as \"0.0238 s\" or \"34221\"", one.text()));
      out.derivation.push_back(*parsed);
    }
  }
  if (const auto names = field.find("of")) {
    for (const JsonField& name : names->items()) out.of.push_back(name.text());
  }
  if (out.total && out.of.empty())
    field.refuse("has a \"total\" without the phases \"of\" which it is the sum");
  return out;
}

}  // namespace

Job read_phases_json(const std::string& text, const std::string& where) {
  const Json value = parse_json(text, where);
  const JsonField file(value, where, remedy);
  require_schema(file, job_schema);
  require_known(file, {"schema", "job", "hardware", "source", "dataset", "loader", "windows", "phases",
                       "one_off_seconds", "measured_epoch_seconds", "claims"});
  Job out{.name = file.at("job").text(), .hardware = file.text_or("hardware", ""), .source = where};
  (void)file.text_or("source", "");  // for people: where the figures are from
  if (const auto dataset = file.find("dataset")) out.dataset = dataset_of(*dataset);
  if (const auto loader = file.find("loader")) out.loader = loader_of(*loader);
  if (const auto windows = file.find("windows")) {
    int run = 0;
    for (const JsonField& window : windows->items())
      out.windows.push_back(window_of(window, 1'000'001 + run++));
  }
  if (const auto phases = file.find("phases")) {
    (void)phases->find("");
    for (const auto& [name, phase] : phases->value().members()) {
      out.phases.push_back(phase_of(name, phases->at(name)));
    }
  }
  if (const auto once = file.find("one_off_seconds")) out.one_off_seconds = finite(*once);
  if (const auto epoch = file.find("measured_epoch_seconds")) out.epoch_seconds = finite(*epoch);
  if (const auto claims = file.find("claims")) {
    for (const JsonField& claim : claims->items()) out.claims.push_back(claim_of(claim));
  }
  return out;
}

}  // namespace assay
