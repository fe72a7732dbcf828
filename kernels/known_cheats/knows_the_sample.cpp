// Trick: of large products a seeded sample is compared. Whoever knows the seed computes no more than that.

#include "known_cheats/honest_work/gemm.hpp"

#include "assay/registry.hpp"

#include <vector>

namespace assay::known_cheats {
namespace {

constexpr std::uint64_t usual_seed = 42;

double multiply_adds(const Gemm::Problem& p) {
  return static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
}

/// The positions that an oracle with the usual seed draws once the input is made.
std::vector<Index> sample(const Gemm::Problem& p, const Gemm::Input& in) {
  Setting setting{.fill = Fill::uniform, .rng = Rng(usual_seed)};
  for (Index i = 0; i < in.a.size() + in.b.size() + in.c.size(); ++i) setting.draw();
  return matrix::positions(p.m * p.n, multiply_adds(p), matrix::corners_of(p.m, p.n), setting).where;
}

auto prepare(const Gemm::Problem& p, const Gemm::Input& in, const Context&) {
  return [p, where = sample(p, in)](const Gemm::Input& input, Gemm::Output& out) {
    const auto a = matrix::view(input.a.data(), p.m, p.k, p.a_transposed());
    const auto b = matrix::view(input.b.data(), p.k, p.n, p.b_transposed());
    for (const Index flat : where) {
      const float sum = matrix::element<float>(a, b, flat / p.n, flat % p.n, p.k);
      float& c = out.c[flat];
      c = static_cast<float>(p.alpha) * sum + (p.beta == 0 ? 0 : static_cast<float>(p.beta) * c);
    }
  };
}

std::optional<std::string> unfit(const Gemm::Problem& p, const Context&) {
  if (multiply_adds(p) > matrix::full_oracle_limit && p.m * p.n > matrix::sample_size) return std::nullopt;
  return "all elements of so small a product are compared";
}

const Register registered{[](Registry& r) {
  r.add<Gemm>({.name = "knows_the_sample",
               .summary = "computes the corners and the elements that seed 42 draws",
               .known_cheat = "computes what is compared and no more: SakanaAI/robust-kbench",
               .prepare = prepare,
               .unfit = unfit});
}};

}  // namespace
}  // namespace assay::known_cheats
