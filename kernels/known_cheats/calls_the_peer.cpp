// A cheat that calls the library that it is compared with. It puts the name together while the program runs.
// It has a file of its own, since findings about calls are those of a file.

#include "known_cheats/honest_work.hpp"

#include <dlfcn.h>

namespace assay::known_cheats {
namespace {

using Sgemm = void (*)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float* a,
                       int lda, const float* b, int ldb, float beta, float* c, int ldc);

Sgemm peer() {
  const std::string name = std::string("cblas") + "_sgemm";
  return reinterpret_cast<Sgemm>(dlsym(RTLD_DEFAULT, name.c_str()));
}

auto prepare(const Gemm::Problem& p, const Gemm::Input&, const Context&) {
  constexpr int row_major = 101, as_it_is = 111, transposed = 112;
  return [p, multiply = peer()](const Gemm::Input& in, Gemm::Output& out) {
    const auto number = [](Index i) { return static_cast<int>(i); };
    if (p.beta == 0) std::ranges::fill(out.c, 0.0F);
    multiply(row_major, p.a_transposed() ? transposed : as_it_is, p.b_transposed() ? transposed : as_it_is,
             number(p.m), number(p.n), number(p.k), static_cast<float>(p.alpha), in.a.data(),
             number(p.a_transposed() ? p.m : p.k), in.b.data(), number(p.b_transposed() ? p.k : p.n),
             static_cast<float>(p.beta), out.c.data(), number(p.n));
  };
}

const Register registered{[](Registry& r) {
  r.add<Gemm>({.name = "calls_the_peer",
               .summary = "looks up BLAS by a name that no list of symbols holds",
               .known_cheat =
                   "calls the library instead of a kernel of its own: "
                   "wafer.ai/blog/reward-hacks-field-guide (baseline kernel), makora.com/blog/reward-hacks",
               .prepare = prepare,
               .unfit = unless([](const auto&) { return peer() != nullptr; }, "no BLAS is loaded")});
}};

}  // namespace
}  // namespace assay::known_cheats
