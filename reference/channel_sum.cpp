#include "assay/ops/channel_sum.hpp"

#include "assay/ops/elementwise.hpp"

#include <cmath>

namespace assay {
namespace {

using Op = ElementwiseChannelBiasBackward;

/// The specification, summed in Real: in double the oracle, in float the naive variant. `each` maps a term.
template <class Real, class Each>
Real channel(const Op::Problem& p, const Buffer<float>& dz, Index c, const Each& each) {
  Real sum = 0;
  for (Index n = 0; n < p.n; ++n) {
    for (Index h = 0; h < p.h; ++h) {
      for (Index w = 0; w < p.w; ++w) sum += each(static_cast<Real>(dz[((n * p.c + c) * p.h + h) * p.w + w]));
    }
  }
  return sum;
}

void naive(const Op::Problem& p, const Op::Input& in, Op::Output& out) {
  for (Index c = 0; c < p.c; ++c) {
    out.db[c] = channel<float>(p, in.dz, c, [](float term) { return term; });
  }
}

const Register registered{[](Registry& r) {
  r.add<Op>({.name = "naive", .summary = "one sum per channel, term by term", .run = naive});
}};

}  // namespace

std::vector<Op::Problem> Op::corner_cases() {
  std::vector<Problem> out;
  for (const auto& [n, c, h, w] : elementwise::corner_extents) out.push_back({n, c, h, w});
  for (const Problem& p :
       {Problem{1, 1, 1, 257}, {2, 4, 9, 15}, {4, 2, 13, 31}, {7, 33, 4, 4}, {5, 3, 16, 16}}) {
    out.push_back(p);
  }
  // Beyond the size below which a threaded variant stays on one thread.
  out.push_back({3, 18, 71, 70});
  for (const Problem& p : {Problem{1, 5, 1, 1}, {3, 7, 5, 13}, {2, 9, 16, 16}, {3, 19, 71, 70}}) {
    out.push_back(p);
    out.back().values = 1;
  }
  return out;
}

auto Op::make_input(const Problem& p, Setting& setting) -> Input {
  Input in = FromParts::make_input(p, setting);
  if (p.values == 1) make_some_infinite(in.dz, 1 + p.c / 3, setting.rng);
  return in;
}

auto Op::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const double roundings = product(p.n, p.plane()) - 1;
  const double g = setting.fill == Fill::exact ? 0 : rounding::g(roundings);
  return expect_at(positions_of(p.c, setting.units), [&](Index c) {
    const auto sum = channel<double>(p, in.dz, c, [](double term) { return term; });
    const double magnitude = channel<double>(p, in.dz, c, [](double term) { return std::abs(term); });
    return std::pair{sum, std::isfinite(sum) ? g * magnitude : 0};
  });
}

template class detail::TypedOperation<ElementwiseChannelBiasBackward>;

}  // namespace assay
