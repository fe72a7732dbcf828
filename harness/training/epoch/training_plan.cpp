#include "training/epoch/training_plan.hpp"

#include "assay/error.hpp"
#include "core/json/fields.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay {
void describe(Fields& f, TrainingJob& job) {
  constexpr Index most_samples = Index{1} << 32, most_batch = Index{1} << 20, most_workers = 256,
                  most_prefetch = 1024, most_threads = 4096;
  constexpr Fields::Rule optional{.optional = true};
  TrainingPlan& plan = job.plan;
  f.schema(training_schema);
  f.only<TrainingJob>();
  f("name", job.name);
  f("network", plan.network, {.optional = true, .about = "classifier or transformer"});
  f("channels", plan.channels, {.optional = true, .low = 1, .high = 3});
  f("side", plan.side, {.optional = true, .low = 4, .high = 256, .about = "of the images, in pixels"});
  f("width", plan.width, {.optional = true, .low = 1, .high = 1024});
  f("pixels", plan.pixels, {.optional = true, .about = "of a record: bytes or floats"});
  f("variant", plan.variant, {.optional = true, .about = "of train_step: composed or naive"});
  f("threads", plan.threads, {.optional = true, .low = 1, .high = most_threads});
  f("samples", plan.samples, {.low = 1, .high = most_samples, .about = "of an epoch"});
  f("batch", plan.batch, {.low = 1, .high = most_batch, .about = "samples of a step"});
  if (f.reads() && plan.samples < plan.batch) {
    f.refuse("samples", fmt::format("is {}, fewer than a batch of {}", plan.samples, plan.batch));
  }
  f("drop_last", plan.drop_last, optional);
  f("workers", plan.workers, {.optional = true, .low = 0, .high = most_workers});
  f("prefetch", plan.prefetch, {.optional = true, .low = 1, .high = most_prefetch});
  f("in_order", plan.in_order, optional);
  f("cold", plan.cold, optional);
  // More than the records of an epoch is a slip: no epoch has as many steps.
  const Index most_steps = f.tells() ? most_samples : plan.samples;
  f("validation_samples", plan.validation_samples, {.optional = true, .low = 0, .high = most_steps});
  f("checkpoint_every", plan.checkpoint_every, {.optional = true, .low = 0, .high = most_steps});
  f("batch_delay", plan.batch_delay, {.optional = true, .least = 0, .most = 10, .about = "seconds"});
  f("seed", plan.seed, optional);
  f("records", plan.records, {.optional = true, .about = "a file; empty for generated records"});
}

TrainingJob training_job_from_json(const std::string& text, const std::filesystem::path& where) {
  const Json file = parse_json(text, where.string());
  auto out =
      value_from<TrainingJob>(JsonField(file, where.string(), "see suites/jobs/README.md for the keys"));
  if (auto& records = out.plan.records; !records.empty()) {
    records = std::filesystem::absolute(where.parent_path() / records).lexically_normal();
  }
  return out;
}

std::string to_json(const TrainingJob& job) { return json_text(to_value(job)); }

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
  std::string out = fmt::format("{} {}x{}x{}, width {}, {}, {}, batch {}, workers {}, prefetch {}{}{}",
                                plan.network, plan.channels, plan.side, plan.side, plan.width, plan.variant,
                                quantity_text(plan.threads, "thread"), plan.batch, plan.workers,
                                plan.prefetch, plan.in_order ? "" : ", any order", plan.cold ? ", cold" : "");
  if (plan.validation_samples > 0) out += fmt::format(", validation of {}", plan.validation_samples);
  if (plan.checkpoint_every > 0) out += fmt::format(", checkpoint every {}", plan.checkpoint_every);
  if (plan.batch_delay > 0) out += fmt::format(", {} of delay per batch", seconds_text(plan.batch_delay));
  return out;
}

}  // namespace assay
