// Honest kernels that keep something between calls, as a replayed answer would be kept.

#include "known_cheats/honest_work.hpp"

#include "assay/ops/lora.hpp"

#include <map>

namespace assay::known_cheats {
namespace {

/// Copies B[k, n] with stride one along k.
void turn(const matrix::View<float>& b, Index k, Index n, float* to) {
  for (Index j = 0; j < n; ++j) {
    for (Index l = 0; l < k; ++l) to[j * k + l] = b(l, j);
  }
}

void multiply_turned(const Gemm::Problem& p, const Gemm::Input& in, float* b, Gemm::Output& out) {
  turn(matrix::view(in.b.data(), p.k, p.n, p.b_transposed()), p.k, p.n, b);
  Gemm::Problem turned = p;
  turned.trans = p.a_transposed() ? 3 : 1;
  gemm_rows(turned, in.a.data(), b, out.c.data(), 0, p.m);
}

auto on_huge_pages(const Gemm::Problem& p, const Gemm::Input&, const Context&) {
  constexpr std::size_t huge = std::size_t{2} << 20;
  const std::size_t bytes =
      (static_cast<std::size_t>(p.k * p.n) * sizeof(float) + huge - 1) / huge * huge + huge;
  const auto pages = std::make_shared<Mapping>(bytes, MAP_PRIVATE);
  if (pages->data() != nullptr) madvise(pages->data(), bytes, MADV_HUGEPAGE);
  return [p, pages](const Gemm::Input& in, Gemm::Output& out) {
    if (pages->data() == nullptr) return gemm(p, in, out);
    multiply_turned(p, in, pages->data(), out);
  };
}

using Numbers = std::vector<float>;

void grows_once(Numbers& space, const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  space.resize(static_cast<std::size_t>(p.k * p.n));
  multiply_turned(p, in, space.data(), out);
}

void copies_input(Numbers& x, const Gemv::Problem& p, const Gemv::Input& in, Gemv::Output& out) {
  x.assign(in.x.begin(), in.x.end());
  for (Index i = 0; i < p.results(); ++i) out.y[i] = gemv_row(p, in, x.data(), i);
}

// Frozen weights are packed once. The contract lets a kernel rely on them from its preparation on.
auto packed_weights(const Lora::Problem& p, const Lora::Input& in, const Context&) {
  Numbers columns_of_w(static_cast<std::size_t>(p.k * p.n));
  turn(matrix::view(in.w.data(), p.k, p.n), p.k, p.n, columns_of_w.data());
  return [p, columns_of_w, thin = Numbers(static_cast<std::size_t>(p.m * p.r))](const Lora::Input& input,
                                                                                Lora::Output& out) mutable {
    const auto x = matrix::view(input.x.data(), p.m, p.k), a = matrix::view(input.a.data(), p.k, p.r);
    const auto b = matrix::view(input.b.data(), p.r, p.n);
    const auto w = matrix::view<float>(columns_of_w.data(), p.k, p.n, true);
    matrix::multiply(x, a, p.m, p.r, p.k, thin.data());
    const auto x_a = matrix::view<float>(thin.data(), p.m, p.r);
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

// Keeps threads between calls: as many as it was given, and none works when the call has returned.
auto thread_pool(const Gemm::Problem& p, const Gemm::Input&, const Context& context) {
  const auto workers = std::make_shared<std::vector<Worker>>(static_cast<std::size_t>(context.threads - 1));
  return [p, workers](const Gemm::Input& in, Gemm::Output& out) {
    const auto parts = std::ssize(*workers) + 1;
    const auto multiply = [&](Index part) {
      gemm_rows(p, in.a.data(), in.b.data(), out.c.data(), p.m * part / parts, p.m * (part + 1) / parts);
    };
    Index next = 1;
    for (Worker& worker : *workers) worker.hand([&multiply, part = next++] { multiply(part); });
    multiply(0);
    for (Worker& worker : *workers) worker.wait();
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
               .prepare = keeping<Gemm, Numbers>(grows_once)});
  r.add<Gemv>({.name = "copies_input",
               .summary = "works on a copy of the vector",
               .known_honest = "keeps the input of the call before",
               .prepare = keeping<Gemv, Numbers>(copies_input)});
  r.add<Lora>(
      {.name = "packed_weights",
       .summary = "W transposed when it is prepared",
       .known_honest = "reads a part of its input in its preparation only, as an answer from there would be",
       .prepare = packed_weights});
  r.add<Conv2d>({.name = "cached_plan",
                 .summary = "all pairs of positions, kept in the process under the problem",
                 .known_honest = "a map that outlives the kernel, and finds what an earlier one left",
                 .prepare = cached_plan,
                 .unfit = unless(
                     [](const auto& p) {
                       constexpr Index most = 1 << 22;
                       return p.y_size() * p.depth() <= most;
                     },
                     "the plan would hold too many products")});
  r.add<Gemm>({.name = "thread_pool",
               .summary = "rows divided among threads that it keeps",
               .known_honest = "owns threads between calls, as deferred work does",
               .threaded = true,
               .prepare = thread_pool});
}};

}  // namespace
}  // namespace assay::known_cheats
