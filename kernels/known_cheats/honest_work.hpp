// The work that cheats leave out, delay or hide, plain and right, which known-bad kernels do as well where
// they are right; the memory and the threads that some cheats and honest kernels keep; and pages that call
// back when they are touched: how a program learns that others read or write its memory.
#pragma once

#include "assay/buffer.hpp"
#include "assay/ops/adamw.hpp"
#include "assay/ops/attention.hpp"
#include "assay/ops/conv2d.hpp"
#include "assay/ops/gemm.hpp"
#include "assay/ops/layernorm.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace assay::known_cheats {

/// Variant::unfit of a kernel for the problems that fits(problem) holds for.
template <class Fits>
constexpr auto unless(const Fits& fits, const char* reason) {
  return [=](const auto& problem, const Context&) -> std::optional<std::string> {
    if (fits(problem)) return std::nullopt;
    return reason;
  };
}

inline constexpr auto unless_beta_is_0 =
    unless([](const auto& p) { return p.beta == 0; }, "C is no function of A and B alone");

/// Whether the problem is a corner case, as variants see those, whose answers are checked.
template <class Op>
bool is_checked(const typename Op::Problem& p) {
  const auto rules = field_rules<typename Op::Problem>();
  return std::ranges::any_of(Op::corner_cases(), [&](const auto& corner) {
    return without_content(values_of(corner), rules) == values_of(p);
  });
}

/// Computes rows [first, last) of C. Where it `skips_zeros`, leaves out products with zero.
template <bool skips_zeros = false>
void gemm_rows(const Gemm::Problem& p, const float* a, const float* b, float* c, Index first, Index last) {
  const matrix::View<float> op_a = matrix::view(a, p.m, p.k, p.a_transposed()),
                            op_b = matrix::view(b, p.k, p.n, p.b_transposed());
  const float alpha = static_cast<float>(p.alpha), beta = static_cast<float>(p.beta);
  for (Index i = first; i < last; ++i) {
    float* row = c + i * p.n;
    for (Index j = 0; j < p.n; ++j) row[j] = p.beta == 0 ? 0 : beta * row[j];
    for (Index l = 0; l < p.k; ++l) {
      const float scaled = alpha * op_a(i, l);
      if (skips_zeros && scaled == 0) continue;
      for (Index j = 0; j < p.n; ++j) row[j] += scaled * op_b(l, j);
    }
  }
}
inline void gemm(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  gemm_rows(p, in.a.data(), in.b.data(), out.c.data(), 0, p.m);
}

/// Returns the element of alpha op(A) op(B) at position `flat` of C.
template <class Number>
Number product_element(const Gemm::Problem& p, const Gemm::Input& in, Index flat) {
  const auto a = matrix::view(in.a.data(), p.m, p.k, p.a_transposed());
  const auto b = matrix::view(in.b.data(), p.k, p.n, p.b_transposed());
  return static_cast<Number>(p.alpha) * matrix::element<Number>(a, b, flat / p.n, flat % p.n, p.k);
}

/// Copies of the operands of a product, and the product.
struct Multiplied {
  std::vector<float> a, b, c;

  void multiply(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
    gemm(p, in, out);
    a.assign(in.a.begin(), in.a.end());
    b.assign(in.b.begin(), in.b.end());
    c.assign(out.c.begin(), out.c.end());
  }
};

inline float gemv_row(const Gemv::Problem& p, const Gemv::Input& in, const float* x, Index i) {
  const auto a = matrix::view(in.a.data(), p.results(), p.terms(), p.transposed());
  return matrix::element<float>(a, matrix::View<float>{x, 1, 0}, i, 0, p.terms());
}
inline void gemv(const Gemv::Problem& p, const Gemv::Input& in, Gemv::Output& out) {
  for (Index i = 0; i < p.results(); ++i) out.y[i] = gemv_row(p, in, in.x.data(), i);
}

/// The mean of a row and the reciprocal root of its variance.
template <class Number>
std::pair<double, double> statistics(const Number* x, Index cols) {
  double sum = 0, squares = 0;
  for (Index j = 0; j < cols; ++j) sum += static_cast<double>(x[j]);
  const double mean = sum / static_cast<double>(cols);
  for (Index j = 0; j < cols; ++j)
    squares += (static_cast<double>(x[j]) - mean) * (static_cast<double>(x[j]) - mean);
  return {mean, 1 / std::sqrt(squares / static_cast<double>(cols) + layernorm::epsilon)};
}
/// Computes y from the statistics that it writes, as naive does; the contract allows statistics of more
/// digits, too.
inline void layer_norm_row(const LayerNorm::Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out,
                           Index row, std::pair<double, double> of) {
  const float* x = in.x.data() + row * p.cols;
  float* y = out.y.data() + row * p.cols;
  const float mean = static_cast<float>(of.first), rstd = static_cast<float>(of.second);
  for (Index j = 0; j < p.cols; ++j) y[j] = (x[j] - mean) * rstd * in.gamma[j] + in.beta[j];
  out.mean[row] = mean;
  out.rstd[row] = rstd;
}
inline void layer_norm_row(const LayerNorm::Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out,
                           Index row) {
  layer_norm_row(p, in, out, row, statistics(in.x.data() + row * p.cols, p.cols));
}
inline void layer_norm(const LayerNorm::Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
  for (Index row = 0; row < p.rows; ++row) layer_norm_row(p, in, out, row);
}

/// power(x) is e to the x, for x <= 0, -inf included, and NaN.
template <class Power>
void softmax_cross_entropy(const SoftmaxCrossEntropy::Problem& p, const SoftmaxCrossEntropy::Input& in,
                           SoftmaxCrossEntropy::Output& out, const Power& power) {
  const double rows = static_cast<double>(p.rows);
  for (Index i = 0; i < p.rows; ++i) {
    const float* x = in.x.data() + i * p.cols;
    const auto largest = static_cast<double>(*std::max_element(x, x + p.cols));
    double sum = 0, loss = 0;
    for (Index j = 0; j < p.cols; ++j) sum += power(static_cast<double>(x[j]) - largest);
    for (Index j = 0; j < p.cols; ++j) {
      const double share = p.everywhere() + (in.label[i] == j ? p.at_label() : 0),
                   d = static_cast<double>(x[j]) - largest;
      if (share > 0) loss += share * (std::log(sum) - d);
      out.dx[i * p.cols + j] = static_cast<float>((power(d) / sum - share) / rows);
    }
    out.loss[i] = static_cast<float>(loss);
  }
}

template <class Formula = adamw::Paper>
void adamw_step(const AdamWPaper::Problem& p, const AdamWPaper::Input& in, AdamWPaper::Output& out) {
  adamw::naive_steps<Formula>(p.t, 0, p.n, in, out);
}

/// A call that is to be done by other means.
template <class Op>
struct Call {
  const typename Op::Problem* p = nullptr;
  const typename Op::Input* in = nullptr;
  typename Op::Output* out = nullptr;
};

/// An object that stays where it is.
struct Pinned {
  Pinned() = default;
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
};

/// Anonymous pages that are mapped with `flags`.
class Mapping : Pinned {
 public:
  Mapping(std::size_t bytes, int flags)
      : bytes_(bytes), data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0)) {}
  ~Mapping() {
    if (data() != nullptr) munmap(data_, bytes_);
  }
  /// Null where the system refused.
  float* data() const { return data_ == MAP_FAILED ? nullptr : static_cast<float*>(data_); }

 private:
  std::size_t bytes_;
  void* data_;
};

/// A thread that sleeps until it is handed a job, or, if it `spins`, looks for one all the time, so that
/// handing it over costs next to nothing.
template <bool spins>
class WaitingWorker : Pinned {
 public:
  WaitingWorker() : thread_([this] { serve(); }) {}
  ~WaitingWorker() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  /// Returns at once. The job replaces an earlier one that has not begun.
  void hand(std::function<void()> job) {
    {
      const std::lock_guard lock(mutex_);
      job_ = std::move(job);
    }
    changed_.notify_all();
  }
  /// Returns when no job is left.
  void wait() {
    std::unique_lock lock(mutex_);
    until(lock, [&] { return !job_ && !busy_; });
  }

 private:
  template <class Ready>
  void until(std::unique_lock<std::mutex>& lock, const Ready& ready) {
    if (!spins) return changed_.wait(lock, ready);
    while (!ready()) {
      lock.unlock();
      std::this_thread::yield();
      lock.lock();
    }
  }
  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      until(lock, [&] { return ends_ || job_; });
      if (ends_) return;
      const auto job = std::exchange(job_, nullptr);
      busy_ = true;
      lock.unlock();
      job();
      lock.lock();
      busy_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> job_;
  bool busy_ = false, ends_ = false;
  std::thread thread_;
};
using Worker = WaitingWorker<false>;

/// A prepare() whose kernel is work(state, problem, input, output), with a State that it keeps between calls.
template <class Op, class State, class Work>
auto keeping(Work work) {
  return [work](const typename Op::Problem& p, const typename Op::Input&, const Context&) {
    return
        [work, p, state = std::make_shared<State>()](const typename Op::Input& in, typename Op::Output& out) {
          std::invoke(work, *state, p, in, out);
        };
  };
}

/// Time that was taken out of a clock, in nanoseconds.
struct HiddenTime {
  static constexpr std::int64_t second = 1'000'000'000;
  std::atomic<std::int64_t> hidden{0};

  static std::int64_t nanoseconds(const timespec& at) {
    return static_cast<std::int64_t>(at.tv_sec) * second + at.tv_nsec;
  }
  void take_from(timespec& now) const {
    const std::int64_t shown = nanoseconds(now) - hidden.load();
    now = {static_cast<time_t>(shown / second), static_cast<long>(shown % second)};
  }
  /// Does the work, and hides three quarters of its time by the clock `read`.
  template <class Read, class Work>
  void during(const Read& read, const Work& work) {
    timespec start{}, end{};
    read(start);
    work();
    read(end);
    hidden += (nanoseconds(end) - nanoseconds(start)) / 4 * 3;
  }
};

/// Whole pages of an array.
struct Pages {
  std::byte* begin = nullptr;
  std::size_t bytes = 0;

  /// The pages that hold nothing else.
  static Pages within(const Buffer<float>& x) {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto first = (reinterpret_cast<std::uintptr_t>(x.data()) + page - 1) / page * page;
    const auto last = reinterpret_cast<std::uintptr_t>(x.data() + x.size()) / page * page;
    if (last <= first) return {};
    return {reinterpret_cast<std::byte*>(first), last - first};
  }
  bool hold(const void* address) const {
    const auto* at = static_cast<const std::byte*>(address);
    return at >= begin && at < begin + bytes;
  }
  void allow(int protection) const {
    if (bytes > 0) mprotect(begin, bytes, protection);
  }
};

/// Writes over a table of the linker or over code, whose pages are left with this protection.
inline void overwrite(void* at, const void* by, std::size_t bytes, int protection) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto place = reinterpret_cast<std::uintptr_t>(at), begin = place / page * page;
  if (mprotect(reinterpret_cast<void*>(begin), place + bytes - begin, protection) != 0) return;
  std::memcpy(at, by, bytes);
}

/// Calls visit(begin, end) for each part of this process's memory that may be written and whose line in /proc
/// holds `name`.
template <class Visit>
void for_each_mapping(const char* name, const Visit& visit) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    if (line.find(name) != std::string::npos && std::sscanf(line.c_str(), "%lx-%lx rw", &begin, &end) == 2)
      visit(begin, end);
  }
}

/// Takes a signal. The handler before is lost.
inline void on_signal(int number, int flags, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  sigaction(number, &action, nullptr);
}
/// Ends the process at the next fault.
inline void fault_as_usual() { signal(SIGSEGV, SIG_DFL); }

}  // namespace assay::known_cheats
