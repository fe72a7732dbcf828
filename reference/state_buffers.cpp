#include "assay/ops/state_buffers.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace assay {
namespace {

using Problem = StateBuffers::Problem;

void naive(const Problem& p, const StateBuffers::Input& in, StateBuffers::Output& out) {
  for (Index first = 0; first < p.samples; first += p.batch) {
    const Index rows = std::min(p.batch, p.samples - first);
    std::vector<float> h(static_cast<std::size_t>(rows * p.hidden), 0.0F);
    state_buffers::advance(p, in.x.data() + first * p.hidden, rows, h.data(),
                           out.y.data() + first * p.hidden);
  }
}

const Register registered{[](Registry& r) {
  r.add<StateBuffers>(
      {.name = "naive", .summary = "a state of zeros allocated for each batch", .run = naive});
}};

}  // namespace

auto StateBuffers::corner_cases() -> std::vector<Problem> {
  std::vector<Problem> out;
  // One batch, batches that are all full, short last ones, and a batch larger than there are samples.
  for (const auto& [samples, batch] : {std::pair{1, 1}, {8, 8}, {12, 4}, {10, 4}, {9, 8}, {3, 5}, {17, 5}}) {
    out.push_back({.samples = samples, .batch = batch, .hidden = 7 + samples, .steps = 3});
  }
  out.push_back({.samples = 10, .batch = 4, .hidden = 1});
  return out;
}

auto StateBuffers::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const double bound = setting.fill == Fill::exact ? 0 : rounding::g(static_cast<double>(p.steps)) * 2;
  return expect_at(positions_of(units(p), setting.units), [&](Index i) {
    double h = 0;
    for (Index step = 0; step < p.steps; ++step) h = h / 2 + static_cast<double>(in.x[i]);
    return std::pair{h, bound * std::abs(static_cast<double>(in.x[i]))};
  });
}

template class detail::TypedOperation<StateBuffers>;

}  // namespace assay
