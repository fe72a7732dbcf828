// Trick: it is asked for one thread and takes two.

#include "known_cheats/honest_work/gemm.hpp"

#include "assay/registry.hpp"

#include <atomic>
#include <memory>
#include <thread>

namespace assay::known_cheats {
namespace {

/// A thread that spins for work, so that handing it over costs next to nothing.
class Helper {
 public:
  explicit Helper(const Gemm::Problem& p) : thread_([this, p] { work(p); }) {}
  ~Helper() {
    state_.store(ends, std::memory_order_release);
    thread_.join();
  }
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

  void start(const Gemm::Input& in, Gemm::Output& out) {
    in_ = &in;
    out_ = &out;
    state_.store(asked, std::memory_order_release);
  }
  void wait() const {
    while (state_.load(std::memory_order_acquire) != idle) std::this_thread::yield();
  }

 private:
  enum State { idle, asked, ends };
  void work(const Gemm::Problem& p) {
    for (;;) {
      State now = idle;
      while ((now = state_.load(std::memory_order_acquire)) == idle) std::this_thread::yield();
      if (now == ends) return;
      gemm_rows(p, in_->a.data(), in_->b.data(), out_->c.data(), p.m / 2, p.m);
      State expected = asked;
      state_.compare_exchange_strong(expected, idle, std::memory_order_acq_rel);
    }
  }

  std::atomic<State> state_{idle};
  const Gemm::Input* in_ = nullptr;
  Gemm::Output* out_ = nullptr;
  std::thread thread_;
};

auto prepare(const Gemm::Problem& p, const Gemm::Input&, const Context&) {
  return [p, helper = std::make_shared<Helper>(p)](const Gemm::Input& in, Gemm::Output& out) {
    helper->start(in, out);
    gemm_rows(p, in.a.data(), in.b.data(), out.c.data(), 0, p.m / 2);
    helper->wait();
  };
}

const Register registered{[](Registry& r) {
  r.add<Gemm>(
      {.name = "more_threads",
       .summary = "divides the product between its thread and one of its own",
       .known_cheat = "takes more threads than it is given: deep-reinforce.com/defense_kernel_hack.html",
       .prepare = prepare});
}};

}  // namespace
}  // namespace assay::known_cheats
