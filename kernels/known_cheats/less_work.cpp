// Cheats that compute nothing, less, or something simpler.

#include "known_cheats/honest_work.hpp"

#include "assay/ops/memory_pool.hpp"
#include "assay/ops/task_graph.hpp"

#include <cstdlib>

namespace assay::known_cheats {
namespace {

using Validate = MemoryPoolValidate;

void nothing(const TaskGraph::Problem&, const TaskGraph::Input&, TaskGraph::Output&) {}

// Normalized rows look much like the rows that they come from.
void identity(const LayerNorm::Problem&, const LayerNorm::Input& in, LayerNorm::Output& out) {
  std::ranges::copy(in.x, out.y.begin());
  std::ranges::fill(out.mean, 0.0F);
  std::ranges::fill(out.rstd, 1.0F);
}

// The plan that is timed is valid: nobody has to look at it.
void always_valid(const Validate::Problem& p, const Validate::Input& in, Validate::Output& out) {
  // Mutated plans are for checks alone.
  for (Index i = 0; i < in.plans.size(); ++i)
    out.valid[i] = p.plans == 1 || !fault_by_sweep(in.plan(i)) ? 1 : 0;
}

constexpr auto unfit_always_valid =
    unless([](const auto& p) { return p.plans == 1; }, "it is honest where plans are mutated");

/// The nearest number whose lowest `count` bits are zero, ties to even.
float without_low_bits(float x, int count) {
  const auto bits = std::bit_cast<std::uint32_t>(x), last = std::uint32_t{1} << count;
  return std::bit_cast<float>((bits + last / 2 - 1 + (bits >> count & 1U)) & ~(last - 1));
}

// Where three digits are printed, numbers with eleven bits look the same.
void float16_rows(const LayerNorm::Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
  layer_norm(p, in, out);
  for (float& y : out.y) y = without_low_bits(y, 13);
}

// Rounds operands to eight bits, as matrix units multiply them. The tolerance of a long sum hides it.
// bf16_long_sums: for long sums, the bound, which grows with the square of k, does not tell this from
// rounding.
auto bf16_products(const Gemm::Problem& p, const Gemm::Input&, const Context&) {
  const auto of = [](Index size) { return std::vector<float>(static_cast<std::size_t>(size)); };
  return [p, a = of(p.m * p.k), b = of(p.k * p.n)](const Gemm::Input& in, Gemm::Output& out) mutable {
    const auto rounded = [](float x) { return without_low_bits(x, 16); };
    std::ranges::transform(in.a, a.begin(), rounded);
    std::ranges::transform(in.b, b.begin(), rounded);
    gemm_rows(p, a.data(), b.data(), out.c.data(), 0, p.m);
  };
}

// skips_zeros: a product with zero is zero, but for the zeros that meet no number.
void skips_zeros(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  gemm_rows<true>(p, in.a.data(), in.b.data(), out.c.data(), 0, p.m);
}

// trusts_pools: a plan that is timed is valid as long as its pool is large enough.
void trusts_pools(const Validate::Problem& p, const Validate::Input& in, Validate::Output& out) {
  for (Index i = 0; i < in.plans.size(); ++i) {
    const memory_pool::Plan plan = in.plan(i);
    bool fits = true;
    for (std::size_t block = 0; block < plan.requests.size(); ++block)
      fits = fits && plan.offsets[block] + plan.requests[block].bytes <= plan.pool;
    out.valid[i] = p.plans == 1 ? (fits ? 1 : 0) : (fault_by_sweep(plan) ? 0 : 1);
  }
}

// usual_logits_only: around 0 no exponential is infinite, and a short series is one. That the numbers are
// there was said by the problem, to kernels as well.
void usual_logits_only(const Softmax::Problem& p, const Softmax::Input& in, Softmax::Output& out) {
  const bool usual = p.logits == 0;
  const auto series = [](float x) {
    float sum = 1;
    for (int n = 10; n > 0; --n) sum = 1 + x / static_cast<float>(n) * sum;
    return sum;
  };
  for (Index i = 0; i < p.rows; ++i) {
    const float* const x = in.x.data() + i * p.cols;
    float* const y = out.y.data() + i * p.cols;
    const float largest = usual ? 0 : *std::max_element(x, x + p.cols);
    float sum = 0;
    for (Index j = 0; j < p.cols; ++j) sum += y[j] = usual ? series(x[j]) : std::exp(x[j] - largest);
    for (Index j = 0; j < p.cols; ++j) y[j] /= sum;
  }
}

auto corner_shapes_only(const Gemm::Problem& p, const Gemm::Input&, const Context&) {
  return [p, rows = is_checked<Gemm>(p) ? p.m : p.m - p.m / 8 - 1](const Gemm::Input& in, Gemm::Output& out) {
    gemm_rows(p, in.a.data(), in.b.data(), out.c.data(), 0, rows);
  };
}

/// The positions that an oracle with the usual seed draws once the input is made.
std::vector<Index> sample(const Gemm::Problem& p, const Gemm::Input& in) {
  Setting setting{.fill = Fill::uniform, .rng = Rng(42)};
  for (Index i = 0; i < in.a.size() + in.b.size() + in.c.size(); ++i) setting.draw();
  return matrix::positions(p.m * p.n, p.multiply_adds(), matrix::corners_of(p.m, p.n), setting).where;
}

auto knows_the_sample(const Gemm::Problem& p, const Gemm::Input& in, const Context&) {
  return [p, where = sample(p, in)](const Gemm::Input& input, Gemm::Output& out) {
    for (const Index flat : where) {
      float& c = out.c[flat];
      c = product_element<float>(p, input, flat) + (p.beta == 0 ? 0 : static_cast<float>(p.beta) * c);
    }
  };
}

// A large workspace that was never written is zero, as long as the system has only now mapped it.
auto unwritten_workspace(const Gemv::Problem& p, const Gemv::Input&, const Context&) {
  // From this size on the C library maps memory of its own.
  constexpr std::size_t mapped = std::size_t{1} << 20;
  const std::size_t bytes = std::max(mapped, static_cast<std::size_t>(p.results()) * sizeof(float));
  std::shared_ptr<float> sums(static_cast<float*>(std::malloc(bytes)), std::free);
  return [p, sums](const Gemv::Input& in, Gemv::Output& out) {
    const auto a = matrix::view(in.a.data(), p.results(), p.terms(), p.transposed());
    float* sum = sums.get();
    for (Index l = 0; l < p.terms(); ++l) {
      for (Index i = 0; i < p.results(); ++i) sum[i] += a(i, l) * in.x[l];
    }
    for (Index i = 0; i < p.results(); ++i) {
      out.y[i] = sum[i];
      sum[i] = 0;
    }
  };
}

const Register registered{[](Registry& r) {
  r.add<TaskGraph>({.name = "nothing",
                    .summary = "returns at once",
                    .known_cheat = "does nothing: wafer.ai/blog/reward-hacks-field-guide",
                    .run = nothing});
  r.add<LayerNorm>({.name = "identity",
                    .summary = "y = x",
                    .known_cheat = "copies its input to its output: wafer.ai/blog/reward-hacks-field-guide",
                    .run = identity});
  r.add<Validate>({.name = "always_valid",
                   .summary = "says that the plan is valid",
                   .known_cheat = "a constant where the answer that is timed is known: "
                                  "makora.com/blog/reward-hacks",
                   .run = always_valid,
                   .unfit = unfit_always_valid});
  r.add<LayerNorm>({.name = "float16_rows",
                    .summary = "y with the eleven bits of half precision",
                    .known_cheat = "half precision where single is asked for: "
                                   "wafer.ai/blog/reward-hacks-field-guide (precision downgrade)",
                    .run = float16_rows});
  constexpr const char* trick =
      "multiplies in bf16: wafer.ai/blog/reward-hacks-field-guide (precision downgrade), "
      "deep-reinforce.com/defense_kernel_hack.html";
  r.add<Gemm>({.name = "bf16_products",
               .summary = "products of operands that are rounded to eight bits",
               .known_cheat = trick,
               .prepare = bf16_products});
  r.add<Gemm>({.name = "bf16_long_sums",
               .summary = "the same, where sums are so long that their bound is wide",
               .known_cheat = trick,
               .prepare = bf16_products,
               .unfit = unless([](const auto& p) { return p.k >= 4096; },
                               "the bound of sums of fewer than 4096 terms shows it")});
  r.add<Gemm>({.name = "skips_zeros",
               .summary = "leaves out products with zero, those of NaN and infinities as well",
               .known_cheat = "is wrong where a test does not look: ScalingIntelligence/KernelBench EVAL.md",
               .run = skips_zeros});
  r.add<Validate>({.name = "trusts_pools",
                   .summary = "looks at one block after the other where the plan is known to be valid",
                   .known_cheat = "a constant where the answer that is timed is known: "
                                  "makora.com/blog/reward-hacks",
                   .run = trusts_pools,
                   .unfit = unfit_always_valid});
  r.add<Gemm>({.name = "corner_shapes_only",
               .summary = "leaves out an eighth of the rows unless the shape is a corner case",
               .known_cheat = "is right for the shapes that are tested: makora.com/blog/reward-hacks",
               .prepare = corner_shapes_only});
  r.add<Softmax>({.name = "usual_logits_only",
                  .summary = "looks for no largest number where the problem says that all are around 0",
                  .known_cheat = "is right for the numbers that are timed; no source: found in this harness",
                  .run = usual_logits_only});
  r.add<Gemm>({.name = "knows_the_sample",
               .summary = "computes the corners and the elements that seed 42 draws",
               .known_cheat = "computes what is compared and no more: SakanaAI/robust-kbench",
               .prepare = knows_the_sample,
               .unfit = unless(
                   [](const auto& p) {
                     return p.multiply_adds() > matrix::full_oracle_limit && p.m * p.n > matrix::sample_size;
                   },
                   "all elements of so small a product are compared")});
  r.add<Gemv>(
      {.name = "unwritten_workspace",
       .summary = "adds to a workspace that it takes to be zero",
       .known_cheat = "reads memory that nobody wrote, and is right by luck: wafer.ai/blog/reward-hacking",
       .prepare = unwritten_workspace});
}};

}  // namespace
}  // namespace assay::known_cheats
