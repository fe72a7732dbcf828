// The idea: the rows of the best SIMD tier, divided evenly among threads that are already running. dx needs
// no other row. dgamma and dbeta are sums over all rows: each thread but the first has its own, which are
// added to those of the first when all are done.

#include "layernorm_backward/rows.hpp"
#include "team.hpp"

#include <vector>

namespace assay::layernorm_backward {
namespace {

/// Elements below which one thread computes all. Measured on two cores of a Zen 5, one thread in units of
/// two, layernorm_backward: 0.96 at 43 x 768, 1.15 at 64 x 768, 1.32 at 85 x 768; 0.98 at 128 x 256, 1.08 at
/// 192 x 256.
constexpr Index break_even = 40960;

/// dgamma and dbeta of the threads but the first, each on cache lines of its own.
class Partials {
 public:
  Partials(Index cols, int threads)
      : stride_(rounded_up(cols, 16) + 16), sums_(static_cast<std::size_t>(2 * stride_ * (threads - 1))) {}

  /// Redirects the sums of part > 0 to an array of its own.
  Operands redirected(Operands on, int part) {
    on.dgamma = sums_.data() + 2 * stride_ * (part - 1);
    if (on.dbeta != nullptr) on.dbeta = on.dgamma + stride_;
    return on;
  }
  void add_to(const Operands& on, int parts) {
    for (int part = 1; part < parts; ++part) {
      const Operands from = redirected(on, part);
      for (Index j = 0; j < on.cols; ++j) on.dgamma[j] += from.dgamma[j];
      for (Index j = 0; on.dbeta != nullptr && j < on.cols; ++j) on.dbeta[j] += from.dbeta[j];
    }
  }

 private:
  Index stride_;
  std::vector<float> sums_;
};

template <class Op>
typename Variant<Op>::Kernel prepare(const Problem& p, const typename Op::Input&, const Context& context) {
  const Index elements = p.rows * p.cols;
  const int threads = started_team(context, elements < break_even, p.rows);
  const bool stream = streams(3.0 * static_cast<double>(elements) * sizeof(float), threads);
  return [p, threads, stream, function = best_of(tiers()).function, partials = Partials(p.cols, threads)](
             const auto& in, auto& out) mutable {
    const Operands on = operands(p, in, out, stream);
    on_team(threads, threads, [&](int part) {
      function(part == 0 ? on : partials.redirected(on, part), p.rows * part / threads,
               p.rows * (part + 1) / threads);
    });
    partials.add_to(on, threads);
  };
}

const Register registered{[](Registry& r) {
  for_each_norm([&]<class Op>() {
    add_threaded<Op>(r, "the best SIMD tier, rows divided among OpenMP threads, sums over rows per thread",
                     prepare<Op>);
  });
}};

}  // namespace
}  // namespace assay::layernorm_backward
