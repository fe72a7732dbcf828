// Agreement of training, not of one step: both trainers learn the same set of images and take the same
// course.

#include "assay/error.hpp"
#include "assay/ops/image_records.hpp"
#include "assay/ops/loss_curve.hpp"
#include "assay/ops/model.hpp"
#include "train_step/trainer.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace assay::train_step {
namespace {

using training::Batch;
using training::ImageBatch;
using training::ImageRecords;
using training::Kind;
using training::largest_difference;
using training::Network;
using training::Parameters;
using training::smoothed;
using training::State;
using training::Trainer;

constexpr Network classifier{.kind = Kind::classifier, .channels = 1, .side = 8, .width = 4};
constexpr Network transformer{
    .kind = Kind::transformer, .channels = 1, .side = 8, .width = 16, .patch = 4, .heads = 2};
constexpr Index batch_size = 8;
constexpr std::size_t steps = 300, window = 20;

/// Losses of `steps` steps from the parameters of a seed, over one pass of generated records.
std::vector<float> losses(const Network& network, Trainer& trainer) {
  const ImageRecords records{.channels = network.channels, .side = network.side};
  const FillRecords fill = training::separable_images(records, 11);
  std::vector<std::byte> rows(static_cast<std::size_t>(batch_size * records.bytes()));
  ImageBatch batch(records, batch_size);
  Rng rng(5);
  Parameters at(network, rng);
  trainer.prepare(batch_size);
  std::vector<float> out;
  for (Index t = 1; t <= static_cast<Index>(steps); ++t) {
    fill((t - 1) * batch_size, rows);
    batch.decode(rows.data(), batch_size);
    out.push_back(training::train_step(trainer, at.state(), batch.view(batch_size), t).loss);
  }
  return out;
}

// What is asked of the two curves, smoothed over 20 steps. Measured were MEASURED; a trainer that
// leaves out what the tests below leave out differs by WRONG and more. Between the two the geometric mean
// lies near this number.
constexpr double agreement = 1e-3;
// By how much the smoothed loss falls. A set that can be told apart has a loss of 0; 2.3 is that of guesses.
constexpr double fall = 3;

void expect_the_same_training(const Network& network) {
  const auto naive = training::naive_trainer(network);
  const auto composed = composed_trainer(network, {.threads = 1});
  const std::vector<float> by_naive = losses(network, *naive), by_composed = losses(network, *composed);
  EXPECT_LT(smoothed(by_naive, window).back() * fall, smoothed(by_naive, window).front());
  EXPECT_LT(smoothed(by_composed, window).back() * fall, smoothed(by_composed, window).front());
  EXPECT_LT(largest_difference(by_naive, by_composed, window), agreement);
}

TEST(Training, OfTheClassifierTakesOneCourseInBothForms) { expect_the_same_training(classifier); }
TEST(Training, OfTheTransformerTakesOneCourseInBothForms) { expect_the_same_training(transformer); }

/// The composed trainer with a fault between backward() and clip().
class Faulty final : public Trainer {
 public:
  using Fault = std::function<void(const training::Segments&, float* g)>;
  Faulty(const Network& network, Fault fault)
      : segments_(network), right_(composed_trainer(network, {.threads = 1})), fault_(std::move(fault)) {}
  void prepare(Index n) override { right_->prepare(n); }
  void forward(const State& at, const Batch& batch) override { right_->forward(at, batch); }
  float loss() override { return right_->loss(); }
  void backward(const State& at) override {
    right_->backward(at);
    fault_(segments_, at.g);
  }
  float clip(const State& at) override { return right_->clip(at); }
  void optimize(const State& at, Index t) override { right_->optimize(at, t); }

 private:
  training::Segments segments_;
  std::unique_ptr<Trainer> right_;
  Fault fault_;
};

double difference_of(const Network& network, const Faulty::Fault& fault) {
  Faulty faulty(network, fault);
  const auto naive = training::naive_trainer(network);
  return largest_difference(losses(network, *naive), losses(network, faulty), window);
}

Faulty::Fault scaled(std::string_view name, float factor) {
  return [name, factor](const training::Segments& segments, float* g) {
    for (const training::Segment& segment : segments.all()) {
      if (segment.name != name) continue;
      for (Index i = 0; i < segment.count; ++i) g[segment.begin + i] *= factor;
    }
  };
}

// Both still learn: agreement of training is more than a loss that falls.
TEST(Training, DiffersWhereTheSmallestSegmentIsNotTrained) {
  EXPECT_GT(difference_of(classifier, scaled("conv1.bias", 0)), agreement);
  EXPECT_GT(difference_of(transformer, scaled("norm1.beta", 0)), agreement);
}

TEST(Training, DiffersWhereASegmentHasTheWrongSign) {
  EXPECT_GT(difference_of(classifier, scaled("conv1.weight", -1)), agreement);
  EXPECT_GT(difference_of(transformer, scaled("attention.weight", -1)), agreement);
}

TEST(ComposedTrainer, DividesABatchAmongThreadsAsIfItWereOne) {
  for (Network network : {classifier, transformer}) {
    network.side = 16;  // work enough for two
    network.width = 16;
    const ImageRecords records{.channels = network.channels, .side = network.side};
    constexpr Index n = 21;
    std::vector<std::byte> rows(static_cast<std::size_t>(n * records.bytes()));
    training::separable_images(records, 1)(0, rows);
    ImageBatch batch(records, n);
    batch.decode(rows.data(), n);
    Rng rng(1);
    Parameters one(network, rng), two(network, rng);
    std::ranges::copy(one.p, two.p.begin());
    const auto alone = composed_trainer(network, {.threads = 1}),
               team = composed_trainer(network, {.threads = 2});
    for (const Index images : {n, Index{17}, n}) {  // the last batch of an epoch in between
      const auto whole = training::train_step(*alone, one.state(), batch.view(images), 1);
      const auto divided = training::train_step(*team, two.state(), batch.view(images), 1);
      EXPECT_NEAR(whole.loss, divided.loss, 1e-5);
      EXPECT_NEAR(whole.norm, divided.norm, 1e-4 * static_cast<double>(whole.norm));
      std::ranges::copy(one.p, two.p.begin());
    }
  }
}

}  // namespace
}  // namespace assay::train_step
