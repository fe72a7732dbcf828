// The idea: the tiles of `direct` on every thread; or products where a layer is 1 x 1 and its pixels fill
// vectors: those of `pointwise`, or with a stride those of `implicit_gemm`; or the sums of `depthwise` where
// each channel is a group. Threads divide groups first, since groups share nothing; then images, which share
// only weights; then filters, channels of dx, or places. They divide dw by filters and channels, never by
// images: one thread sums a weight over the batch, so there are no accumulators to add up.

#include "conv2d/direct.hpp"
#include "conv2d/products.hpp"
#include "team.hpp"

namespace assay::conv2d {
namespace {

DirectTier best_tier(const Layer& p) {
  return is_depthwise(p) ? by_plane(best_of(direct_tiers())) : best_of(direct_tiers());
}

/// Whether products, one per image, compute a 1 x 1 layer faster than the plan. The plan's cost counts
/// arithmetic; in addition, it transposes weights that serve a single tap and reads them from far away. On a
/// Zen 3, products of 16 pixels and more took 0.5 to 0.9 of the time, 0.95 to 1.05 with 16 pixels and some
/// 2,048 channels, and 2 times the time with single pixels, which leave most of a vector empty.
bool pays_as_products(const Layer& p, Index rows, Index channels, const SumPlan& plan) {
  constexpr double beside = 1.25;
  if (p.window().taps() > 1 || is_depthwise(p)) return false;
  const Index vectors = plan.vectors(p.out_pixels());
  return static_cast<double>(p.n * rows * channels * vectors) < beside * plan.cost();
}

Variant<Conv2d>::Kernel prepare_y(const Problem& p, const Conv2d::Input&, const Context& context) {
  const Index threads = useful_threads(p, context.threads);
  SumPlan plan = SumPlan::of_y(p, best_tier(p));
  if (!pays_as_products(p, p.group_f(), p.group_c(), plan)) return direct_y(p, std::move(plan), threads);
  if (is_pointwise(p) && !p.has_bias()) return pointwise_y(p, threads);
  return column_sums<Conv2d>(best_of(blocked::tiers()), p, Columns::of_a_block, threads);
}

Variant<Conv2dDataGradient>::Kernel prepare_dx(const DataProblem& p, const Conv2dDataGradient::Input&,
                                               const Context& context) {
  const Index threads = useful_threads(p, context.threads);
  SumPlan plan = SumPlan::of_dx(p, best_tier(p));
  if (!pays_as_products(p, p.group_c(), p.group_f(), plan)) return direct_dx(std::move(plan), threads);
  if (is_pointwise(p)) return pointwise_dx(p, threads);
  return column_sums<Conv2dDataGradient>(best_of(blocked::tiers()), p, Columns::of_a_block, threads);
}

Variant<Conv2dWeightGradient>::Kernel prepare_dw(const Problem& p, const Conv2dWeightGradient::Input&,
                                                 const Context& context) {
  const Index threads = useful_threads(p, context.threads);
  const DirectTier tier = best_tier(p);
  if (is_depthwise(p)) return dw_by_plane(p, tier, threads);
  if (is_pointwise(p) && !p.has_bias()) return pointwise_dw(p, threads);
  // Filters of a group that fill no more than half a vector leave most of a panel of `direct` empty.
  if (p.groups > 1 && 2 * p.group_f() <= tier.lanes()) return dw_by_plane(p, tier, threads);
  return direct_dw(p, tier, threads);
}

const Register registered{[](Registry& r) {
  constexpr auto summary = "best tier of direct, or products where pointwise, on every thread";
  add_threaded<Conv2d>(r, summary, prepare_y, "direct");
  add_threaded<Conv2dDataGradient>(r, summary, prepare_dx, "direct");
  add_threaded<Conv2dWeightGradient>(r, summary, prepare_dw, "direct");
}};

}  // namespace
}  // namespace assay::conv2d
