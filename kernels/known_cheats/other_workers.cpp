// Cheats whose work another thread, process or handler of a signal does, beside the call or after it; and one
// that hinders other kernels.

#include "known_cheats/honest_work.hpp"

#include "assay/ops/data_loader.hpp"
#include "assay/ops/elementwise.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <chrono>
#include <span>
#include <stop_token>

namespace assay::known_cheats {
namespace {

void deferred_work(Worker& worker, const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  worker.hand([&in, &out, p] { gemm(p, in, out); });
}

using Helper = WaitingWorker<true>;

void more_threads(Helper& helper, const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  const auto rows = [&](Index first, Index last) {
    gemm_rows(p, in.a.data(), in.b.data(), out.c.data(), first, last);
  };
  helper.hand([&] { rows(p.m / 2, p.m); });
  rows(0, p.m / 2);
  helper.wait();
}

/// Has a thread of its own, a Helper or a Worker, copy half of the batch.
template <class Thread>
void copy_halves(Thread& thread, const BatchRetrieval::Problem& p, const BatchRetrieval::Input& in,
                 BatchRetrieval::Output& out) {
  const std::span<const Index> indices = in.window();
  const std::size_t half = indices.size() / 2;
  std::byte* const rest = out.batch.data() + p.batch / 2 * p.bytes;
  thread.hand([&] { in.records.file.copy(indices.subspan(half), rest); });
  in.records.file.copy(indices.first(half), out.batch.data());
  thread.wait();
  in.records.end_call();
}

auto forks_a_helper(const LayerNorm::Problem& p, const LayerNorm::Input&, const Context&) {
  const auto bytes = static_cast<std::size_t>(p.rows * (p.cols + 2)) * sizeof(float);
  return [p, shared = std::make_shared<Mapping>(bytes, MAP_SHARED)](const LayerNorm::Input& in,
                                                                    LayerNorm::Output& out) {
    const Index half = p.rows / 2;
    const Index rest = p.rows - half;
    float* y = shared->data();
    const pid_t child = y == nullptr ? -1 : fork();
    if (child < 0) return layer_norm(p, in, out);
    if (child == 0) {
      for (Index row = half; row < p.rows; ++row) layer_norm_row(p, in, out, row);
      std::copy_n(out.y.data() + half * p.cols, rest * p.cols, y);
      std::copy_n(out.mean.data() + half, rest, y + rest * p.cols);
      std::copy_n(out.rstd.data() + half, rest, y + rest * (p.cols + 1));
      _exit(0);
    }
    for (Index row = 0; row < half; ++row) layer_norm_row(p, in, out, row);
    waitpid(child, nullptr, 0);
    std::copy_n(y, rest * p.cols, out.y.data() + half * p.cols);
    std::copy_n(y + rest * p.cols, rest, out.mean.data() + half);
    std::copy_n(y + rest * (p.cols + 1), rest, out.rstd.data() + half);
  };
}

constexpr auto unfit_forks_a_helper =
    unless([](const auto& p) { return p.rows > 1 && p.rows * p.cols >= 4096; },
           "a process costs more than so few rows");

// asks_a_daemon: a process that is nobody's child normalizes half of the rows, and waits for the next call.
class Daemon : Pinned {
 public:
  explicit Daemon(const LayerNorm::Problem& p)
      : shared_(
            sizeof(Shared) + static_cast<std::size_t>(p.rows * (2 * p.cols + 2) + 2 * p.cols) * sizeof(float),
            MAP_SHARED) {
    if (shared_.data() == nullptr) return;
    const pid_t child = fork();
    if (child == 0) {
      if (fork() == 0) serve(p);
      _exit(0);
    }
    if (child > 0) waitpid(child, nullptr, 0);
  }
  ~Daemon() {
    if (shared_.data() != nullptr) state().turn = ends;
  }

  void run(const LayerNorm::Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
    if (shared_.data() == nullptr) return layer_norm(p, in, out);
    std::copy_n(in.gamma.data(), p.cols, std::copy_n(in.x.data(), p.rows * p.cols, numbers()));
    std::copy_n(in.beta.data(), p.cols, numbers() + (p.rows + 1) * p.cols);
    state().turn = asked;
    const Index half = p.rows / 2;
    for (Index row = 0; row < half; ++row) layer_norm_row(p, in, out, row);
    while (state().turn == asked) std::this_thread::yield();
    const float* y = numbers() + (p.rows + 2) * p.cols;
    std::copy_n(y + half * p.cols, (p.rows - half) * p.cols, out.y.data() + half * p.cols);
    std::copy_n(y + p.rows * p.cols + half, p.rows - half, out.mean.data() + half);
    std::copy_n(y + p.rows * (p.cols + 1) + half, p.rows - half, out.rstd.data() + half);
  }

 private:
  enum Turn : int { idle, asked, ends };
  struct Shared {
    std::atomic<int> turn;
  };
  Shared& state() { return *reinterpret_cast<Shared*>(shared_.data()); }
  float* numbers() { return shared_.data() + sizeof(Shared) / sizeof(float); }
  [[noreturn]] void serve(const LayerNorm::Problem& p) {
    constexpr std::chrono::seconds longest{20};  // whatever happens
    const auto start = std::chrono::steady_clock::now();
    LayerNorm::Input in{Buffer<float>(p.rows * p.cols), Buffer<float>(p.cols), Buffer<float>(p.cols)};
    LayerNorm::Output out{Buffer<float>(p.rows * p.cols), Buffer<float>(p.rows), Buffer<float>(p.rows)};
    while (state().turn != ends && std::chrono::steady_clock::now() - start < longest) {
      if (state().turn != asked) continue;
      std::copy_n(numbers(), p.rows * p.cols, in.x.data());
      std::copy_n(numbers() + p.rows * p.cols, p.cols, in.gamma.data());
      std::copy_n(numbers() + (p.rows + 1) * p.cols, p.cols, in.beta.data());
      for (Index row = p.rows / 2; row < p.rows; ++row) layer_norm_row(p, in, out, row);
      float* y = numbers() + (p.rows + 2) * p.cols;
      std::copy_n(out.y.data(), p.rows * p.cols, y);
      std::copy_n(out.mean.data(), p.rows, y + p.rows * p.cols);
      std::copy_n(out.rstd.data(), p.rows, y + p.rows * (p.cols + 1));
      int expected = asked;
      state().turn.compare_exchange_strong(expected, idle);
    }
    _exit(0);
  }

  Mapping shared_;
};

auto asks_a_daemon(const LayerNorm::Problem& p, const LayerNorm::Input&, const Context&) {
  return [p, daemon = std::make_shared<Daemon>(p)](const LayerNorm::Input& in, LayerNorm::Output& out) {
    daemon->run(p, in, out);
  };
}

// asks_a_sibling: a process with this one's memory and this one's parent computes half of the rows. It is no
// thread and no child of whoever looks.
class Sibling : Pinned {
 public:
  Sibling() : stack_(stack_bytes, MAP_PRIVATE) {
    if (stack_.data() == nullptr) return;
    started_ = clone(serve, stack_.data() + stack_bytes / sizeof(float), CLONE_VM | CLONE_PARENT, this) > 0;
  }
  ~Sibling() {
    state_ = ends;
    while (started_ && state_ != ended) std::this_thread::yield();
  }

  void run(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
    if (!started_) return gemm(p, in, out);
    work_ = {&p, &in, &out};
    state_ = asked;
    gemm_rows(p, in.a.data(), in.b.data(), out.c.data(), 0, p.m / 2);
    while (state_ == asked) std::this_thread::yield();
  }

 private:
  static constexpr std::size_t stack_bytes = std::size_t{1} << 16;
  enum State : int { idle, asked, ends, ended };
  static int serve(void* own) {
    auto& its = *static_cast<Sibling*>(own);
    while (its.state_ != ends) {
      if (its.state_ != asked) continue;
      const auto [p, in, out] = its.work_;
      gemm_rows(*p, in->a.data(), in->b.data(), out->c.data(), p->m / 2, p->m);
      its.state_ = idle;
    }
    its.state_ = ended;
    for (;;) syscall(SYS_exit, 0);
  }

  Mapping stack_;
  Call<Gemm> work_;
  std::atomic<int> state_{idle};
  bool started_ = false;
};

void finishes_later(Worker& worker, const Gemv::Problem& p, const Gemv::Input& in, Gemv::Output& out) {
  const Index half = p.results() / 2;
  for (Index i = 0; i < half; ++i) out.y[i] = gemv_row(p, in, in.x.data(), i);
  worker.hand([&in, &out, p, half] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    for (Index i = half; i < p.results(); ++i) out.y[i] = gemv_row(p, in, in.x.data(), i);
  });
}

/// A thread that keeps the caches and the other core busy while others run, and rests with this kernel.
class Spinner {
 public:
  void run(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
    rests_ = true;
    gemm(p, in, out);
    rests_ = false;
  }

 private:
  void spin(const std::stop_token& stop) {
    constexpr std::chrono::seconds longest{20};  // whatever happens
    std::vector<std::atomic<int>> lines(std::size_t{1} << 18);
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t at = 0; !stop.stop_requested() && std::chrono::steady_clock::now() - start < longest;
         at += 4096) {
      for (std::size_t i = 0; i < 4096; i += 16) {
        if (!rests_) lines[(at + i) % lines.size()].fetch_add(1, std::memory_order_relaxed);
      }
      if (rests_) std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

  std::atomic<bool> rests_{false};
  std::jthread thread_{[this](const std::stop_token& stop) { spin(stop); }};
};

/// The call whose answer is due.
struct Due {
  const float *x = nullptr, *y = nullptr;
  float* z = nullptr;
  float alpha = 1;
  Pages pages;
};
Due due;

void add(Index first, Index last) {
  for (Index i = first; i < last; ++i) due.z[i] = due.x[i] + due.alpha * due.y[i];
}

/// Positions of the elements that are put off.
Index first_put_off() { return reinterpret_cast<float*>(due.pages.begin) - due.z; }
Index end_put_off() { return reinterpret_cast<float*>(due.pages.begin + due.pages.bytes) - due.z; }

void deliver(int, siginfo_t* info, void*) {
  if (!due.pages.hold(info->si_addr)) return fault_as_usual();
  due.pages.allow(PROT_READ | PROT_WRITE);
  add(first_put_off(), end_put_off());
}

/// Delivers an answer that is due before the arrays go.
struct Promise {
  Promise() { on_signal(SIGSEGV, SA_NODEFER, deliver); }
  ~Promise() {
    due.pages.allow(PROT_READ | PROT_WRITE);
    fault_as_usual();
    due = {};
  }
};

void lazy_output(const Promise&, const ElementwiseAdd::Problem& p, const ElementwiseAdd::Input& in,
                 ElementwiseAdd::Output& out) {
  due = {.x = in.x.data(),
         .y = in.y.data(),
         .z = out.z.data(),
         .alpha = static_cast<float>(p.alpha),
         .pages = Pages::within(out.z)};
  if (due.pages.bytes == 0) return add(0, out.z.size());
  add(0, first_put_off());
  add(end_put_off(), out.z.size());
  due.pages.allow(PROT_NONE);
}

const Register registered{[](Registry& r) {
  r.add<Gemm>({.name = "deferred_work",
               .summary = "hands the product to a thread and returns",
               .known_cheat = "work goes on in a thread when the clock has stopped: "
                              "deep-reinforce.com/defense_kernel_hack.html",
               .prepare = keeping<Gemm, Worker>(deferred_work)});
  r.add<Gemm>(
      {.name = "more_threads",
       .summary = "divides the product between its thread and one of its own",
       .known_cheat = "takes more threads than it is given: deep-reinforce.com/defense_kernel_hack.html",
       .prepare = keeping<Gemm, Helper>(more_threads)});
  r.add<BatchRetrieval>(
      {.name = "undeclared_helper",
       .summary = "divides the records between its thread and one of its own",
       .known_cheat =
           "takes two threads and is given one, where others declare helpers; no source: threads were "
           "not looked at in such operations",
       .prepare = keeping<BatchRetrieval, Helper>(copy_halves<Helper>),
       .unfit = without_such_file});
  r.add<LayerNorm>({.name = "forks_a_helper",
                    .summary = "each call forks a process for half of the rows",
                    .known_cheat =
                        "works on another core in a process of its own; no source: thread injection that "
                        "a count of threads does not show",
                    .prepare = forks_a_helper,
                    .unfit = unfit_forks_a_helper});
  r.add<LayerNorm>({.name = "asks_a_daemon",
                    .summary = "a process that lives on works on half of the rows",
                    .known_cheat =
                        "works on another core in a process that left its parent; no source: the answer to "
                        "a look at children",
                    .prepare = asks_a_daemon,
                    .unfit = unfit_forks_a_helper});
  r.add<Gemm>({.name = "asks_a_sibling",
               .summary = "a process with this one's memory and parent computes half of the rows",
               .known_cheat =
                   "works on another core in a process that is nobody's child here; no source: found in this "
                   "harness",
               .prepare = keeping<Gemm, Sibling>(&Sibling::run)});
  r.add<Gemv>({.name = "finishes_later",
               .summary = "half of the rows come from a thread, two milliseconds after the call",
               .known_cheat = "work goes on in a thread when the clock has stopped: "
                              "deep-reinforce.com/defense_kernel_hack.html",
               .prepare = keeping<Gemv, Worker>(finishes_later)});
  r.add<BatchRetrieval>(
      {.name = "two_for_one",
       .summary = "a second thread copies half of the batch",
       .known_cheat = "takes more threads than it is given, where the operating system may: "
                      "deep-reinforce.com/defense_kernel_hack.html",
       .prepare = keeping<BatchRetrieval, Worker>(copy_halves<Worker>),
       .unfit = unless([](const auto& p) { return p.cache == 0 && p.batch * p.bytes >= Index{1} << 18; },
                       "is for batches that are worth a thread")});
  r.add<Gemm>(
      {.name = "spins_for_others",
       .summary = "a thread that works while other kernels have their turn",
       .known_cheat = "slows down what it is compared with; no source: the reverse of thread injection",
       .prepare = keeping<Gemm, Spinner>(&Spinner::run)});
  r.add<ElementwiseAdd>({.name = "lazy_output",
                         .summary = "adds when the output is read, behind a page fault",
                         .known_cheat =
                             "an output that is computed when it is looked at: "
                             "gpu-mode/reference-kernels 161, deep-reinforce.com/defense_kernel_hack.html",
                         .prepare = keeping<ElementwiseAdd, Promise>(lazy_output),
                         .unfit = unless(
                             [](const auto& p) {
                               constexpr Index least = 1 << 14;
                               return p.layout == 0 && p.beta == 0 && p.n * p.c * p.h * p.w >= least;
                             },
                             "it is for dense sums of many pages")});
}};

}  // namespace
}  // namespace assay::known_cheats
