// Trick: the input is there when plans are made, so that the plan is the answer.

#include "known_cheats/honest_work/gemm.hpp"

#include "assay/registry.hpp"

#include <algorithm>
#include <memory>

namespace assay::known_cheats {
namespace {

auto prepare(const Gemm::Problem& p, const Gemm::Input& in, const Context&) {
  auto answer = std::make_shared<Gemm::Output>(Gemm::Output{Buffer<float>(p.m * p.n)});
  std::ranges::copy(in.c, answer->c.begin());
  gemm(p, in, *answer);
  return [answer](const Gemm::Input&, Gemm::Output& out) { std::ranges::copy(answer->c, out.c.begin()); };
}

const Register registered{[](Registry& r) {
  r.add<Gemm>({.name = "answer_from_prepare",
               .summary = "multiplies while it is prepared; a call copies",
               .known_cheat = "does the work outside the clock and copies: tensara/tensara 238",
               .prepare = prepare});
}};

}  // namespace
}  // namespace assay::known_cheats
