// Whole epochs of the networks of train_step: records from a file, batches from the loader's pipeline, steps
// of a trainer, and a clock between the phases.

#include "data_loader/pipeline.hpp"
#include "train_step/trainer.hpp"

#include "assay/error.hpp"
#include "assay/ops/image_records.hpp"
#include "assay/ops/record_file.hpp"
#include "assay/ops/shuffle.hpp"
#include "assay/training.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

namespace assay::train_step {
namespace {

using training::ImageBatch;
using training::ImageRecords;
using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
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

RecordFile file_of(const TrainingPlan& plan, const ImageRecords& records) {
  if (plan.records.empty()) {
    const auto where = plan.cold ? RecordFile::Scratch::disk : RecordFile::Scratch::memory;
    return RecordFile::scratch(where, {.records = plan.samples, .bytes = records.bytes()},
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
  if (shape.records < plan.samples) {
    throw Error(plan.records.string(), "holds " + std::to_string(shape.records) + " records",
                "set samples to that, or less");
  }
  return out;
}

std::unique_ptr<training::Trainer> trainer_of(const TrainingPlan& plan, const training::Network& network) {
  if (plan.variant == "naive") return training::naive_trainer(network);
  if (plan.variant == "composed") return composed_trainer(network, {.threads = plan.threads});
  throw Error("variant", "is '" + plan.variant + "'", "name one of: naive, composed");
}

/// The user asked for a stop in the middle of an epoch.
struct Stopped {};

class ImageTraining final : public Training {
 public:
  explicit ImageTraining(const TrainingPlan& plan)
      : plan_(plan),
        network_(network_of(plan)),
        records_(records_of(plan)),
        file_(file_of(plan, records_)),
        trainer_(trainer_of(plan, network_)) {
    Rng rng(plan.seed);
    order_.resize(static_cast<std::size_t>(plan.samples));
    shuffle_into(order_, Shuffle::full, 1, rng);
    trainer_->prepare(plan.batch);
    if (plan.steps() > 0) trainer_->prepare(plan.size(plan.steps() - 1));
  }

  void load_with(Index workers, Index prefetch, bool in_order) override {
    plan_.workers = workers;
    plan_.prefetch = prefetch;
    plan_.in_order = in_order;
  }
  double train(Index steps, std::vector<StepTimes>& times, const std::function<bool()>& stop) override;
  std::vector<double> load_alone(Index batches) override;
  std::vector<StepTimes> train_alone(Index steps) override;
  Together together(Index workers, Index steps) override;

 private:
  /// Copies the records of batch k to `rows` and decodes them.
  void load(Index k, std::byte* rows, ImageBatch& images) const {
    const Index size = plan_.size(k);
    for (Index i = 0; i < size; ++i) {
      const Index sample = order_[static_cast<std::size_t>(k * plan_.batch + i)];
      std::memcpy(rows + i * records_.bytes(), file_.record(sample),
                  static_cast<std::size_t>(records_.bytes()));
    }
    images.decode(rows, size);
  }
  training::Parameters initial() const {
    Rng rng(plan_.seed);
    return {network_, rng};
  }
  /// The phases of step t, counted from 1.
  void step(const training::State& at, const training::Batch& batch, Index t, StepTimes& times) const {
    Clock::time_point last = Clock::now();
    const auto lap = [&last] {
      const auto now = Clock::now();
      return seconds_between(std::exchange(last, now), now);
    };
    trainer_->forward(at, batch);
    times.forward = lap();
    times.mean_loss = trainer_->loss();
    times.loss = lap();
    trainer_->backward(at);
    times.backward = lap();
    trainer_->clip(at);
    times.clip = lap();
    trainer_->optimize(at, t);
    times.optimize = lap();
  }

  TrainingPlan plan_;
  training::Network network_;
  ImageRecords records_;
  RecordFile file_;
  std::unique_ptr<training::Trainer> trainer_;
  std::vector<Index> order_;
};

/// Numbers the threads that call it, from 1; the one that made it is 0.
class Workers {
 public:
  int mine() {
    const std::thread::id self = std::this_thread::get_id();
    if (self == owner_) return 0;
    const std::lock_guard lock(mutex_);
    const auto known = std::ranges::find(known_, self);
    if (known == known_.end()) {
      known_.push_back(self);
      return static_cast<int>(known_.size());
    }
    return static_cast<int>(known - known_.begin()) + 1;
  }

 private:
  std::thread::id owner_ = std::this_thread::get_id();
  std::mutex mutex_;
  std::vector<std::thread::id> known_;
};

double ImageTraining::train(Index steps, std::vector<StepTimes>& times, const std::function<bool()>& stop) {
  if (plan_.cold) file_.drop_pages();
  training::Parameters parameters = initial();
  const auto count = static_cast<std::size_t>(steps);
  times.assign(count, {});
  std::vector<StepTimes> loaded(count);  // by batch; its worker alone writes to one
  std::vector<Index> slot_of(count);
  Workers workers;
  std::atomic<Index> made{0};

  const auto start = Clock::now();
  Pipeline pipeline({.batches = steps,
                     .workers = plan_.workers,
                     .prefetch = plan_.prefetch,
                     .slot_bytes = plan_.batch * records_.bytes(),
                     .in_order = plan_.in_order,
                     .persistent = false});
  std::vector<ImageBatch> images;
  for (Index slot = 0; slot < pipeline.slots(); ++slot) images.emplace_back(records_, plan_.batch);
  Index next = 0;
  double end = 0;
  try {
    pipeline.run(
        [&](Index k, Index slot, std::byte* rows) {
          StepTimes& mine = loaded[static_cast<std::size_t>(k)];
          const auto begin = Clock::now();
          load(k, rows, images[static_cast<std::size_t>(slot)]);
          mine.load_begin = seconds_between(start, begin);
          mine.load = seconds_between(begin, Clock::now());
          mine.worker = workers.mine();
          slot_of[static_cast<std::size_t>(k)] = slot;
          ++made;
        },
        [&](Index k, const std::byte*) {
          StepTimes& now = times[static_cast<std::size_t>(next)];
          now = loaded[static_cast<std::size_t>(k)];
          now.batch = k;
          now.begin = end;
          now.wait = seconds_between(start, Clock::now()) - end;
          now.ready = made - next;
          const auto slot = static_cast<std::size_t>(slot_of[static_cast<std::size_t>(k)]);
          step(parameters.state(), images[slot].view(plan_.size(k)), ++next, now);
          end = now.end = seconds_between(start, Clock::now());
          if (stop && stop()) throw Stopped{};
        });
  } catch (const Stopped&) {
    times.resize(static_cast<std::size_t>(next));
  }
  const double seconds = seconds_between(start, Clock::now());
  file_.require_unchanged();
  return seconds;
}

std::vector<double> ImageTraining::load_alone(Index batches) {
  if (plan_.cold) file_.drop_pages();
  std::vector<std::byte> rows(static_cast<std::size_t>(plan_.batch * records_.bytes()));
  ImageBatch images(records_, plan_.batch);
  std::vector<double> out;
  for (Index k = 0; k < batches; ++k) {
    const auto begin = Clock::now();
    load(k % plan_.steps(), rows.data(), images);
    out.push_back(seconds_between(begin, Clock::now()));
  }
  return out;
}

std::vector<StepTimes> ImageTraining::train_alone(Index steps) {
  training::Parameters parameters = initial();
  std::vector<std::byte> rows(static_cast<std::size_t>(plan_.batch * records_.bytes()));
  ImageBatch images(records_, plan_.batch);
  load(0, rows.data(), images);
  std::vector<StepTimes> out(static_cast<std::size_t>(steps));
  const auto start = Clock::now();
  for (Index i = 0; i < steps; ++i) {
    StepTimes& now = out[static_cast<std::size_t>(i)];
    now.begin = seconds_between(start, Clock::now());
    step(parameters.state(), images.view(plan_.size(0)), i + 1, now);
    now.end = seconds_between(start, Clock::now());
  }
  return out;
}

Training::Together ImageTraining::together(Index workers, Index steps) {
  if (plan_.cold) file_.drop_pages();
  std::atomic<bool> done = false;
  std::vector<std::vector<double>> loads(static_cast<std::size_t>(workers));
  std::vector<std::thread> threads;
  for (Index w = 0; w < workers; ++w) {
    threads.emplace_back([&, w] {
      std::vector<std::byte> rows(static_cast<std::size_t>(plan_.batch * records_.bytes()));
      ImageBatch images(records_, plan_.batch);
      for (Index k = w; !done; k += workers) {
        const auto begin = Clock::now();
        load(k % plan_.steps(), rows.data(), images);
        loads[static_cast<std::size_t>(w)].push_back(seconds_between(begin, Clock::now()));
      }
    });
  }
  Together out;
  out.steps = train_alone(steps);
  done = true;
  for (std::thread& thread : threads) thread.join();
  for (const auto& one : loads) out.load.insert(out.load.end(), one.begin(), one.end());
  return out;
}

const TrainingMaker maker{[](const TrainingPlan& plan) -> std::unique_ptr<Training> {
  return std::make_unique<ImageTraining>(plan);
}};

}  // namespace
}  // namespace assay::train_step
