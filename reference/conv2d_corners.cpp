// The corner cases of convolution, for all three directions: one list of shapes, written as problems are.

#include "assay/ops/conv2d.hpp"

#include <string>

namespace assay {
namespace {

constexpr std::string_view shapes[] = {
    "n=1,c=1,f=1,h=1,w=1,kernel=1",
    // 1 x 1: a product of matrices, with extents around the lane counts, and with a stride.
    "n=1,c=17,f=15,h=3,w=5,kernel=1",
    "n=3,c=33,f=16,h=4,w=4,kernel=1",
    "n=2,c=5,f=31,h=7,w=7,kernel=1",
    "n=2,c=7,f=9,h=9,w=8,kernel=1,stride=2",
    "n=1,c=3,f=4,h=5,w=5,kernel=1,pad=1",
    // 3 x 3, as ResNet has it, on images down to 7 x 7, and on images smaller than the kernel.
    "n=1,c=2,f=3,h=1,w=1,kernel=3,pad=1",
    "n=2,c=3,f=5,h=7,w=7,kernel=3,pad=1",
    "n=1,c=16,f=15,h=14,w=14,kernel=3,pad=1",
    "n=1,c=9,f=33,h=7,w=7,kernel=3,pad=1",
    "n=3,c=1,f=17,h=5,w=19,kernel=3",
    "n=1,c=5,f=29,h=6,w=33,kernel=3,pad=1",
    "n=2,c=4,f=7,h=14,w=14,kernel=3,stride=2,pad=1",
    "n=1,c=3,f=2,h=8,w=11,kernel=3,stride=2,pad=1",
    // 7 x 7 with stride 2, the first layer of ResNet, and 5 x 5, those of LeNet-5.
    "n=1,c=3,f=17,h=23,w=22,kernel=7,stride=2,pad=3",
    "n=3,c=1,f=6,h=28,w=28,kernel=5,pad=2",
    "n=2,c=6,f=16,h=14,w=14,kernel=5",
    // Kernels that are no squares, dilation, borders of four widths, strides past the kernel.
    "n=2,c=2,f=3,h=6,w=9,kernel=1,kernel_w=5,pad=0,left=2,right=2",
    "n=1,c=3,f=3,h=11,w=9,kernel=4,kernel_w=2,stride=3,pad=1",
    "n=2,c=5,f=4,h=13,w=12,kernel=3,dilation=2,pad=2",
    "n=1,c=2,f=3,h=15,w=14,kernel=3,stride=2,dilation=2,pad=2",
    "n=1,c=2,f=3,h=17,w=16,kernel=3,stride=2,dilation=3,pad=1,right=4",
    "n=2,c=3,f=2,h=8,w=7,kernel=3,pad=2,bottom=0,left=1,right=3",
    "n=1,c=2,f=2,h=6,w=7,kernel=2,stride=2,pad=0,bottom=1,right=3",
    "n=1,c=2,f=3,h=10,w=11,kernel=2,stride=4",
    "n=1,c=1,f=1,h=4,w=4,kernel=2,pad=3",
    // Past one block of pixels, of filters, of depth, and of images.
    "n=1,c=2,f=3,h=27,w=41,kernel=3,pad=1",
    "n=1,c=65,f=47,h=5,w=4,kernel=3,pad=1",
    "n=5,c=3,f=3,h=4,w=6,kernel=3,pad=1",
};

template <class Problem>
std::vector<Problem> problems(std::string_view extra) {
  std::vector<Problem> out;
  for (const std::string_view shape : shapes) {
    out.push_back(parse_problem<Problem>("corner cases of conv2d", std::string(shape).append(extra)));
  }
  return out;
}

/// Every other shape with a bias, so that each way of adding it meets each kind of window.
std::vector<conv2d::Problem> problems_with_bias() {
  auto out = problems<conv2d::Problem>("");
  const auto with_bias = problems<conv2d::Problem>(",bias=per_filter");
  for (std::size_t i = 0; i < with_bias.size(); i += 2) out.push_back(with_bias[i]);
  return out;
}

}  // namespace

auto Conv2d::corner_cases() -> std::vector<Problem> { return problems_with_bias(); }
auto Conv2dDataGradient::corner_cases() -> std::vector<Problem> { return problems<Problem>(""); }
auto Conv2dWeightGradient::corner_cases() -> std::vector<Problem> { return problems_with_bias(); }

}  // namespace assay
