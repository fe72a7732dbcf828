// The idea: the widest vectors of the processor, several per iteration, and our own polynomials in place of
// the C library's functions (vector_formulas.hpp). A chain runs operation by operation, with an array between
// them, like a framework whose kernels are tuned one by one.

#include "pointwise/arrays.hpp"

#define HWY_TARGET_INCLUDE "pointwise/simd.cpp"
#include "vectors_inl.hpp"

#include "pointwise/vector_formulas.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::pointwise::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using assay::HWY_NAMESPACE::has_masks;

// Four vectors at once need all of 32 registers. With 16 registers, two vectors already leave no room for
// constants.
constexpr std::size_t side_by_side = HWY_TARGET == HWY_AVX3 ? 4 : 2;

/// Whether the steps of a formula wait for each other, so that vectors side by side pay.
template <class Formula>
constexpr bool waits =
    List<Gelu, GeluTanh, Sigmoid, GeluBackward, GeluTanhBackward, BiasGelu>::contains<Formula>();

template <class Formula>
struct Row {
  static constexpr std::size_t inputs = std::tuple_size_v<decltype(Formula::inputs)>,
                               outputs = std::tuple_size_v<decltype(Formula::outputs)>;
  const float* in[inputs];
  float* out[outputs];
  float alpha;
  float repeated;  ///< in[1] where the formula is per channel

  /// `count` vectors of D from i on.
  template <bool stream, std::size_t count, class D>
  HWY_INLINE void vectors(D d, Index i) const {
    constexpr auto lanes = static_cast<Index>(hn::MaxLanes(D()));
    Pack<D, count> from[inputs], to[outputs];
    for (std::size_t k = 0; k < inputs; ++k) {
      for (std::size_t n = 0; n < count; ++n) {
        from[k].v[n] = Formula::per_channel && k == 1
                           ? hn::Set(d, repeated)
                           : hn::LoadU(d, in[k] + i + static_cast<Index>(n) * lanes);
      }
    }
    compute(Formula(), PackTag<D, count>(), from, alpha, to);
    for (std::size_t j = 0; j < outputs; ++j) {
      for (std::size_t n = 0; n < count; ++n) {
        if constexpr (stream) {
          hn::Stream(to[j].v[n], d, out[j] + i + static_cast<Index>(n) * lanes);
        } else {
          hn::StoreU(to[j].v[n], d, out[j] + i + static_cast<Index>(n) * lanes);
        }
      }
    }
  }

  /// The first `count` elements of a vector.
  template <class D>
  HWY_INLINE void part_of_vector(D d, Index i, Index count) const {
    const auto mask = hn::FirstN(d, static_cast<std::size_t>(count));
    Pack<D, 1> from[inputs], to[outputs];
    for (std::size_t k = 0; k < inputs; ++k) {
      from[k].v[0] =
          Formula::per_channel && k == 1 ? hn::Set(d, repeated) : hn::MaskedLoad(mask, d, in[k] + i);
    }
    compute(Formula(), PackTag<D, 1>(), from, alpha, to);
    for (std::size_t j = 0; j < outputs; ++j) hn::BlendedStore(to[j].v[0], mask, d, out[j] + i);
  }

  /// Computes whole vectors from i on while they fit before `last`. Returns the first element left.
  template <bool stream, class D>
  HWY_INLINE Index whole_vectors(D d, Index i, Index last) const {
    constexpr auto lanes = static_cast<Index>(hn::MaxLanes(D()));
    for (; i + 4 * lanes <= last; i += 4 * lanes) {
      if constexpr (waits<Formula>) {
        vectors<stream, side_by_side>(d, i);
        if constexpr (side_by_side == 2) vectors<stream, side_by_side>(d, i + 2 * lanes);
      } else {
        for (int n = 0; n < 4; ++n) vectors<stream, 1>(d, i + n * lanes);
      }
    }
    for (; i + lanes <= last; i += lanes) vectors<stream, 1>(d, i);
    return i;
  }

  template <bool stream>
  HWY_INLINE void run(Index i, Index last) const {
    const hn::ScalableTag<float> d;
    if constexpr (stream) {
      // Streams whole lines only: a line written in parts is read from memory after all.
      const auto past_line = reinterpret_cast<std::uintptr_t>(out[0] + i) % 64;
      const Index head = static_cast<Index>((64 - past_line) % 64 / sizeof(float));
      const Index begin = head < last - i ? i + head : last;
      run<false>(i, begin);
      return run<false>(whole_vectors<true>(d, begin, last - (last - begin) % 16), last);
    }
    i = whole_vectors<false>(d, i, last);
    if constexpr (has_masks) {
      if (i < last) part_of_vector(d, i, last - i);
    } else {
      for (; i < last; ++i) vectors<false, 1>(hn::CappedTag<float, 1>(), i);
    }
  }
};

template <class Formula, bool stream>
void range(const Operands& on, Index first, Index last) {
  Row<Formula> row;
  for (std::size_t k = 0; k < row.inputs; ++k) row.in[k] = on.in[k];
  for (std::size_t j = 0; j < row.outputs; ++j) row.out[j] = on.out[j];
  row.alpha = on.alpha;
  row.repeated = 0;
  if constexpr (!Formula::per_channel) {
    row.template run<stream>(first, last);
  } else {
    for (Index i = first; i < last;) {
      const Index at = i / on.plane;
      const Index end = (at + 1) * on.plane < last ? (at + 1) * on.plane : last;
      row.repeated = on.in[1][at % on.channels];
      row.template run<stream>(i, end);
      i = end;
    }
  }
  if constexpr (stream) hwy::FlushStream();
}

/// Streamed stores are whole aligned vectors, so two outputs must have the same offset in a cache line.
template <class Formula>
void streamed(const Operands& on, Index first, Index last) {
  if constexpr (Row<Formula>::outputs == 2) {
    if ((reinterpret_cast<std::uintptr_t>(on.out[0]) - reinterpret_cast<std::uintptr_t>(on.out[1])) % 64 !=
        0) {
      return range<Formula, false>(on, first, last);
    }
  }
  range<Formula, true>(on, first, last);
}

template <class... Formula>
void fill(List<Formula...>, Functions* of) {
  ((of[Kernels::index<Formula>()] = {range<Formula, false>, streamed<Formula>}), ...);
}
void functions(Functions* of) { fill(Kernels(), of); }

}  // namespace assay::pointwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::pointwise {

HWY_EXPORT(functions);

const std::vector<Tier>& tiers() {
  static const std::vector<Tier> all = [] {
    std::vector<Tier> out;
    for_each_tier(HWY_DISPATCH_TABLE(functions), [&](const std::string& name, auto* fill, const auto& unfit) {
      out.push_back({{name, unfit}, {}});
      // Filling the table is code of that tier too.
      if (!unfit) fill(out.back().of);
    });
    return out;
  }();
  return all;
}

const Register registered{[](Registry& r) {
  for_each_formula([&]<class Formula>(Formula) {
    using Op = Pointwise<Formula>;
    const std::string_view summary = Chain<Formula> ? "vectors of {}, a pass per operation" : "vectors of {}";
    add_tiers<Op>(r, tiers(), {.name = "simd", .summary = summary},
                  [](const Tier& tier, const auto& p, const auto&) -> typename Variant<Op>::Kernel {
                    if constexpr (Chain<Formula>) {
                      return [p, between = Buffer<float>(p.size()),
                              first = tier.functions<typename Formula::First>().plain,
                              second = tier.functions<typename Formula::Second>().plain](const auto& in,
                                                                                         auto& out) mutable {
                        Operands on = operands<Formula>(p, in, out);
                        on.out[0] = between.data();
                        first(on, 0, p.size());
                        on.in[0] = between.data();
                        on.out[0] = out.first.data();
                        second(on, 0, p.size());
                      };
                    } else {
                      return kernel_of<Formula>(tier.functions<Formula>().plain, p);
                    }
                  });
  });
}};

}  // namespace assay::pointwise
#endif
