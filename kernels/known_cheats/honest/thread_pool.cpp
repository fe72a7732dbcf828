// Keeps threads between calls: as many as it was given, and none works when the call has returned.

#include "known_cheats/honest_work.hpp"

#include "assay/registry.hpp"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace assay::known_cheats {
namespace {

class Pool {
 public:
  explicit Pool(int threads) {
    for (int member = 1; member < threads; ++member) threads_.emplace_back([this, member] { work(member); });
  }
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    begun_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int members() const { return static_cast<int>(threads_.size()) + 1; }
  /// Calls body(member) on each member and returns when all are done.
  void run(const std::function<void(int)>& body) {
    {
      const std::lock_guard lock(mutex_);
      body_ = &body;
      busy_ = members() - 1;
      ++round_;
    }
    begun_.notify_all();
    body(0);
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return busy_ == 0; });
  }

 private:
  void work(int member) {
    int seen = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
      begun_.wait(lock, [&] { return ends_ || round_ != seen; });
      if (ends_) return;
      seen = round_;
      const std::function<void(int)>& body = *body_;
      lock.unlock();
      body(member);
      lock.lock();
      if (--busy_ == 0) done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable begun_, done_;
  const std::function<void(int)>* body_ = nullptr;
  int busy_ = 0, round_ = 0;
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

auto prepare(const Gemm::Problem& p, const Gemm::Input&, const Context& context) {
  return [p, pool = std::make_shared<Pool>(context.threads)](const Gemm::Input& in, Gemm::Output& out) {
    pool->run([&](int member) {
      const Index parts = pool->members();
      gemm_rows(p, in.a.data(), in.b.data(), out.c.data(), p.m * member / parts, p.m * (member + 1) / parts);
    });
  };
}

const Register registered{[](Registry& r) {
  r.add<Gemm>({.name = "thread_pool",
               .summary = "rows divided among threads that it keeps",
               .known_honest = "owns threads between calls, as deferred work does",
               .threaded = true,
               .prepare = prepare});
}};

}  // namespace
}  // namespace assay::known_cheats
