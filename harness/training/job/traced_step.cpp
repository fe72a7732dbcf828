#include "training/job/traced_step.hpp"

#include "assay/error.hpp"
#include "core/json/json.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/figures.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

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
    Extents out;
    for (std::string_view part : parts_of(value(at), ',')) {
      const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || c == '-'; };
      const auto begin = std::ranges::find_if(part, is_digit);
      const auto end = std::find_if_not(begin, part.end(), is_digit);
      if (const auto number = number_from<Index>(std::string_view(begin, end))) out.push_back(*number);
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

/// Rows of the last extent.
Cases rows_case(const Call& call, std::size_t x, const char* operation, double calls) {
  const Extents& extents = call.extents(x);
  if (!call.is_f32(x) || extents.size() != 2 || elements_of(extents) == 0) return {};
  return {{operation, fmt::format("rows={},cols={}", extents[0], extents[1]), calls}};
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

/// Rows of the last extent, over which the softmax goes.
Cases softmax(const Call& call) {
  const Extents& extents = call.extents(0);
  const auto over = number_from<Index>(call.value(1));
  if (!call.is_f32(0) || !is_dense(call, 0) || elements_of(extents) == 0 || !over) return {};
  if (*over != -1 && *over != std::ssize(extents) - 1) return {};
  return {{"softmax", fmt::format("rows={},cols={}", elements_of(extents) / extents.back(), extents.back())}};
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

/// Attention that is composed: the product of queries and keys, of such extents, and the product with the
/// values after a softmax; nothing where they do not belong together.
Cases composed_attention(const Call& scores, const Call& values, bool causal) {
  const Extents& q = scores.extents(0);
  if (!scores.is_f32(0) || q.size() != 3) return {};
  const Index heads = q[0], tokens = q[1], d = q[2];
  if (scores.extents(1) != Extents{heads, d, tokens}) return {};
  if (values.extents(0) != Extents{heads, tokens, tokens} || values.extents(1) != q) return {};
  return attention(heads, tokens, d, causal);
}

using CaseRule = std::function<Cases(const Call&)>;

const std::map<std::string_view, CaseRule>& rules() {
  const auto gelu = [](const Call& call, std::size_t count, const char* end) {
    const bool tanh = call.value(count) == "tanh";
    return elements(call, count, fmt::format("elementwise_gelu{}{}", tanh ? "_tanh" : "", end), false);
  };
  const auto scaled_by_one = [](const Call& call, std::size_t at) {
    return call.value(at).empty() || number_from<double>(call.value(at)) == 1.0;
  };
  static const std::map<std::string_view, CaseRule> all{
      {"aten::mm", [](const Call& c) { return product_case(c, 0); }},
      {"aten::addmm", [](const Call& c) { return product_case(c, 1); }},
      {"aten::bmm", [](const Call& c) { return product_case(c, 0); }},
      {"aten::baddbmm", [](const Call& c) { return product_case(c, 1); }},
      {"aten::mv", [](const Call& c) { return vector_case(c, 0); }},
      {"aten::addmv", [](const Call& c) { return vector_case(c, 1); }},
      {"aten::convolution", convolution},
      {"aten::convolution_backward", convolution_backward},
      {"aten::native_layer_norm", [](const Call& c) { return normalisation(c, 0, 1, "layernorm"); }},
      {"aten::native_layer_norm_backward",
       [](const Call& c) { return normalisation(c, 0, 2, "layernorm_backward"); }},
      {"aten::native_batch_norm", [](const Call& c) { return batch_norm(c, 0, 5, "batch_norm"); }},
      {"aten::native_batch_norm_backward",
       [](const Call& c) { return batch_norm(c, 1, 7, "batch_norm_backward"); }},
      {"aten::_softmax", softmax},
      {"aten::embedding", lookup},
      {"aten::embedding_dense_backward", lookup_gradient},
      {"aten::gelu", [=](const Call& c) { return gelu(c, 1, ""); }},
      {"aten::gelu_backward", [=](const Call& c) { return gelu(c, 2, "_backward"); }},
      {"aten::relu", [](const Call& c) { return elements(c, 1, "elementwise_relu", true); }},
      {"aten::relu_", [](const Call& c) { return elements(c, 1, "elementwise_relu", true); }},
      {"aten::threshold_backward",
       [](const Call& c) { return elements(c, 2, "elementwise_relu_backward", false); }},
      {"aten::sigmoid", [](const Call& c) { return elements(c, 1, "elementwise_sigmoid", false); }},
      {"aten::sigmoid_backward",
       [](const Call& c) { return elements(c, 2, "elementwise_sigmoid_backward", false); }},
      {"aten::add",
       [=](const Call& c) {
         return scaled_by_one(c, 2) ? elements(c, 2, "elementwise_add", true) : Cases{};
       }},
      {"aten::mul", [](const Call& c) { return elements(c, 2, "elementwise_multiply", true); }},
      {"aten::sum", bias_gradient},
      // The loss and its gradient are one contract: whoever computes the softmax counts the calls.
      {"aten::_log_softmax", [](const Call& c) { return rows_case(c, 0, "softmax_cross_entropy", 1); }},
      {"aten::nll_loss_forward", [](const Call& c) { return rows_case(c, 0, "softmax_cross_entropy", 0); }},
      {"aten::nll_loss_backward", [](const Call& c) { return rows_case(c, 1, "softmax_cross_entropy", 0); }},
      {"aten::_log_softmax_backward_data",
       [](const Call& c) { return rows_case(c, 0, "softmax_cross_entropy", 0); }},
      {"aten::_scaled_dot_product_flash_attention_for_cpu", fused_attention},
  };
  return all;
}

constexpr double seconds_of_microsecond = 1e-6;
constexpr std::string_view step_call = "Optimizer.step#";
constexpr std::size_t none = static_cast<std::size_t>(-1);

/// An operator, or a note of the loop; times in microseconds.
struct Traced {
  Span span;
  std::size_t name = 0;  ///< position in the names
  std::vector<OperatorCase> cases{};
  std::size_t arguments = none;  ///< of a product, which may be a part of attention
  bool is_note = false;          ///< of the loop, or of the user: no operator
};

/// A time in which one thread worked for these parts, an equal share for each.
struct Work {
  Span span;
  std::array<std::size_t, 2> parts{none, none};
};

class StepReader {
 public:
  explicit StepReader(const std::filesystem::path& file) : file_(file), trace_steps_(file) {}

  TracedStep run(const std::function<void(const StepPart&)>& require) {
    read_trace(
        file_, [&](const TraceEvent& event) { take(event); }, /*with_arguments=*/true);
    require_shapes();
    steps_ = trace_steps_.spans(events_);
    for (auto& [thread, events] : threads_) {
      std::ranges::stable_sort(events, [](const Traced& a, const Traced& b) {
        return std::pair(a.span.begin, -a.span.end) < std::pair(b.span.begin, -b.span.end);
      });
      compose_attention(events);
    }
    divide();
    return result(require);
  }

 private:
  /// A part of the step, with what its calls add up to.
  struct Sum {
    StepPart part;
    std::vector<double> calls{};  ///< microseconds
    bool shares_calls = false;    ///< several operators make up a call
  };
  /// An operator that is under way.
  struct Frame {
    double end = 0, cursor = 0;
    std::array<std::size_t, 2> parts{none, none};
    bool closed = false;  ///< what it calls belongs to it
  };

  void take(const TraceEvent& event) {
    ++events_;
    has_memory_ = has_memory_ || event.name == "[memory]";
    const std::optional<Span> span = event.phase == "X" ? trace_steps_.place(event) : std::nullopt;
    if (!span) return;
    const std::string_view name = event.name;
    if (event.category == "kernel" || event.category == "gpu_memcpy") works_elsewhere_ = true;
    const bool noted = event.category == "user_annotation";
    if (!noted && event.category != "cpu_op" && event.category != "Operator") return;
    Traced one{.span = *span,
               .name = name_of(event.name),
               .is_note = noted || is_fetch(name) || name.starts_with(step_call)};
    has_shapes_ = has_shapes_ || event.has_shapes;
    if (const auto number = step_number(name)) return trace_steps_.add_marker(*number, *span);
    if (is_fetch(name)) trace_steps_.add_fetch(event, *span);
    one.cases = cases_of(name, event.arguments);
    if (name == "aten::bmm") {
      one.arguments = kept_.size();
      kept_.push_back(event.arguments);
    }
    note_parameters(event, one.span);
    threads_[event.thread].push_back(std::move(one));
  }

  std::size_t name_of(const std::string& name) {
    const auto [found, is_new] = numbers_.try_emplace(name, names_.size());
    if (is_new) names_.push_back(name);
    return found->second;
  }

  /// Adam updates each tensor by one addcdiv_, lists of them by another, or all by one fused operator.
  void note_parameters(const TraceEvent& event, Span span) {
    static const std::set<std::string_view> updates{"aten::addcdiv_", "aten::_foreach_addcdiv_",
                                                    "aten::_fused_adamw_", "aten::_fused_adam_"};
    if (!updates.contains(event.name) || event.arguments.empty()) return;
    for (const std::vector<Index>& extents : event.arguments.front().extents)
      parameters_[span.begin].push_back(elements_of(extents));
  }

  void require_shapes() const {
    if (works_elsewhere_) {
      throw Error(file_.string(),
                  "has kernels of an accelerator, where operators of the processor are launches",
                  "trace a job on the processor; `assay predict` reads this one");
    }
    if (threads_.empty()) {
      throw Error(file_.string(), "has no operators",
                  "record them: profile(activities=[ProfilerActivity.CPU], record_shapes=True)");
    }
    if (!has_shapes_) {
      throw Error(file_.string(), "has operators without shapes",
                  "record them again: profile(…, record_shapes=True)");
    }
  }

  /// The step that an event begins in; nothing outside of all.
  const Span* step_at(double time) const {
    const auto after = std::ranges::upper_bound(steps_, time, {}, &Span::begin);
    return after == steps_.begin() || time >= std::prev(after)->end ? nullptr : &*std::prev(after);
  }

  /// Puts an event around two products with a softmax between that are attention together.
  void compose_attention(std::vector<Traced>& events) {
    std::vector<Traced> found;
    const Traced *product = nullptr, *around = nullptr, *product_around = nullptr;
    int softmaxes = 0;
    bool masked = false;
    for (const Traced& one : events) {
      const std::string_view name = names_[one.name];
      if (name == "aten::matmul") around = &one;
      if (name == "aten::_softmax") ++softmaxes;
      if (name == "aten::masked_fill" || name == "aten::masked_fill_") masked = true;
      if (name == "aten::_softmax_backward_data") product = nullptr;
      if (one.arguments == none) continue;
      const Traced& outer = around != nullptr && around->span.end >= one.span.end ? *around : one;
      if (product != nullptr && softmaxes == 1) {
        Cases cases = composed_attention(Call(kept_[product->arguments]), Call(kept_[one.arguments]), masked);
        if (!cases.empty()) {
          found.push_back({.span = {product_around->span.begin, outer.span.end},
                           .name = name_of("attention of two products"),
                           .cases = std::move(cases)});
        }
      }
      product = &one;
      product_around = &outer;
      softmaxes = 0;
      masked = false;
    }
    std::vector<Traced> all;
    all.reserve(events.size() + found.size());
    std::ranges::merge(
        found, events, std::back_inserter(all), {}, [](const Traced& e) { return e.span.begin; },
        [](const Traced& e) { return e.span.begin; });
    events = std::move(all);
  }

  std::size_t part(StepShare share, const std::string& name, const OperatorCase* one = nullptr) {
    const std::string key = one != nullptr ? one->operation + '/' + one->problem
                                           : fmt::format("{} {}", static_cast<int>(share), name);
    const auto [found, is_new] = part_numbers_.try_emplace(key, sums_.size());
    if (is_new) {
      sums_.push_back({.part = {.share = share, .name = name}});
      if (one != nullptr) {
        sums_.back().part.operation = one->operation;
        sums_.back().part.problem = one->problem;
      }
    }
    return found->second;
  }

  /// The sizes of the tensors that an optimizer's step updated.
  std::optional<OperatorCase> optimizer_case(const Traced& event) const {
    const std::string_view name = names_[event.name];
    if (name.find("Adam") == std::string_view::npos) return std::nullopt;
    std::vector<Index> sizes;
    for (auto one = parameters_.lower_bound(event.span.begin);
         one != parameters_.end() && one->first < event.span.end; ++one) {
      sizes.insert(sizes.end(), one->second.begin(), one->second.end());
    }
    double all = 0;
    for (const Index size : sizes) all += static_cast<double>(size);
    if (all <= 0) return std::nullopt;
    std::ranges::sort(sizes);
    // A network has a large tensor among two small ones; the largest then follows from the sum.
    const bool network = sizes.size() >= 3 && sizes.back() >= 16 * sizes[sizes.size() / 2];
    const auto count = static_cast<double>(sizes.size());
    const double equals = network ? std::ceil(count / 3) + (count - std::ceil(count / 3)) / 256 : count;
    return OperatorCase{"adamw_multi_tensor", fmt::format("tensors={},n={},sizes={},t=1000", sizes.size(),
                                                          std::max<Index>(1, std::llround(all / equals)),
                                                          network ? "network" : "equal")};
  }

  Frame opened(const Traced& event, const Frame* caller) {
    const std::string& name = names_[event.name];
    Frame out{.end = event.span.end, .cursor = event.span.begin};
    const double length = event.span.end - event.span.begin;
    std::vector<OperatorCase> cases = event.cases;
    if (event.is_note) {
      out.closed = true;
      if (is_fetch(name)) {
        out.parts[0] = part(StepShare::loading, "loading");
      } else if (const auto adam = name.starts_with(step_call) ? optimizer_case(event) : std::nullopt) {
        cases = {*adam};
      } else {
        out.parts[0] = part(StepShare::not_covered, name);
      }
    }
    for (std::size_t i = 0; i < std::min(cases.size(), out.parts.size()); ++i) {
      out.closed = true;
      out.parts[i] = part(StepShare::covered, name, &cases[i]);
      Sum& sum = sums_[out.parts[i]];
      sum.part.per_step += cases[i].calls;
      sum.calls.push_back(length / static_cast<double>(cases.size()));
      sum.shares_calls = sum.shares_calls || cases[i].calls != 1;
    }
    if (out.parts[0] != none) {
      if (cases.empty()) sums_[out.parts[0]].part.per_step += 1;
      return out;
    }
    const bool in_engine = caller != nullptr && sums_[caller->parts[0]].part.share == StepShare::autograd;
    const bool is_operator = name.find("::") != std::string::npos;
    if (name.starts_with("autograd::") || name.starts_with("torch::autograd::") ||
        (in_engine && !is_operator) || (caller == nullptr && name.ends_with("Backward0"))) {
      out.parts[0] = part(StepShare::autograd, "autograd");
    } else if (caller != nullptr && !in_engine) {
      out.parts[0] = caller->parts[0];  // by the name that the program called
      return out;
    } else {
      out.parts[0] = part(StepShare::not_covered, name);
    }
    Sum& sum = sums_[out.parts[0]];
    sum.part.per_step += 1;
    sum.calls.push_back(length);
    return out;
  }

  std::vector<Work> segments_of(const std::vector<Traced>& events) {
    std::vector<Work> out;
    std::vector<Frame> open;
    const auto work = [&](Frame& frame, double until) {
      if (until > frame.cursor) out.push_back({{frame.cursor, until}, frame.parts});
      frame.cursor = std::max(frame.cursor, until);
    };
    const auto close_until = [&](double time) {
      while (!open.empty() && open.back().end <= time) {
        Frame done = open.back();
        open.pop_back();
        work(done, done.end);
        if (!open.empty()) open.back().cursor = std::max(open.back().cursor, done.end);
      }
    };
    for (const Traced& event : events) {
      const Span* step = step_at(event.span.begin);
      const std::string_view name = names_[event.name];
      const bool by_user = event.is_note && !is_fetch(name) && !name.starts_with("Optimizer.");
      if (step == nullptr || by_user) continue;  // says nothing of what runs
      close_until(event.span.begin);
      if (!open.empty() && open.back().closed) continue;
      if (!open.empty()) work(open.back(), event.span.begin);
      Frame frame = opened(event, open.empty() ? nullptr : &open.back());
      frame.end = std::min({frame.end, step->end, open.empty() ? step->end : open.back().end});
      open.push_back(frame);
    }
    close_until(steps_.back().end + 1);
    return out;
  }

  void divide() {
    std::vector<std::vector<Work>> all;
    for (const auto& [thread, events] : threads_) all.push_back(segments_of(events));
    const auto busy = [](const std::vector<Work>& segments) {
      double sum = 0;
      for (const Work& one : segments) sum += one.span.end - one.span.begin;
      return sum;
    };
    std::ranges::stable_sort(all, std::greater{}, busy);
    BusyTime taken;
    for (const std::vector<Work>& segments : all) {
      std::vector<Span> spans;
      for (const Work& one : segments) spans.push_back(one.span);
      const std::vector<double> others = taken.within(spans);
      for (std::size_t i = 0; i < segments.size(); ++i) {
        const double length = spans[i].end - spans[i].begin - others[i];
        const bool two = segments[i].parts[1] != none;
        for (const std::size_t part : segments[i].parts) {
          if (part != none) sums_[part].part.seconds += length / (two ? 2 : 1) * seconds_of_microsecond;
        }
      }
      for (const Span& span : spans) taken.add(span.begin, span.end);
    }
  }

  TracedStep result(const std::function<void(const StepPart&)>& require) {
    TracedStep out{
        .source = file_.filename().string(), .steps = std::ssize(steps_), .has_memory = has_memory_};
    const auto steps = static_cast<double>(steps_.size());
    for (const Span& step : steps_) out.seconds += (step.end - step.begin) / steps * seconds_of_microsecond;
    double sum = 0;
    for (Sum& one : sums_) {
      one.part.seconds /= steps;
      one.part.per_step /= steps;
      sum += one.part.seconds;
      if (one.shares_calls && one.part.per_step > 0) {
        one.part.call_seconds = one.part.seconds / one.part.per_step;
      } else if (!one.calls.empty()) {
        one.part.call_seconds = median(one.calls) * seconds_of_microsecond;
      }
      if (one.part.seconds <= 0) continue;
      if (require && one.part.share == StepShare::covered) {
        try {
          require(one.part);
        } catch (const Error& refused) {
          out.notes.push_back(fmt::format("{} is no case: {}", one.part.name, refused.what()));
          one.part.share = StepShare::not_covered;
          one.part.operation = one.part.problem = "";
        }
      }
      out.parts.push_back(std::move(one.part));
    }
    if (out.seconds - sum < -0.01 * out.seconds) {
      throw Error(file_.string(),
                  fmt::format("the parts of a step take {}, and the step {}", seconds_text(sum),
                              seconds_text(out.seconds)),
                  "the trace holds several processes: export one of each");
    }
    out.parts.push_back(
        {.share = StepShare::python, .name = "Python", .seconds = std::max(0.0, out.seconds - sum)});
    std::ranges::stable_sort(out.parts, [](const StepPart& a, const StepPart& b) {
      return std::pair(a.share, -a.seconds) < std::pair(b.share, -b.seconds);
    });
    if (out.parts.front().share != StepShare::covered) {
      throw Error(file_.string(), "has no operator that is a case of a contract",
                  "`assay list` names the contracts; f32 on the processor is what most of them take");
    }
    if (!trace_steps_.has_markers())
      out.notes.emplace_back(
          "there is no ProfilerStep#N: a step lasts from one fetch of the loader to the next");
    return out;
  }

  const std::filesystem::path& file_;
  TraceSteps trace_steps_;
  std::size_t events_ = 0;
  bool has_shapes_ = false, works_elsewhere_ = false, has_memory_ = false;
  std::vector<Span> steps_;
  std::map<std::string, std::vector<Traced>> threads_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<std::vector<TraceArgument>> kept_;
  std::map<double, std::vector<Index>> parameters_;  ///< sizes, by the time of the update
  std::vector<Sum> sums_;
  std::map<std::string, std::size_t> part_numbers_;
};

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

double TracedStep::seconds_of(StepShare share) const {
  double out = 0;
  for (const StepPart& part : parts) out += part.share == share ? part.seconds : 0;
  return out;
}

TracedStep read_traced_step(const std::filesystem::path& file,
                            const std::function<void(const StepPart&)>& require) {
  return StepReader(file).run(require);
}

std::string suite_json(const TracedStep& step, const std::string& name, Index steps_per_epoch,
                       const std::string& requests) {
  Json cases = Json::array();
  for (const StepPart& part : step.parts) {
    if (part.share != StepShare::covered || part.per_step <= 0) continue;
    Json one{{"op", part.operation}};
    for (const std::string_view field : parts_of(part.problem, ',')) {
      const auto equals = field.find('=');
      const std::string_view value = field.substr(equals + 1);
      const auto number = number_from<Index>(value);
      one[field.substr(0, equals)] = number ? Json(*number) : Json(std::string(value));
    }
    one["per_step"] = shortened(part.per_step);
    one["note"] = fmt::format("{}, {} of the step, {} a call in the trace", part.name,
                              percent_text(part.seconds / step.seconds), seconds_text(part.call_seconds));
    cases.push_back(std::move(one));
  }
  if (!requests.empty()) {
    cases.push_back(Json{{"op", "memory_pool_plan"},
                         {"trace", requests},
                         {"note", "the blocks of the whole trace, in one pool"}});
  }
  const std::string about = fmt::format("{} steps of {}, {} each; cases are {} of a step", step.steps,
                                        step.source, seconds_text(step.seconds),
                                        percent_text(step.seconds_of(StepShare::covered) / step.seconds));
  return json_text(Json{{"schema", 1},
                        {"name", name},
                        {"about", about},
                        {"steps_per_epoch", steps_per_epoch},
                        {"cases", std::move(cases)}}) +
         "\n";
}

}  // namespace assay
