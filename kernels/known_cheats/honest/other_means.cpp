// Honest kernels that do less than their cost says, or more, or by other means.

#include "known_cheats/honest_work.hpp"

#include "assay/ops/pointwise.hpp"

#include <xmmintrin.h>

namespace assay::known_cheats {
namespace {

void restores_mxcsr(const LayerNorm::Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
  constexpr unsigned flush_to_zero = 0x8000;
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | flush_to_zero);
  layer_norm(p, in, out);
  _mm_setcsr(before);
}

using Relu = Pointwise<pointwise::ReluBackward>;

void past_the_caches(const Relu::Problem& p, const Relu::Input& in, Relu::Output& out) {
  constexpr Index ahead = 256, lanes = 4;
  const float* x = in.in[0].data();
  const float* dz = in.in[1].data();
  float* dx = out.first.data();
  const auto one = [&](Index i) { dx[i] = x[i] > 0 ? dz[i] : 0; };
  Index i = 0;
  for (; i < p.size() && reinterpret_cast<std::uintptr_t>(dx + i) % 16 != 0; ++i) one(i);
  for (; i + lanes <= p.size(); i += lanes) {
    _mm_prefetch(reinterpret_cast<const char*>(x + i + ahead), _MM_HINT_NTA);
    const __m128 positive = _mm_cmpgt_ps(_mm_loadu_ps(x + i), _mm_setzero_ps());
    _mm_stream_ps(dx + i, _mm_and_ps(positive, _mm_loadu_ps(dz + i)));
  }
  for (; i < p.size(); ++i) one(i);
  _mm_sfence();
}

struct Seen {
  const float* a = nullptr;
  bool aligned = false;
};

void remembers_alignment(Seen& seen, const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  if (seen.a != in.a.data()) seen = {in.a.data(), reinterpret_cast<std::uintptr_t>(in.a.data()) % 64 == 0};
  const Index step = seen.aligned ? 16 : 4;
  for (Index row = 0; row < p.m; row += step)
    gemm_rows(p, in.a.data(), in.b.data(), out.c.data(), row, std::min(p.m, row + step));
}

// Computes y from statistics with more digits than it writes. y is nearer to the truth, and further from the
// y of the written statistics, by which it is judged; the contract has room for that.
void more_digits(const LayerNorm::Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
  for (Index row = 0; row < p.rows; ++row) {
    const float* x = in.x.data() + row * p.cols;
    const auto [mean, rstd] = statistics(x, p.cols);
    for (Index j = 0; j < p.cols; ++j) {
      const double y = (static_cast<double>(x[j]) - mean) * rstd * static_cast<double>(in.gamma[j]) +
                       static_cast<double>(in.beta[j]);
      out.y[row * p.cols + j] = static_cast<float>(y);
    }
    out.mean[row] = static_cast<float>(mean);
    out.rstd[row] = static_cast<float>(rstd);
  }
}

// Seven products of half the extent instead of eight. Where sums are long, its error is far below their
// bound; where they are short, it multiplies as usual, and where a NaN would spread by sums of rows.
constexpr Index shortest = 64;

using Block = std::vector<float>;

/// Halves of three extents, and room for the sums and products.
struct Halves {
  Index m, n, k;
  Block left, right, product;
  Block c[4];

  explicit Halves(const Gemm::Problem& p) : m((p.m + 1) / 2), n((p.n + 1) / 2), k((p.k + 1) / 2) {
    left.resize(static_cast<std::size_t>(m * k));
    right.resize(static_cast<std::size_t>(k * n));
    product.resize(static_cast<std::size_t>(m * n));
    for (Block& each : c) each.resize(product.size());
  }
};

/// Adds `sign` times a block of a matrix to `to`. Rows and columns past the end of the matrix are zero.
template <class View>
void add_block(const View& from, Index rows, Index columns, Index row0, Index column0, float sign,
               Index height, Index width, Block& to) {
  for (Index i = 0; i < std::min(height, rows - row0); ++i) {
    for (Index j = 0; j < std::min(width, columns - column0); ++j)
      to[static_cast<std::size_t>(i * width + j)] += sign * from(row0 + i, column0 + j);
  }
}

/// Signs of the four blocks (1, 1), (1, 2), (2, 1) and (2, 2).
struct Product {
  float a[4], b[4], c[4];
};
/// Strassen, Gaussian elimination is not optimal, Numerische Mathematik 13 (1969).
constexpr Product products[7] = {
    {{1, 0, 0, 1}, {1, 0, 0, 1}, {1, 0, 0, 1}},  {{0, 0, 1, 1}, {1, 0, 0, 0}, {0, 0, 1, -1}},
    {{1, 0, 0, 0}, {0, 1, 0, -1}, {0, 1, 0, 1}}, {{0, 0, 0, 1}, {-1, 0, 1, 0}, {1, 0, 1, 0}},
    {{1, 1, 0, 0}, {0, 0, 0, 1}, {-1, 1, 0, 0}}, {{-1, 0, 1, 0}, {1, 1, 0, 0}, {0, 0, 0, 1}},
    {{0, 1, 0, -1}, {0, 0, 1, 1}, {1, 0, 0, 0}}};

void multiply(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out, Halves& h) {
  const auto a = matrix::view(in.a.data(), p.m, p.k, p.a_transposed());
  const auto b = matrix::view(in.b.data(), p.k, p.n, p.b_transposed());
  for (Block& each : h.c) std::ranges::fill(each, 0.0F);
  const Gemm::Problem half{.m = h.m, .n = h.n, .k = h.k};
  for (const Product& next : products) {
    std::ranges::fill(h.left, 0.0F);
    std::ranges::fill(h.right, 0.0F);
    for (Index q = 0; q < 4; ++q) {
      const Index row = q / 2, column = q % 2;
      if (next.a[q] != 0) add_block(a, p.m, p.k, row * h.m, column * h.k, next.a[q], h.m, h.k, h.left);
      if (next.b[q] != 0) add_block(b, p.k, p.n, row * h.k, column * h.n, next.b[q], h.k, h.n, h.right);
    }
    gemm_rows(half, h.left.data(), h.right.data(), h.product.data(), 0, h.m);
    for (Index q = 0; q < 4; ++q) {
      if (next.c[q] == 0) continue;
      for (std::size_t i = 0; i < h.product.size(); ++i) h.c[q][i] += next.c[q] * h.product[i];
    }
  }
  for (Index i = 0; i < p.m; ++i) {
    for (Index j = 0; j < p.n; ++j) {
      const Block& block = h.c[(i / h.m) * 2 + j / h.n];
      const float sum =
          static_cast<float>(p.alpha) * block[static_cast<std::size_t>(i % h.m * h.n + j % h.n)];
      float& c = out.c[i * p.n + j];
      c = sum + (p.beta == 0 ? 0 : static_cast<float>(p.beta) * c);
    }
  }
}

bool are_finite(const Buffer<float>& numbers) {
  return std::ranges::all_of(numbers, [](float x) { return std::isfinite(x); });
}

auto strassen(const Gemm::Problem& p, const Gemm::Input&, const Context&) {
  std::shared_ptr<Halves> halves;
  if (std::min({p.m, p.n, p.k}) >= shortest) halves = std::make_shared<Halves>(p);
  return [p, halves](const Gemm::Input& in, Gemm::Output& out) {
    if (halves != nullptr && are_finite(in.a) && are_finite(in.b)) {
      multiply(p, in, out, *halves);
    } else {
      gemm(p, in, out);
    }
  };
}

std::optional<std::string> unfit_strassen(const Gemm::Problem& p, const Context&) {
  if (std::min({p.m, p.n, p.k}) < shortest) return "multiplies as usual";
  return std::nullopt;
}

const Register registered{[](Registry& r) {
  r.add<LayerNorm>({.name = "restores_mxcsr",
                    .summary = "flushes subnormal numbers to zero while it runs",
                    .known_honest = "changes the state of the processor, and puts it back",
                    .run = restores_mxcsr});
  r.add<Relu>({.name = "past_the_caches",
               .summary = "prefetches, and stores past the caches",
               .known_honest = "its output is in no cache when it returns, as if it were not there",
               .run = past_the_caches});
  r.add<Gemm>({.name = "remembers_alignment",
               .summary = "looks at the alignment of a pointer once",
               .known_honest = "keeps the pointer of the call before and compares",
               .prepare = keeping<Gemm, Seen>(remembers_alignment)});
  r.add<LayerNorm>(
      {.name = "more_digits",
       .summary = "everything in double, and rounded once",
       .known_honest = "its y does not follow from the statistics that it wrote, but from better ones",
       .run = more_digits});
  r.add<Gemm>({.name = "strassen",
               .summary = "one level of Strassen's algorithm",
               .known_honest = "does an eighth of the multiplications less than its cost says",
               .prepare = strassen,
               .unfit = unfit_strassen});
}};

}  // namespace
}  // namespace assay::known_cheats
