// Cheats that leave the floating-point state of the processor changed, so that they run faster, or others run
// slower or are wrong.

#include "known_cheats/honest_work.hpp"

#include "assay/registry.hpp"

#include <xmmintrin.h>

#include <cfenv>

namespace assay::known_cheats {
namespace {

constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x0040;

void leaves_flush_to_zero(const ElementwiseMultiply::Problem& p, const ElementwiseMultiply::Input& in,
                          ElementwiseMultiply::Output& out) {
  _mm_setcsr(_mm_getcsr() | flush_to_zero | denormals_are_zero);
  elementwise_loops<elementwise::Multiply>(p, in, out);
}

void leaves_rounding_up(const LayerNorm::Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
  std::fesetround(FE_TONEAREST);
  layer_norm(p, in, out);
  std::fesetround(FE_UPWARD);
}

void leaves_x87_single(const Gemv::Problem& p, const Gemv::Input& in, Gemv::Output& out) {
  gemv(p, in, out);
  std::uint16_t control = 0;
  __asm__ volatile("fnstcw %0" : "=m"(control));
  control = static_cast<std::uint16_t>(control & ~0x0300U);  // 24 bits where long double has 64
  __asm__ volatile("fldcw %0" : : "m"(control));
}

void dirty_upper_halves() {
  __asm__ volatile(
      "vxorps %%ymm15, %%ymm15, %%ymm15\n\t"
      "vcmpps $15, %%ymm15, %%ymm15, %%ymm15\n\t"
      "vmovaps %%ymm15, %%ymm14\n\t"
      "vmovaps %%ymm15, %%ymm13"
      :
      :
      : "xmm13", "xmm14", "xmm15");
}

void leaves_upper_halves(const Gemv::Problem& p, const Gemv::Input& in, Gemv::Output& out) {
  gemv(p, in, out);
  dirty_upper_halves();
}
std::optional<std::string> needs_avx(const Gemv::Problem&, const Context&) {
  if (__builtin_cpu_supports("avx")) return std::nullopt;
  return "needs AVX";
}

const Register registered{[](Registry& r) {
  r.add<ElementwiseMultiply>({.name = "leaves_flush_to_zero",
                              .summary = "multiplies with subnormal numbers taken for zero, and leaves it so",
                              .known_cheat =
                                  "leaves flush-to-zero on for whoever comes after it; no source: found in "
                                  "this harness",
                              .run = leaves_flush_to_zero});
  r.add<LayerNorm>({.name = "leaves_rounding_up",
                    .summary = "rounds to nearest itself, and has others round up",
                    .known_cheat = "leaves another direction of rounding; no source: found in this harness",
                    .run = leaves_rounding_up});
  r.add<Gemv>(
      {.name = "leaves_x87_single",
       .summary = "has long double round to 24 bits from now on",
       .known_cheat = "leaves the control word of the x87 changed: haasn/checkasm looks at such state",
       .run = leaves_x87_single});
  r.add<Gemv>({.name = "leaves_upper_halves",
               .summary = "leaves the upper halves of vector registers in use, which slows SSE code down",
               .known_cheat = "no vzeroupper at its end: haasn/checkasm looks for dirty upper halves",
               .run = leaves_upper_halves,
               .unfit = needs_avx});
}};

}  // namespace
}  // namespace assay::known_cheats
