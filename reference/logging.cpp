#include "assay/ops/logging.hpp"

#include "assay/error.hpp"
#include "assay/ops/arrays.hpp"
#include "assay/ops/training_loop.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include <unistd.h>

namespace assay {
namespace logging {
namespace {

[[noreturn]] void throw_cannot(const char* what) {
  throw Error("a log file in $TMPDIR, or /tmp", std::string(what) + ": " + std::strerror(errno),
              "set TMPDIR to a folder that can be written to and has room");
}

}  // namespace

void format(Index batch, float loss, char* to) {
  char line[line_bytes + 32];
  std::snprintf(line, sizeof line, "batch %10lld loss %9.6f\n", static_cast<long long>(batch),
                static_cast<double>(loss));
  std::memcpy(to, line, static_cast<std::size_t>(line_bytes));
}

LogFile::LogFile() : file_(nameless_scratch_file()) {
  if (file_.descriptor < 0) throw_cannot("cannot be made");
}

void LogFile::clear() {
  if (::ftruncate(file_.descriptor, 0) != 0) throw_cannot("cannot be cleared");
  size_ = 0;
}

void LogFile::append(std::string_view lines) {
  if (file_.write(std::as_bytes(std::span(lines)), size_) != 0) throw_cannot("cannot be written");
  size_ += static_cast<Index>(lines.size());
}

std::string LogFile::text() const {
  std::string out(static_cast<std::size_t>(size_), '\0');
  if (file_.read(std::as_writable_bytes(std::span(out)), 0) != size_) throw_cannot("cannot be read");
  return out;
}

void read_back(const Logging::Problem& p, const LogFile& file, Logging::Output& output) {
  const std::string text = file.text();
  constexpr auto width = static_cast<std::size_t>(line_bytes);
  for (std::size_t at = 0; at + width <= text.size(); at += width) {
    Index batch = 0;
    const char* const number = text.data() + text.find_first_not_of(' ', at + 6);
    std::from_chars(number, text.data() + at + width, batch);
    if (batch < 1 || batch > p.last() || !p.wants(batch)) continue;
    std::memcpy(output.text.data() + (batch + p.every - 1) / p.every * line_bytes - line_bytes,
                text.data() + at, width);
  }
}

}  // namespace logging

namespace {

using logging::line_bytes;

void naive(const Logging::Problem& p, const Logging::Input& in, Logging::Output& out) {
  in.file->clear();
  const auto log = [&](Index batch, float loss) {
    char line[line_bytes];
    logging::format(batch, loss, line);
    in.file->append({line, sizeof line});
  };
  try {
    logging::train(p, in, log);
  } catch (const logging::Stopped&) {  // every line is in the file
  }
  logging::read_back(p, *in.file, out);
}

}  // namespace

const Corners Logging::corners = {
    "batches=1,every=1",           "batches=7,every=1",         "batches=100,every=2",
    "batches=10,every=4",          "batches=3,every=8",         "batches=300,every=1,fails=290",
    "batches=20,every=3,fails=11", "batches=8,every=4,fails=1", "batches=8,every=4,fails=8"};

auto Logging::make_input(const Problem& p, Setting& setting) -> Input {
  return {drawn(p.batches, setting), std::make_shared<logging::LogFile>()};
}

auto Logging::expect(const Problem& p, const Input& in, Setting&) -> Expected {
  Expected want;
  for (Index batch = 1; batch <= p.last(); ++batch) {
    if (!p.wants(batch)) continue;
    char line[line_bytes];
    logging::format(batch, in.loss[batch - 1], line);
    want.text.append(line, sizeof line);
  }
  return want;
}

Agreement Logging::judge(const Problem& p, const Input& in, const Expected& want, const Output& out) {
  Agreement outcome{.compared = p.lines(), .total = p.lines()};
  const auto text_of = [](const Output& output) {
    return std::string_view(reinterpret_cast<const char*>(output.text.data()),
                            static_cast<std::size_t>(output.text.size()));
  };
  Output in_file{Buffer<std::uint8_t>(out.text.size())};
  logging::read_back(p, *in.file, in_file);
  if (text_of(in_file) != want.text) {
    outcome.agrees = false;
    outcome.detail = "the wanted lines are not in the file";
  }
  const std::string_view found = text_of(out);
  const auto [at, right] = std::ranges::mismatch(found, want.text);
  if (at == found.end()) return outcome;
  constexpr auto width = static_cast<std::size_t>(line_bytes);
  const std::size_t line = static_cast<std::size_t>(at - found.begin()) / width;
  const auto text = [&](std::string_view from) { return std::string(from.substr(line * width, width - 1)); };
  outcome.agrees = false;
  outcome.detail = "text[" + std::to_string(line) + "] is " +
                   (is_poison(out.text[static_cast<Index>(line * width)]) ? "missing: '" : "not '") +
                   text(want.text) + "'";
  return outcome;
}

namespace loss_readback {

State after(State state, std::uint64_t seed, Index grain) {
  const std::uint64_t loss = chunks::scrambled(state.loss ^ seed, grain);
  return {loss, state.correct + loss % 64};
}

std::uint64_t prepared(std::uint64_t batch, std::uint64_t seed, Index host) {
  return chunks::scrambled(batch ^ seed, host);
}

Queue::Queue() : thread_([this](const std::stop_token& stop) { serve(stop); }) {}

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

void Queue::serve(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  for (;;) {
    begun_.wait(lock, stop, [&] { return done_ < wanted_; });
    if (stop.stop_requested()) return;
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

const Register registered{[](Registry& r) {
  r.add<Logging>({.name = "naive", .summary = "a line formatted and flushed in each batch", .run = naive});
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

const Corners LossReadback::corners = {"steps=1,every=1", "steps=7,every=1,grain=3,host=2",
                                       "steps=8,every=4,grain=5", "steps=10,every=4,grain=2,host=9",
                                       "steps=3,every=8"};

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

template class detail::TypedOperation<Logging>;
template class detail::TypedOperation<LossReadback>;

}  // namespace assay
