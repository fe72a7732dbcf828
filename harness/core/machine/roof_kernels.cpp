#include "core/machine/roof_kernels.hpp"

#include "assay/buffer.hpp"
#include "assay/random.hpp"
#include "core/files/processor_set.hpp"
#include "core/machine/clock.hpp"
#include "core/machine/topology.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/machine/roof_kernels.cpp"
#include <hwy/foreach_target.h>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::roof::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A number that the compiler does not know, so that it computes with it.
float One() {
  volatile float one = 1.0f;
  return one;
}

void AddUp(float* HWY_RESTRICT a, float* HWY_RESTRICT b, float* HWY_RESTRICT out, std::size_t count) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  // Twelve sums, so that none waits for the addition before.
  auto a0 = hn::Zero(d), a1 = a0, a2 = a0, a3 = a0, b0 = a0, b1 = a0, b2 = a0, b3 = a0;
  auto c0 = a0, c1 = a0, c2 = a0, c3 = a0;
  for (std::size_t i = 0; i < count; i += 4 * lanes) {
    a0 = hn::Add(a0, hn::Load(d, a + i));
    b0 = hn::Add(b0, hn::Load(d, b + i));
    c0 = hn::Add(c0, hn::Load(d, out + i));
    a1 = hn::Add(a1, hn::Load(d, a + i + lanes));
    b1 = hn::Add(b1, hn::Load(d, b + i + lanes));
    c1 = hn::Add(c1, hn::Load(d, out + i + lanes));
    a2 = hn::Add(a2, hn::Load(d, a + i + 2 * lanes));
    b2 = hn::Add(b2, hn::Load(d, b + i + 2 * lanes));
    c2 = hn::Add(c2, hn::Load(d, out + i + 2 * lanes));
    a3 = hn::Add(a3, hn::Load(d, a + i + 3 * lanes));
    b3 = hn::Add(b3, hn::Load(d, b + i + 3 * lanes));
    c3 = hn::Add(c3, hn::Load(d, out + i + 3 * lanes));
  }
  const auto all =
      hn::Add(hn::Add(hn::Add(hn::Add(a0, a1), hn::Add(a2, a3)), hn::Add(hn::Add(b0, b1), hn::Add(b2, b3))),
              hn::Add(hn::Add(c0, c1), hn::Add(c2, c3)));
  [[maybe_unused]] volatile float kept = hn::GetLane(all);
}

// out = f * a where `f` is out or b. Four vectors per step: caches limit the loop, not its instructions.
void MultiplyBy(const float* f, const float* HWY_RESTRICT a, float* out, std::size_t count) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < count; i += 4 * lanes) {
    const auto p0 = hn::Mul(hn::Load(d, a + i), hn::Load(d, f + i));
    const auto p1 = hn::Mul(hn::Load(d, a + i + lanes), hn::Load(d, f + i + lanes));
    const auto p2 = hn::Mul(hn::Load(d, a + i + 2 * lanes), hn::Load(d, f + i + 2 * lanes));
    const auto p3 = hn::Mul(hn::Load(d, a + i + 3 * lanes), hn::Load(d, f + i + 3 * lanes));
    hn::Store(p0, d, out + i);
    hn::Store(p1, d, out + i + lanes);
    hn::Store(p2, d, out + i + 2 * lanes);
    hn::Store(p3, d, out + i + 3 * lanes);
  }
}
void Multiply(float* a, float* b, float* out, std::size_t count) { MultiplyBy(b, a, out, count); }
void MultiplyInPlace(float* a, float* /*b*/, float* out, std::size_t count) {
  MultiplyBy(out, a, out, count);
}

void MultiplyPastCaches(float* HWY_RESTRICT a, float* HWY_RESTRICT b, float* HWY_RESTRICT out,
                        std::size_t count) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < count; i += lanes) {
    hn::Stream(hn::Mul(hn::Load(d, a + i), hn::Load(d, b + i)), d, out + i);
  }
  hwy::FlushStream();
}

void ScaleInPlace(float* HWY_RESTRICT a, float* HWY_RESTRICT b, float* HWY_RESTRICT out, std::size_t count) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto one = hn::Set(d, One());
  for (std::size_t i = 0; i < count; i += 2 * lanes) {
    for (float* const array : {a + i, b + i, out + i}) {
      const auto p0 = hn::Mul(hn::Load(d, array), one), p1 = hn::Mul(hn::Load(d, array + lanes), one);
      hn::Store(p0, d, array);
      hn::Store(p1, d, array + lanes);
    }
  }
}

void ScalePastCaches(float* HWY_RESTRICT a, float* /*b*/, float* HWY_RESTRICT out, std::size_t count) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto one = hn::Set(d, One());
  for (std::size_t i = 0; i < count; i += lanes) hn::Stream(hn::Mul(hn::Load(d, a + i), one), d, out + i);
  hwy::FlushStream();
}

void Fill(float* HWY_RESTRICT a, float* HWY_RESTRICT b, float* HWY_RESTRICT out, std::size_t count) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto one = hn::Set(d, One());
  for (std::size_t i = 0; i < count; i += 2 * lanes) {
    for (float* const array : {a + i, b + i, out + i}) {
      hn::Store(one, d, array);
      hn::Store(one, d, array + lanes);
    }
  }
}

void FillPastCaches(float* HWY_RESTRICT a, float* HWY_RESTRICT b, float* HWY_RESTRICT out,
                    std::size_t count) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto one = hn::Set(d, One());
  // One array after the other: a core combines the stores of few lines at a time.
  for (float* const array : {a, b, out}) {
    for (std::size_t i = 0; i < count; i += lanes) hn::Stream(one, d, array + i);
  }
  hwy::FlushStream();
}

double MultiplyAdd(std::size_t rounds, float& sink) {
  const hn::ScalableTag<float> d;
  // Twelve independent sums: two units with a latency of four or five cycles need eight to ten in flight, and
  // twelve with the two factors still fit the sixteen registers of AVX2.
  auto s0 = hn::Set(d, 0.0f), s1 = hn::Set(d, 0.1f), s2 = hn::Set(d, 0.2f), s3 = hn::Set(d, 0.3f);
  auto s4 = hn::Set(d, 0.4f), s5 = hn::Set(d, 0.5f), s6 = hn::Set(d, 0.6f), s7 = hn::Set(d, 0.7f);
  auto s8 = hn::Set(d, 0.8f), s9 = hn::Set(d, 0.9f), s10 = hn::Set(d, 1.0f), s11 = hn::Set(d, 1.1f);
  // s = s / 2 + 1 tends to 2: no infinities and no denormals, which some processors handle more slowly. The
  // factors come through memory the compiler cannot see through, or it would compute the limit itself.
  volatile float half = 0.5f, one = 1.0f;
  const auto x = hn::Set(d, half), y = hn::Set(d, one);
  for (std::size_t i = 0; i < rounds; ++i) {
    s0 = hn::MulAdd(s0, x, y);
    s1 = hn::MulAdd(s1, x, y);
    s2 = hn::MulAdd(s2, x, y);
    s3 = hn::MulAdd(s3, x, y);
    s4 = hn::MulAdd(s4, x, y);
    s5 = hn::MulAdd(s5, x, y);
    s6 = hn::MulAdd(s6, x, y);
    s7 = hn::MulAdd(s7, x, y);
    s8 = hn::MulAdd(s8, x, y);
    s9 = hn::MulAdd(s9, x, y);
    s10 = hn::MulAdd(s10, x, y);
    s11 = hn::MulAdd(s11, x, y);
  }
  const auto all = hn::Add(hn::Add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), hn::Add(hn::Add(s4, s5), s6)),
                           hn::Add(hn::Add(s7, s8), hn::Add(s9, hn::Add(s10, s11))));
  sink = hn::GetLane(hn::SumOfLanes(d, all));
  return static_cast<double>(rounds) * 12 * 2 * static_cast<double>(hn::Lanes(d));
}

StreamingLoop LoopOf(Walk walk) {
  // In the order of Walk.
  constexpr StreamingLoop loops[] = {
      AddUp,           Multiply, MultiplyPastCaches, MultiplyInPlace, ScaleInPlace,
      ScalePastCaches, Fill,     FillPastCaches};
  return loops[static_cast<std::size_t>(walk)];
}

}  // namespace assay::roof::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::roof {

HWY_EXPORT(LoopOf);
HWY_EXPORT(MultiplyAdd);

StreamingLoop loop(Walk walk) { return HWY_DYNAMIC_DISPATCH(LoopOf)(walk); }

double multiply_add(std::size_t rounds, float& sink) {
  return HWY_DYNAMIC_DISPATCH(MultiplyAdd)(rounds, sink);
}

}  // namespace assay::roof

namespace assay {
namespace {

// The arrays start a third of a page apart: at equal offsets within a page every load would wait for an
// earlier store that only seems to overlap it.
constexpr std::size_t third_of_page = 336;
constexpr std::size_t page = 1024;

std::size_t count_for(double bytes) {
  const auto steps = static_cast<std::size_t>(bytes / (3 * sizeof(float) * roof::stream_step));
  return std::max<std::size_t>(1, steps) * roof::stream_step;
}

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

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#endif
}

}  // namespace

Stream::Stream(double bytes)
    : count_(count_for(bytes)), stride_((count_ + page - 1) / page * page + third_of_page) {
  constexpr std::size_t large_page = 2 << 20, many = 32 << 20;
  const std::size_t all = 2 * stride_ + count_,
                    taken = (all * sizeof(float) + large_page - 1) / large_page * large_page;
  memory_.reset(static_cast<float*>(std::aligned_alloc(large_page, taken)));
  if (!memory_) throw std::bad_alloc();
  if (taken >= many) detail::prefer_large_pages(memory_.get(), taken);
  std::fill_n(memory_.get(), all, 1.0F);
}

double Stream::advance(Index steps, roof::StreamingLoop loop) {
  const auto all = static_cast<std::size_t>(steps) * roof::stream_step;
  for (std::size_t done = 0; done < all;) {
    const std::size_t count = std::min(all - done, count_ - at_);
    float* const from = memory_.get() + at_;
    loop(from, from + stride_, from + 2 * stride_, count);
    done += count;
    at_ = at_ + count == count_ ? 0 : at_ + count;
  }
  return static_cast<double>(all);
}

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

// About a millisecond, longer than the threads of a slice differ on an idle machine. Where they share
// processors, who spins keeps those from running that it waits for.
Barrier::Barrier(int parties)
    : parties_(parties), spins_(parties <= ProcessorSet::of_thread().count() ? 20'000 : 0) {}

void Barrier::arrive_and_wait() {
  const unsigned generation = generation_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == parties_) {
    arrived_.store(0, std::memory_order_relaxed);
    generation_.store(generation + 1, std::memory_order_release);
    generation_.notify_all();
    return;
  }
  for (int spin = 0; spin < spins_; ++spin) {
    if (generation_.load(std::memory_order_acquire) != generation) return;
    relax();
  }
  while (generation_.load(std::memory_order_acquire) == generation) generation_.wait(generation);
}

void run_team(int threads, const std::function<void(int)>& work) {
  std::exception_ptr fault;
  std::mutex guard;
  const auto order =
      threads > 1 ? placing_order(this_topology(), ProcessorSet::of_thread().numbers()) : std::vector<int>();
  std::vector<std::jthread> team;
  for (int index = 0; index < threads; ++index) {
    team.emplace_back([&, index] {
      try {
        // A refusal leaves the thread where it is, which is as good as can be.
        if (!order.empty()) ProcessorSet({order[static_cast<std::size_t>(index) % order.size()]}).give_to(0);
        work(index);
      } catch (...) {
        const std::scoped_lock lock(guard);
        if (fault == nullptr) fault = std::current_exception();
      }
    });
  }
  team.clear();
  if (fault != nullptr) std::rethrow_exception(fault);
}

}  // namespace assay
#endif
