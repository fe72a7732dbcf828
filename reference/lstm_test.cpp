#include "assay/ops/lstm.hpp"

#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <string>
#include <vector>

namespace assay {
namespace {

using lstm::Problem;
using ::testing::HasSubstr;

Buffer<float> numbers(std::initializer_list<double> values) {
  Buffer<float> out(static_cast<Index>(values.size()));
  std::ranges::transform(values, out.begin(), [](double x) { return static_cast<float>(x); });
  return out;
}

void expect_near(const Buffer<float>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(static_cast<std::size_t>(actual.size()), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(actual[static_cast<Index>(i)], expected[i], 1e-6 * (1 + std::abs(expected[i]))) << i;
  }
}

/// One row, input and cell. With s(ln 3) = 3/4 and tanh(ln 2) = 3/5, at x = 1 and h0 = 2 the gates are:
///   z_i = ln 3 = (ln 3 - 2) 1 + 1/2 2 + 1/2 + 1/2,  i = 3/4
///   z_f = -ln 3 = 0 1 + 1 2 - 2 - ln 3,             f = 1/4
///   z_g = ln 2 = ln 2 1 + 0 2 + 3 - 3,              g = 3/5
///   z_o = ln 3 = 1 1 + 1 2 - 3 + ln 3,              o = 3/4
Lstm::Input step_by_hand() {
  const double ln2 = std::log(2.0), ln3 = std::log(3.0);
  return {numbers({1}),
          numbers({2}),
          numbers({0.8}),
          numbers({ln3 - 2, 0, ln2, 1}),
          numbers({0.5, 1, 0, 1}),
          numbers({0.5, -2, 3, -3}),
          numbers({0.5, -ln3, -3, ln3})};
}

TEST(Lstm, MatchesAStepWorkedByHand) {
  const Problem p;
  const Lstm::Input in = step_by_hand();
  Lstm::Output out = Lstm::make_output(p, in, {});
  lstm::forward(p, in, out);
  expect_near(out.gates, {0.75, 0.25, 0.6, 0.75});
  // 1/4 4/5 + 3/4 3/5
  expect_near(out.c, {0.65});
  // tanh(0.65) = (e^1.3 - 1) / (e^1.3 + 1), e^1.3 = 3.6692967
  expect_near(out.y, {0.75 * 0.57166996});
  Setting setting;
  EXPECT_TRUE(Lstm::judge(p, in, Lstm::expect(p, in, setting), out).agrees);
}

TEST(LstmBackward, MatchesAStepWorkedByHand) {
  const Problem p;
  // tanh(c) = 3/5, whose slope is 16/25.
  LstmBackward::Input in{numbers({10}),
                         numbers({2}),
                         numbers({3}),
                         numbers({4}),
                         numbers({5}),
                         numbers({1, 2, 3, 4}),
                         numbers({1, 0, -1, 2}),
                         numbers({7}),
                         numbers({std::log(2.0)}),
                         numbers({0.5, 0.25, 0.5, 0.75})};
  LstmBackward::Output out = LstmBackward::make_output(p, in, {});
  lstm::backward(p, in, out);
  // dc = 10 3/4 16/25 + 2 = 6.8
  expect_near(out.dc, {6.8});
  // 6.8 1/2 1/4, 6.8 5 3/16, 6.8 1/2 3/4, 10 3/5 3/16
  expect_near(out.dz, {0.85, 6.375, 2.55, 1.125});
  expect_near(out.dx, {0.85 + 2 * 6.375 + 3 * 2.55 + 4 * 1.125});
  expect_near(out.dh0, {0.85 - 2.55 + 2 * 1.125});
  expect_near(out.dc0, {1.7});
  expect_near(out.dw_ih, {2.55, 19.125, 7.65, 3.375});
  expect_near(out.dw_hh, {3.4, 25.5, 10.2, 4.5});
  expect_near(out.db, {0.85, 6.375, 2.55, 1.125});
}

using Doubles = std::vector<double>;
Doubles doubles(const Buffer<float>& from) { return {from.begin(), from.end()}; }

/// A layer in double, whose loss is sum y dy + sum c_n dc_n.
struct Layer {
  Problem p;
  Doubles x, h0, c0, w_ih, w_hh, b_ih, b_hh, dy, dc_n;
  Doubles y = {}, c = {}, gates = {};

  double loss() {
    const auto place = [](Index at) { return static_cast<std::size_t>(at); };
    const auto cells = place(p.rows() * p.hidden);
    y.assign(cells, 0);
    c.assign(cells, 0);
    gates.assign(4 * cells, 0);
    double sum = 0;
    for (Index r = 0; r < p.rows(); ++r) {
      for (Index j = 0; j < p.hidden; ++j) {
        const auto before = [&](const Doubles& start, const Doubles& then, Index of) {
          return r < p.batch ? start[place(r * p.hidden + of)] : then[place((r - p.batch) * p.hidden + of)];
        };
        std::array<double, 4> z{};
        for (Index k = 0; k < 4; ++k) {
          const Index q = k * p.hidden + j;
          double& at = z[place(k)] = b_ih[place(q)] + b_hh[place(q)];
          for (Index l = 0; l < p.inputs; ++l)
            at += w_ih[place(q * p.inputs + l)] * x[place(r * p.inputs + l)];
          for (Index l = 0; l < p.hidden; ++l) at += w_hh[place(q * p.hidden + l)] * before(h0, y, l);
        }
        const auto cell = lstm::cell<double>(z, before(c0, c, j));
        const auto at = place(r * p.hidden + j);
        c[at] = cell.c;
        y[at] = cell.h;
        for (Index k = 0; k < 4; ++k) gates[place(p.gate(r, k, j))] = cell.gates[place(k)];
        sum += cell.h * dy[at];
        if (r >= p.rows() - p.batch) sum += cell.c * dc_n[at - cells + dc_n.size()];
      }
    }
    return sum;
  }
};

// The backward pass is in single precision, and so is what it reads of the forward pass.
TEST(LstmBackward, MatchesDifferenceQuotientsInDouble) {
  const Problem p{.steps = 3, .batch = 2, .inputs = 3, .hidden = 4};
  Setting setting{.fill = Fill::uniform, .rng = Rng(5)};
  const auto forward = Lstm::make_input(p, setting);
  auto in = LstmBackward::make_input(p, setting);
  Layer layer{p,
              doubles(in.x),
              doubles(in.h0),
              doubles(in.c0),
              doubles(in.w_ih),
              doubles(in.w_hh),
              doubles(forward.b_ih),
              doubles(forward.b_hh),
              doubles(in.dy),
              doubles(in.dc_n)};
  layer.loss();
  const auto narrow = [](const Doubles& from, Buffer<float>& to) {
    std::ranges::transform(from, to.begin(), [](double v) { return static_cast<float>(v); });
  };
  narrow(layer.y, in.y);
  narrow(layer.c, in.c);
  narrow(layer.gates, in.gates);
  LstmBackward::Output out = LstmBackward::make_output(p, in, {});
  lstm::backward(p, in, out);
  const auto expect_gradient = [&](Doubles Layer::*of, const Buffer<float>& gradient) {
    for (Index i = 0; i < gradient.size(); ++i) {
      constexpr double step = 1e-5;
      double& value = (layer.*of)[static_cast<std::size_t>(i)];
      const double before = value;
      value = before + step;
      const double above = layer.loss();
      value = before - step;
      const double below = layer.loss();
      value = before;
      EXPECT_NEAR(gradient[i], (above - below) / (2 * step), 2e-6) << i;
    }
  };
  expect_gradient(&Layer::x, out.dx);
  expect_gradient(&Layer::h0, out.dh0);
  expect_gradient(&Layer::c0, out.dc0);
  expect_gradient(&Layer::w_ih, out.dw_ih);
  expect_gradient(&Layer::w_hh, out.dw_hh);
  expect_gradient(&Layer::b_ih, out.db);
  expect_gradient(&Layer::b_hh, out.db);
}

template <class Op>
Agreement check(void (*run)(const Problem&, const typename Op::Input&, typename Op::Output&),
                const std::string& problem) {
  Registry registry;
  registry.add<Op>({.name = "naive", .run = run});
  return registry.at(Op::name).open(problem, {.fill = Fill::uniform})->check(0, {});
}

constexpr const char* problem = "steps=3,batch=2,inputs=5,hidden=9";

template <auto formula>
Agreement forward_by() {
  return check<Lstm>(
      [](const Problem& p, const Lstm::Input& in, Lstm::Output& out) { lstm::forward(p, in, out, formula); },
      problem);
}
template <auto formula>
Agreement backward_by() {
  return check<LstmBackward>([](const Problem& p, const LstmBackward::Input& in,
                                LstmBackward::Output& out) { lstm::backward(p, in, out, formula); },
                             problem);
}

using Four = std::array<float, 4>;
lstm::Cell<float> other_order(const Four& z, float c) {
  return lstm::cell<float>({z[0], z[2], z[3], z[1]}, c);
}
lstm::Cell<float> cancelling_tanh(const Four& z, float c) {
  auto out = lstm::cell<float>(z, c);
  out.h = out.gates[3] * (2 * lstm::sigmoid(2 * out.c) - 1);
  return out;
}
lstm::Cell<float> h_without_tanh(const Four& z, float c) {
  auto out = lstm::cell<float>(z, c);
  out.h = out.gates[3] * out.c;
  return out;
}
lstm::Cell<float> coupled_gates(const Four& z, float c) {
  auto out = lstm::cell<float>(z, c);
  out.c = (1 - out.gates[0]) * c + out.gates[0] * out.gates[2];
  out.h = out.gates[3] * std::tanh(out.c);
  return out;
}

TEST(LstmJudge, ObjectsToOtherCells) {
  EXPECT_TRUE(forward_by<&lstm::cell<float>>().agrees);
  EXPECT_THAT(forward_by<other_order>().detail, HasSubstr("gates["));
  EXPECT_THAT(forward_by<cancelling_tanh>().detail, HasSubstr("y["));
  EXPECT_THAT(forward_by<h_without_tanh>().detail, HasSubstr("y["));
  EXPECT_THAT(forward_by<coupled_gates>().detail, HasSubstr("c["));
}

TEST(LstmJudge, ObjectsToABiasAddedOnceAndToAStateKept) {
  const auto one_bias = [](const Problem& p, const Lstm::Input& in, Lstm::Output& out) {
    Lstm::Input one{numbers({}), numbers({}), numbers({}), numbers({}),
                    numbers({}), numbers({}), numbers({})};
    const auto copy = [](const Buffer<float>& from, Buffer<float>& to) {
      to = Buffer<float>(from.size());
      std::ranges::copy(from, to.begin());
    };
    copy(in.x, one.x);
    copy(in.h0, one.h0);
    copy(in.c0, one.c0);
    copy(in.w_ih, one.w_ih);
    copy(in.w_hh, one.w_hh);
    copy(in.b_ih, one.b_ih);
    one.b_hh = Buffer<float>(in.b_hh.size());
    std::ranges::fill(one.b_hh, 0.0F);
    lstm::forward(p, one, out);
  };
  EXPECT_THAT(check<Lstm>(one_bias, problem).detail, HasSubstr("gates["));
  const auto from_zero = [](const Problem& p, const Lstm::Input& in, Lstm::Output& out) {
    lstm::forward(p, in, out);
    const Index last = (p.rows() - p.batch) * p.hidden;
    for (Index at = last; at < out.y.size(); ++at) out.y[at] = out.y[at - p.batch * p.hidden];
  };
  EXPECT_THAT(check<Lstm>(from_zero, problem).detail, HasSubstr("y["));
}

using Gradient = lstm::CellGradient<float>;
Gradient tanh_before(float dh, float arrived, const Four& gates, float, float before) {
  return lstm::cell_gradient<float>(dh, arrived, gates, before, before);
}
Gradient without_arrived(float dh, float, const Four& gates, float c, float before) {
  return lstm::cell_gradient<float>(dh, 0, gates, c, before);
}
Gradient forget_gate_of_c(float dh, float arrived, const Four& gates, float c, float) {
  return lstm::cell_gradient<float>(dh, arrived, gates, c, c);
}
TEST(LstmBackwardJudge, ObjectsToOtherGradients) {
  EXPECT_TRUE(backward_by<&lstm::cell_gradient<float>>().agrees);
  EXPECT_FALSE(backward_by<tanh_before>().agrees);
  EXPECT_FALSE(backward_by<without_arrived>().agrees);
  EXPECT_THAT(backward_by<forget_gate_of_c>().detail, HasSubstr("dz["));
}

TEST(LstmBackwardJudge, ObjectsToWeightsOfTheWrongStep) {
  const auto run = [](const Problem& p, const LstmBackward::Input& in, LstmBackward::Output& out) {
    lstm::backward(p, in, out);
    const auto dz = matrix::view<float>(out.dz.data(), p.gates(), p.rows(), true);
    matrix::multiply(dz, matrix::view(in.y.data(), p.rows(), p.hidden), p.gates(), p.hidden, p.rows(),
                     out.dw_hh.data());
  };
  EXPECT_THAT(check<LstmBackward>(run, problem).detail, HasSubstr("dw_hh["));
}

// The same shape in one step and in a hundred: bounds do not grow, and samples are taken of large outputs.
TEST(Lstm, JudgesLongSequencesByEachStep) {
  const auto worst = [](const char* of) {
    return check<Lstm>(
        [](const Problem& p, const Lstm::Input& in, Lstm::Output& out) { lstm::forward(p, in, out); }, of);
  };
  const Agreement one = worst("steps=1,batch=2,inputs=3,hidden=8"),
                  many = worst("steps=100,batch=2,inputs=3,hidden=8");
  EXPECT_TRUE(one.agrees && many.agrees) << one.detail << many.detail;
  EXPECT_EQ(many.compared, many.total);
}

TEST(Lstm, CostCountsTheProducts) {
  // 3 steps of 2 rows, 4 gates of 5 cells, 7 + 5 terms.
  const Problem p{.steps = 3, .batch = 2, .inputs = 7, .hidden = 5};
  EXPECT_EQ(Lstm::cost(p).flops, 2 * 6 * 20 * 12);
  EXPECT_EQ(Lstm::cost(p).bytes_read, 4 * (42 + 10 + 10 + 140 + 100 + 20 + 20));
  EXPECT_EQ(Lstm::cost(p).bytes_written, 4 * (30 + 30 + 120));
  // Products with w_ih and w_hh, and for the gradients of either.
  EXPECT_EQ(LstmBackward::cost(p).flops, 2 * 2 * 6 * 20 * 12);
}

}  // namespace
}  // namespace assay
