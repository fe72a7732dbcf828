#include "training/epoch/training_plan.hpp"

#include "assay/error.hpp"
#include "core/json/json.hpp"
#include "core/text/figures.hpp"
#include "core/text/near_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace assay {
namespace {

const std::vector<std::string> keys{"schema",
                                    "name",
                                    "network",
                                    "channels",
                                    "side",
                                    "width",
                                    "pixels",
                                    "variant",
                                    "threads",
                                    "samples",
                                    "batch",
                                    "drop_last",
                                    "workers",
                                    "prefetch",
                                    "in_order",
                                    "cold",
                                    "seed",
                                    "records",
                                    "validation_samples",
                                    "checkpoint_every",
                                    "batch_delay"};
constexpr Index most_samples = Index{1} << 32, most_batch = Index{1} << 20, most_workers = 256,
                most_prefetch = 1024, most_threads = 4096;
constexpr double most_delay = 10;

void require_known(const JsonField& file) {
  for (const auto& [key, value] : file.value().members()) {
    if (std::ranges::find(keys, key) != keys.end()) continue;
    file.refuse(
        fmt::format("has the unknown key '{}'; is '{}' meant?", key, near_names(key, keys, 1).front()));
  }
}

}  // namespace

TrainingJob training_job_from_json(const std::string& text, const std::filesystem::path& where) {
  const Json value = parse_json(text, where.string());
  const JsonField file(value, where.string(), "see suites/jobs/README.md for the keys");
  require_schema(file, training_schema);
  require_known(file);
  TrainingJob out{.name = file.at("name").text()};
  TrainingPlan& plan = out.plan;
  const auto integer = [&](const char* key, Index& into, Index low, Index high) {
    if (const auto field = file.find(key)) into = field->integer(low, high);
  };
  const auto flag = [&](const char* key, bool& into) {
    if (const auto field = file.find(key)) into = field->boolean();
  };
  plan.network = file.text_or("network", plan.network);
  plan.pixels = file.text_or("pixels", plan.pixels);
  plan.variant = file.text_or("variant", plan.variant);
  plan.samples = file.at("samples").integer(1, most_samples);
  plan.batch = file.at("batch").integer(1, most_batch);
  integer("channels", plan.channels, 1, 3);
  integer("side", plan.side, 4, 256);
  integer("width", plan.width, 1, 1024);
  integer("workers", plan.workers, 0, most_workers);
  integer("prefetch", plan.prefetch, 1, most_prefetch);
  Index threads = plan.threads;
  integer("threads", threads, 1, most_threads);
  plan.threads = static_cast<int>(threads);
  flag("drop_last", plan.drop_last);
  flag("in_order", plan.in_order);
  flag("cold", plan.cold);
  if (const auto delay = file.find("batch_delay")) {
    plan.batch_delay = delay->number();
    if (plan.batch_delay < 0 || plan.batch_delay > most_delay) {
      delay->refuse(fmt::format("is {}, and not from 0 to {} seconds", plan.batch_delay, most_delay));
    }
  }
  if (const auto seed = file.find("seed")) plan.seed = seed->unsigned_integer();
  if (const auto records = file.find("records"); records && !records->text().empty())
    plan.records = std::filesystem::absolute(where.parent_path() / records->text()).lexically_normal();
  if (plan.samples < plan.batch) {
    file.at("samples").refuse(fmt::format("is {}, fewer than a batch of {}", plan.samples, plan.batch));
  }
  // More than the records of an epoch is a slip: no epoch has as many steps.
  integer("validation_samples", plan.validation_samples, 0, plan.samples);
  integer("checkpoint_every", plan.checkpoint_every, 0, plan.samples);
  return out;
}

std::string to_json(const TrainingJob& job) {
  const TrainingPlan& plan = job.plan;
  return json_text({{"schema", training_schema},
                    {"name", job.name},
                    {"network", plan.network},
                    {"channels", plan.channels},
                    {"side", plan.side},
                    {"width", plan.width},
                    {"pixels", plan.pixels},
                    {"variant", plan.variant},
                    {"threads", plan.threads},
                    {"samples", plan.samples},
                    {"batch", plan.batch},
                    {"drop_last", plan.drop_last},
                    {"workers", plan.workers},
                    {"prefetch", plan.prefetch},
                    {"in_order", plan.in_order},
                    {"cold", plan.cold},
                    {"validation_samples", plan.validation_samples},
                    {"checkpoint_every", plan.checkpoint_every},
                    {"batch_delay", plan.batch_delay},
                    {"seed", plan.seed},
                    {"records", plan.records.string()}});
}

void require_memory(const TrainingPlan& plan, const std::string& where, double bytes) {
  const auto numbers = static_cast<double>(plan.channels * plan.side * plan.side);
  const auto samples = static_cast<double>(plan.samples + plan.validation_samples);
  const double generated = plan.records.empty() ? samples * numbers * (plan.pixels == "floats" ? 4 : 1) : 0;
  const auto batches = static_cast<double>(std::max<Index>(1, plan.workers * plan.prefetch));
  const double held = batches * static_cast<double>(plan.batch) * numbers * sizeof(float);
  if (generated + held <= bytes) return;
  throw Error(where,
              fmt::format("needs {} for its records and {} for batches of the loader, and {} are free",
                          bytes_text(generated), bytes_text(held), bytes_text(bytes)),
              "take fewer samples, a smaller batch, or fewer workers and batches ahead");
}

std::string in_words(const TrainingPlan& plan) {
  std::string out =
      fmt::format("{} {}x{}x{}, width {}, {}, {} thread{}, batch {}, workers {}, prefetch {}{}{}",
                  plan.network, plan.channels, plan.side, plan.side, plan.width, plan.variant, plan.threads,
                  plan.threads == 1 ? "" : "s", plan.batch, plan.workers, plan.prefetch,
                  plan.in_order ? "" : ", any order", plan.cold ? ", cold" : "");
  if (plan.validation_samples > 0) out += fmt::format(", validation of {}", plan.validation_samples);
  if (plan.checkpoint_every > 0) out += fmt::format(", checkpoint every {}", plan.checkpoint_every);
  if (plan.batch_delay > 0) out += fmt::format(", {} of delay per batch", seconds_text(plan.batch_delay));
  return out;
}

}  // namespace assay
