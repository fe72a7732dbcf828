// The idea: no variant is the fastest for every problem, on every number of threads and every machine, and
// what decides is known beforehand. `auto` is the one of ours that the rules below name. They were written
// from the suite `full` on a Zen 5 and compared with a Zen 3, whose reports are
// reports/amd_epyc_25_1_2c_avx2/full.md and peers.md.

#include "adamw/step.hpp"
#include "gemm/grid.hpp"
#include "gemm/products.hpp"
#include "layernorm/rows.hpp"
#include "layernorm_backward/rows.hpp"
#include "tiers.hpp"

#include "assay/caches.hpp"
#include "assay/ops/adamw.hpp"
#include "assay/ops/attention.hpp"
#include "assay/ops/batch_gradient.hpp"
#include "assay/ops/batched_gemm.hpp"
#include "assay/ops/channel_sum.hpp"
#include "assay/ops/conv2d.hpp"
#include "assay/ops/conv2d_winograd.hpp"
#include "assay/ops/elementwise.hpp"
#include "assay/ops/gemm.hpp"
#include "assay/ops/gemv.hpp"
#include "assay/ops/im2col.hpp"
#include "assay/ops/lora.hpp"
#include "assay/ops/memory_pool.hpp"
#include "assay/ops/pointwise.hpp"
#include "assay/ops/softmax_cross_entropy.hpp"
#include "assay/ops/task_graph.hpp"
#include "assay/pick.hpp"

#include <string>
#include <string_view>

namespace assay {
namespace {

constexpr char fused[] = "fused", online[] = "online", simd[] = "simd", winograd[] = "winograd";

/// The best tier here.
const blocked::Tier& tier() {
  static const blocked::Tier best = best_of(blocked::tiers());
  return best;
}
std::string at_best(std::string_view variant) { return std::string(variant) + "@" + tier().name; }
bool has_avx512() { return tier().name == "avx512"; }

template <class Op>
double bytes(const typename Op::Problem& p) {
  const Cost cost = Op::cost(p);
  return cost.bytes_read + cost.bytes_written;
}

/// A call in the first-level cache is over before a thread is awake, and even asking for one shows.
template <class Op>
bool stays_alone(const typename Op::Problem& p, const Context& context) {
  return context.threads == 1 || bytes<Op>(p) <= caches().first;
}

/// One thread, or all that divide the work of that variant.
template <class Op, const char* variant>
std::string divided(const typename Op::Problem& p, const Context& context) {
  return stays_alone<Op>(p, context) ? at_best(variant) : "threaded";
}

template <class Op, const char* variant>
std::string whole(const typename Op::Problem&, const Context&) {
  return at_best(variant);
}

std::string product(const Gemm::Problem& p, const Context& context) {
  if (blocked::choose_grid(p.m, p.n, p.k, context.threads).parts() > 1) return "threaded";
  const blocked::Product shape{
      .m = p.m, .n = p.n, .k = p.k, .a_transposed = p.a_transposed(), .b_transposed = p.b_transposed()};
  return at_best(blocked::way_of(tier(), shape).variant);
}

/// `threaded` is the products of 1 x 1 layers and the tiles of `direct` on one thread, too.
std::string convolution(const conv2d::Problem&, const Context&) { return "threaded"; }

/// With a stride, taps of dx fall on few places of dy each, which tiles of `direct` do not fill. With AVX-512
/// that took 1.10 of the time of `implicit_gemm` at 16 x 128 x 28 x 28, but for channels fewer than a vector,
/// where its columns are what is not filled; with AVX2 0.95 and less, but for those, where it took 1.05
/// to 1.6.
std::string data_gradient(const conv2d::DataProblem& p, const Context& context) {
  if (context.threads > 1 || p.window().stride == 1 || p.window().taps() == 1) return "threaded";
  const bool columns = has_avx512() ? p.c >= 16 : p.c < 8;
  return columns ? at_best("implicit_gemm") : "threaded";
}

/// What is left of `direct` with few pixels is turning dy: 1.07 of the time of `implicit_gemm` at 7 x 7.
std::string weight_gradient(const conv2d::Problem& p, const Context& context) {
  const bool few = p.n * p.out_pixels() <= 64 && p.window().taps() > 1;
  return context.threads == 1 && few ? at_best("implicit_gemm") : "threaded";
}

/// Two arrays that a third is made of leave no room for it in the last cache from three eighths of it on:
/// streaming then takes 0.85 to 0.98 of the time. One array that another is made of stays.
bool streams_three(double bytes) { return bytes >= caches().last * 3 / 8; }

template <class Op>
std::string elements(const typename Op::Problem& p, const Context& context) {
  if (bytes<Op>(p) <= caches().first) return at_best(simd);
  if (context.threads > 1) return "threaded";
  constexpr Index dense = 0;
  const bool three =
      p.layout == dense && p.beta == 0 && bytes<Op>(p) >= 12.0 * static_cast<double>(p.n * p.c * p.h * p.w);
  return three && streams_three(bytes<Op>(p)) ? "streaming" : "threaded";
}

template <class Formula>
std::string pointwise_elements(const typename Pointwise<Formula>::Problem& p, const Context& context) {
  using Op = Pointwise<Formula>;
  if (bytes<Op>(p) <= caches().first) {
    if constexpr (pointwise::Chain<Formula>) return fused;
    return at_best(simd);
  }
  if (context.threads > 1) return "threaded";
  const bool three = Op::inputs == 2 && Op::outputs == 1 && !Formula::per_channel;
  return three && streams_three(bytes<Op>(p)) ? "streaming" : "threaded";
}

/// Sums of a channel read one array: where it lies beyond the second level, vectors of AVX2 take 0.9 of the
/// time of wider ones.
std::string channel_sum(const ElementwiseChannelBiasBackward::Problem& p, const Context& context) {
  using Op = ElementwiseChannelBiasBackward;
  if (!stays_alone<Op>(p, context)) return "threaded";
  return has_avx512() && bytes<Op>(p) > caches().second ? "simd@avx2" : at_best(simd);
}

template <class Op>
std::string rows(const typename Op::Problem& p, const Context& context) {
  if (!stays_alone<Op>(p, context)) return "threaded";
  return layernorm::streams(bytes<Op>(p)) ? "streaming" : at_best(simd);
}

template <class Op>
std::string rows_backward(const typename Op::Problem& p, const Context& context) {
  if (!stays_alone<Op>(p, context)) return "threaded";
  return layernorm_backward::streams(bytes<Op>(p), 1) ? "streaming" : at_best(simd);
}

template <class Formula>
std::string step(const typename AdamW<Formula>::Problem& p, const Context& context) {
  return context.threads == 1 || p.n < adamw::break_even ? at_best(simd) : "threaded";
}

/// `sorted_break` compares each block with those that use the same bytes. In short lives there are as many of
/// them as blocks, and a trace may have them: then the sweep over time wins from here on.
std::string validator(const MemoryPoolValidate::Problem& p, const Context&) {
  const auto pattern = static_cast<memory_pool::Pattern>(p.pattern);
  const bool reuses = pattern == memory_pool::Pattern::short_lived || pattern == memory_pool::Pattern::trace;
  return reuses && p.blocks >= 4096 ? "time_sweep" : "sorted_break";
}

/// Threads pay where tasks are longer than what it costs to hand one over, some 100 ns, and where the graph
/// lets two run at once: the shapes `chain` and `residual` do not.
std::string schedule(const TaskGraph::Problem& p, const Context& context) {
  const auto shape = static_cast<DagShape>(p.shape);
  const bool parallel = shape != DagShape::chain && shape != DagShape::residual;
  const bool long_enough = shape == DagShape::file || p.grain >= 100;
  return context.threads > 1 && parallel && long_enough ? "work_stealing" : "naive";
}

constexpr std::string_view summary =
    "the one of ours that is fastest for the problem, the threads and the machine";

template <class Op, auto rule>
constexpr Pick by = pick_by<Op, rule>("auto", summary);
template <class Op, const char* variant>
constexpr Pick by_threads = by<Op, &divided<Op, variant>>;
template <class Formula>
constexpr Pick by_elements = by<Elementwise<Formula>, &elements<Elementwise<Formula>>>;
template <class Formula>
constexpr Pick by_formula = by<Pointwise<Formula>, &pointwise_elements<Formula>>;

constexpr Pick picks[] = {
    by<Gemm, &product>,
    by_threads<BatchedGemm, simd>,
    by_threads<Gemv, simd>,
    by_threads<Lora, fused>,
    by_threads<LoraBackward, fused>,
    by<Conv2d, &convolution>,
    by<Conv2dDataGradient, &data_gradient>,
    by<Conv2dWeightGradient, &weight_gradient>,
    by_threads<Conv2dWinograd, winograd>,
    by_threads<Conv2dWinogradDataGradient, winograd>,
    by_threads<Im2col, simd>,
    by_threads<Col2im, simd>,
    by_elements<elementwise::Multiply>,
    by_elements<elementwise::Add>,
    by_elements<elementwise::Relu>,
    by_formula<pointwise::Gelu>,
    by_formula<pointwise::GeluTanh>,
    by_formula<pointwise::Sigmoid>,
    by_formula<pointwise::ChannelBias>,
    by_formula<pointwise::GeluBackward>,
    by_formula<pointwise::GeluTanhBackward>,
    by_formula<pointwise::SigmoidBackward>,
    by_formula<pointwise::ReluBackward>,
    by_formula<pointwise::MultiplyBackward>,
    by_formula<pointwise::AddBackward>,
    by_formula<pointwise::BiasGelu>,
    by_formula<pointwise::ScaleAddRelu>,
    by<ElementwiseChannelBiasBackward, &channel_sum>,
    by<LayerNorm, &rows<LayerNorm>>,
    by<RmsNorm, &rows<RmsNorm>>,
    by<LayerNormResidual, &rows<LayerNormResidual>>,
    by<RmsNormResidual, &rows<RmsNormResidual>>,
    by<LayerNormBackward, &rows_backward<LayerNormBackward>>,
    by<RmsNormBackward, &rows_backward<RmsNormBackward>>,
    by<AdamW<adamw::Paper>, &step<adamw::Paper>>,
    by<AdamW<adamw::EpsilonHat>, &step<adamw::EpsilonHat>>,
    by<AdamW<adamw::EpsilonInside>, &step<adamw::EpsilonInside>>,
    by_threads<GradientAccumulation, simd>,
    by_threads<GradientClip, simd>,
    by<Attention, &whole<Attention, online>>,
    by<SoftmaxCrossEntropy, &whole<SoftmaxCrossEntropy, fused>>,
    by<MemoryPoolValidate, &validator>,
    by<TaskGraph, &schedule>,
};

const RegisterPicks registered{picks};

}  // namespace
}  // namespace assay
