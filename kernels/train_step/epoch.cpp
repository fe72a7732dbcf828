// Trains whole epochs of the networks of train_step: records come from a file, batches from the loader's
// pipeline, steps from a trainer, and a clock runs between the phases.

#include "data_loader/pipeline.hpp"
#include "train_step/checkpoint.hpp"
#include "train_step/trainer.hpp"

#include "assay/error.hpp"
#include "assay/ops/data_loader.hpp"
#include "assay/ops/image_records.hpp"
#include "assay/ops/record_file.hpp"
#include "assay/ops/trainer.hpp"
#include "assay/training.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace assay::train_step {
namespace {

using training::ImageBatch;
using training::ImageRecords;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// Returns the plan with its numbers checked: it need not come from a job file, whose reader checks them too.
const TrainingPlan& usable(const TrainingPlan& plan) {
  const auto at_least = [](const char* key, Index value, Index least) {
    if (value >= least) return;
    throw Error(key, "is " + std::to_string(value), "give at least " + std::to_string(least));
  };
  at_least("batch", plan.batch, 1);
  if (plan.samples < plan.batch) {
    throw Error(
        "samples",
        "is " + std::to_string(plan.samples) + ", fewer than a batch of " + std::to_string(plan.batch),
        "give more samples or a smaller batch");
  }
  at_least("workers", plan.workers, 0);
  at_least("prefetch", plan.prefetch, 1);
  at_least("validation_samples", plan.validation_samples, 0);
  at_least("checkpoint_every", plan.checkpoint_every, 0);
  if (!(plan.batch_delay >= 0)) {
    throw Error("batch_delay", "is " + std::to_string(plan.batch_delay), "give seconds, 0 for none");
  }
  return plan;
}

training::Network network_of(const TrainingPlan& plan) {
  const auto kind = std::ranges::find(training::kinds, plan.network);
  if (kind == training::kinds.end()) {
    throw Error("network", "is '" + plan.network + "'", "name one of: classifier, transformer");
  }
  training::Network out{.kind = static_cast<training::Kind>(kind - training::kinds.begin()),
                        .channels = plan.channels,
                        .side = plan.side,
                        .width = plan.width};
  training::require_valid(out);
  return out;
}

ImageRecords records_of(const TrainingPlan& plan) {
  if (plan.pixels != "bytes" && plan.pixels != "floats") {
    throw Error("pixels", "is '" + plan.pixels + "'", "name one of: bytes, floats");
  }
  return {.channels = plan.channels,
          .side = plan.side,
          .format = plan.pixels == "bytes" ? training::PixelFormat::bytes : training::PixelFormat::floats};
}

/// A generated file, or the user's file, whose records are compared with their checksum.
RecordFile file_of(const TrainingPlan& plan, const ImageRecords& records) {
  const Index needed = plan.samples + plan.validation_samples;
  if (plan.records.empty()) {
    const auto where = plan.cold ? RecordFile::Scratch::disk : RecordFile::Scratch::memory;
    return RecordFile::scratch(where, {.records = needed, .bytes = records.bytes()},
                               training::separable_images(records, plan.seed));
  }
  RecordFile out(plan.records);
  const RecordShape shape = out.shape();
  if (shape.bytes != records.bytes()) {
    throw Error(plan.records.string(),
                "holds records of " + std::to_string(shape.bytes) + " bytes, and such images take " +
                    std::to_string(records.bytes()),
                "correct channels, side or pixels of the job");
  }
  if (shape.records < needed) {
    throw Error(plan.records.string(),
                "holds " + std::to_string(shape.records) + " records, and " + std::to_string(plan.samples) +
                    " samples and " + std::to_string(plan.validation_samples) +
                    " of validation are asked for",
                "set samples and validation_samples to that together, or less");
  }
  out.verify();
  return out;
}

std::unique_ptr<training::Trainer> trainer_of(const TrainingPlan& plan, const training::Network& network) {
  if (plan.variant == "naive") return training::naive_trainer(network);
  if (plan.variant == "composed") return composed_trainer(network, {.threads = plan.threads});
  throw Error("variant", "is '" + plan.variant + "'", "name one of: naive, composed");
}

/// Thrown if the user asks for a stop in the middle of an epoch.
struct Stopped {};

/// Measures seconds since a run began and since the last phase ended.
class Stopwatch {
 public:
  void start() { start_ = last_ = Clock::now(); }
  double seconds() const { return Seconds(Clock::now() - start_).count(); }
  double lap() {
    const auto now = Clock::now();
    return Seconds(now - std::exchange(last_, now)).count();
  }

 private:
  Clock::time_point start_ = Clock::now(), last_ = start_;
};

/// Memory for one batch: its records as stored, and decoded.
struct BatchRoom {
  std::vector<std::byte> rows;
  ImageBatch images;
  BatchRoom(const ImageRecords& records, Index most)
      : rows(static_cast<std::size_t>(most * records.bytes())), images(records, most) {}
};

/// Numbers the threads that call it from 1; its creator is 0.
class Workers {
 public:
  int mine() {
    const std::lock_guard lock(mutex_);
    const auto next = static_cast<int>(numbers_.size());
    return numbers_.try_emplace(std::this_thread::get_id(), next).first->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::thread::id, int> numbers_{{std::this_thread::get_id(), 0}};
};

class ImageTraining final : public Training {
 public:
  explicit ImageTraining(const TrainingPlan& plan)
      : plan_(usable(plan)),
        network_(network_of(plan)),
        records_(records_of(plan)),
        file_(file_of(plan, records_)),
        trainer_(trainer_of(plan, network_)) {
    Rng rng(plan.seed);
    order_.resize(static_cast<std::size_t>(plan.samples));
    shuffle_into(order_, Shuffle::full, 1, rng);
    trainer_->prepare(plan.batch);
    trainer_->prepare(plan.size(plan.steps() - 1));
    if (plan.validation_steps() > 0) trainer_->prepare(plan.validation_size(plan.validation_steps() - 1));
    if (!plan.cold) file_.map_pages();
  }

  void load_with(Index workers, Index prefetch, bool in_order) override {
    TrainingPlan plan = plan_;
    plan.workers = workers;
    plan.prefetch = prefetch;
    plan.in_order = in_order;
    plan_ = usable(plan);
  }
  /// Makes records hot unless they are cold: otherwise the first runs would meet unmapped pages, and the
  /// epoch would not. On a virtual machine a batch then took 570 us, and 28 us in the epoch.
  void start_cold(bool cold) override {
    if (plan_.cold && !cold) file_.map_pages();
    plan_.cold = cold;
  }
  void drop_pages() override { file_.drop_pages(); }
  double resident() const override { return file_.mapping().resident(); }

  double train(const StepRange& range, std::vector<StepTimes>& times,
               const std::function<bool()>& stop) override {
    training::Parameters parameters = initial();
    Stopwatch watch;
    run_steps(range, parameters, watch, times, stop, [](Index, double end) { return end; });
    const double seconds = watch.seconds();
    file_.require_unchanged();
    return seconds;
  }

  EpochTimes train_epoch(const std::function<bool()>& stop) override {
    training::Parameters parameters = initial();
    Stopwatch watch;
    EpochTimes out;
    run_steps({.steps = plan_.steps()}, parameters, watch, out.steps, stop, [&](Index done, double end) {
      if (plan_.checkpoint_every > 0 && done % plan_.checkpoint_every == 0) {
        checkpoints_.write(parameters, done);
        out.checkpoints.push_back({.step = done, .begin = end, .end = watch.seconds()});
        end = out.checkpoints.back().end;
      }
      return end;
    });
    if (std::ssize(out.steps) == plan_.steps()) {
      out.validation = validated(plan_.validation_steps(), parameters.state(), watch, stop);
    }
    out.seconds = watch.seconds();
    file_.require_unchanged();
    return out;
  }

  std::vector<double> load_alone(Index batches) override {
    if (plan_.cold) file_.drop_pages();
    BatchRoom room(records_, plan_.batch);
    std::vector<double> out;
    Stopwatch watch;
    for (Index k = 0; k < batches; ++k) {
      watch.start();
      load(k % plan_.steps(), room.rows.data(), room.images);
      out.push_back(watch.seconds());
    }
    return out;
  }

  std::vector<StepTimes> train_alone(Index steps) override {
    training::Parameters parameters = initial();
    BatchRoom room(records_, plan_.batch);
    load(0, room.rows.data(), room.images);
    std::vector<StepTimes> out(static_cast<std::size_t>(steps));
    const Stopwatch watch;
    for (Index i = 0; i < steps; ++i) {
      StepTimes& now = out[static_cast<std::size_t>(i)];
      now.begin = watch.seconds();
      step(parameters.state(), room.images.view(plan_.size(0)), i + 1, now);
      now.end = watch.seconds();
    }
    return out;
  }

  std::vector<ValidationTimes> validate_alone(Index batches) override {
    if (plan_.cold) file_.drop_pages();
    training::Parameters parameters = initial();
    return validated(std::min(batches, plan_.validation_steps()), parameters.state(), Stopwatch(), {});
  }

  std::vector<double> checkpoint_alone(Index count) override {
    const training::Parameters parameters = initial();
    std::vector<double> out;
    Stopwatch watch;
    for (Index i = 0; i < count; ++i) {
      watch.start();
      checkpoints_.write(parameters, i + 1);
      out.push_back(watch.seconds());
    }
    return out;
  }

  Together together(Index workers, Index steps) override {
    if (plan_.cold) file_.drop_pages();
    std::atomic<bool> done{false};
    const auto make_and_drop = [&](Index worker) {
      BatchRoom room(records_, plan_.batch);
      Stopwatch watch;
      std::vector<double> seconds;
      for (Index k = worker; seconds.empty() || !done; k += workers) {
        watch.start();
        load(k % plan_.steps(), room.rows.data(), room.images);
        seconds.push_back(watch.seconds());
      }
      return seconds;
    };
    Together out;
    std::vector<std::future<std::vector<double>>> loads;  // each waits for its thread in the end
    try {
      const struct Stop {
        std::atomic<bool>& flag;
        ~Stop() { flag = true; }
      } stop{done};  // whatever is thrown here
      for (Index w = 0; w < workers; ++w) loads.push_back(std::async(std::launch::async, make_and_drop, w));
      out.steps = train_alone(steps);
    } catch (const std::system_error& failure) {
      throw cannot_start_workers(failure);
    }
    for (auto& each : loads) {
      const std::vector<double> seconds = each.get();
      out.load.insert(out.load.end(), seconds.begin(), seconds.end());
    }
    return out;
  }

 private:
  /// Copies the records of batch k to `rows` and decodes them.
  void load(Index k, std::byte* rows, ImageBatch& images) const {
    const Index size = plan_.size(k);
    if (plan_.batch_delay > 0) std::this_thread::sleep_for(Seconds(plan_.batch_delay));
    const auto first = static_cast<std::size_t>(k * plan_.batch);
    file_.copy(std::span(order_).subspan(first, static_cast<std::size_t>(size)), rows);
    decode(rows, size, images);
  }
  /// Loads batch k of validation. Its records follow those of the epoch in the file.
  void load_validation(Index k, std::byte* rows, ImageBatch& images) const {
    const Index size = plan_.validation_size(k);
    std::memcpy(rows, file_.record(plan_.samples + k * plan_.batch),
                static_cast<std::size_t>(size * records_.bytes()));
    decode(rows, size, images);
  }
  void decode(const std::byte* rows, Index size, ImageBatch& images) const {
    // Checks before anyone trains with the batch, in the thread that knows first: a lost page reads as zeros.
    file_.require_unchanged();
    images.decode(rows, size);
  }
  training::Parameters initial() const {
    Rng rng(plan_.seed);
    return {network_, rng};
  }
  /// Runs the phases of step t, counted from 1.
  void step(const training::State& at, const training::Batch& batch, Index t, StepTimes& times) const {
    Stopwatch watch;
    trainer_->forward(at, batch);
    times.forward = watch.lap();
    times.mean_loss = trainer_->loss();
    times.loss = watch.lap();
    trainer_->backward(at);
    times.backward = watch.lap();
    trainer_->clip(at);
    times.clip = watch.lap();
    trainer_->optimize(at, t);
    times.optimize = watch.lap();
  }
  /// Called between steps with the number of steps done and the time of the last. Returns when the next step
  /// begins.
  using Between = std::function<double(Index done, double end)>;
  /// Starts the watch and trains these steps, until stop() holds.
  void run_steps(const StepRange& range, training::Parameters& at, Stopwatch& watch,
                 std::vector<StepTimes>& times, const std::function<bool()>& stop, const Between& between) {
    if (plan_.cold) file_.drop_pages();
    const auto count = static_cast<std::size_t>(range.steps);
    times.assign(count, {});
    std::vector<StepTimes> loaded(count);  // by batch; only the batch's worker writes to an element
    std::vector<Index> slot_of(count);
    Workers workers;
    std::atomic<Index> made{0};

    watch.start();
    Pipeline pipeline({.batches = range.steps,
                       .workers = plan_.workers,
                       .prefetch = plan_.prefetch,
                       .slot_bytes = plan_.batch * records_.bytes(),
                       .in_order = plan_.in_order,
                       .persistent = false});
    std::vector<ImageBatch> images;
    for (Index slot = 0; slot < pipeline.slots(); ++slot) images.emplace_back(records_, plan_.batch);
    Index next = 0;
    double begin = 0;
    try {
      pipeline.run(
          [&](Index k, Index slot, std::byte* rows) {
            StepTimes& mine = loaded[static_cast<std::size_t>(k)];
            mine.load_begin = watch.seconds();
            load(range.first + k, rows, images[static_cast<std::size_t>(slot)]);
            mine.load = watch.seconds() - mine.load_begin;
            mine.worker = workers.mine();
            slot_of[static_cast<std::size_t>(k)] = slot;
            ++made;
          },
          [&](Index k, const std::byte*) {
            StepTimes& now = times[static_cast<std::size_t>(next)];
            now = loaded[static_cast<std::size_t>(k)];
            now.batch = range.first + k;
            now.begin = begin;
            now.wait = watch.seconds() - begin;
            now.ready = made - next;
            const auto slot = static_cast<std::size_t>(slot_of[static_cast<std::size_t>(k)]);
            step(at.state(), images[slot].view(plan_.size(now.batch)), ++next, now);
            now.end = watch.seconds();
            begin = between(next, now.end);
            if (stop && stop()) throw Stopped{};
          });
    } catch (const Stopped&) {
      times.resize(static_cast<std::size_t>(next));
    }
  }

  std::vector<ValidationTimes> validated(Index batches, const training::State& at, const Stopwatch& watch,
                                         const std::function<bool()>& stop) const {
    std::vector<ValidationTimes> out;
    if (batches == 0) return out;
    BatchRoom room(records_, plan_.batch);
    for (Index k = 0; k < batches; ++k) {
      ValidationTimes& now = out.emplace_back();
      now.begin = watch.seconds();
      Stopwatch phase;
      load_validation(k, room.rows.data(), room.images);
      now.load = phase.lap();
      trainer_->forward(at, room.images.view(plan_.validation_size(k)));
      now.forward = phase.lap();
      now.mean_loss = trainer_->loss();
      now.loss = phase.lap();
      now.end = watch.seconds();
      if (stop && stop()) break;
    }
    return out;
  }

  TrainingPlan plan_;
  training::Network network_;
  ImageRecords records_;
  RecordFile file_;
  std::unique_ptr<training::Trainer> trainer_;
  std::vector<Index> order_;
  Checkpoints checkpoints_;
};

const TrainingMaker maker{[](const TrainingPlan& plan) -> std::unique_ptr<Training> {
  return std::make_unique<ImageTraining>(plan);
}};

}  // namespace
}  // namespace assay::train_step
