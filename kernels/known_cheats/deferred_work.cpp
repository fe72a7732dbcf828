// Trick: the call tells a thread what to do, and the clock stops before that is done.

#include "known_cheats/honest_work/gemm.hpp"

#include "assay/registry.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace assay::known_cheats {
namespace {

class Deferred {
 public:
  explicit Deferred(const Gemm::Problem& p) : thread_([this, p] { work(p); }) {}
  ~Deferred() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  Deferred(const Deferred&) = delete;
  Deferred& operator=(const Deferred&) = delete;

  void ask(const Gemm::Input& in, Gemm::Output& out) {
    {
      const std::lock_guard lock(mutex_);
      in_ = &in;
      out_ = &out;
    }
    changed_.notify_one();
  }

 private:
  void work(const Gemm::Problem& p) {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return ends_ || in_ != nullptr; });
      if (ends_) return;
      const Gemm::Input& in = *std::exchange(in_, nullptr);
      Gemm::Output& out = *out_;
      lock.unlock();
      gemm(p, in, out);
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false;
  const Gemm::Input* in_ = nullptr;
  Gemm::Output* out_ = nullptr;
  std::thread thread_;
};

auto prepare(const Gemm::Problem& p, const Gemm::Input&, const Context&) {
  return [deferred = std::make_shared<Deferred>(p)](const Gemm::Input& in, Gemm::Output& out) {
    deferred->ask(in, out);
  };
}

const Register registered{[](Registry& r) {
  r.add<Gemm>({.name = "deferred_work",
               .summary = "hands the product to a thread and returns",
               .known_cheat = "work goes on in a thread when the clock has stopped: "
                              "deep-reinforce.com/defense_kernel_hack.html",
               .prepare = prepare});
}};

}  // namespace
}  // namespace assay::known_cheats
