#include "core/machine/random_lines.hpp"

#include "assay/random.hpp"
#include "core/machine/clock.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t line_words = 64 / sizeof(std::uint64_t);
// 256 MiB: beyond the caches, and beyond the translations of small pages that a processor keeps.
constexpr std::size_t lines = std::size_t{1} << 22;
// Requests in flight: as many as fill buffers and the queues behind them hold.
constexpr std::size_t ahead = 32;
constexpr std::size_t in_slice = 4096;

std::uint64_t sum_of(const std::vector<std::uint64_t>& memory, const std::vector<std::uint32_t>& order) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i + ahead < order.size(); ++i) {
    __builtin_prefetch(memory.data() + line_words * order[i + ahead]);
    sum += memory[line_words * order[i]];
  }
  return sum;
}

}  // namespace

RandomLines measure_random_lines(double memory_bytes, double seconds) {
  constexpr double bytes = 64.0 * lines;
  if (memory_bytes < 8 * bytes) return {};
  // Filled with ones, since untouched pages are all mapped to the same page of zeros.
  const std::vector<std::uint64_t> memory(lines * line_words, 1);
  std::vector<std::uint32_t> order(in_slice + ahead);
  Rng rng(1);
  RandomLines out{.working_set_bytes = bytes};
  const auto start = Clock::now();
  do {
    std::ranges::generate(order, [&] { return static_cast<std::uint32_t>(rng.next() % lines); });
    const auto begin = Clock::now();
    const volatile std::uint64_t sum = sum_of(memory, order);
    const double taken = seconds_since(begin);
    if (sum > 0 && taken > 0) out.per_second = std::max(out.per_second, in_slice / taken);
  } while (seconds_since(start) < seconds);
  return out;
}

}  // namespace assay
