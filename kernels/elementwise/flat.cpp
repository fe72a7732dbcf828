// The idea: collapse the four loops and three index maps into rows with fixed strides, mostly a single row.
// The inner loop is then a plain loop over arrays, which the compiler vectorises for the plain ABI.

#include "elementwise/loop_nest.hpp"

namespace assay::elementwise {
namespace {

/// Usual strides are template arguments, since the compiler vectorises only loops with known strides.
template <class Formula, bool reads_z>
void row(Index count, const float* x, Index x_step, const float* y, Index y_step, float* z, float alpha,
         float beta) {
  const auto loop = [=](auto xs, auto ys) {
    for (Index i = 0; i < count; ++i) {
      const float fresh = Formula::template apply<float>(x[i * xs], Formula::unary ? 0 : y[i * ys], alpha);
      z[i] = reads_z ? fresh + beta * z[i] : fresh;
    }
  };
  using Zero = std::integral_constant<Index, 0>;
  using One = std::integral_constant<Index, 1>;
  if (x_step == 1 && y_step == 1) return loop(One{}, One{});
  if (x_step == 1 && y_step == 0) return loop(One{}, Zero{});
  loop(x_step, y_step);
}

template <class Formula, bool reads_z>
void rows(const LoopNest& nest, const Operands& on) {
  RowCursor at(nest, 0);
  for (Index left = nest.rows(); left > 0;) {
    const Index run = at.run();
    for (Index i = 0; i < run; ++i) {
      row<Formula, reads_z>(nest.extent[3], on.x + at.x + i * nest.x[2], nest.x[3],
                            on.y + at.y + i * nest.y[2], nest.y[3], on.z + at.z + i * nest.z[2], on.alpha,
                            on.beta);
    }
    at.next(run);
    left -= run;
  }
}

template <class Formula>
auto prepare(const typename Elementwise<Formula>::Problem& p, const typename Elementwise<Formula>::Input&,
             const Context&) {
  return [plan = plan<Formula>(p, 1)](const auto& in, auto& out) {
    const Operands operands = plan.operands(in, out);
    return plan.beta == 0 ? rows<Formula, false>(plan.nest, operands)
                          : rows<Formula, true>(plan.nest, operands);
  };
}

const Register registered{[](Registry& r) {
  for_each_formula([&]<class Formula>(Formula) {
    r.add<Elementwise<Formula>>(
        {.name = "flat", .summary = "collapsed to rows, compiler-vectorised", .prepare = prepare<Formula>});
  });
}};

}  // namespace
}  // namespace assay::elementwise
