// The idea: leave out what only large products need. `simd` cuts into blocks and decides for each operand
// whether to copy it. Here tiles follow each other over operands where they lie; only a transposed B is
// transposed, once.

#include "gemm/products.hpp"

namespace assay {
namespace {

std::optional<std::string> unfit(const blocked::Tier& tier, const Gemm::Problem& p) {
  if (tier.unfit) return tier.unfit;
  if (!blocked::is_small(p.m, p.n, p.k)) return "is for products of at most 128^3 multiply-adds";
  return std::nullopt;
}

const Register registered{[](Registry& r) {
  for (const blocked::Tier& tier : blocked::tiers()) {
    r.add<Gemm>(
        {.name = "small@" + tier.name,
         .summary = "register tiles without blocks or copies, compiled for " + tier.name,
         .after = "simd",
         .prepare =
             [tier](const Gemm::Problem& p, const Gemm::Input& in, const Context&) {
               return blocked::kernel_of({"small", tier.multiply_small, tier.small_space_floats}, p, in);
             },
         .unfit = [tier](const Gemm::Problem& p, const Context&) { return unfit(tier, p); }});
  }
}};

}  // namespace
}  // namespace assay
