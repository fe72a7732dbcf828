#include "training/job/operator_cases.hpp"

#include "core/text/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace assay {
namespace {

constexpr Index largest_array = Index{1} << 48;

using Cases = std::vector<OperatorCase>;
using Extents = std::vector<Index>;

/// The elements of an array of these extents; 0 where it has none, or more than fit into any memory.
Index elements_of(const Extents& extents) {
  Index out = 1;
  for (const Index extent : extents) {
    if (extent <= 0 || extent > largest_array / out) return 0;
    out *= extent;
  }
  return out;
}

/// The arguments of one call; what is missing is empty.
struct Call {
  const std::vector<TraceArgument>& all;

  const TraceArgument& operator[](std::size_t at) const {
    static const TraceArgument missing{};
    return at < all.size() ? all[at] : missing;
  }
  const std::string& value(std::size_t at) const { return (*this)[at].value; }
  const Extents& extents(std::size_t at) const { return only((*this)[at].extents); }
  const Extents& strides(std::size_t at) const { return only((*this)[at].strides); }
  bool is_f32(std::size_t at) const { return (*this)[at].type == "float" && !extents(at).empty(); }
  std::optional<double> number(std::size_t at) const { return number_from<double>(value(at)); }
  /// The numbers of a list such as `[1, 1]`.
  Extents numbers(std::size_t at) const {
    std::string list = value(at);
    std::erase_if(list, [](char c) { return c == '[' || c == ' ' || c == ']'; });
    Extents out;
    for (const std::string_view part : parts_of(list, ','))
      if (const auto whole = number_from<Index>(part)) out.push_back(*whole);
    return out;
  }
  /// The extents of an array of f32 that has elements, with no gaps between them and the last extent as
  /// neighbours; empty for any other.
  const Extents& dense(std::size_t at) const {
    const Extents &its = extents(at), &steps = strides(at);
    if (!is_f32(at) || elements_of(its) == 0 || (!steps.empty() && steps.size() != its.size())) return none;
    Index expected = 1;
    for (std::size_t i = steps.size(); i-- > 0; expected *= its[i])
      if (its[i] > 1 && steps[i] != expected) return none;
    return its;
  }
  static const Extents& only(const std::vector<Extents>& tensors) {
    return tensors.size() == 1 ? tensors.front() : none;
  }
  inline static const Extents none{};
};

/// `n` or `t` of the last two extents, by the one whose elements are neighbours.
char transpose_of(const Call& call, std::size_t at) {
  const Extents &extents = call.extents(at), &strides = call.strides(at);
  const std::size_t last = extents.size() - 1;
  return strides.size() != extents.size() || strides[last] == 1 || extents[last] == 1 ? 'n' : 't';
}

/// A product of the arguments `a` and `a` + 1.
Cases product_case(const Call& call, std::size_t a) {
  const Extents &left = call.extents(a), &right = call.extents(a + 1);
  const std::size_t rank = left.size();
  constexpr const char* bfloat16 = "c10::BFloat16";
  const bool bf16 = rank == 2 && call[a].type == bfloat16 && call[a + 1].type == bfloat16;
  if (!bf16 && !(call.is_f32(a) && call.is_f32(a + 1))) return {};
  if (rank != right.size() || (rank != 2 && rank != 3)) return {};
  const Index m = left[rank - 2], k = left[rank - 1], n = right[rank - 1];
  if (elements_of({m, n, k}) == 0) return {};
  const std::string problem =
      fmt::format("m={},n={},k={},trans={}{}", m, n, k, transpose_of(call, a), transpose_of(call, a + 1));
  if (rank == 3) return {{"batched_gemm", fmt::format("batch={},{}", left[0], problem)}};
  return {{bf16 ? "gemm_bf16" : "gemm", problem}};
}

/// A product of a matrix and a vector, the arguments `a` and `a` + 1.
Cases vector_case(const Call& call, std::size_t a) {
  const Extents& matrix = call.extents(a);
  if (!call.is_f32(a) || !call.is_f32(a + 1) || matrix.size() != 2 || elements_of(matrix) == 0) return {};
  const char trans = transpose_of(call, a);
  const Index m = matrix[trans == 't' ? 1 : 0], n = matrix[trans == 't' ? 0 : 1];
  return {{"gemv", fmt::format("m={},n={},trans={}", m, n, trans)}};
}

/// The shape of a convolution in two dimensions, of arguments at these places; nothing where no contract has
/// its layout, groups or window.
std::string layer(const Call& call, std::size_t x, std::size_t w, std::size_t stride, std::size_t groups) {
  const Extents &image = call.dense(x), &filters = call.extents(w);
  const Extents strides = call.numbers(stride), pads = call.numbers(stride + 1),
                dilations = call.numbers(stride + 2);
  const auto equal = [](const Extents& both) { return both.size() == 2 && both[0] == both[1]; };
  if (!call.is_f32(w) || image.size() != 4 || filters.size() != 4) return {};
  if (call.value(stride + 3) != "False" || call.value(groups) != "1") return {};
  if (!equal(strides) || !equal(pads) || !equal(dilations)) return {};
  std::string out = fmt::format("n={},c={},f={},h={},w={},kernel={}", image[0], image[1], filters[0],
                                image[2], image[3], filters[2]);
  const auto unless = [&](Index usual, const char* field, Index value) {
    if (value != usual) out += fmt::format(",{}={}", field, value);
  };
  unless(filters[2], "kernel_w", filters[3]);
  unless(1, "stride", strides[0]);
  unless(1, "dilation", dilations[0]);
  unless(0, "pad", pads[0]);
  return out;
}

Cases convolution(const Call& call) {
  const std::string shape = layer(call, 0, 1, 3, 8);
  if (shape.empty()) return {};
  return {{"conv2d", shape + (call.extents(2).empty() ? "" : ",bias=per_filter")}};
}

Cases convolution_backward(const Call& call) {
  const std::string shape = layer(call, 1, 2, 4, 9);
  const std::string& wanted = call.value(10);  // such as `[True, True, False]`: of x, of w, of the bias
  Cases out;
  if (shape.empty()) return out;
  if (wanted.starts_with("[True")) out.push_back({"conv2d_data_gradient", shape});
  if (wanted.find(", True,") != std::string::npos)
    out.push_back({"conv2d_weight_gradient", shape + (wanted.ends_with("True]") ? ",bias=per_filter" : "")});
  return out;
}

/// Rows and columns, of which the columns are the extents in argument `norm`.
Cases normalisation(const Call& call, std::size_t x, std::size_t norm, const char* operation) {
  const Index all = elements_of(call.extents(x)), cols = elements_of(call.numbers(norm));
  if (!call.is_f32(x) || cols <= 0 || all == 0 || all % cols != 0) return {};
  return {{operation, fmt::format("rows={},cols={}", all / cols, cols)}};
}

/// An array of images, or of rows of channels, in argument `at`; none for other extents.
Cases channels(const Call& call, std::size_t at, const char* operation) {
  Extents image = call.dense(at);
  if (image.size() == 2) image.resize(4, 1);
  if (image.size() != 4) return {};
  return {{operation, fmt::format("n={},c={},h={},w={}", image[0], image[1], image[2], image[3])}};
}

/// By the statistics of a training step; none where those of all steps are used.
Cases batch_norm(const Call& call, std::size_t x, std::size_t training, const char* operation) {
  return call.value(training) == "True" ? channels(call, x, operation) : Cases();
}

/// Rows of the last extent, over which a softmax goes: argument `dim` says so, where it is a number, and
/// otherwise there are two extents.
Cases softmax(const Call& call, std::size_t x, std::size_t dim, const char* operation, double calls) {
  const Extents& extents = call.dense(x);
  const auto over = number_from<Index>(call.value(dim));
  const bool is_last = over ? *over == -1 || *over == std::ssize(extents) - 1 : extents.size() == 2;
  if (extents.empty() || !is_last) return {};
  const Index cols = extents.back();
  return {{operation, fmt::format("rows={},cols={}", elements_of(extents) / cols, cols), calls}};
}

/// A layer of an LSTM in either direction, whose w_ih and w_hh are arguments `weights` and the next. Without
/// biases these are zeros.
Cases lstm_layer(const Call& call, std::size_t weights, const char* operation) {
  const Extents &x = call.extents(0), &w_hh = call.extents(weights + 1);
  const std::size_t rank = x.size();
  for (const std::size_t at : {std::size_t{0}, weights, weights + 1})
    if (!call.is_f32(at) || elements_of(call.extents(at)) == 0) return {};
  if ((rank != 2 && rank != 3) || w_hh.size() != 2 || w_hh[0] != 4 * w_hh[1]) return {};
  if (call.extents(weights) != Extents{w_hh[0], x[rank - 1]}) return {};
  return {{operation, fmt::format("steps={},batch={},inputs={},hidden={}", rank == 3 ? x[0] : 1, x[rank - 2],
                                  x[rank - 1], w_hh[1])}};
}

/// Element by element; the arguments from 0 on are `count` dense tensors of equal extents.
Cases elements(const Call& call, std::size_t count, const std::string& operation, bool image) {
  const Extents& first = call.dense(0);
  for (std::size_t i = 0; i < count; ++i)
    if (first.empty() || call.dense(i) != first) return {};
  return {{operation, fmt::format("{}={}", image ? "n=1,c=1,h=1,w" : "n", elements_of(first))}};
}

/// By the nearest hundredth of p, on which no time depends. The gradient is told 1 / (1 - p).
Cases dropout(const Call& call, bool is_gradient) {
  const double number = call.number(is_gradient ? 2 : 1).value_or(0);
  const double p = is_gradient ? 1 - 1 / number : number;
  if (!(p > 0 && p < 1) || call.value(2) == "False") return {};
  Cases out = elements(call, 1, "dropout", false);
  if (!out.empty()) out[0].problem += fmt::format(",p={}", std::clamp<Index>(std::lround(100 * p), 1, 99));
  return out;
}

/// A trace does not have the ids: those of words stand for them.
Cases lookup(const Call& call) {
  const Extents& table = call.dense(0);
  const Index n = elements_of(call.extents(1));
  if (table.size() != 2) return {};
  return {{"embedding", fmt::format("n={},rows={},d={},ids=words", n, table[0], table[1])}};
}

/// None where an id is padding, or sums are scaled by how often their id comes.
Cases lookup_gradient(const Call& call) {
  const Extents& dy = call.dense(0);
  const Index n = elements_of(call.extents(1));
  if (dy.empty() || call.value(3) != "-1" || call.value(4) != "False") return {};
  return {{"embedding_backward", fmt::format("n={},rows={},d={},ids=words", n, call.value(2), dy.back())}};
}

Cases bias_gradient(const Call& call) {
  const Extents all_but_channels = call.extents(0).size() == 2 ? Extents{0} : Extents{0, 2, 3};
  if (call.numbers(1) != all_but_channels) return {};
  return channels(call, 0, "elementwise_channel_bias_backward");
}

Cases attention(Index heads, Index tokens, Index d, bool causal) {
  return {{"attention",
           fmt::format("heads={},tokens={},d={},mask={}", heads, tokens, d, causal ? "causal" : "none")}};
}

Cases fused_attention(const Call& call) {
  const Extents& q = call.extents(0);
  if (!call.is_f32(0) || q.size() != 4 || call.extents(1) != q || call.extents(2) != q) return {};
  return attention(q[0] * q[1], q[2], q[3], call.value(4) == "True" || call.value(5) == "True");
}

using CaseRule = std::function<Cases(const Call&)>;

const std::map<std::string_view, CaseRule>& rules() {
  const auto by = [](auto cases, auto... arguments) -> CaseRule {
    return [=](const Call& call) { return cases(call, arguments...); };
  };
  const auto gelu = [](const Call& call, std::size_t count, const char* end) {
    const bool tanh = call.value(count) == "tanh";
    return elements(call, count, fmt::format("elementwise_gelu{}{}", tanh ? "_tanh" : "", end), false);
  };
  const auto sum_of_two = [](const Call& call) {
    const bool scaled = !call.value(2).empty() && call.number(2) != 1.0;
    return scaled ? Cases() : elements(call, 2, "elementwise_add", true);
  };
  static const std::map<std::string_view, CaseRule> all{
      {"aten::mm", by(product_case, 0U)},
      {"aten::addmm", by(product_case, 1U)},
      {"aten::bmm", by(product_case, 0U)},
      {"aten::baddbmm", by(product_case, 1U)},
      {"aten::mv", by(vector_case, 0U)},
      {"aten::addmv", by(vector_case, 1U)},
      {"aten::convolution", convolution},
      {"aten::convolution_backward", convolution_backward},
      {"aten::native_layer_norm", by(normalisation, 0U, 1U, "layernorm")},
      {"aten::native_layer_norm_backward", by(normalisation, 0U, 2U, "layernorm_backward")},
      {"aten::native_batch_norm", by(batch_norm, 0U, 5U, "batch_norm")},
      {"aten::native_batch_norm_backward", by(batch_norm, 1U, 7U, "batch_norm_backward")},
      {"aten::_softmax", by(softmax, 0U, 1U, "softmax", 1.0)},
      {"aten::lstm_cell", by(lstm_layer, 2U, "lstm")},
      {"aten::mkldnn_rnn_layer", by(lstm_layer, 1U, "lstm")},
      {"aten::mkldnn_rnn_layer_backward", by(lstm_layer, 1U, "lstm_backward")},
      {"aten::embedding", lookup},
      {"aten::embedding_dense_backward", lookup_gradient},
      {"aten::gelu", by(gelu, 1U, "")},
      {"aten::gelu_backward", by(gelu, 2U, "_backward")},
      {"aten::relu", by(elements, 1U, "elementwise_relu", true)},
      {"aten::relu_", by(elements, 1U, "elementwise_relu", true)},
      {"aten::threshold_backward", by(elements, 2U, "elementwise_relu_backward", false)},
      {"aten::sigmoid", by(elements, 1U, "elementwise_sigmoid", false)},
      {"aten::sigmoid_backward", by(elements, 2U, "elementwise_sigmoid_backward", false)},
      {"aten::add", sum_of_two},
      {"aten::mul", by(elements, 2U, "elementwise_multiply", true)},
      {"aten::dropout", by(dropout, false)},
      {"aten::dropout_", by(dropout, false)},
      {"aten::native_dropout", by(dropout, false)},
      {"aten::native_dropout_backward", by(dropout, true)},
      {"aten::sum", bias_gradient},
      // The loss and its gradient are one contract: whoever computes the softmax counts the calls.
      {"aten::_log_softmax", by(softmax, 0U, 1U, "softmax_cross_entropy", 1.0)},
      {"aten::nll_loss_forward", by(softmax, 0U, 0U, "softmax_cross_entropy", 0.0)},
      {"aten::nll_loss_backward", by(softmax, 1U, 1U, "softmax_cross_entropy", 0.0)},
      {"aten::_log_softmax_backward_data", by(softmax, 0U, 2U, "softmax_cross_entropy", 0.0)},
      {"aten::_scaled_dot_product_flash_attention_for_cpu", fused_attention},
  };
  return all;
}

using OperatorCalls = std::vector<OperatorCall>;

void put_around(OperatorCalls& found, Span span, std::string_view name, Cases cases) {
  if (!cases.empty()) found.push_back({.span = span, .name = name, .part_of = std::move(cases.front())});
}

/// The product of queries and keys, and that with the values; none where they do not belong together.
Cases attention_of(const Call& scores, const Call& values, bool causal) {
  const Extents &q = scores.extents(0), &k = scores.extents(1);
  if (!scores.is_f32(0) || q.size() != 3 || k != Extents{q[0], q[2], q[1]}) return {};
  if (values.extents(0) != Extents{q[0], q[1], q[1]} || values.extents(1) != q) return {};
  return attention(q[0], q[1], q[2], causal);
}

void find_attention(const OperatorCalls& calls, OperatorCalls& found) {
  const OperatorCall *product = nullptr, *around = nullptr, *product_around = nullptr;
  int softmaxes = 0;
  bool masked = false;
  for (const OperatorCall& one : calls) {
    if (one.name == "aten::matmul") around = &one;
    if (one.name == "aten::_softmax") ++softmaxes;
    if (one.name.starts_with("aten::masked_fill")) masked = true;
    if (one.name == "aten::_softmax_backward_data" || one.name == "aten::bernoulli_") product = nullptr;
    if (one.name != "aten::bmm") continue;
    const OperatorCall& outer = around != nullptr && around->span.end >= one.span.end ? *around : one;
    if (product != nullptr && softmaxes == 1)
      put_around(found, {product_around->span.begin, outer.span.end}, "attention of two products",
                 attention_of({*product->arguments}, {*one.arguments}, masked));
    product = &one;
    product_around = &outer;
    softmaxes = 0;
    masked = false;
  }
}

/// A layer of an LSTM by steps goes from the product with all inputs, before that with the first state, to
/// the stack of all outputs.
void find_lstm_layers(const OperatorCalls& calls, OperatorCalls& found) {
  const OperatorCall *lstm = nullptr, *product = nullptr;
  Cases cases;
  for (const OperatorCall& one : calls) {
    if (one.name == "aten::lstm" || lstm == nullptr || one.span.begin >= lstm->span.end) {
      lstm = one.name == "aten::lstm" ? &one : nullptr;
      product = nullptr;
      cases.clear();
    } else if (one.name == "aten::linear" && cases.empty()) {
      if (product != nullptr && Call{*product->arguments}.extents(0).size() == 3) {
        const Call inputs{*product->arguments}, state{*one.arguments};
        const std::vector<TraceArgument> both{inputs[0], inputs[1], state[1]};
        cases = lstm_layer({both}, 1, "lstm");
      }
      if (cases.empty()) product = &one;
    } else if (one.name == "aten::stack" && !cases.empty()) {
      put_around(found, {product->span.begin, one.span.end}, "aten::lstm", std::exchange(cases, {}));
      product = nullptr;
    }
  }
}

Cases optimizer_step(std::string_view name, const std::vector<const OperatorCall*>& calls) {
  const bool sgd = name == "Optimizer.step#SGD.step";
  if (!sgd && name != "Optimizer.step#Adam.step" && name != "Optimizer.step#AdamW.step") return {};
  std::vector<Index> sizes;
  bool nesterov = false;
  // They count from the product of a buffer with the momentum: first it takes the gradient, by Nesterov's
  // momentum the gradient then takes it, and the parameter comes last. Weight decay stands before, and makes
  // a new gradient.
  int additions = 2;
  for (const OperatorCall* one : calls) {
    const Call call{*one->arguments};
    const bool fused = one->name.starts_with("aten::_fused_");
    if (additions > 0 || one->name.ends_with("add_")) ++additions;
    if (one->name.ends_with("mul_")) additions = 0;
    nesterov = nesterov || (additions == 2 && call.number(2) > 0.0) || call.value(7) == "True";
    if (!fused && (sgd ? additions != 1 : !one->name.ends_with("addcdiv_"))) continue;
    if (call[0].type != "float" && call[0].type != "TensorList") return {};
    if (sgd && call.number(fused ? 6 : 2) != (fused ? 0.0 : 1.0)) return {};  // dampened
    if (sgd && fused && call[2].extents != call[0].extents) return {};        // without buffers
    std::ranges::transform(call[0].extents, std::back_inserter(sizes), elements_of);
  }
  double all = 0;
  for (const Index size : sizes) all += static_cast<double>(size);
  if (all <= 0 || all > static_cast<double>(largest_array)) return {};
  if (sgd) return {{nesterov ? "sgd_nesterov" : "sgd", fmt::format("n={}", std::llround(all))}};
  std::ranges::sort(sizes);
  // A network has a large tensor among two small ones; the largest then follows from the sum.
  const bool network = sizes.size() >= 3 && sizes.back() >= 16 * sizes[sizes.size() / 2];
  const auto count = static_cast<double>(sizes.size());
  const double equals = network ? std::ceil(count / 3) + (count - std::ceil(count / 3)) / 256 : count;
  return {{"adamw_multi_tensor",
           fmt::format("tensors={},n={},sizes={},t=1000", sizes.size(),
                       std::max<Index>(1, std::llround(all / equals)), network ? "network" : "equal")}};
}

/// A step whose closure holds the rest of the training step begins with the first operator after that.
void find_optimizer_steps(const OperatorCalls& calls, OperatorCalls& found) {
  for (auto step = calls.begin(); step != calls.end(); ++step) {
    if (!step->name.starts_with("Optimizer.step#")) continue;
    bool has_closure = false;
    double until = step->span.begin;
    std::vector<const OperatorCall*> own;
    for (auto one = step + 1; one != calls.end() && one->span.begin < step->span.end; ++one) {
      const bool is_own = !one->is_case();
      if (is_own && (one->arguments == nullptr || one->span.begin < until)) continue;
      until = std::max(until, one->span.end);
      has_closure = has_closure || !is_own;
      if (is_own) own.push_back(&*one);
      if (!is_own) own.clear();
    }
    if (has_closure && own.empty()) continue;
    Cases cases = optimizer_step(step->name, own);
    if (cases.empty()) cases.emplace_back();
    const double begin = has_closure ? own.front()->span.begin : step->span.begin;
    put_around(found, {begin, step->span.end}, step->name, std::move(cases));
  }
}

}  // namespace

std::vector<OperatorCase> cases_of(std::string_view name, const std::vector<TraceArgument>& arguments) {
  const auto rule = rules().find(name);
  return rule == rules().end() ? Cases() : rule->second({arguments});
}

bool is_part(std::string_view name) {
  return name == "aten::bmm" || name == "aten::linear" || name.starts_with("aten::_fused_") ||
         name.ends_with("mul_") || name.find("add") != std::string_view::npos;
}

std::vector<OperatorCall> composed(const std::vector<OperatorCall>& calls) {
  OperatorCalls out;
  for (const auto find : {find_attention, find_lstm_layers, find_optimizer_steps}) find(calls, out);
  return out;
}

}  // namespace assay
