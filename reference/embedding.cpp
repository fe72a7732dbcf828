#include "assay/ops/embedding.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace assay {
namespace {

Index drawn_id(const embedding::Problem& p, Rng& rng) {
  if (p.ids == 0) return rng.integer(0, p.rows - 1);
  if (p.ids == 2) return p.rows / 2;
  // Each octave of ranks is as often as the others, so that ranks are about as rare as they are high.
  const auto octaves = static_cast<Index>(std::bit_width(static_cast<std::uint64_t>(p.rows)));
  for (;;) {
    const Index least = Index{1} << rng.integer(0, octaves - 1), rank = rng.integer(least, 2 * least - 1);
    if (rank <= p.rows) return rank - 1;
  }
}

Buffer<Index> drawn_ids(const embedding::Problem& p, Setting& setting) {
  auto out = setting.buffer<Index>(p.n);
  for (Index& id : out) id = drawn_id(p, setting.rng);
  if (p.ids != 2) {
    out[0] = 0;
    out[p.n - 1] = p.rows - 1;
  }
  return out;
}

void naive_embedding(const embedding::Problem& p, const Embedding::Input& in, Embedding::Output& out) {
  for (Index i = 0; i < p.n; ++i) {
    for (Index j = 0; j < p.d; ++j) out.y[i * p.d + j] = in.table[in.ids[i] * p.d + j];
  }
}

void naive_embedding_backward(const embedding::Problem& p, const EmbeddingBackward::Input& in,
                              EmbeddingBackward::Output& out) {
  for (float& sum : out.dtable) sum = 0;
  for (Index i = 0; i < p.n; ++i) {
    for (Index j = 0; j < p.d; ++j) out.dtable[in.ids[i] * p.d + j] += in.dy[i * p.d + j];
  }
}

void naive_dropout(const Dropout::Problem& p, const Dropout::Input& in, Dropout::Output& out) {
  const auto factor = static_cast<float>(p.factor());
  for (Index i = 0; i < p.n; ++i) out.y[i] = in.x[i] * static_cast<float>(in.keep[i]) * factor;
}

const Register registered{[](Registry& r) {
  r.add<Embedding>({.name = "naive", .summary = "row after row", .run = naive_embedding});
  r.add<EmbeddingBackward>(
      {.name = "naive", .summary = "zeros, then row after row of dy added", .run = naive_embedding_backward});
  r.add<Dropout>({.name = "naive", .summary = "number after number", .run = naive_dropout});
}};

}  // namespace

const Corners Embedding::corners = {"n=1,rows=1|5,d=1|3", "n=7,rows=3,d=1|4|7|16|33",
                                    "n=33,rows=65,d=5|257,ids=words", "n=9,rows=4,d=8,ids=one",
                                    // Numbers of rows that 16 bits do not hold.
                                    "n=16,rows=70001,d=2",
                                    // Beyond the size below which a threaded variant stays on one thread.
                                    "n=600,rows=301,d=129"};

auto Embedding::make_input(const Problem& p, Setting& setting) -> Input {
  return {drawn_ids(p, setting), drawn(p.rows * p.d, setting)};
}

auto Embedding::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  return expect_at(elements_of(positions_of(p.n, setting.units), p.d), [&](Index flat) {
    return std::pair{static_cast<double>(in.table[in.ids[flat / p.d] * p.d + flat % p.d]), 0.0};
  });
}

const Corners EmbeddingBackward::corners = {
    "n=1,rows=1|5,d=1|3", "n=7,rows=3,d=1|4|7|16|33", "n=33,rows=65,d=5|257,ids=words",
    "n=129,rows=4,d=8|67,ids=one", "n=16,rows=70001,d=2",
    // Beyond the size below which a threaded variant stays on one thread.
    "n=600,rows=301,d=129,ids=uniform|words"};

auto EmbeddingBackward::make_input(const Problem& p, Setting& setting) -> Input {
  return {drawn_ids(p, setting), drawn(p.n * p.d, setting)};
}

auto EmbeddingBackward::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  Positions rows = positions_of(p.rows, setting.units);
  if (setting.units.empty() && samples(p)) {
    const Index named = std::min<Index>(p.n, 128);
    rows = sample_of(p.rows, 256, std::vector<Index>(in.ids.begin(), in.ids.begin() + named), setting.rng);
  }
  Expected want(elements_of(rows, p.d));
  want.value.assign(static_cast<std::size_t>(want.size()), 0);
  want.bound = want.value;
  constexpr Index none = -1;
  std::vector<Index> place(static_cast<std::size_t>(p.rows), none), terms(place.size(), 0);
  const auto of = [](std::vector<Index>& numbers, Index row) -> Index& {
    return numbers[static_cast<std::size_t>(row)];
  };
  for (Index next = 0; next < rows.size(); ++next) of(place, rows[next]) = next * p.d;
  for (Index i = 0; i < p.n; ++i) {
    const Index first = of(place, in.ids[i]);
    if (first == none) continue;
    ++of(terms, in.ids[i]);
    for (Index j = 0; j < p.d; ++j) {
      const auto at = static_cast<std::size_t>(first + j);
      const auto term = static_cast<double>(in.dy[i * p.d + j]);
      want.value[at] += term;
      want.bound[at] += std::abs(term);
    }
  }
  for (Index next = 0; next < rows.size(); ++next) {
    const auto count = static_cast<double>(of(terms, rows[next]));
    const double g = setting.fill == Fill::exact || count < 2 ? 0 : rounding::g(count - 1);
    for (Index j = 0; j < p.d; ++j) want.bound[static_cast<std::size_t>(next * p.d + j)] *= g;
  }
  return want;
}

const Corners Dropout::corners = {"n=1|3|7|8|15|16|17|31|33|65|257", "n=64,p=0|50|99", "n=100,values=special",
                                  // Beyond the size below which a threaded variant stays on one thread.
                                  "n=140000", "n=140003,p=50,values=special"};

auto Dropout::make_input(const Problem& p, Setting& setting) -> Input {
  Input in = FromParts::make_input(p, setting);
  if (p.values == 1) make_some_infinite(in.x, 1 + p.n / 8, setting.rng);
  return in;
}

auto Dropout::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  return expect_at(positions_of(p.n, setting.units), [&](Index i) {
    const double y = static_cast<double>(in.x[i]) * static_cast<double>(in.keep[i]) * p.factor();
    return std::pair{y, std::isfinite(y) ? 2 * rounding::u * std::abs(y) : 0};
  });
}

template class detail::TypedOperation<Embedding>;
template class detail::TypedOperation<EmbeddingBackward>;
template class detail::TypedOperation<Dropout>;

}  // namespace assay
