// measure_roof(): arithmetic and bandwidth that this machine reaches,
// and what a call costs at least under them.

#include "assay/machine.hpp"
#include "core/machine/roof_kernels.hpp"
#include "core/machine/roof_levels.hpp"
#include "core/machine/stream.hpp"
#include "core/machine/team.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

// One thread's share of the work: does `calls` calls and returns the units of work done.
using Work = std::function<double(Index calls)>;

// The ninth decile: near the best that was seen, but seen in a tenth of the slices. The maximum of a thousand
// slices would be the luckiest clock reading of all.
double upper_decile(std::vector<double> rates) {
  if (rates.empty()) return 0;
  const auto rank = static_cast<std::size_t>(0.9 * static_cast<double>(rates.size() - 1));
  std::ranges::nth_element(rates, rates.begin() + static_cast<std::ptrdiff_t>(rank));
  return rates[rank];
}

// Calls that take about `slice` seconds, found by doubling.
Index calls_per_slice(const Work& work, double slice) {
  for (Index calls = 1;; calls *= 2) {
    const auto start = Clock::now();
    work(calls);
    const double taken = seconds_between(start, Clock::now());
    if (taken >= slice / 2)
      return std::max<Index>(1, std::llround(static_cast<double>(calls) * slice / taken));
  }
}

// Units of work per second of all threads together. Slices begin together, and each counts from its first
// start to its last end, so that a slice in which one thread was held up counts as slow rather than as short.
double rate(int threads, double seconds, const std::function<Work(int index)>& make) {
  // Short enough that most slices see no interruption, long enough for the clock and the
  // barrier not to count.
  constexpr double slice = 0.5e-3;
  Barrier barrier(threads);
  std::vector<Clock::time_point> start(static_cast<std::size_t>(threads)), end(start.size());
  std::vector<double> done(start.size()), rates;
  std::atomic<bool> go_on = true;
  Index calls = 1;
  run_team(threads, [&](int index) {
    const auto me = static_cast<std::size_t>(index);
    const Work work = make(index);
    if (index == 0) calls = calls_per_slice(work, slice);
    const auto begin = Clock::now();
    while (true) {
      barrier.arrive_and_wait();
      if (!go_on) return;
      start[me] = Clock::now();
      done[me] = work(calls);
      end[me] = Clock::now();
      barrier.arrive_and_wait();
      if (index != 0) continue;
      double total = 0;
      for (const double units : done) total += units;
      rates.push_back(total / seconds_between(std::ranges::min(start), std::ranges::max(end)));
      go_on = seconds_between(begin, Clock::now()) < seconds;
    }
  });
  return upper_decile(std::move(rates));
}

double arithmetic(int threads, double seconds) {
  return rate(threads, seconds, [](int) {
    return [](Index calls) {
      // About 20 microseconds a call, so that calling costs nothing.
      constexpr std::size_t rounds = 16'384;
      double flops = 0;
      [[maybe_unused]] volatile float kept = 0;
      for (Index i = 0; i < calls; ++i) {
        float sink = 0;
        flops += roof::multiply_add(rounds, sink);
        kept = sink;
      }
      return flops;
    };
  });
}

double bandwidth(int threads, double seconds, double bytes_per_thread, Stream::Loop loop) {
  return rate(threads, seconds, [&](int) {
    return [stream = std::make_shared<Stream>(bytes_per_thread), loop](Index steps) {
      return stream->advance(steps, loop);
    };
  });
}

}  // namespace

Roof measure_roof(const Machine& machine, int threads, double seconds) {
  const auto levels = roof_levels(machine, threads);
  // Memory is measured twice, with stores through the caches and past them;
  // touching its pages takes time too.
  const double part = seconds / static_cast<double>(levels.size() + 2);
  Roof out{.threads = threads, .flops_per_second = arithmetic(threads, part)};
  for (const auto& level : levels) {
    double best = bandwidth(threads, part, level.bytes_per_thread, roof::multiply);
    if (level.name == "memory") {
      best = std::max(best, bandwidth(threads, part, level.bytes_per_thread, roof::multiply_past_caches));
    }
    out.bandwidth.push_back({level.name, level.holds_bytes, best});
  }
  return out;
}

double seconds_at_roof(const Roof& roof, const Cost& cost, double working_set_bytes) {
  double out = 0;
  if (cost.flops > 0) {
    if (roof.flops_per_second <= 0 || !cost.f32) return 0;
    out = cost.flops / roof.flops_per_second;
  }
  const double bytes = cost.bytes_read + cost.bytes_written;
  if (bytes > 0) {
    if (roof.bandwidth.empty()) return 0;
    const auto holds = [&](const Bandwidth& level) { return level.working_set_bytes >= working_set_bytes; };
    auto level = std::ranges::find_if(roof.bandwidth, holds);
    if (level == roof.bandwidth.end()) level = std::prev(level);  // memory holds everything
    if (level->bytes_per_second <= 0) return 0;
    out = std::max(out, bytes / level->bytes_per_second);
  }
  return out;
}

}  // namespace assay
