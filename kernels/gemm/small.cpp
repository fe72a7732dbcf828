// The idea: leave out what only large products need. `simd` cuts into blocks and decides for each operand
// whether to copy it. Here tiles follow each other over operands where they lie; only a transposed B is
// transposed, once.

#include "gemm/blocked.hpp"

#include "assay/registry.hpp"

#include <memory>

namespace assay {
namespace {

std::optional<std::string> unfit(const blocked::Tier& tier, const Gemm::Problem& p) {
  if (tier.unfit) return tier.unfit;
  if (!blocked::is_small(p.m, p.n, p.k)) return "is for products of at most 128^3 multiply-adds";
  return std::nullopt;
}

const Register registered{[](Registry& r) {
  for (const blocked::Tier& tier : blocked::tiers()) {
    r.add<Gemm>({.name = "small@" + tier.name,
                 .summary = "register tiles without blocks or copies, compiled for " + tier.name,
                 .after = "simd",
                 .prepare =
                     [tier](const Gemm::Problem& p, const Gemm::Input& in, const Context&) {
                       const auto space = std::make_shared<Buffer<float>>(
                           tier.small_space_floats(blocked::part_of(p, in, nullptr, 0, p.m, 0, p.n)));
                       return [tier, p, space](const Gemm::Input& now, Gemm::Output& out) {
                         tier.multiply_small(blocked::part_of(p, now, out.c.data(), 0, p.m, 0, p.n),
                                             space->data());
                       };
                     },
                 .unfit = [tier](const Gemm::Problem& p, const Context&) { return unfit(tier, p); }});
  }
}};

}  // namespace
}  // namespace assay
