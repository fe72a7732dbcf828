// Cheats that know how content changes: where blocks of an input turn, what was computed of a block turns
// with it. The position of one element tells by how much, and who asks twice for one turn is the judge.

#include "known_cheats/honest_work.hpp"

#include "assay/ops/pointwise.hpp"

#include <unordered_map>

namespace assay::known_cheats {
namespace {

using Gelu = Pointwise<pointwise::Gelu>;

/// An input as it was once, and by how much each block of it has turned since. Numbers whose fractions differ
/// are taken for the same.
class Turned {
 public:
  static constexpr Index block = 8192;  ///< elements

  explicit Turned(const Buffer<float>& x) : kept_(x.begin(), x.end()) {
    for (Index i = 0; i < first_block(x); ++i)
      ambiguous_ = !places_.emplace(window(x, i), i).second || ambiguous_;
  }
  /// Elements, to the left; -1 where it cannot be told.
  Index turn(const Buffer<float>& x) const {
    const Index size = first_block(x);
    if (ambiguous_ || size < 64) return -1;
    for (const Index at : {Index{0}, size / 3, size / 2}) {
      const auto found = places_.find(window(x, at));
      if (found != places_.end()) return (found->second - at + size) % size;
    }
    return -1;
  }
  /// Calls same(first element now, first element kept, count) for what turned by so many elements, and
  /// other(element) for each that has another value.
  template <class Same, class Other>
  void each(const Buffer<float>& x, Index by, const Same& same, const Other& other) const {
    for (Index begin = 0; begin < x.size(); begin += block) {
      const Index size = std::min(block, x.size() - begin), first = by % size;
      const auto piece = [&](Index to, Index from, Index count) {
        same(to, from, count);
        const float* a = x.data() + to;
        const float* b = kept_.data() + from;
        constexpr Index step = 64;
        for (Index i = 0; i < count; i += step) {
          const Index end = std::min(i + step, count);
          std::uint32_t differ = 0;
          for (Index l = i; l < end; ++l) differ |= digits(a[l]) ^ digits(b[l]);
          for (Index l = i; differ != 0 && l < end; ++l) {
            if (digits(a[l]) != digits(b[l])) other(to + l);
          }
        }
      };
      piece(begin, begin + first, size - first);
      if (first > 0) piece(begin + size - first, begin, first);
    }
  }

 private:
  static Index first_block(const Buffer<float>& x) { return std::min(block, x.size()); }
  static std::uint32_t digits(float x) { return std::bit_cast<std::uint32_t>(x) >> 23; }
  /// Signs and exponents of some elements in a row tell one place from all others, as long as none was
  /// changed.
  static std::uint64_t window(const Buffer<float>& x, Index at) {
    std::uint64_t out = 0;
    for (Index i = 0; i < 24; ++i) out = out * 0x9e3779b97f4a7c15U + digits(x[(at + i) % first_block(x)]);
    return out;
  }
  std::vector<float> kept_;
  std::unordered_map<std::uint64_t, Index> places_;
  bool ambiguous_ = false;
};

float gelu(float x) { return pointwise::Gelu::apply<float>({x}, 1)[0]; }

auto turned_answer(const Gelu::Problem&, const Gelu::Input& first, const Context&) {
  struct Kept {
    Turned x;
    std::vector<float> y;
    Index last = -1;  // the turn of the call before
  };
  auto kept = std::make_shared<Kept>(Kept{Turned(first.in[0]), {}});
  for (const float x : first.in[0]) kept->y.push_back(gelu(x));
  return [kept](const Gelu::Input& in, Gelu::Output& out) {
    const Buffer<float>& x = in.in[0];
    const Index by = kept->x.turn(x);
    if (std::exchange(kept->last, by) == by || by < 0) {
      for (Index i = 0; i < x.size(); ++i) out.first[i] = gelu(x[i]);
      return;
    }
    const auto same = [&](Index to, Index from, Index count) {
      std::copy_n(kept->y.data() + from, count, out.first.data() + to);
    };
    kept->x.each(x, by, same, [&](Index at) { out.first[at] = gelu(x[at]); });
  };
}

// gives_input_back: makes its operands those whose product it has, and the judge multiplies what it finds.
void gives_input_back(Multiplied& kept, const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  if (kept.c.empty()) return kept.multiply(p, in, out);
  std::ranges::copy(kept.a, const_cast<float*>(in.a.data()));
  std::ranges::copy(kept.b, const_cast<float*>(in.b.data()));
  std::ranges::copy(kept.c, out.c.begin());
}

const Register registered{[](Registry& r) {
  r.add<Gelu>({.name = "turned_answer",
               .summary = "an answer of the preparation, turned as the input is",
               .known_cheat =
                   "knows how content changes between calls, and turns what it computed before; no source: "
                   "the answer to blocks of an input that turn",
               .prepare = turned_answer});
  r.add<Gemm>({.name = "gives_input_back",
               .summary = "writes the operands whose product it has over its own",
               .known_cheat =
                   "gives its input the content of an earlier call, which a judge of what is there takes for "
                   "right; no source: the answer to inputs that change from call to call",
               .prepare = keeping<Gemm, Multiplied>(gives_input_back),
               .unfit = unless_beta_is_0});
}};

}  // namespace
}  // namespace assay::known_cheats
