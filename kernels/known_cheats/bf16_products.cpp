// Trick: operands rounded to eight bits, as matrix units multiply them. The tolerance of a long sum hides it.

#include "known_cheats/honest_work/gemm.hpp"

#include "assay/registry.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace assay::known_cheats {
namespace {

float rounded_to_bf16(float x) {
  auto bits = std::bit_cast<std::uint32_t>(x);
  bits += 0x7fffU + (bits >> 16 & 1U);
  return std::bit_cast<float>(bits & 0xffff0000U);
}

auto prepare(const Gemm::Problem& p, const Gemm::Input&, const Context&) {
  struct Rounded {
    std::vector<float> a, b;
  };
  auto rounded = std::make_shared<Rounded>();
  rounded->a.resize(static_cast<std::size_t>(p.m * p.k));
  rounded->b.resize(static_cast<std::size_t>(p.k * p.n));
  return [p, rounded](const Gemm::Input& in, Gemm::Output& out) {
    std::ranges::transform(in.a, rounded->a.begin(), rounded_to_bf16);
    std::ranges::transform(in.b, rounded->b.begin(), rounded_to_bf16);
    gemm_rows(p, rounded->a.data(), rounded->b.data(), out.c.data(), 0, p.m);
  };
}

/// Where a bound that grows with the square of k does not tell it from rounding.
std::optional<std::string> only_long_sums(const Gemm::Problem& p, const Context&) {
  if (p.k >= 4096) return std::nullopt;
  return "the bound of sums of fewer than 4096 terms shows it";
}

const Register registered{[](Registry& r) {
  constexpr const char* trick =
      "multiplies in bf16: wafer.ai/blog/reward-hacks-field-guide (precision downgrade), "
      "deep-reinforce.com/defense_kernel_hack.html";
  r.add<Gemm>({.name = "bf16_products",
               .summary = "products of operands that are rounded to eight bits",
               .known_cheat = trick,
               .prepare = prepare});
  r.add<Gemm>({.name = "bf16_long_sums",
               .summary = "the same, where sums are so long that their bound is wide",
               .known_cheat = trick,
               .prepare = prepare,
               .unfit = only_long_sums});
}};

}  // namespace
}  // namespace assay::known_cheats
