/// The contract `staged_copy`: batches that are copied to a staging area before they are used.
#pragma once

#include "assay/ops/arrays.hpp"
#include "assay/registry.hpp"

namespace assay {

/// y[b, i] = h_rounds,  h_0 = 0,  h_r = h_{r-1} / 2 + staged[i],  staged = a copy of x[b, :]
/// for batches b in order, x[batches, n] and y likewise, row-major f32. The copy stands for one to pinned
/// memory or to a device, which no kernel may leave out; the rounds stand for the work of a step on the
/// batch.
///
/// A copy that its consumer needs at once overlaps nothing. One of the next batch does, and takes at best
/// max(copy, work) in place of their sum; it needs a second staging area while the first is in use.
///
/// Bound, with u = 2^-24 and g(r) = r u / (1 - r u): halves are exact, and each round has one sum, so that
///   |fl(y) - y| <= g(rounds) 2 |x|.
///
/// Source: double buffering: Tanenbaum, Modern Operating Systems, 4th ed. (2014), section 5.3.4; overlapped
/// copies: PyTorch, pin_memory and non_blocking.
struct StagedCopy : FromParts<StagedCopy> {
  static constexpr std::string_view name = "staged_copy";
  static constexpr std::string_view about =
      "each batch copied to a staging area, then worked on from there, f32";

  struct Problem {
    Index batches = 1, n = 1;
    Index rounds = 1;
    static constexpr auto fields() {
      return std::tuple{field("batches", &Problem::batches), field("n", &Problem::n),
                        option("rounds", &Problem::rounds, 1, 1, 64)};
    }
  };
  struct Input {
    Buffer<float> x;
    static constexpr auto parts() { return std::tuple{part("x", &Input::x, &Problem::batches, &Problem::n)}; }
  };
  struct Output {
    Buffer<float> y;
    static constexpr auto parts() {
      return std::tuple{part("y", &Output::y, &Problem::batches, &Problem::n)};
    }
  };
  static constexpr std::array fills{Fill::uniform};

  static std::vector<Problem> corner_cases();
  static Expected expect(const Problem&, const Input&, Setting&);
  static double flops(const Problem& p) { return product(p.batches, p.n); }
  /// A unit is an element of y.
  static Index units(const Problem& p) { return p.batches * p.n; }
};

namespace staged_copy {

/// Works on a batch that is staged, or on `count` numbers of it.
inline void consume(Index rounds, const float* __restrict staged, Index count, float* __restrict y) {
  for (Index i = 0; i < count; ++i) y[i] = staged[i];
  for (Index round = 1; round < rounds; ++round) {
    for (Index i = 0; i < count; ++i) y[i] = 0.5F * y[i] + staged[i];
  }
}

}  // namespace staged_copy

extern template class detail::TypedOperation<StagedCopy>;

}  // namespace assay
