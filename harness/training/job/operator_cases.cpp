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
  /// The extents of the first `count` arguments, where all are dense and have the same.
  const Extents& alike(std::size_t count) const {
    const Extents& first = dense(0);
    for (std::size_t i = 1; i < count; ++i)
      if (dense(i) != first) return none;
    return first;
  }
  static const Extents& only(const std::vector<Extents>& tensors) {
    return tensors.size() == 1 ? tensors.front() : none;
  }
  inline static const Extents none{};
};

/// `n` or `t` of the last two extents, by the one whose elements are neighbours; 0 where none is, or elements
/// are repeated.
char transpose_of(const Call& call, std::size_t at) {
  const Extents &its = call.extents(at), &steps = call.strides(at);
  const std::size_t rows = its.size() - 2, columns = rows + 1;
  if (steps.empty()) return 'n';
  if (steps.size() != its.size() || (rows == 1 && its[0] > 1 && steps[0] == 0)) return 0;
  const auto is_dense = [&](std::size_t far, std::size_t near) {
    return (steps[near] == 1 || its[near] == 1) && (steps[far] >= its[near] || its[far] == 1);
  };
  return is_dense(rows, columns) ? 'n' : is_dense(columns, rows) ? 't' : 0;
}

/// A product of the arguments `a` and `a` + 1, of which the second may be a vector.
Cases product_case(const Call& call, std::size_t a) {
  const Extents &left = call.extents(a), &right = call.extents(a + 1);
  const std::size_t rank = left.size();
  constexpr const char* bfloat16 = "c10::BFloat16";
  const bool bf16 = rank == 2 && call[a].type == bfloat16 && call[a + 1].type == bfloat16;
  const bool by_vector = rank == 2 && right.size() == 1 && !bf16;
  if (!bf16 && !(call.is_f32(a) && call.is_f32(a + 1))) return {};
  if ((rank != right.size() && !by_vector) || (rank != 2 && rank != 3)) return {};
  const Index m = left[rank - 2], k = left[rank - 1], n = by_vector ? 1 : right[rank - 1];
  const char first = transpose_of(call, a), second = by_vector ? 'n' : transpose_of(call, a + 1);
  if (elements_of({m, n, k}) == 0) return {};
  if (first == 0 || second == 0)
    return {{.note = "its matrix has gaps between neighbours or repeats elements: no contract has that"}};
  if (by_vector)
    return {{"gemv", fmt::format("m={},n={},trans={}", first == 't' ? k : m, first == 't' ? m : k, first)}};
  const std::string problem = fmt::format("m={},n={},k={},trans={}{}", m, n, k, first, second);
  if (rank == 3) return {{"batched_gemm", fmt::format("batch={},{}", left[0], problem)}};
  return {{bf16 ? "gemm_bf16" : "gemm", problem}};
}

/// The shape of a convolution in two dimensions, of arguments at these places; nothing where no contract has
/// its layout or window.
std::string layer(const Call& call, std::size_t x, std::size_t w, std::size_t stride, std::size_t groups) {
  const Extents &image = call.dense(x), &filters = call.dense(w);
  const Extents strides = call.numbers(stride), pads = call.numbers(stride + 1),
                dilations = call.numbers(stride + 2);
  const Index in_groups = number_from<Index>(call.value(groups)).value_or(0);
  const auto equal = [](const Extents& both) { return both.size() == 2 && both[0] == both[1]; };
  if (image.size() != 4 || filters.size() != 4 || pads.size() != 2) return {};
  if (call.value(stride + 3) != "False" || in_groups < 1) return {};
  if (!equal(strides) || !equal(dilations)) return {};
  std::string out = fmt::format("n={},c={},f={},h={},w={},kernel={}", image[0], image[1], filters[0],
                                image[2], image[3], filters[2]);
  const auto unless = [&](Index usual, const char* field, Index value) {
    if (value != usual) out += fmt::format(",{}={}", field, value);
  };
  unless(filters[2], "kernel_w", filters[3]);
  unless(1, "stride", strides[0]);
  unless(1, "dilation", dilations[0]);
  unless(0, "pad", pads[0]);
  unless(pads[0], "left", pads[1]);
  unless(pads[0], "right", pads[1]);
  unless(1, "groups", in_groups);
  return out;
}

Cases convolution(const Call& call) {
  const std::string shape = layer(call, 0, 1, 3, 8);
  if (shape.empty()) return {};
  return {{"conv2d", shape + (call.extents(2).empty() ? "" : ",bias=per_filter")}};
}

/// An array of images, or of rows of channels, in argument `at`; none for other extents.
Cases channels(const Call& call, std::size_t at, const char* operation) {
  Extents image = call.dense(at);
  if (image.size() == 2) image.resize(4, 1);
  if (image.size() != 4) return {};
  return {{operation, fmt::format("n={},c={},h={},w={}", image[0], image[1], image[2], image[3])}};
}

Cases convolution_backward(const Call& call) {
  const std::string shape = layer(call, 1, 2, 4, 9);
  const std::string& wanted = call.value(10);  // such as `[True, True, False]`: of x, of w, of the bias
  const bool of_w = wanted.find(", True,") != std::string::npos, of_bias = wanted.ends_with("True]");
  Cases out;
  const Cases sums = channels(call, 0, "elementwise_channel_bias_backward");  // none where dy has gaps
  if (shape.empty() || sums.empty()) return out;
  if (wanted.starts_with("[True")) out.push_back({"conv2d_data_gradient", shape});
  if (of_w) out.push_back({"conv2d_weight_gradient", shape + (of_bias ? ",bias=per_filter" : "")});
  if (of_bias && !of_w) out.push_back(sums.front());
  return out;
}

/// Rows and columns of the arguments before `norm`, which has the extents of the columns.
Cases normalisation(const Call& call, std::size_t norm, const char* operation) {
  const Extents& x = call.alike(norm);
  const Index all = elements_of(x), cols = elements_of(call.numbers(norm));
  if (x.empty() || cols <= 0 || all % cols != 0) return {};
  return {{operation, fmt::format("rows={},cols={}", all / cols, cols)}};
}

/// By the statistics of a training step; none where those of all steps are used. The first `count` arguments
/// are arrays.
Cases batch_norm(const Call& call, std::size_t count, std::size_t training, const char* operation) {
  const bool is_case = call.value(training) == "True" && !call.alike(count).empty();
  return is_case ? channels(call, 0, operation) : Cases();
}

/// Rows of the last extent, over which a softmax goes: argument `dim` says so, where it is a number, and
/// otherwise there are two extents.
Cases softmax(const Call& call, std::size_t x, std::size_t dim, const char* operation, int operators) {
  const Extents& extents = call.dense(x);
  const auto over = number_from<Index>(call.value(dim));
  const bool is_last = over ? *over == -1 || *over == std::ssize(extents) - 1 : extents.size() == 2;
  if (extents.empty() || !is_last) return {};
  const Index cols = extents.back();
  return {{operation, fmt::format("rows={},cols={}", elements_of(extents) / cols, cols), operators}};
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
  const Extents& first = call.alike(count);
  if (first.empty()) return {};
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

constexpr const char* other_mask = "the contract of attention has no mask but a causal one";

Cases attention(Index heads, Index tokens, Index d, bool causal) {
  return {{"attention",
           fmt::format("heads={},tokens={},d={},mask={}", heads, tokens, d, causal ? "causal" : "none")}};
}

Cases fused_attention(const Call& call) {
  const Extents& q = call.extents(0);
  if (!call.is_f32(0) || q.size() != 4 || call.extents(1) != q || call.extents(2) != q) return {};
  if (call.number(3) > 0.0) return {{.note = "the contract of attention has no dropout"}};
  if (!call.extents(5).empty()) return {{.note = other_mask}};
  return attention(q[0] * q[1], q[2], q[3], call.value(4) == "True");
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
      {"aten::mv", by(product_case, 0U)},
      {"aten::addmv", by(product_case, 1U)},
      {"aten::convolution", convolution},
      {"aten::convolution_backward", convolution_backward},
      {"aten::native_layer_norm", by(normalisation, 1U, "layernorm")},
      {"aten::native_layer_norm_backward", by(normalisation, 2U, "layernorm_backward")},
      {"aten::native_batch_norm", by(batch_norm, 1U, 5U, "batch_norm")},
      {"aten::native_batch_norm_backward", by(batch_norm, 2U, 7U, "batch_norm_backward")},
      {"aten::_softmax", by(softmax, 0U, 1U, "softmax", 1)},
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
      // The loss and its gradient are one contract.
      {"aten::_log_softmax", by(softmax, 0U, 1U, "softmax_cross_entropy", 4)},
      {"aten::nll_loss_forward", by(softmax, 0U, 0U, "softmax_cross_entropy", 4)},
      {"aten::nll_loss_backward", by(softmax, 1U, 1U, "softmax_cross_entropy", 4)},
      {"aten::_log_softmax_backward_data", by(softmax, 0U, 2U, "softmax_cross_entropy", 4)},
      {"aten::_scaled_dot_product_flash_attention_for_cpu", fused_attention},
  };
  return all;
}

using OperatorCalls = std::vector<OperatorCall>;

void put_around(OperatorCalls& found, Span span, std::string_view name, Cases cases) {
  if (!cases.empty()) found.push_back({.span = span, .name = name, .cases = std::move(cases)});
}

/// The product of queries and keys, and that with the values; none where they do not belong together. `masks`
/// are the extents of what is added to the scores, or chooses among them.
Cases attention_of(const Call& scores, const Call& values, std::vector<Extents> masks) {
  const Extents &q = scores.extents(0), &k = scores.extents(1);
  if (!scores.is_f32(0) || q.size() != 3 || k != Extents{q[0], q[2], q[1]}) return {};
  if (values.extents(0) != Extents{q[0], q[1], q[1]} || values.extents(1) != q) return {};
  std::erase_if(masks, [](const Extents& mask) { return elements_of(mask) == 1; });
  for (const Extents& mask : masks)
    if (mask.back() != q[1] || elements_of(mask) != elements_of({q[1], q[1]})) return {{.note = other_mask}};
  Cases out = attention(q[0], q[1], q[2], !masks.empty());
  if (!masks.empty()) out[0].note = "a mask of tokens x tokens is taken as causal: a trace has no values";
  return out;
}

/// What attention does between its products: it moves data, scales, makes a mask, and takes the softmax.
bool is_within_attention(std::string_view name) {
  if (name.ends_with('_')) name.remove_suffix(1);  // in place
  constexpr std::string_view names =
      "|_to_copy|_unsafe_view|clone|contiguous|copy|detach|expand|lift_fresh|matmul|permute|reshape|select"
      "|slice|to|transpose|unsqueeze|view|div|mul|arange|bitwise_not|empty|eq|fill|full|ge|gt|le|lt"
      "|logical_not|ones|ones_like|tril|triu|zeros|add|masked_fill|sub|where|_softmax|softmax|dropout|";
  return names.find(fmt::format("|{}|", name.substr(name.rfind(':') + 1))) != std::string_view::npos;
}

void find_attention(const OperatorCalls& calls, OperatorCalls& found) {
  const OperatorCall *product = nullptr, *around = nullptr;
  std::vector<Extents> masks;
  Span both;  // of both products, with what is around each
  int softmaxes = 0;
  for (const OperatorCall& one : calls) {
    const bool is_softmax = one.name == "aten::_softmax", is_product = one.name == "aten::bmm";
    if (one.name == "aten::matmul") around = &one;
    if (is_softmax) ++softmaxes;
    // What is a case by itself is other work, in whatever it is called.
    if (one.name == "aten::bernoulli_" || (one.is_case() && !is_softmax && !is_product)) product = nullptr;
    if (product != nullptr && !is_product && !one.is_note && one.span.begin >= both.end) {
      both.end = one.span.end;
      if (one.arguments != nullptr)
        masks.push_back(Call{*one.arguments}.extents(one.name == "aten::where" ? 0 : 1));
      if (!is_within_attention(one.name)) product = nullptr;
    }
    if (!is_product) continue;
    const Span outer = around != nullptr && around->span.end >= one.span.end ? around->span : one.span;
    if (product != nullptr && softmaxes == 1)
      put_around(found, {both.begin, outer.end}, "attention of two products",
                 attention_of({*product->arguments}, {*one.arguments}, masks));
    product = &one;
    both = outer;
    masks.clear();
    softmaxes = 0;
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
    if (one->name.find("maximum") != std::string_view::npos || (fused && call.value(11) == "True"))
      return {{.note = "no contract has amsgrad"}};
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
  Cases out{{"adamw_multi_tensor",
             fmt::format("tensors={},n={},sizes={},t=1000", sizes.size(),
                         std::max<Index>(1, std::llround(all / equals)), network ? "network" : "equal")}};
  if (sizes.front() != sizes.back())
    out[0].note = fmt::format("{}: its tensors of {} to {} parameters are taken as {} of the same sum", name,
                              sizes.front(), sizes.back(), network ? "those of a network" : "equal ones");
  return out;
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
  Cases out = rule == rules().end() ? Cases() : rule->second({arguments});
  const bool is_known = std::ranges::all_of(arguments, [](const TraceArgument& one) {
    return Call::only(one.extents).empty() || !one.strides.empty();
  });
  if (!is_known && !out.empty() && out[0].note.empty())
    out[0].note = "transposes are not known, and taken as none: no \"Input Strides\", as PyTorch 2.6 has";
  return out;
}

bool is_part(std::string_view name) {
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  return name == "aten::bmm" || name == "aten::linear" || name == "aten::where" || has("_fused_") ||
         has("masked_fill") || has("maximum") || has("add") || name.ends_with("mul_");
}

std::vector<OperatorCall> composed(const std::vector<OperatorCall>& calls) {
  OperatorCalls out;
  for (const auto find : {find_attention, find_lstm_layers, find_optimizer_steps}) find(calls, out);
  return out;
}

}  // namespace assay
