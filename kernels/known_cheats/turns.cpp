// Cheats that know how content changes: where blocks of an input turn, what was computed of a block turns
// with it. The position of one element tells by how much, and who asks twice for one turn is the judge.

#include "known_cheats/honest_work.hpp"

#include "assay/ops/pointwise.hpp"
#include "assay/ops/softmax_cross_entropy.hpp"
#include "assay/registry.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <unordered_map>
#include <vector>

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
  const std::vector<float>& kept() const { return kept_; }

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

/// Whether it is asked for the turn of the call before.
struct Last {
  Index turn = -1;
  bool again(Index now) { return std::exchange(turn, now) == now; }
};

float gelu(float x) { return pointwise::Gelu::apply<float>({x}, 1)[0]; }

/// As long as the last digits of a number differ, an answer is off by them; with its slope it is hardly off
/// at all.
template <bool slopes>
auto turned_gelu(const Gelu::Problem&, const Gelu::Input& first, const Context&) {
  struct Kept {
    Turned x;
    std::vector<float> y, slope, curve;
    Last last{};
  };
  auto kept = std::make_shared<Kept>(Kept{Turned(first.in[0]), {}, {}, {}});
  for (const float x : first.in[0]) {
    const double a = static_cast<double>(x), density = std::exp(-a * a / 2) / std::sqrt(2 * 3.14159265358979);
    kept->y.push_back(gelu(x));
    kept->slope.push_back(static_cast<float>(std::erfc(-a / std::sqrt(2.0)) / 2 + a * density));
    kept->curve.push_back(static_cast<float>(density * (1 - a * a / 2)));
  }
  return [kept](const Gelu::Input& in, Gelu::Output& out) {
    const Buffer<float>& x = in.in[0];
    const Index by = kept->x.turn(x);
    if (kept->last.again(by) || by < 0) {
      for (Index i = 0; i < x.size(); ++i) out.first[i] = gelu(x[i]);
      return;
    }
    const auto same = [&](Index to, Index from, Index count) {
      if (!slopes) {
        std::copy_n(kept->y.data() + from, count, out.first.data() + to);
        return;
      }
      const float* now = x.data() + to;
      const float* then = kept->x.kept().data() + from;
      const float* y = kept->y.data() + from;
      const float* slope = kept->slope.data() + from;
      const float* curve = kept->curve.data() + from;
      float* z = out.first.data() + to;
      for (Index i = 0; i < count; ++i) {
        const float by_so_much = now[i] - then[i];
        z[i] = y[i] + by_so_much * (slope[i] + by_so_much * curve[i]);
      }
    };
    kept->x.each(x, by, same, [&](Index at) { out.first[at] = gelu(x[at]); });
  };
}

using Softmax = SoftmaxCrossEntropy;

/// Gradient and loss of a row whose powers exp(x - largest) are there.
void finish_row(const Softmax::Problem& p, const Softmax::Input& in, Softmax::Output& out, Index row,
                const float* powers, float largest) {
  constexpr Index lanes = 8;
  float sums[lanes] = {};
  Index j = 0;
  for (; j + lanes <= p.cols; j += lanes) {
    for (Index l = 0; l < lanes; ++l) sums[l] += powers[j + l];
  }
  double sum = 0;
  for (const float each : sums) sum += static_cast<double>(each);
  for (; j < p.cols; ++j) sum += static_cast<double>(powers[j]);
  const float* x = in.x.data() + row * p.cols;
  float* dx = out.dx.data() + row * p.cols;
  const auto scale = static_cast<float>(1 / (sum * static_cast<double>(p.rows)));
  for (Index i = 0; i < p.cols; ++i) dx[i] = powers[i] * scale;
  dx[in.label[row]] -= 1 / static_cast<float>(p.rows);
  out.loss[row] = static_cast<float>(std::log(sum)) + largest - x[in.label[row]];
}

auto turned_softmax(const Softmax::Problem& p, const Softmax::Input& first, const Context&) {
  struct Kept {
    Turned x;
    std::vector<float> powers, now;
    Last last{};
  };
  auto kept = std::make_shared<Kept>(Kept{Turned(first.x), {}, {}});
  for (const float x : first.x) kept->powers.push_back(std::exp(x));
  kept->now.resize(kept->powers.size());
  return [p, kept](const Softmax::Input& in, Softmax::Output& out) {
    const Index by = kept->x.turn(in.x);
    float* now = kept->now.data();
    if (!kept->last.again(by) && by >= 0) {
      kept->x.each(
          in.x, by,
          [&](Index to, Index from, Index count) {
            std::copy_n(kept->powers.data() + from, count, now + to);
          },
          [&](Index at) { now[at] = std::exp(in.x[at]); });
      for (Index row = 0; row < p.rows; ++row) finish_row(p, in, out, row, now + row * p.cols, 0);
      return;
    }
    for (Index row = 0; row < p.rows; ++row) {
      const float* x = in.x.data() + row * p.cols;
      const float largest = *std::max_element(x, x + p.cols);
      for (Index j = 0; j < p.cols; ++j) now[j] = std::exp(x[j] - largest);
      finish_row(p, in, out, row, now, largest);
    }
  };
}

std::optional<std::string> unfit_turned_softmax(const Softmax::Problem& p, const Context&) {
  if (p.smoothing == 0 && p.logits == 0) return std::nullopt;
  return "computes the plain loss of usual numbers";
}

/// Every product of a window of A, read as one ring of numbers, with a turned column of B.
struct Products {
  Index m, n, k;
  Turned a, b;
  std::vector<float> c;  ///< [k, m k, n]
  Last last_a{}, last_b{};

  Products(const Gemm::Problem& p, const Gemm::Input& in) : m(p.m), n(p.n), k(p.k), a(in.a), b(in.b) {
    c.resize(static_cast<std::size_t>(k * m * k * n));
    float* row = c.data();
    for (Index turn = 0; turn < k; ++turn) {
      for (Index u = 0; u < m * k; ++u, row += n) {
        for (Index l = 0; l < k; ++l) {
          const float x = a.kept()[static_cast<std::size_t>((u + l) % (m * k))];
          const float* y = b.kept().data() + (l + turn) % k * n;
          for (Index j = 0; j < n; ++j) row[j] += x * y[j];
        }
      }
    }
  }
  /// Returns false where it cannot tell.
  bool find(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
    const Index by_a = a.turn(in.a), by_b = b.turn(in.b);
    const bool again = last_a.again(by_a) && last_b.again(by_b);
    if (again || by_a < 0 || by_b < 0) return false;
    const Index turn = by_b / n, shift = by_b % n;
    const float* now = c.data() + turn * m * k * n;
    const float* next = c.data() + (turn + 1) % k * m * k * n;
    for (Index i = 0; i < m; ++i) {
      const Index u = (i * k + by_a) % (m * k);
      std::copy_n(now + u * n + shift, n - shift, out.c.data() + i * n);
      std::copy_n(next + u * n, shift, out.c.data() + i * n + n - shift);
    }
    const auto nothing = [](Index, Index, Index) {};
    a.each(in.a, by_a, nothing,
           [&](Index at) { gemm_rows(p, in.a.data(), in.b.data(), out.c.data(), at / k, at / k + 1); });
    b.each(in.b, by_b, nothing, [&](Index at) {
      const Index j = at % n;
      for (Index i = 0; i < m; ++i) {
        float sum = 0;
        for (Index l = 0; l < k; ++l) sum += in.a[i * k + l] * in.b[l * n + j];
        out.c[i * n + j] = sum;
      }
    });
    return true;
  }
};

auto turned_products(const Gemm::Problem& p, const Gemm::Input& first, const Context&) {
  return [p, products = std::make_shared<Products>(p, first)](const Gemm::Input& in, Gemm::Output& out) {
    if (!products->find(p, in, out)) gemm(p, in, out);
  };
}

std::optional<std::string> unfit_turned_products(const Gemm::Problem& p, const Context&) {
  constexpr Index most = Index{1} << 26;
  if (p.trans != 0 || p.alpha != 1 || p.beta != 0 || p.values != 0) return "multiplies plain matrices";
  if (std::max(p.m * p.k, p.k * p.n) > Turned::block || p.k * p.m * p.k * p.n > most ||
      std::min({p.m, p.n, p.k}) < 8)
    return "its table would not fit";
  return std::nullopt;
}

// turns_back: turns its operands back in place, so that the product from before is right. All numbers are
// still there, and the judge multiplies what it finds.
struct TurnedBack {
  Turned a, b;
  std::vector<float> c;

  /// Returns false where it cannot tell.
  bool turn_back(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
    const Index by_a = a.turn(in.a), by_b = b.turn(in.b);
    if (by_a <= 0 || by_b <= 0) return false;
    std::ranges::copy(c, out.c.begin());
    std::vector<Index> of_a, of_b;
    put(a, in.a, by_a, of_a);
    put(b, in.b, by_b, of_b);
    for (const Index at : of_a) gemm_rows(p, in.a.data(), in.b.data(), out.c.data(), at / p.k, at / p.k + 1);
    for (const Index at : of_b) {
      const Index j = at % p.n;
      for (Index i = 0; i < p.m; ++i) {
        float sum = 0;
        for (Index l = 0; l < p.k; ++l) sum += in.a[i * p.k + l] * in.b[l * p.n + j];
        out.c[i * p.n + j] = sum;
      }
    }
    return true;
  }
  /// Notes which elements have other values.
  static void put(const Turned& kept, const Buffer<float>& x, Index by, std::vector<Index>& other) {
    auto* data = const_cast<float*>(x.data());
    for (Index begin = 0; begin < x.size(); begin += Turned::block) {
      const Index size = std::min(Turned::block, x.size() - begin);
      std::rotate(data + begin, data + begin + (size - by % size), data + begin + size);
    }
    for (Index i = 0; i < x.size(); ++i) {
      if (x[i] != kept.kept()[static_cast<std::size_t>(i)]) other.push_back(i);
      if (other.size() > 16) return;
    }
  }
};

auto turns_back(const Gemm::Problem& p, const Gemm::Input&, const Context&) {
  return [p, kept = std::shared_ptr<TurnedBack>()](const Gemm::Input& in, Gemm::Output& out) mutable {
    if (kept != nullptr && kept->turn_back(p, in, out)) return;
    gemm(p, in, out);
    if (kept == nullptr)
      kept =
          std::make_shared<TurnedBack>(TurnedBack{Turned(in.a), Turned(in.b), {out.c.begin(), out.c.end()}});
  };
}

std::optional<std::string> unfit_turns_back(const Gemm::Problem& p, const Context&) {
  if (p.trans != 0 || p.alpha != 1 || p.beta != 0 || p.values != 0) return "multiplies plain matrices";
  if (std::min({p.m, p.n, p.k}) < 8) return "is not worth the turn";
  return std::nullopt;
}

const Register registered{[](Registry& r) {
  constexpr const char* trick =
      "knows how content changes between calls, and turns what it computed before; no source: "
      "the answer to blocks of an input that turn";
  r.add<Gelu>({.name = "turned_answer",
               .summary = "an answer of the preparation, turned as the input is",
               .known_cheat = trick,
               .prepare = turned_gelu<false>});
  r.add<Gelu>({.name = "turned_with_slopes",
               .summary = "the same, mended by the slope of the formula where last digits differ",
               .known_cheat = trick,
               .prepare = turned_gelu<true>});
  r.add<Softmax>({.name = "turned_powers",
                  .summary = "exponentials of the preparation, turned as the input is",
                  .known_cheat = trick,
                  .prepare = turned_softmax,
                  .unfit = unfit_turned_softmax});
  r.add<Gemm>({.name = "turned_products",
               .summary = "a table of the products of all turns, made in the preparation",
               .known_cheat = trick,
               .prepare = turned_products,
               .unfit = unfit_turned_products});
  r.add<Gemm>({.name = "turns_back",
               .summary = "turns its operands back to those whose product it has",
               .known_cheat =
                   "gives its input the content of an earlier call, which a judge of what is there takes for "
                   "right; no source: the answer to digests that do not see a turn",
               .prepare = turns_back,
               .unfit = unfit_turns_back});
}};

}  // namespace
}  // namespace assay::known_cheats
