// Cheats at the judge, which is in the same process.

#include "known_cheats/honest_work.hpp"

#include "assay/agreement.hpp"

namespace assay::known_cheats {
namespace {

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
  const double* expected = found(product_element<double>(p, in, 0), product_element<double>(p, in, 1), count);
  if (expected != nullptr) std::copy_n(expected, count, out.c.begin());
}

Agreement agrees(const Shape&, std::span<const float> actual, std::span<const double>,
                 std::span<const double>) {
  const auto size = static_cast<Index>(actual.size());
  return {.agrees = true, .worst_error = 0, .detail = {}, .compared = size, .total = size};
}

/// Writes a jump of x86-64 to the address that follows it.
void replace(void* function, void* by) {
  unsigned char jump[14] = {0xff, 0x25, 0, 0, 0, 0};
  std::memcpy(jump + 6, &by, sizeof by);
  overwrite(function, jump, sizeof jump, PROT_READ | PROT_WRITE | PROT_EXEC);
}

auto prepare(const Gemm::Problem&, const Gemm::Input&, const Context&) {
  using Judge =
      Agreement (*)(const Shape&, std::span<const float>, std::span<const double>, std::span<const double>);
  const Judge judge = &within;
  replace(reinterpret_cast<void*>(judge), reinterpret_cast<void*>(&agrees));
  return [](const Gemm::Input&, Gemm::Output&) {};
}

const Register registered{[](Registry& r) {
  r.add<Gemm>({.name = "finds_expectation",
               .summary = "looks for the expected result on the heap",
               .known_cheat = "copies the expected result: gpu-mode/pygpubench 7 (gc_copy) and 22",
               .run = run});
  r.add<Gemm>({.name = "patches_the_judge",
               .summary = "overwrites the function that compares, and does nothing",
               .known_cheat = "patches the evaluation in memory: gpu-mode/reference-kernels 162",
               .prepare = prepare});
}};

}  // namespace
}  // namespace assay::known_cheats
