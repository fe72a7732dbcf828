#include "training/job/operator_cases.hpp"

#include "core/text/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <optional>

namespace assay {
namespace {

constexpr Index largest_array = Index{1} << 48;

using Cases = std::vector<OperatorCase>;
using Extents = std::vector<Index>;

/// The arguments of one call; extents of what is missing are empty.
class Call {
 public:
  explicit Call(const std::vector<TraceArgument>& all) : all_(all) {}

  const Extents& extents(std::size_t at) const { return first(at, &TraceArgument::extents); }
  const Extents& strides(std::size_t at) const { return first(at, &TraceArgument::strides); }
  const std::string& type(std::size_t at) const { return at < all_.size() ? all_[at].type : none; }
  const std::string& value(std::size_t at) const { return at < all_.size() ? all_[at].value : none; }
  bool is_f32(std::size_t at) const { return type(at) == "float" && !extents(at).empty(); }
  bool is_bf16(std::size_t at) const { return type(at) == "c10::BFloat16" && !extents(at).empty(); }
  /// The numbers of a list such as `[1, 1]`.
  Extents numbers(std::size_t at) const {
    constexpr std::string_view digits = "-0123456789";
    Extents out;
    for (const std::string_view part : parts_of(value(at), ',')) {
      const std::size_t begin = std::min(part.find_first_of(digits), part.size());
      const std::size_t end = std::min(part.find_first_not_of(digits, begin), part.size());
      if (const auto number = number_from<Index>(part.substr(begin, end - begin))) out.push_back(*number);
    }
    return out;
  }
  /// The flags of a list such as `[True, True, False]`.
  bool flag(std::size_t at, std::size_t which) const {
    const auto parts = parts_of(value(at), ',');
    return which < parts.size() && parts[which].find("True") != std::string_view::npos;
  }

 private:
  const Extents& first(std::size_t at, std::vector<Extents> TraceArgument::*member) const {
    static const Extents empty;
    return at < all_.size() && (all_[at].*member).size() == 1 ? (all_[at].*member).front() : empty;
  }
  inline static const std::string none;
  const std::vector<TraceArgument>& all_;
};

/// `n` or `t` of the last two extents, by the one whose elements are neighbours.
char transpose_of(const Extents& extents, const Extents& strides) {
  const std::size_t last = extents.size() - 1;
  const bool by_rows = strides.size() != extents.size() || strides[last] == 1 || extents[last] == 1;
  return by_rows ? 'n' : 't';
}

/// A product of the arguments `a` and `a` + 1.
Cases product_case(const Call& call, std::size_t a) {
  const Extents &left = call.extents(a), &right = call.extents(a + 1);
  const std::size_t rank = left.size();
  const bool bf16 = call.is_bf16(a) && call.is_bf16(a + 1);
  if (!bf16 && !(call.is_f32(a) && call.is_f32(a + 1))) return {};
  if (rank != right.size() || (rank != 2 && rank != 3) || (bf16 && rank == 3)) return {};
  const Index m = left[rank - 2], k = left[rank - 1], n = right[rank - 1];
  if (elements_of({m, n, k}) == 0) return {};
  const std::string trans{transpose_of(left, call.strides(a)), transpose_of(right, call.strides(a + 1))};
  const std::string problem = fmt::format("m={},n={},k={},trans={}", m, n, k, trans);
  if (rank == 3) return {{"batched_gemm", fmt::format("batch={},{}", left[0], problem)}};
  return {{bf16 ? "gemm_bf16" : "gemm", problem}};
}

/// A product of a matrix and a vector, the arguments `a` and `a` + 1.
Cases vector_case(const Call& call, std::size_t a) {
  const Extents& matrix = call.extents(a);
  if (!call.is_f32(a) || !call.is_f32(a + 1) || matrix.size() != 2 || elements_of(matrix) == 0) return {};
  const bool transposed = transpose_of(matrix, call.strides(a)) == 't';
  return {{"gemv", fmt::format("m={},n={},trans={}", matrix[transposed ? 1 : 0], matrix[transposed ? 0 : 1],
                               transposed ? 't' : 'n')}};
}

/// The shape of a convolution in two dimensions, of arguments at these places; nothing where no contract has
/// its layout, groups or window.
std::optional<std::string> layer(const Call& call, std::size_t x, std::size_t w, std::size_t stride,
                                 std::size_t groups) {
  const Extents &image = call.extents(x), &filters = call.extents(w);
  const Extents strides = call.numbers(stride), pads = call.numbers(stride + 1),
                dilations = call.numbers(stride + 2);
  const auto equal = [](const Extents& both) { return both.size() == 2 && both[0] == both[1]; };
  if (!call.is_f32(x) || !call.is_f32(w) || image.size() != 4 || filters.size() != 4) return std::nullopt;
  if (call.value(stride + 3) != "False" || call.value(groups) != "1") return std::nullopt;
  if (!equal(strides) || !equal(pads) || !equal(dilations) || elements_of(image) == 0) return std::nullopt;
  const Extents& order = call.strides(x);
  const bool channels_last = order.size() == 4 && order[1] == 1 && image[1] > 1 && image[2] * image[3] > 1;
  if (channels_last) return std::nullopt;
  std::string out = fmt::format("n={},c={},f={},h={},w={},kernel={}", image[0], image[1], filters[0],
                                image[2], image[3], filters[2]);
  const auto unless = [&](const char* field, Index value, Index usual) {
    if (value != usual) out += fmt::format(",{}={}", field, value);
  };
  unless("kernel_w", filters[3], filters[2]);
  unless("stride", strides[0], 1);
  unless("dilation", dilations[0], 1);
  unless("pad", pads[0], 0);
  return out;
}

Cases convolution(const Call& call) {
  const auto shape = layer(call, 0, 1, 3, 8);
  if (!shape) return {};
  return {{"conv2d", *shape + (call.extents(2).empty() ? "" : ",bias=per_filter")}};
}

Cases convolution_backward(const Call& call) {
  constexpr std::size_t groups = 9, wanted = 10;
  const auto shape = layer(call, 1, 2, 4, groups);
  Cases out;
  if (!shape) return out;
  if (call.flag(wanted, 0)) out.push_back({"conv2d_data_gradient", *shape});
  if (call.flag(wanted, 1)) {
    out.push_back({"conv2d_weight_gradient", *shape + (call.flag(wanted, 2) ? ",bias=per_filter" : "")});
  }
  return out;
}

/// Rows and columns, of which the columns are the extents in argument `norm`.
Cases normalisation(const Call& call, std::size_t x, std::size_t norm, const char* operation) {
  const Index all = elements_of(call.extents(x)), cols = elements_of(call.numbers(norm));
  if (!call.is_f32(x) || cols <= 0 || all == 0 || all % cols != 0) return {};
  return {{operation, fmt::format("rows={},cols={}", all / cols, cols)}};
}

bool is_dense(const Call& call, std::size_t at) {
  Index expected = 1;
  const Extents &extents = call.extents(at), &strides = call.strides(at);
  if (strides.size() != extents.size()) return strides.empty();
  for (std::size_t i = extents.size(); i-- > 0;) {
    if (extents[i] > 1 && strides[i] != expected) return false;
    expected *= extents[i];
  }
  return true;
}

/// An array of images, or of rows of channels, in argument `at`; none for other extents.
Cases channels(const Call& call, std::size_t at, const char* operation) {
  const Extents& image = call.extents(at);
  if (!call.is_f32(at) || !is_dense(call, at) || elements_of(image) == 0) return {};
  if (image.size() != 2 && image.size() != 4) return {};
  const bool flat = image.size() == 2;
  return {{operation,
           fmt::format("n={},c={},h={},w={}", image[0], image[1], flat ? 1 : image[2], flat ? 1 : image[3])}};
}

/// By the statistics of a training step; none where those of all steps are used.
Cases batch_norm(const Call& call, std::size_t x, std::size_t training, const char* operation) {
  return call.value(training) == "True" ? channels(call, x, operation) : Cases();
}

/// Rows of the last extent, over which a softmax goes: argument `dim` says so, where it is a number, and
/// otherwise there are two extents.
Cases softmax(const Call& call, std::size_t x, std::size_t dim, const char* operation, double calls) {
  const Extents& extents = call.extents(x);
  const auto over = number_from<Index>(call.value(dim));
  if (!call.is_f32(x) || !is_dense(call, x) || elements_of(extents) == 0) return {};
  if (over ? *over != -1 && *over != std::ssize(extents) - 1 : extents.size() != 2) return {};
  const Index cols = extents.back();
  return {{operation, fmt::format("rows={},cols={}", elements_of(extents) / cols, cols), calls}};
}

/// A layer of an LSTM in either direction: x is argument 0 of one call, and its weights are `w_ih` of that
/// and `w_hh` of the other. Where there are no biases, they are zeros.
Cases lstm_layer(const Call& call, std::size_t w_ih, const Call& other, std::size_t w_hh,
                 const char* operation) {
  const Extents &x = call.extents(0), &weights = other.extents(w_hh);
  const std::size_t rank = x.size();
  if (!call.is_f32(0) || !call.is_f32(w_ih) || !other.is_f32(w_hh) || (rank != 2 && rank != 3)) return {};
  if (elements_of(x) == 0 || elements_of(weights) == 0 || weights.size() != 2) return {};
  const Index hidden = weights[1], inputs = x[rank - 1];
  if (weights[0] != 4 * hidden || call.extents(w_ih) != Extents{4 * hidden, inputs}) return {};
  return {{operation, fmt::format("steps={},batch={},inputs={},hidden={}", rank == 3 ? x[0] : 1, x[rank - 2],
                                  inputs, hidden)}};
}

/// Element by element; the arguments from 0 on are `count` dense tensors of equal extents.
Cases elements(const Call& call, std::size_t count, const std::string& operation, bool image) {
  const Index all = elements_of(call.extents(0));
  for (std::size_t i = 0; i < count; ++i) {
    if (!call.is_f32(i) || call.extents(i) != call.extents(0) || !is_dense(call, i)) return {};
  }
  if (all == 0) return {};
  return {{operation, fmt::format("{}={}", image ? "n=1,c=1,h=1,w" : "n", all)}};
}

/// By the nearest hundredth of p, on which no time depends.
Cases dropout(const Call& call, double p) {
  Cases out = p > 0 && p < 1 ? elements(call, 1, "dropout", false) : Cases();
  for (OperatorCase& one : out)
    one.problem += fmt::format(",p={}", std::clamp<Index>(std::lround(100 * p), 1, 99));
  return out;
}

/// A trace does not have the ids: those of words stand for them.
Cases lookup(const Call& call) {
  const Extents& table = call.extents(0);
  if (!call.is_f32(0) || !is_dense(call, 0) || table.size() != 2) return {};
  return {{"embedding",
           fmt::format("n={},rows={},d={},ids=words", elements_of(call.extents(1)), table[0], table[1])}};
}

/// None where an id is padding, or sums are scaled by how often their id comes.
Cases lookup_gradient(const Call& call) {
  const Extents& dy = call.extents(0);
  const bool plain = call.value(3) == "-1" && call.value(4) == "False";
  if (!call.is_f32(0) || !is_dense(call, 0) || dy.empty() || !plain) return {};
  return {{"embedding_backward", fmt::format("n={},rows={},d={},ids=words", elements_of(call.extents(1)),
                                             call.value(2), dy.back())}};
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
    const bool scaled = !call.value(2).empty() && number_from<double>(call.value(2)) != 1.0;
    return scaled ? Cases() : elements(call, 2, "elementwise_add", true);
  };
  const auto lstm = [](const Call& call, std::size_t weights, const char* operation) {
    return lstm_layer(call, weights, call, weights + 1, operation);
  };
  const auto drop = [](const Call& call) {
    return dropout(call, call.value(2) == "False" ? 0 : number_from<double>(call.value(1)).value_or(0));
  };
  const auto drop_gradient = [](const Call& call) {
    return dropout(call, 1 - 1 / number_from<double>(call.value(2)).value_or(1));
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
      {"aten::lstm_cell", by(lstm, 2U, "lstm")},
      {"aten::mkldnn_rnn_layer", by(lstm, 1U, "lstm")},
      {"aten::mkldnn_rnn_layer_backward", by(lstm, 1U, "lstm_backward")},
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
      {"aten::dropout", drop},
      {"aten::dropout_", drop},
      {"aten::native_dropout", drop},
      {"aten::native_dropout_backward", drop_gradient},
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

}  // namespace

Index elements_of(const std::vector<Index>& extents) {
  Index out = 1;
  for (const Index extent : extents) {
    if (extent <= 0 || extent > largest_array / out) return 0;
    out *= extent;
  }
  return out;
}

std::vector<OperatorCase> cases_of(std::string_view name, const std::vector<TraceArgument>& arguments) {
  const auto rule = rules().find(name);
  return rule == rules().end() ? Cases() : rule->second(Call(arguments));
}

std::vector<OperatorCase> attention_cases(const std::vector<TraceArgument>& scores,
                                          const std::vector<TraceArgument>& values, bool causal) {
  const Call first(scores), second(values);
  const Extents& q = first.extents(0);
  if (!first.is_f32(0) || q.size() != 3) return {};
  const Index heads = q[0], tokens = q[1], d = q[2];
  if (first.extents(1) != Extents{heads, d, tokens}) return {};
  if (second.extents(0) != Extents{heads, tokens, tokens} || second.extents(1) != q) return {};
  return attention(heads, tokens, d, causal);
}

std::vector<OperatorCase> lstm_cases(const std::vector<TraceArgument>& inputs,
                                     const std::vector<TraceArgument>& hidden) {
  const Call first(inputs), second(hidden);
  const Extents &x = first.extents(0), &h = second.extents(0);
  return x.size() == 3 && h.size() == 2 && h[0] == x[1] ? lstm_layer(first, 1, second, 1, "lstm") : Cases();
}

}  // namespace assay
