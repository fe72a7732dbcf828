#include "assay/ops/training_loop.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace assay {
namespace {

void naive_state_buffers(const StateBuffers::Problem& p, const StateBuffers::Input& in,
                         StateBuffers::Output& out) {
  for (Index first = 0; first < p.samples; first += p.batch) {
    const Index rows = std::min(p.batch, p.samples - first);
    std::vector<float> h(static_cast<std::size_t>(rows * p.hidden), 0.0F);
    state_buffers::advance(p, in.x.data() + first * p.hidden, rows, h.data(),
                           out.y.data() + first * p.hidden);
  }
}

/// Joins the result so far and the next piece into a new array each time: k pieces are copied about k / 2
/// times.
template <class Result>
void joined_again_and_again(const Concatenate::Problem& p, const Concatenate::Input& in,
                            Buffer<Result>& out) {
  std::vector<Result> all;
  concatenate::for_each_piece(p, in, [&](Index, const auto* numbers, Index length) {
    std::vector<Result> longer;
    longer.reserve(all.size() + static_cast<std::size_t>(length));
    longer.insert(longer.end(), all.begin(), all.end());
    for (Index i = 0; i < length; ++i) longer.push_back(static_cast<Result>(numbers[i]));
    all = std::move(longer);
  });
  std::ranges::copy(all, out.begin());
}

void naive_concatenate(const Concatenate::Problem& p, const Concatenate::Input& in,
                       Concatenate::Output& out) {
  if (p.widens()) {
    joined_again_and_again(p, in, out.wide);
  } else {
    joined_again_and_again(p, in, out.narrow);
  }
}

void naive_table_copy(const TableCopy::Problem& p, const TableCopy::Input& in, TableCopy::Output& out) {
  const auto derived_column = [rows = p.rows](auto& derived, Index c) { return derived.data() + c * rows; };
  std::vector<float> derived(in.table.begin(), in.table.end());
  derived.resize(static_cast<std::size_t>((p.columns + 1) * p.rows));
  float *const first = derived_column(derived, 0), *const last = derived_column(derived, p.columns - 1),
               *const added = derived_column(derived, p.columns);
  for (Index row = 0; row < p.rows; ++row) added[row] = first[row] + last[row];
  for (Index row = 0; row < p.rows; ++row) first[row] *= 2;
  table_copy::read(
      p, p.columns, [&](Index c) { return in.table.data() + c * p.rows; }, out.original);
  table_copy::read(
      p, p.columns + 1, [&](Index c) { return derived_column(derived, c); }, out.read);
}

const Register registered{[](Registry& r) {
  const auto prepare = [](const StagedCopy::Problem& p, const auto&, const Context&) {
    return [p, stage = Buffer<float>(p.n)](const StagedCopy::Input& in, StagedCopy::Output& out) mutable {
      for (Index b = 0; b < p.batches; ++b) {
        std::copy_n(in.x.data() + b * p.n, p.n, stage.data());
        staged_copy::consume(p.rounds, stage.data(), p.n, out.y.data() + b * p.n);
      }
    };
  };
  r.add<StagedCopy>(
      {.name = "naive", .summary = "the copy, then the work, on one thread", .prepare = prepare});
  r.add<StateBuffers>(
      {.name = "naive", .summary = "a state of zeros allocated for each batch", .run = naive_state_buffers});
  r.add<Concatenate>({.name = "naive", .summary = "a longer array for each piece", .run = naive_concatenate});
  r.add<TableCopy>({.name = "naive", .summary = "a deep copy, then the columns", .run = naive_table_copy});
  r.add<Chunks>({.name = "naive",
                 .summary = "one after the other on one thread",
                 .run = [](const auto& p, const auto& in, auto& out) { chunks::work(p, in, 0, p.n, out); }});
  const auto prepare_checkpointing = [](const Checkpointing::Problem& p, const auto&, const Context&) {
    return [p, kept = Buffer<float>(p.layers * p.n)](const Checkpointing::Input& in,
                                                     Checkpointing::Output& out) mutable {
      // Activation 0 is x, and the last layer's result is not needed: layers - 1 of them are made.
      const auto activation = [&](Index layer) -> const float* {
        return layer == 0 ? in.x.data() : kept.data() + layer * p.n;
      };
      for (Index layer = 0; layer + 1 < p.layers; ++layer) {
        checkpointing::forward(in.w.data() + layer * p.n, activation(layer), p.n,
                               kept.data() + (layer + 1) * p.n);
      }
      std::ranges::copy(in.dy, out.dx.begin());
      for (Index layer = p.layers; layer-- > 0;) {
        checkpointing::backward(in.w.data() + layer * p.n, activation(layer), p.n, out.dx.data(),
                                out.dw.data() + layer * p.n);
      }
    };
  };
  r.add<Checkpointing>({.name = "naive",
                        .summary = "all activations kept; workspace: layers n floats",
                        .prepare = prepare_checkpointing});
}};

}  // namespace

const Corners StagedCopy::corners = {"batches=1,n=1|16,rounds=3", "batches=2,n=2|33,rounds=3",
                                     "batches=3,n=7,rounds=3", "batches=5,n=257,rounds=3", "batches=4,n=5"};

auto StagedCopy::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const double bound = rounding::g(static_cast<double>(p.rounds)) * 2;
  return expect_at(positions_of(units(p), setting.units), [&](Index i) {
    const double x = in.x[i];
    return std::pair{x * (2 - std::ldexp(1.0, static_cast<int>(1 - p.rounds))), bound * std::abs(x)};
  });
}

const Corners StateBuffers::corners = {
    // One batch, batches that are all full, short last ones, and a batch larger than there are samples.
    "samples=1,batch=1,hidden=8,steps=3",   "samples=8,batch=8,hidden=15,steps=3",
    "samples=12,batch=4,hidden=19,steps=3", "samples=10,batch=4,hidden=17,steps=3",
    "samples=9,batch=8,hidden=16,steps=3",  "samples=3,batch=5,hidden=10,steps=3",
    "samples=17,batch=5,hidden=24,steps=3", "samples=10,batch=4,hidden=1"};

auto StateBuffers::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const double bound = setting.fill == Fill::exact ? 0 : rounding::g(static_cast<double>(p.steps)) * 2;
  return expect_at(positions_of(units(p), setting.units), [&](Index i) {
    double h = 0;
    for (Index step = 0; step < p.steps; ++step) h = h / 2 + static_cast<double>(in.x[i]);
    return std::pair{h, bound * std::abs(static_cast<double>(in.x[i]))};
  });
}

const Corners Concatenate::corners = {"pieces=1|3,n=1,types=same|mixed", "pieces=2,n=7,types=same|mixed",
                                      "pieces=4,n=16,types=same|mixed", "pieces=7,n=33,types=same|mixed",
                                      "pieces=20,n=5,types=same|mixed"};

auto Concatenate::expect(const Problem& p, const Input& in, Setting&) -> Expected {
  Expected want;
  Expectation& all = p.widens() ? want.wide : want.narrow;
  concatenate::for_each_piece(p, in, [&](Index, const auto* numbers, Index length) {
    all.value.insert(all.value.end(), numbers, numbers + length);
  });
  all.bound.resize(all.value.size(), 0);
  return want;
}

const Corners TableCopy::corners = {"columns=1,rows=1|33",       "columns=2,rows=7",
                                    "columns=3,rows=16",         "columns=8,rows=100",
                                    "columns=3,rows=10,every=3", "columns=2,rows=5,every=9"};

auto TableCopy::expect(const Problem& p, const Input& in, Setting&) -> Expected {
  Expected want;
  for (Index c = 0; c <= p.columns; ++c) {
    for (Index row = 0; row < p.rows; row += p.every) {
      const auto at = [&](Index column) { return in.table[column * p.rows + row]; };
      if (c < p.columns) want.original.value.push_back(at(c));
      want.read.value.push_back(c == p.columns ? at(0) + at(p.columns - 1) : (c == 0 ? 2 : 1) * at(c));
    }
  }
  for (auto* part : {&want.original, &want.read}) part->bound.resize(part->value.size(), 0);
  return want;
}

Index Chunks::Problem::rounds(Index i) const {
  if (skew == 1) return 1 + 2 * grain * i / n;
  if (skew == 2) return i < n - n / 8 ? grain : 9 * grain;
  return grain;
}

const Corners Chunks::corners = {"n=1,grain=20,skew=linear",
                                 "n=2,grain=20,skew=tail",
                                 "n=3,grain=20",
                                 "n=8,grain=20,skew=tail",
                                 "n=33,grain=20",
                                 "n=257,grain=20,skew=tail",
                                 "n=1000,skew=tail",
                                 "n=1000"};

auto Chunks::expect(const Problem& p, const Input& in, Setting&) -> Expected {
  Expected want;
  for (Index i = 0; i < p.n; ++i) want.value.push_back(chunks::scrambled(in.seed[i], p.rounds(i)));
  return want;
}

std::vector<Figure> Chunks::figures(const Problem& p, const Input&, const Expected&, const Output&) {
  return {{.name = "most that stealing gains over equal counts on 2 threads",
           .value = 100 * (chunks::static_loss(p, 2) - 1),
           .unit = "%"}};
}

void chunks::work(const Chunks::Problem& p, const Chunks::Input& in, Index begin, Index end,
                  Chunks::Output& out) {
  for (Index i = begin; i < end; ++i) out.value[i] = chunks::scrambled(in.seed[i], p.rounds(i));
}

double chunks::static_loss(const Chunks::Problem& p, int threads) {
  double all = 0, longest = 0;
  for (int thread = 0; thread < threads; ++thread) {
    double share = 0;
    for (Index i = p.n * thread / threads; i < p.n * (thread + 1) / threads; ++i) {
      share += static_cast<double>(p.rounds(i));
    }
    all += share;
    longest = std::max(longest, share);
  }
  return longest * threads / all;
}

const Corners Checkpointing::corners = {
    // Around squares, where the last segment is short or full.
    "layers=1,n=33",     "layers=2,n=7",  "layers=3,n=33", "layers=4,n=7",
    "layers=5,n=33",     "layers=8,n=7",  "layers=9,n=33", "layers=10|12,n=7",
    "layers=15|17,n=33", "layers=64,n=7", "layers=6,n=1"};

auto Checkpointing::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const Positions columns = positions_of(p.n, setting.units);
  Expected want{columns, {{.count = p.layers * p.n, .all = columns.all, .where = {}}}};
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

template class detail::TypedOperation<StagedCopy>;
template class detail::TypedOperation<StateBuffers>;
template class detail::TypedOperation<Concatenate>;
template class detail::TypedOperation<TableCopy>;
template class detail::TypedOperation<Chunks>;
template class detail::TypedOperation<Checkpointing>;

}  // namespace assay
