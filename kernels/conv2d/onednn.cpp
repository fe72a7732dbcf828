// The peer: direct convolution of oneDNN, or its Winograd algorithm, on the layouts that it prefers. Arrays
// of the contract are NCHW, so a call includes the conversions to and from those layouts, as in a framework
// that keeps NCHW tensors. Constant weights are converted once, which transforms them.

#include "onednn.hpp"

#include "assay/ops/conv2d_winograd.hpp"
#include "assay/registry.hpp"

#include <array>
#include <memory>
#include <string>
#include <type_traits>

namespace assay::conv2d {
namespace {

enum class Direction { forward, data, weights };

/// An array of the contract, and its copy in the layout of the primitive if that differs.
class Array {
 public:
  Array(dnnl_engine_t engine, const dnnl_memory_desc_t& plain, const dnnl_memory_desc_t& preferred,
        bool is_result)
      : is_result_(is_result), plain_(onednn::make<onednn::Memory>([&](auto* to) {
          return dnnl_memory_create(to, &plain, engine, DNNL_MEMORY_NONE);
        })) {
    if (dnnl_memory_desc_equal(&plain, &preferred) != 0) return;
    preferred_ = onednn::make<onednn::Memory>(
        [&](auto* to) { return dnnl_memory_create(to, &preferred, engine, DNNL_MEMORY_ALLOCATE); });
    const auto reorder = onednn::make<onednn::Description>([&](auto* to) {
      return dnnl_reorder_primitive_desc_create(to, is_result ? &preferred : &plain, engine,
                                                is_result ? &plain : &preferred, engine, nullptr);
    });
    reorder_ =
        onednn::make<onednn::Primitive>([&](auto* to) { return dnnl_primitive_create(to, reorder.get()); });
  }

  dnnl_memory_t memory() const { return preferred_ ? preferred_.get() : plain_.get(); }
  bool is_result() const { return is_result_; }
  bool is_kept() const { return is_kept_; }
  /// Keeps the converted copy from now on.
  void keep() { is_kept_ = true; }
  void place(const float* data) {
    dnnl_memory_set_data_handle(plain_.get(), const_cast<float*>(data));  // the C interface knows no const
  }
  void convert(dnnl_stream_t stream) const {
    if (!reorder_) return;
    const std::array<dnnl_exec_arg_t, 2> args{{{DNNL_ARG_FROM, is_result_ ? preferred_.get() : plain_.get()},
                                               {DNNL_ARG_TO, is_result_ ? plain_.get() : preferred_.get()}}};
    onednn::demand(dnnl_primitive_execute(reorder_.get(), stream, 2, args.data()));
  }

 private:
  bool is_result_, is_kept_ = false;
  onednn::Memory plain_, preferred_;
  onednn::Primitive reorder_;
};

/// One layer in one direction.
class Plan {
 public:
  Plan(const Layer& p, bool has_bias, Direction direction, dnnl_alg_kind_t algorithm, int threads)
      : threads_(threads) {
    onednn::use_threads(threads_);
    engine_ = onednn::make<onednn::Engine>([](auto* to) { return dnnl_engine_create(to, dnnl_cpu, 0); });
    stream_ = onednn::make<onednn::Stream>(
        [&](auto* to) { return dnnl_stream_create(to, engine_.get(), dnnl_stream_default_flags); });
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
    const auto described_forward = onednn::make<onednn::Description>(
        [&](auto* to) { return dnnl_primitive_desc_create(to, &forward, nullptr, engine_.get(), nullptr); });
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
    const auto description = onednn::make<onednn::Description>([&](auto* to) {
      return dnnl_primitive_desc_create(to, &wanted, nullptr, engine_.get(), described_forward.get());
    });
    primitive_ = onednn::make<onednn::Primitive>(
        [&](auto* to) { return dnnl_primitive_create(to, description.get()); });

    const auto add = [&](int argument, const dnnl_memory_desc_t& plain, dnnl_query_t query, bool is_result) {
      const dnnl_memory_desc_t* const preferred = dnnl_primitive_desc_query_md(description.get(), query, 0);
      arrays_.emplace_back(engine_.get(), plain, *preferred, is_result);
      arguments_.push_back({argument, arrays_.back().memory()});
    };
    const dnnl_memory_desc_t plain_x = onednn::described(x, dnnl_nchw),
                             plain_y = onednn::described(y, dnnl_nchw);
    const dnnl_memory_desc_t plain_w = onednn::described(weights, dnnl_oihw);
    arrays_.reserve(4);
    if (direction == Direction::forward) {
      add(DNNL_ARG_SRC, plain_x, dnnl_query_src_md, false);
      add(DNNL_ARG_WEIGHTS, plain_w, dnnl_query_weights_md, false);
      add(DNNL_ARG_DST, plain_y, dnnl_query_dst_md, true);
    } else if (direction == Direction::data) {
      add(DNNL_ARG_DIFF_DST, plain_y, dnnl_query_diff_dst_md, false);
      add(DNNL_ARG_WEIGHTS, plain_w, dnnl_query_weights_md, false);
      add(DNNL_ARG_DIFF_SRC, plain_x, dnnl_query_diff_src_md, true);
    } else {
      add(DNNL_ARG_SRC, plain_x, dnnl_query_src_md, false);
      add(DNNL_ARG_DIFF_DST, plain_y, dnnl_query_diff_dst_md, false);
      add(DNNL_ARG_DIFF_WEIGHTS, plain_w, dnnl_query_diff_weights_md, true);
    }
    if (has_bias) {
      const bool is_result = direction == Direction::weights;
      arrays_.emplace_back(engine_.get(), bias, bias, is_result);
      arguments_.push_back({is_result ? DNNL_ARG_DIFF_BIAS : DNNL_ARG_BIAS, arrays_.back().memory()});
    }
  }

  /// Converts weights that do not change, once for all calls.
  void keep_weights(const float* data) {
    constexpr std::size_t second = 1;  // in every direction that has weights among its sources
    arrays_[second].place(data);
    arrays_[second].convert(stream_.get());
    onednn::demand(dnnl_stream_wait(stream_.get()));
    arrays_[second].keep();
  }

  /// Takes the arrays in the order of the direction, the bias last.
  void run(std::initializer_list<const float*> data) {
    onednn::use_threads(threads_);
    auto array = arrays_.begin();
    for (const float* const at : data) {
      if (array == arrays_.end()) break;
      (array++)->place(at);
    }
    convert(false);
    onednn::demand(dnnl_primitive_execute(primitive_.get(), stream_.get(),
                                          static_cast<int>(arguments_.size()), arguments_.data()));
    convert(true);
    onednn::demand(dnnl_stream_wait(stream_.get()));
  }

 private:
  void convert(bool results) const {
    for (const Array& array : arrays_) {
      if (array.is_result() == results && !array.is_kept()) array.convert(stream_.get());
    }
  }

  int threads_;
  onednn::Engine engine_;
  onednn::Stream stream_;
  onednn::Primitive primitive_;
  std::vector<Array> arrays_;
  std::vector<dnnl_exec_arg_t> arguments_;
};

template <class Problem>
bool bias_of(const Problem& p) {
  if constexpr (std::is_base_of_v<conv2d::Problem, Problem>) {
    return p.has_bias();
  } else {
    return false;
  }
}

template <class Op>
constexpr bool is_winograd =
    std::is_same_v<Op, Conv2dWinograd> || std::is_same_v<Op, Conv2dWinogradDataGradient>;

template <class Op, Direction direction>
std::shared_ptr<Plan> plan_of(const typename Op::Problem& p, const Context& context) {
  return std::make_shared<Plan>(p, bias_of(p), direction,
                                is_winograd<Op> ? dnnl_convolution_winograd : dnnl_convolution_direct,
                                context.threads);
}

template <class Op, Direction direction>
std::optional<std::string> unfit(const typename Op::Problem& p, const Context& context) {
  auto reason = onednn::refusal([&] { plan_of<Op, direction>(p, context); });
  if (reason && is_winograd<Op>)
    *reason += ": it has Winograd's algorithm on processors with AVX-512, and not for every layer";
  return reason;
}

/// `arrays(in, out)` returns the arrays of the contract in the order of the direction.
template <class Op, Direction direction, class Arrays>
void add(Registry& r, const Arrays& arrays) {
  r.add<Op>({.name = "onednn",
             .summary = std::string(is_winograd<Op> ? "Winograd's algorithm" : "direct convolution") +
                        " of oneDNN, with the conversions from and to NCHW",
             .precision = is_winograd<Op> ? "sums of transformed tiles" : "",
             .libraries = {"onednn"},
             .threaded = true,
             .prepare =
                 [arrays](const typename Op::Problem& p, const typename Op::Input& prepared,
                          const Context& context) {
                   const auto plan = plan_of<Op, direction>(p, context);
                   if constexpr (std::is_same_v<Op, Conv2dWinograd>) plan->keep_weights(prepared.w.data());
                   return [plan, arrays](const typename Op::Input& in, typename Op::Output& out) {
                     const std::array<const float*, 4> data = arrays(in, out);
                     plan->run({data[0], data[1], data[2], data[3]});
                   };
                 },
             .unfit = unfit<Op, direction>});
}

const Register registered{[](Registry& r) {
  using Data = std::array<const float*, 4>;
  const auto forward = [](const Conv2d::Input& in, const Conv2d::Output& out) {
    return Data{in.x.data(), in.w.data(), out.y.data(), in.bias.data()};
  };
  const auto data = [](const Conv2dDataGradient::Input& in, const Conv2dDataGradient::Output& out) {
    return Data{in.dy.data(), in.w.data(), out.dx.data(), nullptr};
  };
  add<Conv2d, Direction::forward>(r, forward);
  add<Conv2dWinograd, Direction::forward>(r, forward);
  add<Conv2dDataGradient, Direction::data>(r, data);
  add<Conv2dWinogradDataGradient, Direction::data>(r, data);
  add<Conv2dWeightGradient, Direction::weights>(
      r, [](const Conv2dWeightGradient::Input& in, const Conv2dWeightGradient::Output& out) {
        return Data{in.x.data(), in.dy.data(), out.dw.data(), out.dbias.data()};
      });
}};

}  // namespace
}  // namespace assay::conv2d
