// A cheat that replaces the first instructions of the judge, which is code in the same process, by a jump to
// a judge that agrees.

#include "known_cheats/honest_work.hpp"

#include "assay/agreement.hpp"
#include "assay/registry.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace assay::known_cheats {
namespace {

Agreement agrees(const Shape&, std::span<const float> actual, std::span<const double>,
                 std::span<const double>) {
  const auto size = static_cast<Index>(actual.size());
  return {.agrees = true, .worst_error = 0, .detail = {}, .compared = size, .total = size};
}

/// Writes a jump of x86-64 to the address that follows it.
void replace(void* function, void* by) {
  unsigned char jump[14] = {0xff, 0x25, 0, 0, 0, 0};
  std::memcpy(jump + 6, &by, sizeof by);
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(function) / page * page;
  if (mprotect(reinterpret_cast<void*>(begin), 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return;
  std::memcpy(function, jump, sizeof jump);
}

auto prepare(const Gemm::Problem&, const Gemm::Input&, const Context&) {
  using Judge =
      Agreement (*)(const Shape&, std::span<const float>, std::span<const double>, std::span<const double>);
  const Judge judge = &within;
  replace(reinterpret_cast<void*>(judge), reinterpret_cast<void*>(&agrees));
  return [](const Gemm::Input&, Gemm::Output&) {};
}

const Register registered{[](Registry& r) {
  r.add<Gemm>({.name = "patches_the_judge",
               .summary = "overwrites the function that compares, and does nothing",
               .known_cheat = "patches the evaluation in memory: gpu-mode/reference-kernels 162",
               .prepare = prepare});
}};

}  // namespace
}  // namespace assay::known_cheats
