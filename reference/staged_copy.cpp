#include "assay/ops/staged_copy.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

namespace assay {
namespace {

using Problem = StagedCopy::Problem;

const Register registered{[](Registry& r) {
  const auto prepare = [](const Problem& p, const auto&, const Context&) {
    return [p, stage = std::make_shared<Buffer<float>>(p.n)](const StagedCopy::Input& in,
                                                             StagedCopy::Output& out) {
      for (Index b = 0; b < p.batches; ++b) {
        std::copy_n(in.x.data() + b * p.n, p.n, stage->data());
        staged_copy::consume(p.rounds, stage->data(), p.n, out.y.data() + b * p.n);
      }
    };
  };
  r.add<StagedCopy>(
      {.name = "naive", .summary = "the copy, then the work, on one thread", .prepare = prepare});
}};

}  // namespace

auto StagedCopy::corner_cases() -> std::vector<Problem> {
  std::vector<Problem> out;
  for (const auto& [batches, n] : {std::pair{1, 1}, {1, 16}, {2, 2}, {2, 33}, {3, 7}, {5, 257}}) {
    out.push_back({.batches = batches, .n = n, .rounds = 3});
  }
  out.push_back({.batches = 4, .n = 5});
  return out;
}

auto StagedCopy::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const double bound = rounding::g(static_cast<double>(p.rounds)) * 2;
  return expect_at(positions_of(units(p), setting.units), [&](Index i) {
    const double x = in.x[i];
    return std::pair{x * (2 - std::ldexp(1.0, static_cast<int>(1 - p.rounds))), bound * std::abs(x)};
  });
}

template class detail::TypedOperation<StagedCopy>;

}  // namespace assay
