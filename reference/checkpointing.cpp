#include "assay/ops/checkpointing.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

namespace assay {
namespace {

using Problem = Checkpointing::Problem;

const Register registered{[](Registry& r) {
  const auto prepare = [](const Problem& p, const auto&, const Context&) {
    return [p, kept = std::make_shared<Buffer<float>>(p.layers * p.n)](const Checkpointing::Input& in,
                                                                       Checkpointing::Output& out) {
      // Activation 0 is x, and the last layer's result is not needed: layers - 1 of them are made.
      const auto activation = [&](Index layer) -> const float* {
        return layer == 0 ? in.x.data() : kept->data() + layer * p.n;
      };
      for (Index layer = 0; layer + 1 < p.layers; ++layer) {
        checkpointing::forward(in.w.data() + layer * p.n, activation(layer), p.n,
                               kept->data() + (layer + 1) * p.n);
      }
      std::ranges::copy(in.dy, out.dx.begin());
      for (Index layer = p.layers; layer-- > 0;) {
        checkpointing::backward(in.w.data() + layer * p.n, activation(layer), p.n, out.dx.data(),
                                out.dw.data() + layer * p.n);
      }
    };
  };
  r.add<Checkpointing>(
      {.name = "naive", .summary = "all activations kept; workspace: layers n floats", .prepare = prepare});
}};

float of_order_one(Rng& rng) {
  const double size = rng.uniform(0.5, 1.5);
  return static_cast<float>(rng.unit() < 0.5 ? -size : size);
}

}  // namespace

auto Checkpointing::corner_cases() -> std::vector<Problem> {
  std::vector<Problem> out;
  // Around squares, where the last segment is short or full.
  for (const Index layers : {1, 2, 3, 4, 5, 8, 9, 10, 12, 15, 17, 64}) {
    out.push_back({.layers = layers, .n = layers % 2 == 0 ? 7 : 33});
  }
  out.push_back({.layers = 6, .n = 1});
  return out;
}

auto Checkpointing::make_input(const Problem& p, Setting& setting) -> Input {
  Input in{setting.buffer<float>(p.n), setting.buffer<float>(p.layers * p.n), setting.buffer<float>(p.n)};
  for (auto* part : {&in.x, &in.w, &in.dy}) {
    for (float& x : *part) x = of_order_one(setting.rng);
  }
  return in;
}

auto Checkpointing::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const Positions columns = positions_of(p.n, setting.units);
  Expected want{{columns, {}, {}}, {{.count = p.layers * p.n, .all = columns.all, .where = {}}, {}, {}}};
  const auto size = static_cast<std::size_t>(columns.size()), layers = static_cast<std::size_t>(p.layers);
  want.dw.value.resize(layers * size);
  std::vector<double> activation(layers);
  for (std::size_t next = 0; next < size; ++next) {
    const Index i = columns[static_cast<Index>(next)];
    const auto w = [&](std::size_t layer) -> double { return in.w[static_cast<Index>(layer) * p.n + i]; };
    double a = in.x[i], gradient = in.dy[i];
    for (std::size_t layer = 0; layer < layers; ++layer) {
      activation[layer] = a;
      a *= w(layer) * (w(layer) * a >= 0 ? 1 : 0.5);
    }
    for (std::size_t layer = layers; layer-- > 0;) {
      gradient *= w(layer) * activation[layer] >= 0 ? 1 : 0.5;
      want.dw.value[layer * size + next] = gradient * activation[layer];
      gradient *= w(layer);
    }
    want.dx.value.push_back(gradient);
  }
  for (Index layer = 0; layer < p.layers && !columns.all; ++layer) {
    for (const Index i : columns.where) want.dw.where.push_back(layer * p.n + i);
  }
  const auto roundings = static_cast<double>(p.layers);
  for (const double value : want.dx.value) want.dx.bound.push_back(rounding::g(roundings) * std::abs(value));
  for (const double value : want.dw.value)
    want.dw.bound.push_back(rounding::g(roundings + 2) * std::abs(value));
  return want;
}

void Checkpointing::salt(const Problem&, const Input&, std::string_view, Index, float& element,
                         Setting& setting) {
  element = of_order_one(setting.rng);
}

template class detail::TypedOperation<Checkpointing>;

}  // namespace assay
