// The idea: a buffer of columns makes the layer one product of matrices per image, for the project's best
// product. The price is the buffer: kernel_h x kernel_w times the pixels of y for each channel, written and
// read once per image.

#include "conv2d/products.hpp"
#include "tiers.hpp"

namespace assay::conv2d {
namespace {

template <class Op>
void add(Registry& r) {
  r.add<Op>(
      {.name = "im2col_gemm",
       .summary = "one product of matrices per image; workspace: kernel_h kernel_w c out_h out_w floats",
       .after = "naive",
       .prepare = [](const typename Op::Problem& p, const typename Op::Input&, const Context&) {
         return column_sums<Op>(best_of(blocked::tiers()), p, Columns::of_an_image, 1);
       }});
}

const Register registered{[](Registry& r) {
  add<Conv2d>(r);
  add<Conv2dDataGradient>(r);
  add<Conv2dWeightGradient>(r);
}};

}  // namespace
}  // namespace assay::conv2d
