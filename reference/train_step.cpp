#include "assay/ops/train_step.hpp"

#include "assay/error.hpp"
#include "assay/ops/adamw.hpp"
#include "assay/ops/arrays.hpp"
#include "assay/ops/batch_gradient.hpp"
#include "assay/ops/model.hpp"

#include <algorithm>
#include <span>

namespace assay {
namespace {

using rounding::g;
using training::Kind;
using training::Network;
using training::Segment;
using training::Segments;
using Problem = TrainStep::Problem;

template <class T>
std::span<const T> part_of(std::span<const T> whole, const Segment& segment) {
  return whole.subspan(static_cast<std::size_t>(segment.begin), static_cast<std::size_t>(segment.count));
}

/// Segment by segment, so that a message names the element as its layer does.
Agreement judge_segments(const Network& network, std::string_view array, std::span<const float> written,
                         std::span<const double> value, std::span<const double> bound) {
  Agreement outcome;
  for (const Segment& segment : Segments(network).all()) {
    const std::string name = std::string(array) + " of " + std::string(segment.name);
    outcome = outcome & within({name, segment.extents}, part_of(written, segment), part_of(value, segment),
                               part_of(bound, segment));
  }
  return outcome;
}

auto prepare_naive(const Problem& p, const TrainStep::Input&, const Context&) {
  const std::shared_ptr<training::Trainer> trainer = training::naive_trainer(TrainStep::network_of(p));
  trainer->prepare(p.batch);
  return [p, trainer](const TrainStep::Input& in, TrainStep::Output& out) {
    TrainStep::run(*trainer, p, in, out);
  };
}

const Register registered{[](Registry& r) {
  r.add<TrainStep>(
      {.name = "naive", .summary = "the references one after the other", .prepare = prepare_naive});
}};

}  // namespace

Network TrainStep::network_of(const Problem& p) {
  const Network out{.kind = static_cast<Kind>(p.network),
                    .channels = p.channels,
                    .side = p.side,
                    .width = p.width,
                    .patch = p.patch,
                    .heads = p.heads,
                    .mask = static_cast<training::Mask>(p.mask)};
  const Problem usual;
  if (out.kind == Kind::classifier &&
      (p.patch != usual.patch || p.heads != usual.heads || p.mask != usual.mask)) {
    throw Error("train_step", "patch, heads and mask are of network=transformer",
                "leave them out, or set network=transformer");
  }
  training::require_valid(out);
  return out;
}

const Corners TrainStep::corners = {
    // One image and odd batches; odd sides, whose half is rounded up; filters around a vector; late steps.
    "batch=1,channels=1,side=8,width=1",
    "batch=2,channels=3,side=8,width=3",
    "batch=3,channels=2,side=9,width=4,t=2",
    "batch=5,channels=1,side=11,width=5,t=1000",
    "batch=1,channels=1,side=13,width=9,t=100000",
    // Many images, whose gradients cancel so far that nothing is clipped.
    "batch=60,channels=1,side=8,width=2",
    // One token, a head for each number, one head; widths that are no multiple of a vector.
    "network=transformer,batch=1,channels=1,side=8,width=6,patch=8,heads=1",
    "network=transformer,batch=2,channels=1,side=8,width=8,heads=2",
    "network=transformer,batch=3,channels=1,side=8,width=5,heads=5,mask=causal,t=2",
    "network=transformer,batch=1,channels=3,side=9,width=12,patch=3,heads=3,mask=causal,t=1000",
    "network=transformer,batch=2,channels=2,side=8,width=17,patch=2,heads=1,t=3",
    // Enough work for two threads.
    "batch=7,channels=3,side=16,width=8",
    "network=transformer,batch=9,channels=1,side=12,width=16,patch=3,heads=4,mask=causal",
};

double TrainStep::footprint(const Problem& p) {
  const Cost moved = FromParts::cost(p);
  // The expectation and the bound of g, in f64.
  return moved.bytes_read + moved.bytes_written + 16 * static_cast<double>(p.parameters());
}

TrainStep::Input TrainStep::make_input(const Problem& p, Setting& setting) {
  const Network network = network_of(p);
  const Index count = p.parameters();
  Input in{setting.buffer<float>(p.batch * network.pixels()), setting.buffer<Index>(p.batch),
           setting.buffer<float>(count), setting.buffer<float>(count), setting.buffer<float>(count)};
  for (float& x : in.pixels) x = setting.draw();
  for (Index& label : in.labels) label = setting.rng.integer(0, training::classes - 1);
  training::initialize(network, setting.rng, in.p);
  // The moments that gradients of about 1e-2 leave in a step or more.
  const auto [first, second] = adamw::bias_corrections(p.t - 1);
  for (float& m : in.m) m = static_cast<float>(setting.rng.uniform(-1e-2 * first, 1e-2 * first));
  for (float& v : in.v) v = static_cast<float>(setting.rng.uniform(0.1, 1) * (1e-4 * second));
  return in;
}

TrainStep::Expected TrainStep::expect(const Problem& p, const Input& in, Setting&) {
  const auto model = training::reference_model<Rounded>(network_of(p));
  std::vector<Rounded> parameters, gradient(static_cast<std::size_t>(in.p.size()));
  for (const float x : in.p) parameters.emplace_back(static_cast<double>(x));
  std::vector<Rounded> logit_gradient(static_cast<std::size_t>(p.batch * training::classes));

  Expected want;
  const Rounded* logits = model->forward(parameters.data(), in.batch());
  want.loss = training::cross_entropy(logits, in.labels.data(), p.batch, p.batch, logit_gradient.data());
  model->backward(parameters.data(), logit_gradient.data(), gradient.data());
  for (const Rounded& each : gradient) {
    want.g.push_back(each.value);
    want.bound.push_back(each.bound());
  }
  return want;
}

Agreement TrainStep::judge(const Problem& p, const Input& in, const Expected& want, const Output& out) {
  const Network network = network_of(p);
  const Agreement gradient = within({"loss", {1}}, out.loss, expect_one(want.loss.value, want.loss.bound())) &
                             judge_segments(network, "g", out.g, want.g, want.bound);
  if (!gradient.agrees) return gradient;
  const double norm = GradientClip::norm_of(out.g);
  const Agreement clipped = gradient & within({"norm", {1}}, out.norm, expect_one(norm, g(36) * norm));
  if (!clipped.agrees) return clipped;
  // The state after the step, from the gradient and the norm that were written.
  const double kept = GradientClip::kept(static_cast<double>(out.norm[0]));
  const auto clip = [&](Index i) { return kept * static_cast<double>(out.g[i]); };
  const adamw::Expected after =
      adamw::expected<adamw::Paper>(positions_of(in.p.size(), {}), p.t, in, clip, 5);
  return clipped & judge_segments(network, "p", out.p, after.p.value, after.p.bound) &
         judge_segments(network, "m", out.m, after.m.value, after.m.bound) &
         judge_segments(network, "v", out.v, after.v.value, after.v.bound);
}

double TrainStep::flops(const Problem& p) {
  const Network network = network_of(p);
  const double products = forward_multiply_adds(network) + backward_multiply_adds(network);
  return 2 * static_cast<double>(p.batch) * products +
         static_cast<double>(p.parameters()) * (3 + 10 + adamw::Paper::update_flops);
}

void TrainStep::run(training::Trainer& trainer, const Problem& p, const Input& in, Output& out) {
  std::ranges::copy(in.p, out.p.begin());
  std::ranges::copy(in.m, out.m.begin());
  std::ranges::copy(in.v, out.v.begin());
  const training::State at{out.p.data(), out.m.data(), out.v.data(), out.g.data()};
  const training::StepResult result = training::train_step(trainer, at, in.batch(), p.t);
  out.loss[0] = result.loss;
  out.norm[0] = result.norm;
}

template class detail::TypedOperation<TrainStep>;

}  // namespace assay

namespace assay::training {
namespace {

class NaiveTrainer final : public Trainer {
 public:
  explicit NaiveTrainer(const Network& network)
      : model_(reference_model<float>(network)),
        clipped_(static_cast<std::size_t>(Segments(network).total())) {}

  void prepare(Index n) override {
    model_->prepare(n);
    logit_gradient_.resize(static_cast<std::size_t>(n * classes));
  }

  void forward(const State& at, const Batch& batch) override {
    if (batch.n != batch_.n) prepare(batch.n);
    batch_ = batch;
    logits_ = model_->forward(at.p, batch);
  }
  float loss() override {
    return cross_entropy(logits_, batch_.labels, batch_.n, batch_.n, logit_gradient_.data());
  }
  void backward(const State& at) override { model_->backward(at.p, logit_gradient_.data(), at.g); }

  float clip(const State& at) override {
    const float norm = static_cast<float>(GradientClip::norm_of({at.g, clipped_.size()}));
    const float kept = GradientClip::kept(norm);
    for (std::size_t i = 0; i < clipped_.size(); ++i) clipped_[i] = kept * at.g[i];
    return norm;
  }
  void optimize(const State& at, Index t) override {
    const adamw::Constants<float> k(t);
    for (std::size_t i = 0; i < clipped_.size(); ++i) {
      const auto after = adamw::step<adamw::Paper, float>(clipped_[i], {at.p[i], at.m[i], at.v[i]}, k);
      at.p[i] = after.p;
      at.m[i] = after.m;
      at.v[i] = after.v;
    }
  }

 private:
  std::unique_ptr<Model<float>> model_;
  Batch batch_;
  const float* logits_ = nullptr;
  std::vector<float> logit_gradient_, clipped_;
};

}  // namespace

Parameters::Parameters(const Network& network, Rng& rng) {
  const Index count = Segments(network).total();
  for (Buffer<float>* each : {&p, &m, &v, &g}) *each = Buffer<float>(count);
  initialize(network, rng, p);
  std::ranges::fill(m, 0.0F);
  std::ranges::fill(v, 0.0F);
}

std::unique_ptr<Trainer> naive_trainer(const Network& network) {
  return std::make_unique<NaiveTrainer>(network);
}

StepResult train_step(Trainer& trainer, const State& at, const Batch& batch, Index t) {
  StepResult out;
  trainer.forward(at, batch);
  out.loss = trainer.loss();
  trainer.backward(at);
  out.norm = trainer.clip(at);
  trainer.optimize(at, t);
  return out;
}

}  // namespace assay::training
