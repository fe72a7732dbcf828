// The idea: no variant is the fastest for every problem, on every number of threads and every machine, and
// what decides is known beforehand. `auto` is the variant of ours that the rules below name, each with its
// reason. They were written from the suite `full` on a Zen 5 and compared with a Zen 3, whose reports are
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
#include "assay/ops/conv2d.hpp"
#include "assay/ops/elementwise.hpp"
#include "assay/ops/embedding.hpp"
#include "assay/ops/gemm.hpp"
#include "assay/ops/im2col.hpp"
#include "assay/ops/lora.hpp"
#include "assay/ops/lstm.hpp"
#include "assay/ops/memory_pool.hpp"
#include "assay/ops/pointwise.hpp"
#include "assay/ops/task_graph.hpp"
#include "assay/pick.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace assay {
namespace {

constexpr char fused[] = "fused", online[] = "online", simd[] = "simd", sorted[] = "sorted",
               winograd[] = "winograd";

const blocked::Tier& tier() {
  static const blocked::Tier best = best_of(blocked::tiers());
  return best;
}
std::string at_best(std::string_view variant) { return std::string(variant) + "@" + tier().name; }
bool has_avx512() { return tier().name == "avx512"; }

// Reasons that several rules give.
constexpr std::string_view one_thread = "one thread has nothing to divide";
constexpr std::string_view in_first_cache =
    "a call fits in the first-level cache: threads cost more than they bring";
constexpr std::string_view worth_threads = "the data exceed the first-level cache: threads pay";
constexpr std::string_view past_caches =
    "the results would push the inputs out of the last cache: streaming stores pass it by";
constexpr std::string_view in_caches = "the caches keep what a call writes";

template <class Op>
double bytes(const typename Op::Problem& p) {
  const Cost cost = Op::cost(p);
  return cost.bytes_read + cost.bytes_written;
}
template <class Op>
bool fits_in_first_cache(const typename Op::Problem& p) {
  return bytes<Op>(p) <= caches().first;
}

/// Why a call is not divided, or nothing where it is. A call in the first-level cache ends before a thread is
/// awake, and even the question for one costs time.
template <class Op>
std::optional<std::string_view> stays_alone(const typename Op::Problem& p, const Context& context) {
  if (context.threads == 1) return one_thread;
  if (fits_in_first_cache<Op>(p)) return in_first_cache;
  return std::nullopt;
}

/// One thread, or all that divide the work of that variant.
template <class Op, const char* variant>
Choice divided(const typename Op::Problem& p, const Context& context) {
  if (const auto alone = stays_alone<Op>(p, context)) return {at_best(variant), *alone};
  return {"threaded", worth_threads};
}

template <class Op, const char* variant>
Choice whole(const typename Op::Problem&, const Context&) {
  return {at_best(variant), "it is the fastest for every problem: the processor decides the tier"};
}

Choice product(const Gemm::Problem& p, const Context& context) {
  if (blocked::choose_grid(p.m, p.n, p.k, context.threads).parts() > 1)
    return {"threaded", "each thread gets multiply-adds enough to pay for its start"};
  const blocked::Product shape = blocked::product_of(p, {}, nullptr);
  const std::string_view way = blocked::way_of(tier(), shape).variant;
  return {at_best(way), way == "small" ? "the operands are small: copies into panels would not pay"
                                       : "each panel is copied once and read often"};
}

/// `threaded` includes the products of 1 x 1 layers and the sums of `direct` and `depthwise`, on one thread.
Choice convolution(const conv2d::Problem&, const Context&) {
  return {"threaded", "it multiplies for 1 x 1 windows, and sums tiles or planes, on one thread as well"};
}

/// A stride makes each tap of dx meet few places of dy, which fill no tile of `direct`. Time of `direct`
/// divided by that of `implicit_gemm`, in one group on one thread at 16 x 128 x 28 x 28:
///
///     tier    channels     direct ÷ implicit_gemm
///     avx512  a vector up  1.10
///     avx512  fewer        below 1: columns of implicit_gemm are not full
///     avx2    a vector up  0.95 and less
///     avx2    fewer        1.05 to 1.6
Choice data_gradient(const conv2d::DataProblem& p, const Context& context) {
  if (context.threads > 1) return {"threaded", "threads divide the images and their rows"};
  if (p.window().stride == 1 || p.window().taps() == 1 || p.groups > 1)
    return {"threaded", "without a stride, in a 1 x 1 window, or in groups, tiles of direct are full"};
  const bool columns = has_avx512() ? p.c >= 16 : p.c < 8;
  if (columns) return {at_best("implicit_gemm"), "the stride leaves tiles of direct half empty"};
  return {"threaded", "the channels suit tiles of direct in spite of the stride"};
}

/// With few pixels, `direct` spends its time transposing dy: 1.07 of the time of `implicit_gemm` at 7 x 7.
Choice weight_gradient(const conv2d::Problem& p, const Context& context) {
  const bool few = p.n * p.out_pixels() <= 64 && p.window().taps() > 1 && p.groups == 1;
  if (context.threads == 1 && few)
    return {at_best("implicit_gemm"), "with few pixels direct would spend its time transposing dy"};
  if (context.threads > 1) return {"threaded", "threads divide the channels"};
  return {"threaded", "the pixels are enough for tiles of direct"};
}

Choice lookup(const Embedding::Problem&, const Context&) {
  return {"threaded", "it fetches rows ahead, on one thread as well"};
}

/// Two inputs and an output need room for three: from three eighths of the last cache on, a streamed output
/// takes 0.85 to 0.98 of the time. With one input the cache keeps both.
bool streams_three(double bytes) { return bytes >= caches().last * 3 / 8; }

/// Beyond the first-level cache.
Choice arrays(double bytes, bool three, const Context& context) {
  if (context.threads > 1) return {"threaded", worth_threads};
  if (three && streams_three(bytes)) return {"streaming", past_caches};
  return {"threaded", in_caches};
}

template <class Op>
Choice elements(const typename Op::Problem& p, const Context& context) {
  if (fits_in_first_cache<Op>(p)) return {at_best(simd), in_first_cache};
  constexpr Index dense = 0;
  const bool three =
      p.layout == dense && p.beta == 0 && bytes<Op>(p) >= 12.0 * static_cast<double>(p.n * p.c * p.h * p.w);
  return arrays(bytes<Op>(p), three, context);
}

template <class Formula>
Choice pointwise_elements(const typename Pointwise<Formula>::Problem& p, const Context& context) {
  using Op = Pointwise<Formula>;
  if (fits_in_first_cache<Op>(p)) {
    if constexpr (pointwise::Chain<Formula>) return {fused, in_first_cache};
    return {at_best(simd), in_first_cache};
  }
  return arrays(bytes<Op>(p), Op::inputs == 2 && Op::outputs == 1 && !Formula::per_channel, context);
}

/// A sum of a channel reads one array. Beyond the second-level cache, vectors of AVX2 take 0.9 of the time of
/// wider ones.
Choice channel_sum(const ElementwiseChannelBiasBackward::Problem& p, const Context& context) {
  using Op = ElementwiseChannelBiasBackward;
  const auto alone = stays_alone<Op>(p, context);
  if (!alone) return {"threaded", worth_threads};
  constexpr bool has_avx2 = (HWY_TARGETS & HWY_AVX2) != 0;
  if (has_avx2 && has_avx512() && bytes<Op>(p) > caches().second)
    return {"simd@avx2", "beyond the second-level cache the memory limits, which AVX2 reads faster"};
  return {at_best(simd), *alone};
}

template <class Op, auto streams>
Choice rows(const typename Op::Problem& p, const Context& context) {
  const auto alone = stays_alone<Op>(p, context);
  if (!alone) return {"threaded", worth_threads};
  if (streams(bytes<Op>(p))) return {"streaming", past_caches};
  return {at_best(simd), *alone};
}
bool streams_dx(double bytes) { return layernorm_backward::streams(bytes, 1); }

template <class Formula>
Choice step(const typename AdamW<Formula>::Problem& p, const Context& context) {
  if (context.threads == 1) return {at_best(simd), one_thread};
  if (p.n < adamw::break_even)
    return {at_best(simd), "the parameters are few: threads cost more than they bring"};
  return {"threaded", "the parameters are enough for threads to pay"};
}

/// `sorted_break` compares each block with those that use the same bytes. In short lives there are as many of
/// them as blocks, and a trace may have them: then the sweep over time wins from here on.
Choice validator(const MemoryPoolValidate::Problem& p, const Context&) {
  const auto pattern = static_cast<memory_pool::Pattern>(p.pattern);
  const bool reuses = pattern == memory_pool::Pattern::short_lived || pattern == memory_pool::Pattern::trace;
  if (!reuses) return {"sorted_break", "few blocks use the same bytes"};
  if (p.blocks >= 4096) return {"time_sweep", "many blocks use the same bytes, one after the other"};
  return {"sorted_break", "the blocks are few enough to be compared with each other"};
}

/// Threads pay where a task takes longer than its hand-over, some 100 ns, and where the graph lets two tasks
/// run at once: the shapes `chain` and `residual` do not.
Choice schedule(const TaskGraph::Problem& p, const Context& context) {
  const auto shape = static_cast<DagShape>(p.shape);
  if (context.threads == 1) return {"naive", one_thread};
  if (shape == DagShape::chain || shape == DagShape::residual)
    return {"naive", "the graph lets no two tasks run at once"};
  if (shape != DagShape::file && p.grain < 100)
    return {"naive", "a task takes less time than its hand-over to a thread"};
  return {"work_stealing", "tasks are independent, and longer than their hand-over to a thread"};
}

constexpr std::string_view summary =
    "the variant of ours that is fastest for the problem, the threads and the machine";

template <class Op, auto rule>
constexpr Pick by = pick_by<Op, rule>("auto", summary);
template <class Op, const char* variant>
constexpr Pick by_threads = by<Op, &divided<Op, variant>>;
template <class Op, auto streams = &layernorm::streams>
constexpr Pick by_rows = by<Op, &rows<Op, streams>>;
template <class Formula>
constexpr Pick by_elements = by<Elementwise<Formula>, &elements<Elementwise<Formula>>>;
template <class Formula>
constexpr Pick by_formula = by<Pointwise<Formula>, &pointwise_elements<Formula>>;

#define ASSAY_PICK(formula) , by_formula<pointwise::formula>
constexpr Pick picks[] = {
    by<Gemm, &product>,
    by_threads<BatchedGemm, simd>,
    by_threads<Gemv, simd>,
    by_threads<Lora, fused>,
    by_threads<LoraBackward, fused>,
    by_threads<Lstm, fused>,
    by_threads<LstmBackward, fused>,
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
    by<ElementwiseChannelBiasBackward, &channel_sum>,
    by_rows<LayerNorm>,
    by_rows<RmsNorm>,
    by_rows<LayerNormResidual>,
    by_rows<RmsNormResidual>,
    by_rows<LayerNormBackward, &streams_dx>,
    by_rows<RmsNormBackward, &streams_dx>,
    by_threads<BatchNorm, simd>,
    by_threads<BatchNormBackward, simd>,
    by<AdamW<adamw::Paper>, &step<adamw::Paper>>,
    by<AdamW<adamw::EpsilonHat>, &step<adamw::EpsilonHat>>,
    by<AdamW<adamw::EpsilonInside>, &step<adamw::EpsilonInside>>,
    by_threads<GradientAccumulation, simd>,
    by_threads<GradientClip, simd>,
    by<Attention, &whole<Attention, online>>,
    by<SoftmaxCrossEntropy, &whole<SoftmaxCrossEntropy, fused>>,
    by_threads<Softmax, fused>,
    by<Embedding, &lookup>,
    by_threads<EmbeddingBackward, sorted>,
    by_threads<Dropout, simd>,
    by<MemoryPoolValidate, &validator>,
    by<TaskGraph, &schedule>
        ASSAY_POINTWISE(ASSAY_PICK),
};

const RegisterPicks registered{picks};

}  // namespace
}  // namespace assay
