/// The contract `state_buffers`: a recurrent state that starts from zero in each batch of an epoch.
#pragma once

#include "assay/ops/arrays.hpp"
#include "assay/registry.hpp"

namespace assay {

/// y[s, i] = h_steps,  h_0 = 0,  h_t = h_{t-1} / 2 + x[s, i]
/// for samples s in batches of `batch`, of which the last holds what is left, x[samples, hidden] and y
/// likewise, row-major f32. h is the state of one batch at a time: [batch, hidden] floats that belong to the
/// kernel. Each batch starts from zeros, and a short one has fewer rows.
///
/// The recurrence is that of a layer without weights: a call takes the time of the state's allocation and of
/// its zeros, which training spends beside the products of the layer.
///
/// Bound, with u = 2^-24 and g(r) = r u / (1 - r u): halves are exact, and each step has one sum, so that
///   |fl(y) - y| <= g(steps) 2 |x|.
/// With the exact fill the bound is zero: x is a small integer, and 16 steps leave 15 digits after the point.
///
/// Source: the state of a recurrent layer: Hochreiter and Schmidhuber, Long short-term memory, Neural
/// Computation 9(8), 1997.
struct StateBuffers : FromParts<StateBuffers> {
  static constexpr std::string_view name = "state_buffers";
  static constexpr std::string_view about =
      "y = the state after h = h / 2 + x, from zero in each batch, the last of which is short, f32";

  struct Problem {
    Index samples = 1, batch = 1, hidden = 1;
    Index steps = 1;
    static constexpr auto fields() {
      return std::tuple{field("samples", &Problem::samples), field("batch", &Problem::batch),
                        field("hidden", &Problem::hidden), option("steps", &Problem::steps, 1, 1, 16)};
    }
  };
  struct Input {
    Buffer<float> x;
    static constexpr auto parts() {
      return std::tuple{part("x", &Input::x, &Problem::samples, &Problem::hidden)};
    }
  };
  struct Output {
    Buffer<float> y;
    static constexpr auto parts() {
      return std::tuple{part("y", &Output::y, &Problem::samples, &Problem::hidden)};
    }
  };
  static constexpr std::array fills{Fill::exact, Fill::uniform};

  static std::vector<Problem> corner_cases();
  static Expected expect(const Problem&, const Input&, Setting&);
  /// The state does not count.
  static double flops(const Problem& p) { return 2 * product(p.samples, p.hidden); }
  /// A unit is an element of y.
  static Index units(const Problem& p) { return p.samples * p.hidden; }
};

namespace state_buffers {

/// The steps of `rows` samples, in the state h[rows, hidden], which holds zeros.
inline void advance(const StateBuffers::Problem& p, const float* __restrict x, Index rows,
                    float* __restrict h, float* __restrict y) {
  const Index size = rows * p.hidden;
  for (Index step = 0; step < p.steps; ++step) {
    for (Index i = 0; i < size; ++i) h[i] = 0.5F * h[i] + x[i];
  }
  for (Index i = 0; i < size; ++i) y[i] = h[i];
}

}  // namespace state_buffers

extern template class detail::TypedOperation<StateBuffers>;

}  // namespace assay
