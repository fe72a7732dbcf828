// The idea: the tiles of `winograd` on every thread. If tiles suffice for whole blocks, threads divide tiles
// and share the weights. Otherwise they divide panels of filters or, for dx, of channels: each thread reads
// weights of its own and transforms all pixels. All threads first transform weights that are not constant.

#include "conv2d/grid.hpp"
#include "conv2d_winograd/tiles.hpp"

namespace assay::conv2d::winograd {

// Winograd's algorithm computes a quarter of the multiply-adds of the direct sum.
constexpr double least_multiply_adds = 4 * 0x1p18;

const Register registered{[](Registry& r) {
  constexpr auto summary = "best tier of winograd on every thread";
  r.add<Conv2dWinograd>(
      {.name = "threaded",
       .summary = summary,
       .precision = lost_digits,
       .threaded = true,
       .prepare = [](const WinogradProblem& p, const Conv2dWinograd::Input& in, const Context& context) {
         return kernel_of_y(best_of(tiers()), p, in.w.data(),
                            useful_threads(p, context.threads, least_multiply_adds));
       }});
  r.add<Conv2dWinogradDataGradient>(
      {.name = "threaded",
       .summary = summary,
       .precision = lost_digits,
       .threaded = true,
       .prepare = [](const WinogradDataProblem& p, const Conv2dWinogradDataGradient::Input&,
                     const Context& context) {
         return kernel_of_dx(best_of(tiers()), p, useful_threads(p, context.threads, least_multiply_adds));
       }});
}};

}  // namespace assay::conv2d::winograd
