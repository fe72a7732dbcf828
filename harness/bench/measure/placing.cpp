#include "bench/measure/placing.hpp"

#include "core/files/child_process.hpp"
#include "core/files/processor_set.hpp"
#include "core/machine/topology.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <utility>

namespace assay {
namespace {

/// Nanoseconds of processor time that a thread of this process has had. glibc offers its clock by
/// pthread_t alone; this is how the kernel numbers it.
std::int64_t nanoseconds_of(int thread) {
  constexpr int per_thread_scheduled = 6;
  timespec time{};
  if (clock_gettime(static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3) | per_thread_scheduled),
                    &time) != 0) {
    return 0;
  }
  return std::int64_t{1'000'000'000} * time.tv_sec + time.tv_nsec;
}

/// Processor time of all threads but this one; in the order in which they were made, mostly.
std::map<int, std::int64_t> times_of_others() {
  std::map<int, std::int64_t> out;
  std::error_code ended;  // a thread's folder may go while it is looked at
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", ended)) {
    const int thread = number_from<int>(entry.path().filename().string()).value_or(0);
    if (thread != gettid()) out[thread] = nanoseconds_of(thread);
  }
  return out;
}

/// Returns at most `count` threads that had processor time since then, in the order in which they were made,
/// and more of it than threads need to fall asleep: a fiftieth of `elapsed`.
std::vector<int> busiest_since(const std::map<int, std::int64_t>& before, std::size_t count,
                               std::chrono::nanoseconds elapsed) {
  std::vector<std::pair<std::int64_t, int>> had;
  for (const auto& [thread, time] : times_of_others()) {
    const auto then = before.find(thread);
    const std::int64_t more = time - (then == before.end() ? 0 : then->second);
    if (more > elapsed.count() / 50) had.emplace_back(more, thread);
  }
  std::ranges::sort(had, std::greater{});
  had.resize(std::min(count, had.size()));
  std::vector<int> out;
  for (const auto& [more, thread] : had) out.push_back(thread);
  std::ranges::sort(out);
  return out;
}

/// A joined thread is listed for a while yet, on busy machines for milliseconds, but marked as one that ends.
bool has_ended(int thread) {
  constexpr unsigned long ends = 4;  // PF_EXITING
  constexpr std::size_t flags = 9;
  const std::vector<std::string> fields = fields_of_stat(fmt::format("/proc/self/task/{}/stat", thread));
  return fields.size() <= flags || (std::strtoul(fields[flags].c_str(), nullptr, 10) & ends) != 0;
}

void allow(int thread, const std::vector<int>& processors) { ProcessorSet(processors).give_to(thread); }

using Clock = std::chrono::steady_clock;
constexpr auto probe = std::chrono::milliseconds(2);
/// A large machine need not be searched whole.
constexpr std::size_t most_cores = 16;
/// Between two looks at the clock passes much less, unless something else ran.
constexpr auto gap = std::chrono::microseconds(1);

/// Time that passed elsewhere while this thread looked at the clock on that processor.
Clock::duration taken_on(int processor) {
  if (!ProcessorSet({processor}).give_to(0)) return Clock::duration::max();
  Clock::duration taken{};
  const auto start = Clock::now();
  for (auto last = start; last - start < probe;) {
    const auto now = Clock::now();
    if (now - last > gap) taken += now - last;
    last = now;
  }
  return taken;
}

/// At most so many of them, from all parts of the machine: neighbours often belong to one job.
std::vector<int> spread_over(const std::vector<int>& processors, std::size_t most) {
  if (processors.size() <= most) return processors;
  std::vector<int> out;
  for (std::size_t i = 0; i < most; ++i) out.push_back(processors[i * processors.size() / most]);
  return out;
}

}  // namespace

Placing::Placing(int processor) {
  const std::vector<int> allowed = ProcessorSet::of_thread().numbers();
  const bool has_it = std::ranges::find(allowed, processor) != allowed.end();
  processors_ = placing_order(this_topology(), allowed, has_it ? processor : -1);
}

void Placing::lift() const { allow(0, processors_); }

int Placing::place(int threads, const std::function<void()>& work) const {
  if (threads == 1) {
    allow(0, {processors_.front()});
    work();
    return 1;
  }
  allow(0, processors_);
  const auto before = times_of_others();
  const auto start = std::chrono::steady_clock::now();
  work();
  std::vector<int> helpers =
      busiest_since(before, static_cast<std::size_t>(threads) - 1, std::chrono::steady_clock::now() - start);
  std::erase_if(helpers, has_ended);
  if (static_cast<int>(helpers.size()) + 1 < threads) return 0;
  allow(0, {processors_.front()});
  std::size_t place = 0;
  for (const int helper : helpers) {
    place = (place + 1) % processors_.size();
    allow(helper, {processors_[place]});
  }
  return std::min(threads, static_cast<int>(processors_.size()));
}

int freest_core() {
  const ProcessorSet all = ProcessorSet::of_thread();
  int freest = 0;
  Clock::duration least = Clock::duration::max();
  for (const int processor : spread_over(fast_cores(this_topology(), all.numbers()), most_cores)) {
    const Clock::duration taken = taken_on(processor);
    if (taken < least) {
      least = taken;
      freest = processor;
    }
  }
  all.give_to(0);
  return freest;
}

}  // namespace assay
