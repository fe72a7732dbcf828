// The peer: direct convolution of oneDNN, or its Winograd algorithm. Arrays of the contract are NCHW. Direct
// convolution takes them, or the layouts that it prefers, whichever is faster. A call then includes the
// conversions to and from those layouts, as in a framework that keeps NCHW tensors. Constant weights are
// converted once, which transforms them.

#include "onednn.hpp"

#include "assay/ops/conv2d.hpp"

#include <memory>
#include <string>
#include <type_traits>

namespace assay::conv2d {
namespace {

enum class Direction { forward, data, weights };

/// One layer in one direction, on the layouts that the primitive prefers or, `in_place`, on those of the
/// contract.
std::shared_ptr<onednn::Plan> plan_of(const Layer& p, bool has_bias, Direction direction,
                                      dnnl::algorithm algorithm, int threads, bool in_place) {
  using dnnl::query, onednn::described, onednn::Shape, onednn::Tag;
  using Role = onednn::Plan::Role;
  const auto plan = std::make_shared<onednn::Plan>(threads);
  const Window w = p.window();
  const auto x = [&](Tag tag) { return described({p.n, p.c, p.h, p.w}, tag); };
  const auto y = [&](Tag tag) { return described({p.n, p.f, w.out_h(), w.out_w()}, tag); };
  const auto weights = [&](Tag tag) {
    if (p.groups == 1) return described({p.f, p.c, w.kernel_h, w.kernel_w}, tag);
    const std::initializer_list<Index> extents{p.groups, p.group_f(), p.group_c(), w.kernel_h, w.kernel_w};
    return described(extents, tag == Tag::abcd ? Tag::abcde : tag);
  };
  const Tag tag = in_place ? Tag::abcd : Tag::any;
  const Shape any_x = x(tag), any_y = y(tag), any_w = weights(tag);
  const Shape bias = has_bias ? described({p.f}, Tag::a) : Shape();
  const dnnl::memory::dims strides{w.stride, w.stride}, dilations{w.dilation - 1, w.dilation - 1};
  const dnnl::memory::dims before{w.top, w.left}, after{w.bottom, w.right};

  // Only the primitive for inference takes transformed weights.
  const bool is_forward = direction == Direction::forward;
  const bool transforms = is_forward && algorithm == dnnl::algorithm::convolution_winograd;
  const auto forward = plan->describe<dnnl::convolution_forward>(
      transforms ? dnnl::prop_kind::forward_inference : dnnl::prop_kind::forward_training,
      is_forward ? algorithm : dnnl::algorithm::convolution_direct, any_x, any_w, bias, any_y, strides,
      dilations, before, after);
  dnnl::primitive_desc_base description = forward;
  if (direction == Direction::data) {
    description = plan->describe_after<dnnl::convolution_backward_data>(
        forward, algorithm, any_x, any_w, any_y, strides, dilations, before, after);
  } else if (direction == Direction::weights) {
    description = plan->describe_after<dnnl::convolution_backward_weights>(
        forward, algorithm, any_x, any_w, bias, any_y, strides, dilations, before, after);
  }
  plan->set_primitive(description);

  const auto add = [&](int argument, const Shape& plain, query preferred, Role role) {
    plan->add(argument, plain, description.query_md(preferred), role);
  };
  const Shape plain_x = x(Tag::abcd), plain_y = y(Tag::abcd), plain_w = weights(Tag::abcd);
  if (is_forward) {
    add(DNNL_ARG_SRC, plain_x, query::src_md, Role::source);
    add(DNNL_ARG_WEIGHTS, plain_w, query::weights_md, Role::source);
    add(DNNL_ARG_DST, plain_y, query::dst_md, Role::result);
  } else if (direction == Direction::data) {
    add(DNNL_ARG_DIFF_DST, plain_y, query::diff_dst_md, Role::source);
    add(DNNL_ARG_WEIGHTS, plain_w, query::weights_md, Role::source);
    add(DNNL_ARG_DIFF_SRC, plain_x, query::diff_src_md, Role::result);
  } else {
    add(DNNL_ARG_SRC, plain_x, query::src_md, Role::source);
    add(DNNL_ARG_DIFF_DST, plain_y, query::diff_dst_md, Role::source);
    add(DNNL_ARG_DIFF_WEIGHTS, plain_w, query::diff_weights_md, Role::result);
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
                  " of oneDNN, with the conversions from and to NCHW that it needs",
       .precision = is_winograd ? "sums of transformed tiles" : ""},
      [](const typename Op::Problem& p, const typename Op::Input* in, int threads, int way) {
        bool has_bias = false;
        if constexpr (requires { p.has_bias(); }) has_bias = p.has_bias();
        using dnnl::algorithm;
        const auto plan = plan_of(
            p, has_bias, direction,
            is_winograd ? algorithm::convolution_winograd : algorithm::convolution_direct, threads, way == 1);
        if constexpr (constant_weights) {
          if (in != nullptr) plan->keep(1, in->w.data());
        }
        return plan;
      },
      run, is_winograd ? 1 : 2,
      is_winograd ? ". Version 2 has Winograd's algorithm on processors with AVX-512, not for every layer"
                  : "");
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
