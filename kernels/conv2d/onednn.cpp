// The peer: direct convolution of oneDNN, or its Winograd algorithm, on the layouts that it prefers. Arrays
// of the contract are NCHW, so a call includes the conversions to and from those layouts, as in a framework
// that keeps NCHW tensors. Constant weights are converted once, which transforms them.

#include "onednn.hpp"

#include "assay/ops/conv2d_winograd.hpp"
#include "assay/registry.hpp"

#include <memory>
#include <string>
#include <type_traits>

namespace assay::conv2d {
namespace {

enum class Direction { forward, data, weights };

/// One layer in one direction.
std::shared_ptr<onednn::Plan> plan_of(const Layer& p, bool has_bias, Direction direction,
                                      dnnl_alg_kind_t algorithm, int threads) {
  using Role = onednn::Plan::Role;
  auto plan = std::make_shared<onednn::Plan>(threads);
  const Window w = p.window();
  const std::initializer_list<Index> x{p.n, p.c, p.h, p.w}, y{p.n, p.f, w.out_h(), w.out_w()};
  const std::initializer_list<Index> weights{p.f, p.c, w.kernel_h, w.kernel_w};
  const dnnl_memory_desc_t any_x = onednn::described(x, dnnl_format_tag_any);
  const dnnl_memory_desc_t any_y = onednn::described(y, dnnl_format_tag_any);
  const dnnl_memory_desc_t any_w = onednn::described(weights, dnnl_format_tag_any);
  const dnnl_memory_desc_t bias = onednn::described({p.f}, dnnl_a);
  const dnnl_memory_desc_t* const bias_or_none = has_bias ? &bias : nullptr;
  const dnnl_dims_t strides{w.stride, w.stride}, dilations{w.dilation - 1, w.dilation - 1};
  const dnnl_dims_t before{w.top, w.left}, after{w.bottom, w.right};

  // Only the primitive for inference takes transformed weights.
  const bool transforms = direction == Direction::forward && algorithm == dnnl_convolution_winograd;
  dnnl_convolution_desc_t forward, wanted;
  onednn::demand(dnnl_dilated_convolution_forward_desc_init(
      &forward, transforms ? dnnl_forward_inference : dnnl_forward_training,
      direction == Direction::forward ? algorithm : dnnl_convolution_direct, &any_x, &any_w, bias_or_none,
      &any_y, strides, dilations, before, after));
  const onednn::Description described_forward = plan->describe(forward);
  if (direction == Direction::data) {
    onednn::demand(dnnl_dilated_convolution_backward_data_desc_init(
        &wanted, algorithm, &any_x, &any_w, &any_y, strides, dilations, before, after));
  } else if (direction == Direction::weights) {
    onednn::demand(dnnl_dilated_convolution_backward_weights_desc_init(&wanted, dnnl_convolution_direct,
                                                                       &any_x, &any_w, bias_or_none, &any_y,
                                                                       strides, dilations, before, after));
  } else {
    wanted = forward;
  }
  const onednn::Description description = plan->describe(wanted, described_forward.get());
  plan->set_primitive(description);

  const auto add = [&](int argument, const dnnl_memory_desc_t& plain, dnnl_query_t query, Role role) {
    plan->add(argument, plain, *dnnl_primitive_desc_query_md(description.get(), query, 0), role);
  };
  const dnnl_memory_desc_t plain_x = onednn::described(x, dnnl_nchw),
                           plain_y = onednn::described(y, dnnl_nchw);
  const dnnl_memory_desc_t plain_w = onednn::described(weights, dnnl_oihw);
  if (direction == Direction::forward) {
    add(DNNL_ARG_SRC, plain_x, dnnl_query_src_md, Role::source);
    add(DNNL_ARG_WEIGHTS, plain_w, dnnl_query_weights_md, Role::source);
    add(DNNL_ARG_DST, plain_y, dnnl_query_dst_md, Role::result);
  } else if (direction == Direction::data) {
    add(DNNL_ARG_DIFF_DST, plain_y, dnnl_query_diff_dst_md, Role::source);
    add(DNNL_ARG_WEIGHTS, plain_w, dnnl_query_weights_md, Role::source);
    add(DNNL_ARG_DIFF_SRC, plain_x, dnnl_query_diff_src_md, Role::result);
  } else {
    add(DNNL_ARG_SRC, plain_x, dnnl_query_src_md, Role::source);
    add(DNNL_ARG_DIFF_DST, plain_y, dnnl_query_diff_dst_md, Role::source);
    add(DNNL_ARG_DIFF_WEIGHTS, plain_w, dnnl_query_diff_weights_md, Role::result);
  }
  if (has_bias) plan->add(direction == Direction::weights ? DNNL_ARG_DIFF_BIAS : DNNL_ARG_BIAS, bias);
  return plan;
}

/// `run(plan, in, out)` passes the arrays in the order of the direction, the bias last.
template <class Op, Direction direction, class Run>
void add(Registry& r, const Run& run) {
  constexpr bool constant_weights = std::is_same_v<Op, Conv2dWinograd>;
  constexpr bool is_winograd = constant_weights || std::is_same_v<Op, Conv2dWinogradDataGradient>;
  onednn::add_peer<Op>(
      r,
      {.summary = std::string(is_winograd ? "Winograd's algorithm" : "direct convolution") +
                  " of oneDNN, with the conversions from and to NCHW",
       .precision = is_winograd ? "sums of transformed tiles" : ""},
      [](const typename Op::Problem& p, const typename Op::Input* in, int threads) {
        bool has_bias = false;
        if constexpr (requires { p.has_bias(); }) has_bias = p.has_bias();
        const auto plan = plan_of(p, has_bias, direction,
                                  is_winograd ? dnnl_convolution_winograd : dnnl_convolution_direct, threads);
        if constexpr (constant_weights) {
          if (in != nullptr) plan->keep(1, in->w.data());
        }
        return plan;
      },
      run,
      is_winograd ? ": it has Winograd's algorithm on processors with AVX-512, and not for every layer" : "");
}

const Register registered{[](Registry& r) {
  const auto forward = [](const onednn::Plan& plan, const Conv2d::Input& in, Conv2d::Output& out) {
    plan.run({in.x.data(), in.w.data(), out.y.data(), in.bias.data()});
  };
  const auto data = [](const onednn::Plan& plan, const Conv2dDataGradient::Input& in,
                       Conv2dDataGradient::Output& out) {
    plan.run({in.dy.data(), in.w.data(), out.dx.data()});
  };
  add<Conv2d, Direction::forward>(r, forward);
  add<Conv2dWinograd, Direction::forward>(r, forward);
  add<Conv2dDataGradient, Direction::data>(r, data);
  add<Conv2dWinogradDataGradient, Direction::data>(r, data);
  add<Conv2dWeightGradient, Direction::weights>(
      r,
      [](const onednn::Plan& plan, const Conv2dWeightGradient::Input& in, Conv2dWeightGradient::Output& out) {
        plan.run({in.x.data(), in.dy.data(), out.dw.data(), out.dbias.data()});
      });
}};

}  // namespace
}  // namespace assay::conv2d
