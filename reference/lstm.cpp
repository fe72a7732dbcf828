#include "assay/ops/lstm.hpp"

#include <limits>
#include <utility>

namespace assay {
namespace {

using lstm::Problem;
using matrix::element, matrix::multiply, matrix::Sized, matrix::view;
using rounding::g, rounding::u;

/// An array [steps, batch, hidden] a step earlier, as a matrix of rows: `start` at step 0.
auto before(const Problem& p, const Buffer<float>& start, const Buffer<float>& states) {
  return
      [first = start.data(), then = states.data(), hidden = p.hidden, batch = p.batch](Index row, Index j) {
        return row < batch ? first[row * hidden + j] : then[(row - batch) * hidden + j];
      };
}
constexpr auto ones = [](Index, Index) { return 1.0F; };

template <class Real>
std::array<Real, 4> gates_of(const Problem& p, const Buffer<float>& gates, Index row, Index j) {
  const auto gate = [&](Index k) { return Real(gates[p.gate(row, k, j)]); };
  return {gate(0), gate(1), gate(2), gate(3)};
}

/// What arrives at c from the step after.
template <class Real>
Real arrived(const Problem& p, const LstmBackward::Input& in, const LstmBackward::Output& out, Index row,
             Index j) {
  const Index next = row + p.batch;
  if (next >= p.rows()) return Real(in.dc_n[(next - p.rows()) * p.hidden + j]);
  return Real(out.dc[next * p.hidden + j]) * Real(in.gates[p.gate(next, 1, j)]);
}

/// The most that numbers taken for 0 change any other.
constexpr double flushed = 0x1p-100;

/// A number, and the most by which f32 is off it: an operation carries the errors of its operands on, and
/// adds a rounding of its own.
struct Bounded {
  double value, bound = 0;
  Bounded(double exact) : value(exact) {}
  Bounded(double its_value, double its_bound) : value(its_value), bound(its_bound) {}
  static Bounded rounded(double value, double error) {
    return {value, error + u * (std::abs(value) + error) + flushed};
  }
  friend Bounded operator+(Bounded x, Bounded y) { return rounded(x.value + y.value, x.bound + y.bound); }
  friend Bounded operator-(Bounded x, Bounded y) { return rounded(x.value - y.value, x.bound + y.bound); }
  friend Bounded operator*(Bounded x, Bounded y) {
    return rounded(x.value * y.value, x.bound * (std::abs(y.value) + y.bound) + std::abs(x.value) * y.bound);
  }
  /// A function of x with this value, whose slope is `times`^2 s'(times v) and whose own roundings are `own`.
  static Bounded activation(Bounded x, double value, double times, double own) {
    if (!std::isfinite(x.value)) return value;
    const double size = std::abs(x.value);
    const auto [below, above] = pointwise::logistic_pair(times * std::max(0.0, size - x.bound));
    const double slope = times * times * below * above, moved = x.bound * slope;
    return {value, moved + u * (own * (std::abs(value) + moved) + 2 * (size + x.bound) * slope) + flushed};
  }
  friend Bounded tanh(Bounded x) { return activation(x, std::tanh(x.value), 2, 8); }
  friend Bounded sigmoid(Bounded x) { return activation(x, lstm::sigmoid(x.value), 1, 6); }
};

/// The elements of a b, sums of `terms` products in any order.
auto sums(const auto& a, const auto& b, Index terms) {
  return [=](Index i, Index j) -> Bounded {
    const auto [value, size] = element<Sized>(a, b, i, j, terms);
    return {value, g(static_cast<double>(terms)) * size + flushed};
  };
}

/// The elements of each part of the output that are judged: all, or a sample where their sums would take more
/// than some milliseconds.
template <class Op>
std::vector<Positions> looked_at(const Problem& p, Setting& setting) {
  const auto some = [&](Index count) {
    constexpr Index most = 1024;
    if (product(count, Op::terms(p)) < 0x1p23 || count <= most) return positions_of(count, {});
    return sample_of(count, most, {0, count - 1}, setting.rng);
  };
  return std::apply([&](const auto&... part) { return std::vector{some(detail::size_of(part, p))...}; },
                    Op::Output::parts());
}

/// Judges each part by a function of row and column.
template <class Op>
Agreement judged(const Problem& p, const std::vector<Positions>& at, const typename Op::Output& out,
                 const auto&... element) {
  Agreement found;
  auto next = at.begin();
  const auto judge = [&](const auto& part, const auto& its) {
    const Shape shape{part.name, detail::extents_of(part, p)};
    const Index columns = shape.extents.back();
    found = found & within(shape, part.of(out), expect_at(*next++, [&](Index flat) {
                             const Bounded want = its(flat / columns, flat % columns);
                             return std::pair{want.value, std::isfinite(want.value) ? want.bound : 0};
                           }));
  };
  std::apply([&](const auto&... part) { (judge(part, element), ...); }, Op::Output::parts());
  return found;
}

const Register registered{[](Registry& r) {
  r.add<Lstm>({.name = "naive",
               .summary = "cell by cell, two dot products per gate",
               .run = [](const auto& p, const auto& in, auto& out) { lstm::forward(p, in, out); }});
  r.add<LstmBackward>({.name = "naive",
                       .summary = "cell by cell, then a product for each gradient",
                       .run = [](const auto& p, const auto& in, auto& out) { lstm::backward(p, in, out); }});
}};

}  // namespace

void lstm::forward(const Problem& p, const Lstm::Input& in, Lstm::Output& out,
                   decltype(&cell<float>) formula) {
  const auto x = view(in.x.data(), p.rows(), p.inputs),
             w_ih = view(in.w_ih.data(), p.inputs, p.gates(), true);
  const auto w_hh = view(in.w_hh.data(), p.hidden, p.gates(), true);
  const auto h = before(p, in.h0, out.y), c_before = before(p, in.c0, out.c);
  for (Index r = 0; r < p.rows(); ++r) {
    for (Index j = 0; j < p.hidden; ++j) {
      const auto z = [&](Index k) {
        const Index q = k * p.hidden + j;
        return element<float>(x, w_ih, r, q, p.inputs) + in.b_ih[q] +
               element<float>(h, w_hh, r, q, p.hidden) + in.b_hh[q];
      };
      const auto cell = formula({z(0), z(1), z(2), z(3)}, c_before(r, j));
      for (std::size_t k = 0; k < 4; ++k) out.gates[p.gate(r, Index(k), j)] = cell.gates[k];
      out.c[r * p.hidden + j] = cell.c;
      out.y[r * p.hidden + j] = cell.h;
    }
  }
}

void lstm::backward(const Problem& p, const LstmBackward::Input& in, LstmBackward::Output& out,
                    decltype(&cell_gradient<float>) formula) {
  const Index width = p.gates(), rows = p.rows();
  const auto w_ih = view(in.w_ih.data(), width, p.inputs), w_hh = view(in.w_hh.data(), width, p.hidden);
  const auto dz = view<float>(out.dz.data(), rows, width),
             turned = view<float>(out.dz.data(), width, rows, true);
  const auto c_before = before(p, in.c0, in.c);
  for (Index r = rows; r-- > 0;) {
    for (Index j = 0; j < p.hidden; ++j) {
      const Index at = r * p.hidden + j, next = r + p.batch;
      const float dh = in.dy[at] + (next < rows ? element<float>(dz, w_hh, next, j, width) : 0);
      const auto gradient = formula(dh, arrived<float>(p, in, out, r, j), gates_of<float>(p, in.gates, r, j),
                                    in.c[at], c_before(r, j));
      for (std::size_t k = 0; k < 4; ++k) out.dz[p.gate(r, Index(k), j)] = gradient.dz[k];
      out.dc[at] = gradient.dc;
    }
  }
  for (Index at = 0; at < out.dc0.size(); ++at) {
    out.dc0[at] = out.dc[at] * in.gates[p.gate(at / p.hidden, 1, at % p.hidden)];
  }
  multiply(dz, w_hh, p.batch, p.hidden, width, out.dh0.data());
  multiply(dz, w_ih, rows, p.inputs, width, out.dx.data());
  multiply(turned, view(in.x.data(), rows, p.inputs), width, p.inputs, rows, out.dw_ih.data());
  multiply(turned, before(p, in.h0, in.y), width, p.hidden, rows, out.dw_hh.data());
  multiply(turned, ones, width, 1, rows, out.db.data());
}

const Corners lstm::Layer::corners = {
    // Around the lane counts 4, 8, 16, and one step, row, input or cell.
    "steps=1|3,batch=1|5,inputs=1|7,hidden=1|3|8|17", "steps=4,batch=6,inputs=16,hidden=15|16|31|33",
    "steps=2,batch=17,inputs=65,hidden=67", "steps=35,batch=2,inputs=5,hidden=9",
    "steps=3,batch=7,inputs=5,hidden=9|32,values=saturated|special",
    // Enough work to divide.
    "steps=3,batch=9,inputs=33,hidden=65"};

void lstm::Layer::draw(const Problem& p, std::string_view part, float& element, Setting& setting) {
  const bool saturated = p.values == 1, special = p.values == 2;
  element = setting.draw();
  if (part == "gates") element = std::abs(element);
  if (part.starts_with("w_") || part.starts_with("b_")) element /= std::sqrt(static_cast<float>(p.hidden));
  if (saturated && part == "b_ih") element = std::copysign(30 + element, element);
  if (saturated && part == "gates" && setting.rng.unit() < 0.5) element = 1 - 0x1p-12F * element;
  if (saturated && part == "c") element *= 8;
  if (special && (part == "x" || part == "c0" || part == "dy") && setting.rng.integer(0, 15) == 0) {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    element = setting.rng.unit() < 0.3 ? nan : std::copysign(std::numeric_limits<float>::infinity(), element);
  }
}

auto Lstm::expect(const Problem& p, const Input&, Setting& setting) -> Expected {
  return looked_at<Lstm>(p, setting);
}

Agreement Lstm::judge(const Problem& p, const Input& in, const Expected& at, const Output& out) {
  const Index terms = p.inputs + p.hidden;
  const auto x = view(in.x.data(), p.rows(), p.inputs),
             w_ih = view(in.w_ih.data(), p.inputs, p.gates(), true);
  const auto w_hh = view(in.w_hh.data(), p.hidden, p.gates(), true);
  const auto h = before(p, in.h0, out.y), c_before = before(p, in.c0, out.c);
  // As one product, whose last two terms are the biases.
  const auto z =
      sums([&](Index r, Index l) { return l < p.inputs ? x(r, l)
                                          : l < terms  ? h(r, l - p.inputs)
                                                       : 1; },
           [&](Index l, Index q) {
             if (l >= terms) return l == terms ? in.b_ih[q] : in.b_hh[q];
             return l < p.inputs ? w_ih(l, q) : w_hh(l - p.inputs, q);
           },
           terms + 2);
  const auto y = [&](Index r, Index j) {
    return Bounded(out.gates[p.gate(r, 3, j)]) * tanh(Bounded(out.c[r * p.hidden + j]));
  };
  const auto c = [&](Index r, Index j) {
    const auto [i, f, candidate, o] = gates_of<Bounded>(p, out.gates, r, j);
    return f * Bounded(c_before(r, j)) + i * candidate;
  };
  return judged<Lstm>(p, at, out, y, c,
                      [&](Index r, Index q) { return q / p.hidden == 2 ? tanh(z(r, q)) : sigmoid(z(r, q)); });
}

auto LstmBackward::expect(const Problem& p, const Input&, Setting& setting) -> Expected {
  return looked_at<LstmBackward>(p, setting);
}

Agreement LstmBackward::judge(const Problem& p, const Input& in, const Expected& at, const Output& out) {
  const Index width = p.gates(), rows = p.rows();
  const auto w_ih = view(in.w_ih.data(), width, p.inputs), w_hh = view(in.w_hh.data(), width, p.hidden);
  const auto dz = view(out.dz.data(), rows, width), turned = view(out.dz.data(), width, rows, true);
  const auto c_before = before(p, in.c0, in.c);
  const auto cell = [&](Index r, Index j) {
    const Index next = r + p.batch, terms = next < rows ? width : 0;
    Sized sum = static_cast<double>(in.dy[r * p.hidden + j]);
    sum += element<Sized>(dz, w_hh, next, j, terms);
    const Bounded dh(sum.value, g(static_cast<double>(width + 1)) * sum.magnitude + flushed);
    return lstm::cell_gradient<Bounded>(dh, arrived<Bounded>(p, in, out, r, j),
                                        gates_of<Bounded>(p, in.gates, r, j), in.c[r * p.hidden + j],
                                        c_before(r, j));
  };
  return judged<LstmBackward>(
      p, at, out,
      [&](Index r, Index q) { return cell(r, q % p.hidden).dz[static_cast<std::size_t>(q / p.hidden)]; },
      [&](Index r, Index j) { return cell(r, j).dc; }, sums(dz, w_ih, width), sums(dz, w_hh, width),
      [&](Index n, Index j) {
        return Bounded(out.dc[n * p.hidden + j]) * Bounded(in.gates[p.gate(n, 1, j)]);
      },
      sums(turned, view(in.x.data(), rows, p.inputs), rows), sums(turned, before(p, in.h0, in.y), rows),
      [&](Index, Index q) { return sums(turned, ones, rows)(q, 0); });
}

template class detail::TypedOperation<Lstm>;
template class detail::TypedOperation<LstmBackward>;

}  // namespace assay
