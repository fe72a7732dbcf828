// Trick: a thread keeps the caches and the other core busy while others run, and rests while this kernel
// does.

#include "known_cheats/honest_work/gemm.hpp"

#include "assay/registry.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace assay::known_cheats {
namespace {

class Spinner {
 public:
  Spinner() : thread_([this] { spin(); }) {}
  ~Spinner() {
    ends_ = true;
    thread_.join();
  }
  Spinner(const Spinner&) = delete;
  Spinner& operator=(const Spinner&) = delete;
  void rest(bool now) { rests_ = now; }

 private:
  void spin() {
    constexpr std::chrono::seconds longest{20};  // whatever happens
    std::vector<std::atomic<int>> lines(std::size_t{1} << 18);
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t at = 0; !ends_ && std::chrono::steady_clock::now() - start < longest; at += 4096) {
      for (std::size_t i = 0; i < 4096; i += 16) {
        if (!rests_) lines[(at + i) % lines.size()].fetch_add(1, std::memory_order_relaxed);
      }
      if (rests_) std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

  std::atomic<bool> ends_{false}, rests_{false};
  std::thread thread_;
};

auto prepare(const Gemm::Problem& p, const Gemm::Input&, const Context&) {
  return [p, spinner = std::make_shared<Spinner>()](const Gemm::Input& in, Gemm::Output& out) {
    spinner->rest(true);
    gemm(p, in, out);
    spinner->rest(false);
  };
}

const Register registered{[](Registry& r) {
  r.add<Gemm>(
      {.name = "spins_for_others",
       .summary = "a thread that works while other kernels have their turn",
       .known_cheat = "slows down what it is compared with; no source: the reverse of thread injection",
       .prepare = prepare});
}};

}  // namespace
}  // namespace assay::known_cheats
