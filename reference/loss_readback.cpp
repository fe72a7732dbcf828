#include "assay/ops/loss_readback.hpp"

#include <memory>

namespace assay {
namespace loss_readback {
namespace {

// splitmix64: Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.
std::uint64_t scrambled(std::uint64_t value, Index rounds) {
  for (Index round = 0; round < rounds; ++round) {
    value += 0x9e3779b97f4a7c15U;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
    value ^= value >> 31;
  }
  return value;
}

}  // namespace

State after(State state, std::uint64_t seed, Index grain) {
  const std::uint64_t loss = scrambled(state.loss ^ seed, grain);
  return {loss, state.correct + loss % 64};
}

std::uint64_t prepared(std::uint64_t batch, std::uint64_t seed, Index host) {
  return scrambled(batch ^ seed, host);
}

Queue::Queue() : thread_([this] { serve(); }) {}

Queue::~Queue() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  begun_.notify_one();
  thread_.join();
}

void Queue::restart(const std::uint64_t* seeds, Index grain) {
  drain();
  const std::lock_guard lock(mutex_);
  seeds_ = seeds;
  grain_ = grain;
  wanted_ = done_ = 0;
  state_ = {};
}

void Queue::begin(Index steps) {
  {
    const std::lock_guard lock(mutex_);
    wanted_ += steps;
  }
  begun_.notify_one();
}

bool Queue::drain() {
  std::unique_lock lock(mutex_);
  const bool waits = done_ < wanted_;
  finished_.wait(lock, [&] { return done_ == wanted_; });
  return waits;
}

void Queue::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    begun_.wait(lock, [&] { return stopping_ || done_ < wanted_; });
    if (stopping_) return;
    const State before = state_;
    const std::uint64_t seed = seeds_[done_];
    const Index grain = grain_;
    lock.unlock();
    const State next = after(before, seed, grain);
    lock.lock();
    state_ = next;
    if (++done_ == wanted_) finished_.notify_one();
  }
}

}  // namespace loss_readback

namespace {

const Register registered{[](Registry& r) {
  const auto prepare = [](const LossReadback::Problem& p, const auto&, const Context&) {
    return [p, queue = std::make_shared<loss_readback::Queue>()](const LossReadback::Input& in,
                                                                 LossReadback::Output& out) {
      queue->restart(in.seed.data(), p.grain);
      std::uint64_t batch = 0;
      for (Index step = 0; step < p.steps; ++step) {
        queue->begin(1);
        queue->drain();
        out.loss[step / p.every] = queue->state().loss;
        queue->drain();
        out.correct[step / p.every] = queue->state().correct;
        batch = loss_readback::prepared(batch, in.seed[step], p.host);
      }
      out.batch[0] = batch;
    };
  };
  r.add<LossReadback>({.name = "naive",
                       .summary = "waits for the queue in each step, once per number",
                       .helpers = LossReadback::one_queue,
                       .prepare = prepare});
}};

}  // namespace

auto LossReadback::corner_cases() -> std::vector<Problem> {
  return {{.steps = 1},
          {.steps = 7, .every = 1, .grain = 3, .host = 2},
          {.steps = 8, .every = 4, .grain = 5},
          {.steps = 10, .every = 4, .grain = 2, .host = 9},
          {.steps = 3, .every = 8}};
}

auto LossReadback::expect(const Problem& p, const Input& in, Setting&) -> Expected {
  Expected want{{}, {}, {0}};
  loss_readback::State state;
  for (Index step = 0; step < p.steps; ++step) {
    state = loss_readback::after(state, in.seed[step], p.grain);
    want.batch[0] = loss_readback::prepared(want.batch[0], in.seed[step], p.host);
    if ((step + 1) % p.every != 0 && step + 1 != p.steps) continue;
    want.loss.push_back(state.loss);
    want.correct.push_back(state.correct);
  }
  return want;
}

Cost LossReadback::cost(const Problem& p) {
  return {.bytes_read = 8 * static_cast<double>(p.steps),
          .bytes_written = 16 * static_cast<double>(p.lines()),
          .f32 = false};
}

template class detail::TypedOperation<LossReadback>;

}  // namespace assay
