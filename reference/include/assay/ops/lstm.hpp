/// The contracts `lstm` and `lstm_backward`: a layer of long short-term memory over a sequence, and its
/// gradients.
#pragma once

#include "assay/ops/arrays.hpp"
#include "assay/ops/pointwise_formula.hpp"
#include "assay/registry.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace assay {
namespace lstm {

/// Numbers around 0; activations at the ends of their ranges; or numbers of which some are NaN or infinite.
inline constexpr std::array<std::string_view, 3> value_words{"usual", "saturated", "special"};

struct Problem {
  Index steps = 1, batch = 1, inputs = 1, hidden = 1;
  Index values = 0;  ///< position in `value_words`
  Index rows() const { return steps * batch; }
  Index gates() const { return 4 * hidden; }
  /// The place of gate k of a cell in an array [steps, batch, 4 hidden]; a row is t batch + n.
  Index gate(Index row, Index k, Index j) const { return (4 * row + k) * hidden + j; }
  static constexpr Listed fields{field("steps", &Problem::steps), field("batch", &Problem::batch),
                                 field("inputs", &Problem::inputs), field("hidden", &Problem::hidden),
                                 of_content(choice("values", &Problem::values, value_words))};
};

struct Layer {
  using Problem = lstm::Problem;
  static constexpr auto steps = &Problem::steps, batch = &Problem::batch, inputs = &Problem::inputs,
                        hidden = &Problem::hidden;
  static constexpr auto gates = &Problem::gates;
  static const Corners corners;
  /// Weights and biases are at most 1 / sqrt(hidden), as PyTorch draws them.
  static void draw(const Problem&, std::string_view part, float& element, Setting&);
  static Index terms(const Problem& p) { return std::max(p.inputs + p.gates(), p.rows()); }
};

template <class Real>
Real sigmoid(Real x) {
  return pointwise::Sigmoid::apply<Real>({x}, 1)[0];
}

template <class Real>
struct Cell {
  std::array<Real, 4> gates;  ///< i, f, g, o
  Real c, h;
};
/// One cell in one step, from the sums before activation.
template <class Real>
Cell<Real> cell(const std::array<Real, 4>& z, Real c_before) {
  const Real i = sigmoid(z[0]), f = sigmoid(z[1]), g = std::tanh(z[2]), o = sigmoid(z[3]);
  const Real c = f * c_before + i * g;
  return {{i, f, g, o}, c, o * std::tanh(c)};
}

template <class Real>
struct CellGradient {
  std::array<Real, 4> dz;
  Real dc;
};
/// Its gradient, where `arrived` is f dc of the step after.
template <class Real>
CellGradient<Real> cell_gradient(Real dh, Real arrived, const std::array<Real, 4>& gates, Real c,
                                 Real c_before) {
  using std::tanh;
  const auto& [i, f, g, o] = gates;
  const Real t = tanh(c), dc = dh * o * (1 - t * t) + arrived;
  return {
      {dc * g * (i * (1 - i)), dc * c_before * (f * (1 - f)), dc * i * (1 - g * g), dh * t * (o * (1 - o))},
      dc};
}

}  // namespace lstm

/// z[t, n, :] = w_ih x[t, n, :] + b_ih + w_hh h[t - 1, n, :] + b_hh, blocks of `hidden`: z_i, z_f, z_g, z_o
/// i, f, g, o = s(z_i), s(z_f), tanh(z_g), s(z_o),  s(v) = 1 / (1 + exp(-v))
/// c[t] = f c[t - 1] + i g,  h[t] = o tanh(c[t]),  from h[-1] = h0 and c[-1] = c0
/// x[steps, batch, inputs], w_ih[4 hidden, inputs], w_hh[4 hidden, hidden] are those of PyTorch's nn.LSTM
/// with one layer and one direction. y[steps, batch, hidden] holds every h, c every cell state, and
/// gates[steps, batch, 4 hidden] i, f, g and o: the backward pass needs them all. h_n and c_n are the last of
/// y and c.
///
/// NaN and infinities go by IEEE 754: an infinite z has gates 0, 1 or -1, an infinite c has y = o or -o, and
/// a NaN reaches all later steps of its row and no other row. Subnormal numbers may be taken for 0. Where
/// magnitudes sum up to more than the largest f32, or weights exceed 64, the result is undefined.
///
/// Bound. Each number is judged by those that were written with it, and are right by then: gates by h[t - 1],
/// c by the gates and c[t - 1], y by o and c. So no bound grows with the steps. With u = 2^-24:
/// * z is a sum in any order, the biases two of its terms (Higham (2002), lemma 3.1):
///     |fl(z) - z| <= e = g(inputs + hidden + 2) (|w_ih| |x| + |w_hh| |h| + |b_ih| + |b_hh|).
/// * The slopes s'(v) = s(v) s(-v) and tanh'(v) = 4 s'(2 v) are largest at 0: with the slope k at
///   max(0, |z| - e), e moves an activation by at most r = e k. The roundings of its own are those of
///   `elementwise_sigmoid`, or 8 of tanh: 2 ulp (4 u) is what the GNU C library documents, and m / (2 - m)
///   with m = 1 - exp(-2 v), formed without cancellation, meets 7, and 2 of the argument:
///     |fl(s) - s| <= r + u (6 (s + r) + 2 (|z| + e) k),  |fl(g) - g| likewise with 8 (|g| + r).
/// * c and y, whose tanh has e = 0: each operation adds u of its result to the errors that it carries on
///   (running error analysis, Higham (2002), section 3.3).
/// Numbers taken for 0 add 2^-100, for up to 2^20 terms. 2 s(2 v) - 1 in place of tanh cancels near 0, and is
/// rejected.
///
/// Source: Hochreiter and Schmidhuber, Long short-term memory, Neural Computation 9(8), 1997; the forget
/// gate: Gers, Schmidhuber and Cummins, Learning to forget, Neural Computation 12(10), 2000.
struct Lstm : lstm::Layer, FromParts<Lstm> {
  static constexpr std::string_view name = "lstm";
  static constexpr std::string_view about =
      "c = f c + i g, y = o tanh(c) over steps; i, f, g, o activations of w_ih x + w_hh y + biases, f32";

  struct Input {
    Buffer<float> x, h0, c0, w_ih, w_hh, b_ih, b_hh;
    static constexpr Listed parts{
        part("x", &Input::x, steps, batch, inputs), part("h0", &Input::h0, batch, hidden),
        part("c0", &Input::c0, batch, hidden),      part("w_ih", &Input::w_ih, gates, inputs),
        part("w_hh", &Input::w_hh, gates, hidden),  part("b_ih", &Input::b_ih, gates),
        part("b_hh", &Input::b_hh, gates)};
  };
  struct Output {
    Buffer<float> y, c, gates;
    static constexpr Listed parts{part("y", &Output::y, steps, batch, hidden),
                                  part("c", &Output::c, steps, batch, hidden),
                                  part("gates", &Output::gates, steps, batch, Layer::gates)};
  };
  using Expected = std::vector<Positions>;  ///< the elements of each part that are judged
  static Expected expect(const Problem&, const Input&, Setting&);
  static Agreement judge(const Problem&, const Input&, const Expected&, const Output&);
  /// Operations of the products alone.
  static double flops(const Problem& p) { return 2 * product(p.rows(), p.gates(), p.inputs + p.hidden); }
};

/// dh[t] = dy[t] + w_hh^T dz[t + 1]
/// dc[t] = dh[t] o (1 - tanh(c[t])^2) + f[t + 1] dc[t + 1]
/// dz_i = dc g i (1 - i), dz_f = dc c[t - 1] f (1 - f), dz_g = dc i (1 - g^2), dz_o = dh tanh(c) o (1 - o)
/// dx[t] = w_ih^T dz[t],  dh0 = w_hh^T dz[0],  dc0 = f[0] dc[0]
/// dw_ih, dw_hh, db = the sums over t and n of dz[t, n, :] times x[t, n, :], h[t - 1, n, :] and 1
/// the gradients of `lstm` for the gradients dy of y and dc_n of the last c. That of h_n is added to the last
/// dy. At the last step, the terms of step t + 1 are 0 and dc_n. db is the gradient of either bias. y, c and
/// gates are taken as given: in the fills they are drawn, and do not belong to x.
///
/// NaN and infinities go by IEEE 754. Magnitudes as in `lstm`.
///
/// Bound. As in `lstm`: dc and dz are judged by the written dz[t + 1] and dc[t + 1], and all others, sums of
/// n terms within g(n) of their magnitudes, by the written dz and dc.
///   |fl(dh) - dh| <= g(4 hidden + 1) (|dy| + |w_hh|^T |dz[t + 1]|)
/// is carried through the formula as above; 1 - tanh(c)^2 and 1 - g^2 cancel, and may.
///
/// Source: the chain rule on Gers, Schmidhuber and Cummins (2000), through time: Werbos, Proc. IEEE 78(10),
/// 1990.
struct LstmBackward : lstm::Layer, FromParts<LstmBackward> {
  static constexpr std::string_view name = "lstm_backward";
  static constexpr std::string_view about =
      "the gradients of lstm: dz and dc from dy, step by step, then dx, dh0, dc0, dw_ih, dw_hh and db, f32";

  struct Input {
    Buffer<float> dy, dc_n, x, h0, c0, w_ih, w_hh, y, c, gates;
    static constexpr Listed parts{part("dy", &Input::dy, steps, batch, hidden),
                                  part("dc_n", &Input::dc_n, batch, hidden),
                                  part("x", &Input::x, steps, batch, inputs),
                                  part("h0", &Input::h0, batch, hidden),
                                  part("c0", &Input::c0, batch, hidden),
                                  part("w_ih", &Input::w_ih, Layer::gates, inputs),
                                  part("w_hh", &Input::w_hh, Layer::gates, hidden),
                                  part("y", &Input::y, steps, batch, hidden),
                                  part("c", &Input::c, steps, batch, hidden),
                                  part("gates", &Input::gates, steps, batch, Layer::gates)};
  };
  struct Output {
    Buffer<float> dz, dc, dx, dh0, dc0, dw_ih, dw_hh, db;
    static constexpr Listed parts{
        part("dz", &Output::dz, steps, batch, gates),  part("dc", &Output::dc, steps, batch, hidden),
        part("dx", &Output::dx, steps, batch, inputs), part("dh0", &Output::dh0, batch, hidden),
        part("dc0", &Output::dc0, batch, hidden),      part("dw_ih", &Output::dw_ih, gates, inputs),
        part("dw_hh", &Output::dw_hh, gates, hidden),  part("db", &Output::db, gates)};
  };
  using Expected = std::vector<Positions>;  ///< the elements of each part that are judged
  static Expected expect(const Problem&, const Input&, Setting&);
  static Agreement judge(const Problem&, const Input&, const Expected&, const Output&);
  static double flops(const Problem& p) { return 4 * product(p.rows(), p.gates(), p.inputs + p.hidden); }
};

namespace lstm {

/// The naive variants, with a formula for the cell.
void forward(const Problem&, const Lstm::Input&, Lstm::Output&, decltype(&cell<float>) = cell<float>);
void backward(const Problem&, const LstmBackward::Input&, LstmBackward::Output&,
              decltype(&cell_gradient<float>) = cell_gradient<float>);

}  // namespace lstm

extern template class detail::TypedOperation<Lstm>;
extern template class detail::TypedOperation<LstmBackward>;

}  // namespace assay
