// A cheat that looks for the expected result, which lies in the memory of the same process: computes two
// elements and reads the others where it finds these.

#include "known_cheats/fault_handler.hpp"
#include "known_cheats/honest_work.hpp"

#include "assay/registry.hpp"

#include <algorithm>

namespace assay::known_cheats {
namespace {

double element(const Gemm::Problem& p, const Gemm::Input& in, Index flat) {
  const auto a = matrix::view(in.a.data(), p.m, p.k, p.a_transposed());
  const auto b = matrix::view(in.b.data(), p.k, p.n, p.b_transposed());
  return static_cast<double>(p.alpha) * matrix::element<double>(a, b, flat / p.n, flat % p.n, p.k);
}

/// Returns `count` doubles that begin with these two, from memory that may be written to, or null.
const double* found(double first, double second, Index count) {
  constexpr unsigned long most = 64UL << 20;
  const double* out = nullptr;
  for_each_mapping("[heap]", [&](unsigned long begin, unsigned long end) {
    if (end - begin > most) return;
    const auto* memory = reinterpret_cast<const double*>(begin);
    const auto size = static_cast<Index>((end - begin) / sizeof(double));
    for (Index i = 0; i + count <= size && out == nullptr; ++i) {
      if (memory[i] == first && memory[i + 1] == second) out = memory + i;
    }
  });
  return out;
}

void run(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  const Index count = p.m * p.n;
  if (p.beta != 0 || count < 16) return gemm(p, in, out);
  const double* expected = found(element(p, in, 0), element(p, in, 1), count);
  if (expected != nullptr) std::copy_n(expected, count, out.c.begin());
}

const Register registered{[](Registry& r) {
  r.add<Gemm>({.name = "finds_expectation",
               .summary = "looks for the expected result on the heap",
               .known_cheat = "copies the expected result: gpu-mode/pygpubench 7 (gc_copy) and 22",
               .run = run});
}};

}  // namespace
}  // namespace assay::known_cheats
