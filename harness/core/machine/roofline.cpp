// measure_roof(): the arithmetic and bandwidth of this machine, and the least time of a call under them.

#include "core/machine/roofline.hpp"

#include "core/machine/clock.hpp"
#include "core/machine/roof_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <iterator>
#include <memory>

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

// The work of a thread: does `calls` calls and returns the units of work done.
using Work = std::function<double(Index calls)>;

// The ninth decile: near the best that was seen, but seen in a tenth of the slices. The maximum of a thousand
// slices would be the luckiest clock reading of all.
double upper_decile(std::vector<double> rates) {
  if (rates.empty()) return 0;
  const auto rank = static_cast<std::size_t>(0.9 * static_cast<double>(rates.size() - 1));
  std::ranges::nth_element(rates, rates.begin() + static_cast<std::ptrdiff_t>(rank));
  return rates[rank];
}

// Units of work per second of all threads together. Slices begin together, and each counts from its first
// start to its last end, so that a slice in which one thread was held up counts as slow rather than as short.
double rate(int threads, double seconds, const std::function<Work(int index)>& make) {
  // Short enough that most slices see no interruption, long enough that clock and barrier do not count.
  constexpr double slice = 0.5e-3;
  Barrier barrier(threads);
  std::vector<Clock::time_point> start(static_cast<std::size_t>(threads)), end(start.size());
  std::vector<double> done(start.size()), rates;
  std::atomic<bool> go_on = true;
  Index calls = 1;
  run_team(threads, [&](int index) {
    const auto me = static_cast<std::size_t>(index);
    const Work work = make(index);
    if (index == 0) {
      calls = calls_per_slice(
          [&](Index count) {
            const auto from = Clock::now();
            work(count);
            return seconds_since(from);
          },
          slice);
    }
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
      const std::chrono::duration<double> taken = std::ranges::max(end) - std::ranges::min(start);
      rates.push_back(total / taken.count());
      go_on = seconds_since(begin) < seconds;
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

struct Loop {
  double written_share;
  roof::Walk walk;
  double words;              // read and written per element
  bool past_caches = false;  // pays where lines would not stay in a cache
};
constexpr double two_reads_and_a_write = 1.0 / 3;
constexpr std::array other_shares{0.0, 0.5, 1.0};
// The fastest of the loops with an equal written share counts; the level decides which it is.
constexpr std::array loops{Loop{two_reads_and_a_write, roof::Walk::multiply, 3},
                           Loop{two_reads_and_a_write, roof::Walk::multiply_in_place, 3},
                           Loop{two_reads_and_a_write, roof::Walk::multiply_past_caches, 3, true},
                           Loop{0, roof::Walk::add_up, 3},
                           Loop{0.5, roof::Walk::scale_in_place, 6},
                           Loop{0.5, roof::Walk::scale_past_caches, 2, true},
                           Loop{1, roof::Walk::fill, 3},
                           Loop{1, roof::Walk::fill_past_caches, 3, true}};

// The stream of each thread, which makes it and so touches it first.
using Streams = std::vector<std::unique_ptr<Stream>>;

double bandwidth(Streams& streams, double seconds, const RoofLevel& level, double written_share) {
  std::vector<Loop> tried;
  std::ranges::copy_if(loops, std::back_inserter(tried), [&](const Loop& loop) {
    return loop.written_share == written_share && (!loop.past_caches || level.name == "memory");
  });
  double best = 0;
  for (const Loop& loop : tried) {
    const double elements =
        rate(static_cast<int>(streams.size()), seconds / static_cast<double>(tried.size()), [&](int index) {
          auto& stream = streams[static_cast<std::size_t>(index)];
          if (stream == nullptr) stream = std::make_unique<Stream>(level.bytes_per_thread);
          return
              [&stream, walk = roof::loop(loop.walk)](Index steps) { return stream->advance(steps, walk); };
        });
    best = std::max(best, elements * loop.words * sizeof(float));
  }
  return best;
}

constexpr double most_flops = 4;  // times the arithmetic roof
constexpr double most_bytes = 2;  // times the bandwidth of L1

// The largest figure that `threads` threads may reach by these roofs; 0 where none is known.
double reachable(const std::vector<Roof>& roofs, int threads,
                 const std::function<double(const Roof&)>& figure) {
  double out = 0;
  for (const Roof& roof : roofs)
    if (roof.threads <= threads) out = std::max(out, figure(roof) * threads / roof.threads);
  return out;
}

double bandwidth_of_first_level(const Roof& roof) {
  const auto first = std::ranges::find(roof.bandwidth, "L1", &Bandwidth::level);
  if (first == roof.bandwidth.end()) return 0;
  return std::ranges::max(roof.bandwidth, {}, &Bandwidth::bytes_per_second).bytes_per_second;
}

}  // namespace

std::vector<RoofLevel> roof_levels(const Machine& machine, int threads) {
  constexpr double mib = 1024.0 * 1024;
  // More threads than cores take turns on them.
  const int cores = std::min(threads, machine.cores);
  const double most = std::max(machine.memory_bytes / 4, 16 * mib) / cores;  // bytes for one core
  std::vector<RoofLevel> out;
  double inner = 0;       // bytes of the level before, for one core
  double last_level = 0;  // bytes of all instances of the last level that these cores reach
  for (const auto& cache : machine.caches) {
    const double share = cache.bytes / cache.sharers;
    last_level = cache.bytes * ((cores + cache.sharers - 1) / cache.sharers);
    // Two thirds of L1 leave room for the stack. Half of an outer cache leaves room for code, and for other
    // processes. A working set within the level before would measure that level again.
    const double measured =
        cache.level == 1 ? share * 2 / 3 : std::max(std::min(share / 2, most), inner * 1.5);
    inner = share;
    if (measured > std::min(share, most)) continue;
    out.push_back({fmt::format("L{}", cache.level), measured * cores / threads, last_level});
  }
  // Four times the last level, so that little of a pass survives to the next; at most a quarter of memory.
  const double memory = std::min({std::max(4 * last_level, 64 * mib), 1024 * mib, most * cores});
  out.push_back({"memory", memory / threads, memory});
  return out;
}

Index calls_per_slice(const std::function<double(Index calls)>& seconds_of, double slice) {
  for (Index calls = 1;; calls *= 2) {
    const double taken = std::min({seconds_of(calls), seconds_of(calls), seconds_of(calls)});
    if (taken >= slice / 2)
      return std::max<Index>(1, std::llround(static_cast<double>(calls) * slice / taken));
  }
}

Roof measure_roof(const Machine& machine, int threads, double seconds) {
  const WeatherStation station;
  const auto levels = roof_levels(machine, threads);
  const double part = seconds / static_cast<double>(levels.size() + 1);
  Roof out{.threads = threads, .flops_per_second = arithmetic(threads, part)};
  for (const auto& level : levels) {
    Streams streams(static_cast<std::size_t>(threads));
    Bandwidth& made = out.bandwidth.emplace_back(Bandwidth{
        level.name, level.holds_bytes, bandwidth(streams, part * 0.4, level, two_reads_and_a_write), {}});
    for (const double share : other_shares)
      made.mixes.push_back({share, bandwidth(streams, part * 0.2, level, share)});
  }
  out.weather = station.since();
  return out;
}

void raise(Roof& roof, const Roof& again) {
  bool kept = false;
  const auto keep = [&](double& figure, double other) {
    if (other <= figure) return;
    figure = other;
    kept = true;
  };
  keep(roof.flops_per_second, again.flops_per_second);
  for (Bandwidth& level : roof.bandwidth) {
    const auto same = std::ranges::find(again.bandwidth, level.level, &Bandwidth::level);
    if (same == again.bandwidth.end()) continue;
    keep(level.bytes_per_second, same->bytes_per_second);
    for (TrafficMix& mix : level.mixes) {
      const auto other = std::ranges::find(same->mixes, mix.written_share, &TrafficMix::written_share);
      if (other != same->mixes.end()) keep(mix.bytes_per_second, other->bytes_per_second);
    }
  }
  roof.measurements += again.measurements;
  if (kept) roof.weather = again.weather;
}

double bandwidth_at(const Bandwidth& level, double written_share) {
  std::vector<TrafficMix> known = level.mixes;
  known.push_back({two_reads_and_a_write, level.bytes_per_second});
  std::erase_if(known, [](const TrafficMix& mix) { return mix.bytes_per_second <= 0; });
  if (known.empty()) return 0;
  std::ranges::sort(known, {}, &TrafficMix::written_share);
  const auto above = std::ranges::lower_bound(known, written_share, {}, &TrafficMix::written_share);
  if (above == known.begin()) return known.front().bytes_per_second;
  if (above == known.end()) return known.back().bytes_per_second;
  const TrafficMix& below = *std::prev(above);
  const double of_above =
      (written_share - below.written_share) / (above->written_share - below.written_share);
  return 1 / ((1 - of_above) / below.bytes_per_second + of_above / above->bytes_per_second);
}

const Bandwidth* level_that_holds(const Roof& roof, double bytes) {
  if (roof.bandwidth.empty()) return nullptr;
  const auto holds = [&](const Bandwidth& level) { return level.working_set_bytes >= bytes; };
  const auto level = std::ranges::find_if(roof.bandwidth, holds);
  return level == roof.bandwidth.end() ? &roof.bandwidth.back() : &*level;  // memory holds everything
}

RoofLimit limit_at_roof(const Roof& roof, const Cost& cost, double working_set_bytes) {
  RoofLimit out;
  if (cost.flops > 0) {
    if (roof.flops_per_second <= 0 || !cost.f32) return {};
    out = {.seconds = cost.flops / roof.flops_per_second, .by = "arithmetic"};
  }
  const double bytes = cost.bytes_read + cost.bytes_written;
  if (bytes > 0) {
    const Bandwidth* const level = level_that_holds(roof, working_set_bytes);
    if (level == nullptr) return {};
    const double rate = bandwidth_at(*level, cost.bytes_written / bytes);
    if (rate <= 0) return {};
    const double seconds = bytes / rate;
    if (seconds > out.seconds) out = {.seconds = seconds, .by = level->level};
  }
  return out;
}

RoofLimit floor_of(const std::vector<Roof>& roofs, const Cost& cost, int threads) {
  RoofLimit out;
  const auto at_least = [&out](double work, double rate, const char* by) {
    if (work <= 0 || rate <= 0 || work / rate <= out.seconds) return;
    out = {.seconds = work / rate, .by = by};
  };
  at_least(cost.f32 ? cost.flops - cost.avoidable_flops : 0,
           most_flops * reachable(roofs, threads, [](const Roof& roof) { return roof.flops_per_second; }),
           "arithmetic");
  at_least(cost.bytes_read - cost.avoidable_bytes + cost.bytes_written,
           most_bytes * reachable(roofs, threads, bandwidth_of_first_level), "L1");
  return out;
}

}  // namespace assay
