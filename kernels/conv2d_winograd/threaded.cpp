// The idea: the tiles of `winograd` on every thread. If tiles suffice for whole blocks, threads divide tiles
// and share the weights. Otherwise they divide panels of filters or, for dx, of channels: each thread reads
// weights of its own and transforms all pixels. All threads first transform weights that are not constant.

#include "conv2d_winograd/winograd.hpp"

#include "tiers.hpp"

#include "assay/registry.hpp"

#include <algorithm>

namespace assay::conv2d::winograd {
namespace {

// Multiply-adds of the direct sum below which another thread costs more than it saves, as for other products;
// Winograd's algorithm computes a quarter of them.
constexpr double least_multiply_adds = 4 * 0x1p18;

Index useful_threads(const Layer& p, const Context& context) {
  const double work = static_cast<double>(p.y_size()) * static_cast<double>(p.depth());
  return std::clamp<Index>(static_cast<Index>(work / least_multiply_adds), 1, context.threads);
}

const Register registered{[](Registry& r) {
  constexpr auto summary = "best tier of winograd on every thread";
  r.add<Conv2dWinograd>(
      {.name = "threaded",
       .summary = summary,
       .precision = lost_digits,
       .threaded = true,
       .prepare = [](const WinogradProblem& p, const Conv2dWinograd::Input& in, const Context& context) {
         return kernel_of_y(best_of(tiers()), p, in.w.data(), useful_threads(p, context));
       }});
  r.add<Conv2dWinogradDataGradient>(
      {.name = "threaded",
       .summary = summary,
       .precision = lost_digits,
       .threaded = true,
       .prepare = [](const WinogradDataProblem& p, const Conv2dWinogradDataGradient::Input&,
                     const Context& context) {
         return kernel_of_dx(best_of(tiers()), p, useful_threads(p, context));
       }});
}};

}  // namespace
}  // namespace assay::conv2d::winograd
