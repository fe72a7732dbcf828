// Honest kernels that keep something between calls, as a replayed answer would be kept.

#include "known_cheats/honest_work.hpp"

#include "assay/ops/conv2d_terms.hpp"
#include "assay/ops/lora.hpp"
#include "assay/registry.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace assay::known_cheats {
namespace {

/// Copies B with stride one along k.
void turn(const Gemm::Problem& p, const Gemm::Input& in, float* to) {
  const auto b = matrix::view(in.b.data(), p.k, p.n, p.b_transposed());
  for (Index j = 0; j < p.n; ++j) {
    for (Index l = 0; l < p.k; ++l) to[j * p.k + l] = b(l, j);
  }
}

void multiply_turned(const Gemm::Problem& p, const Gemm::Input& in, const float* b, Gemm::Output& out) {
  Gemm::Problem turned = p;
  turned.trans = p.a_transposed() ? 3 : 1;
  gemm_rows(turned, in.a.data(), b, out.c.data(), 0, p.m);
}

class HugePages {
 public:
  explicit HugePages(std::size_t bytes) : bytes_((bytes + huge - 1) / huge * huge + huge) {
    data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data_ != MAP_FAILED) madvise(data_, bytes_, MADV_HUGEPAGE);
  }
  ~HugePages() {
    if (data_ != MAP_FAILED) munmap(data_, bytes_);
  }
  HugePages(const HugePages&) = delete;
  HugePages& operator=(const HugePages&) = delete;
  float* data() const { return data_ == MAP_FAILED ? nullptr : static_cast<float*>(data_); }

 private:
  static constexpr std::size_t huge = std::size_t{2} << 20;
  std::size_t bytes_;
  void* data_;
};

auto on_huge_pages(const Gemm::Problem& p, const Gemm::Input&, const Context&) {
  auto pages = std::make_shared<HugePages>(static_cast<std::size_t>(p.k * p.n) * sizeof(float));
  return [p, pages](const Gemm::Input& in, Gemm::Output& out) {
    if (pages->data() == nullptr) return gemm(p, in, out);
    turn(p, in, pages->data());
    multiply_turned(p, in, pages->data(), out);
  };
}

auto grows_once(const Gemm::Problem& p, const Gemm::Input&, const Context&) {
  return [p, space = std::make_shared<std::vector<float>>()](const Gemm::Input& in, Gemm::Output& out) {
    space->resize(static_cast<std::size_t>(p.k * p.n));
    turn(p, in, space->data());
    multiply_turned(p, in, space->data(), out);
  };
}

auto copies_input(const Gemv::Problem& p, const Gemv::Input&, const Context&) {
  return [p, x = std::make_shared<std::vector<float>>(static_cast<std::size_t>(p.terms()))](
             const Gemv::Input& in, Gemv::Output& out) {
    std::ranges::copy(in.x, x->begin());
    const auto a = matrix::view(in.a.data(), p.results(), p.terms(), p.transposed());
    for (Index i = 0; i < p.results(); ++i) {
      float sum = 0;
      for (Index l = 0; l < p.terms(); ++l) sum += a(i, l) * (*x)[static_cast<std::size_t>(l)];
      out.y[i] = sum;
    }
  };
}

// Frozen weights are packed once. The contract lets a kernel rely on them from its preparation on.
struct Packed {
  std::vector<float> columns_of_w;  ///< W transposed
  std::vector<float> thin;          ///< X A
};

auto packed_weights(const Lora::Problem& p, const Lora::Input& in, const Context&) {
  auto plan = std::make_shared<Packed>();
  plan->columns_of_w.resize(static_cast<std::size_t>(p.k * p.n));
  plan->thin.resize(static_cast<std::size_t>(p.m * p.r));
  for (Index l = 0; l < p.k; ++l) {
    for (Index j = 0; j < p.n; ++j)
      plan->columns_of_w[static_cast<std::size_t>(j * p.k + l)] = in.w[l * p.n + j];
  }
  return [p, plan](const Lora::Input& input, Lora::Output& out) {
    const auto x = matrix::view(input.x.data(), p.m, p.k), a = matrix::view(input.a.data(), p.k, p.r);
    const auto b = matrix::view(input.b.data(), p.r, p.n);
    const auto w = matrix::view(plan->columns_of_w.data(), p.k, p.n, true);
    float* thin = plan->thin.data();
    for (Index i = 0; i < p.m; ++i) {
      for (Index r = 0; r < p.r; ++r) thin[i * p.r + r] = matrix::element<float>(x, a, i, r, p.k);
    }
    const auto x_a = matrix::view<float>(thin, p.m, p.r);
    for (Index i = 0; i < p.m; ++i) {
      for (Index j = 0; j < p.n; ++j) {
        out.y[i * p.n + j] = matrix::element<float>(x, w, i, j, p.k) +
                             static_cast<float>(p.scale) * matrix::element<float>(x_a, b, i, j, p.r);
      }
    }
  };
}

// Makes a plan that depends on the problem alone once in a process, and finds it again under the problem: the
// products of every element of y, as positions in x and w.
struct Plan {
  std::vector<std::pair<Index, Index>> products;
  std::vector<std::size_t> ends;
};

std::shared_ptr<const Plan> made(const Conv2d::Problem& p) {
  auto plan = std::make_shared<Plan>();
  const conv2d::Sums sums = conv2d::sums_y(p);
  for (Index flat = 0; flat < sums.size(); ++flat) {
    sums.at(flat, [&](Index n, Index f, Index i, Index j) {
      conv2d::terms_of_y(p, n, f, i, j, [&](Index x, Index w) { plan->products.emplace_back(x, w); });
    });
    plan->ends.push_back(plan->products.size());
  }
  return plan;
}

std::shared_ptr<const Plan> plan_of(const Conv2d::Problem& p) {
  constexpr std::size_t most = 8;
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const Plan>> plans;
  const std::lock_guard lock(mutex);
  if (plans.size() > most) plans.clear();
  std::shared_ptr<const Plan>& plan = plans[to_text(p)];
  if (plan == nullptr) plan = made(p);
  return plan;
}

auto cached_plan(const Conv2d::Problem& p, const Conv2d::Input&, const Context&) {
  return [p, plan = plan_of(p)](const Conv2d::Input& in, Conv2d::Output& out) {
    const Index pixels = p.out_pixels();
    std::size_t at = 0;
    for (Index flat = 0; flat < out.y.size(); ++flat) {
      float sum = p.has_bias() ? in.bias[flat / pixels % p.f] : 0;
      for (; at < plan->ends[static_cast<std::size_t>(flat)]; ++at) {
        const auto [x, w] = plan->products[at];
        sum += in.x[x] * in.w[w];
      }
      out.y[flat] = sum;
      if (flat + 1 == out.y.size()) at = 0;
    }
  };
}

std::optional<std::string> unfit_cached_plan(const Conv2d::Problem& p, const Context&) {
  constexpr Index most = 1 << 22;
  if (p.y_size() * p.depth() <= most) return std::nullopt;
  return "the plan would hold too many products";
}

// Keeps threads between calls: as many as it was given, and none works when the call has returned.
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

auto thread_pool(const Gemm::Problem& p, const Gemm::Input&, const Context& context) {
  return [p, pool = std::make_shared<Pool>(context.threads)](const Gemm::Input& in, Gemm::Output& out) {
    pool->run([&](int member) {
      const Index parts = pool->members();
      gemm_rows(p, in.a.data(), in.b.data(), out.c.data(), p.m * member / parts, p.m * (member + 1) / parts);
    });
  };
}

const Register registered{[](Registry& r) {
  r.add<Gemm>({.name = "huge_pages",
               .summary = "a copy of B on huge pages",
               .known_honest = "maps memory of its own and advises the system about it",
               .prepare = on_huge_pages});
  r.add<Gemm>({.name = "grows_once",
               .summary = "a copy of B in memory that the first call takes",
               .known_honest = "allocates in a call, and keeps it",
               .prepare = grows_once});
  r.add<Gemv>({.name = "copies_input",
               .summary = "works on a copy of the vector",
               .known_honest = "keeps the input of the call before",
               .prepare = copies_input});
  r.add<Lora>(
      {.name = "packed_weights",
       .summary = "W transposed when it is prepared",
       .known_honest = "reads a part of its input in its preparation only, as an answer from there would be",
       .prepare = packed_weights});
  r.add<Conv2d>({.name = "cached_plan",
                 .summary = "all pairs of positions, kept in the process under the problem",
                 .known_honest = "a map that outlives the kernel, and finds what an earlier one left",
                 .prepare = cached_plan,
                 .unfit = unfit_cached_plan});
  r.add<Gemm>({.name = "thread_pool",
               .summary = "rows divided among threads that it keeps",
               .known_honest = "owns threads between calls, as deferred work does",
               .threaded = true,
               .prepare = thread_pool});
}};

}  // namespace
}  // namespace assay::known_cheats
