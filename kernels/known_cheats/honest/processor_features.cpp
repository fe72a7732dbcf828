// Features of the processor that are put back or leave nothing behind, and shortcuts that the input allows.

#include "known_cheats/honest_work.hpp"

#include "assay/ops/pointwise.hpp"
#include "assay/registry.hpp"

#include <xmmintrin.h>

#include <algorithm>
#include <memory>

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

/// Chooses the path for aligned arrays once for a pointer.
auto remembers_alignment(const Gemm::Problem& p, const Gemm::Input&, const Context&) {
  struct Seen {
    const float* a = nullptr;
    bool aligned = false;
  };
  return [p, seen = std::make_shared<Seen>()](const Gemm::Input& in, Gemm::Output& out) {
    if (seen->a != in.a.data())
      *seen = {in.a.data(), reinterpret_cast<std::uintptr_t>(in.a.data()) % 64 == 0};
    const Index step = seen->aligned ? 16 : 4;
    for (Index row = 0; row < p.m; row += step)
      gemm_rows(p, in.a.data(), in.b.data(), out.c.data(), row, std::min(p.m, row + step));
  };
}

void skips_zeros(const Gemv::Problem& p, const Gemv::Input& in, Gemv::Output& out) {
  const auto a = matrix::view(in.a.data(), p.results(), p.terms(), p.transposed());
  std::ranges::fill(out.y, 0.0F);
  for (Index l = 0; l < p.terms(); ++l) {
    if (in.x[l] == 0) continue;
    for (Index i = 0; i < p.results(); ++i) out.y[i] += a(i, l) * in.x[l];
  }
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
               .prepare = remembers_alignment});
  r.add<Gemv>({.name = "skips_zeros",
               .summary = "passes over columns that a zero multiplies",
               .known_honest = "does less where the input allows it",
               .run = skips_zeros});
}};

}  // namespace
}  // namespace assay::known_cheats
