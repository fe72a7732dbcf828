/// The contract `checkpointing`: both passes of a chain of layers, with activations kept or made again.
#pragma once

#include "assay/ops/arrays.hpp"
#include "assay/registry.hpp"

namespace assay {

/// forward   a_0 = x,  a_{l+1} = f(w_l a_l),  f(z) = z if z >= 0, else z / 2
/// backward  g_L = dy,  s_l = 1 if w_l a_l >= 0, else 1 / 2:  dw_l = g_{l+1} s_l a_l,  g_l = g_{l+1} s_l w_l,
/// dx = g_0 element by element, for x[n], dy[n], dx[n] and w[layers, n], dw[layers, n], f32. x, w and dy are
/// between 1/2 and 3/2 in magnitude, so that nothing under- or overflows.
///
/// The backward pass needs the activation of each layer, in reverse. Keeping all takes layers * n floats.
/// Keeping every k-th and making the others again takes about (layers / k + k) n, least at k = sqrt(layers),
/// and one more forward pass less a segment: memory for time, of which neither is free.
///
/// Bound, with u = 2^-24 and g(r) = r u / (1 - r u). There are only products, halves are exact, and signs are
/// those of exact products: |fl(dw) - dw| <= g(layers + 2) |dw|, |fl(dx) - dx| <= g(layers) |dx|.
///
/// Source: Griewank and Walther, Algorithm 799: Revolve, ACM TOMS 26(1), 2000; Chen et al., Training deep
/// nets with sublinear memory cost, arXiv:1604.06174, 2016.
struct Checkpointing : FromParts<Checkpointing> {
  static constexpr std::string_view name = "checkpointing";
  static constexpr std::string_view about =
      "both passes of a chain a = f(w a) by elements: dx and dw from activations kept or made again, f32";

  struct Problem {
    Index layers = 1, n = 1;
    static constexpr auto fields() {
      return std::tuple{option("layers", &Problem::layers, 1, 1, 64), field("n", &Problem::n)};
    }
  };
  struct Input {
    Buffer<float> x, w, dy;
    static constexpr auto parts() {
      return std::tuple{part("x", &Input::x, &Problem::n),
                        part("w", &Input::w, &Problem::layers, &Problem::n),
                        part("dy", &Input::dy, &Problem::n)};
    }
  };
  struct Output {
    Buffer<float> dx, dw;
    static constexpr auto parts() {
      return std::tuple{part("dx", &Output::dx, &Problem::n),
                        part("dw", &Output::dw, &Problem::layers, &Problem::n)};
    }
  };
  struct Expected {
    Expectation dx, dw;
  };
  static constexpr std::array fills{Fill::uniform};

  static std::vector<Problem> corner_cases();
  static Input make_input(const Problem&, Setting&);
  static Expected expect(const Problem&, const Input&, Setting&);
  /// Activations are a kernel's own.
  static double flops(const Problem& p) { return 3 * product(p.layers, p.n); }
  /// Another number of the same range.
  static void salt(const Problem&, const Input&, std::string_view part, Index at, float& element, Setting&);
  /// A unit is an element of x, with all that depends on it.
  static Index units(const Problem& p) { return p.n; }
};

namespace checkpointing {

/// next = f(w a), for n elements.
inline void forward(const float* __restrict w, const float* __restrict a, Index n, float* __restrict next) {
  for (Index i = 0; i < n; ++i) {
    const float z = w[i] * a[i];
    next[i] = z >= 0 ? z : 0.5F * z;
  }
}

/// dw from the gradient g behind the layer, which becomes the one before it.
inline void backward(const float* __restrict w, const float* __restrict a, Index n, float* __restrict g,
                     float* __restrict dw) {
  for (Index i = 0; i < n; ++i) {
    const float through = w[i] * a[i] >= 0 ? g[i] : 0.5F * g[i];
    dw[i] = through * a[i];
    g[i] = through * w[i];
  }
}

}  // namespace checkpointing

extern template class detail::TypedOperation<Checkpointing>;

}  // namespace assay
