#include "training/job/operator_cases.hpp"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// One call, by its extents, strides and values.
std::vector<OperatorCase> cases(const char* name, std::vector<TraceArgument> arguments) {
  return cases_of(name, arguments);
}
TraceArgument f32(std::vector<Index> extents, std::vector<Index> strides = {}) {
  return {.type = "float", .extents = {std::move(extents)}, .strides = {std::move(strides)}};
}
TraceArgument value(const char* text) { return {.type = "Scalar", .value = text, .extents = {{}}}; }

std::vector<std::string> texts(const std::vector<OperatorCase>& cases) {
  std::vector<std::string> out;
  for (const OperatorCase& one : cases) out.push_back(one.operation + "/" + one.problem);
  return out;
}

TEST(OperatorCases, AreConvolutionsAndTheirGradients) {
  const auto layer = [](const char* groups, std::vector<Index> filters = {4, 3, 3, 3}) {
    return std::vector<TraceArgument>{f32({2, 3, 8, 9}), f32(std::move(filters)), {},
                                      value("[2, 2]"),   value("[1, 1]"),         value("[1, 1]"),
                                      value("False"),    value("[0, 0]"),         value(groups)};
  };
  EXPECT_THAT(texts(cases("aten::convolution", layer("1"))),
              ElementsAre("conv2d/n=2,c=3,f=4,h=8,w=9,kernel=3,stride=2,pad=1"));
  EXPECT_THAT(texts(cases("aten::convolution", layer("3", {6, 1, 3, 3}))),
              ElementsAre("conv2d/n=2,c=3,f=6,h=8,w=9,kernel=3,stride=2,pad=1,groups=3"));
  EXPECT_THAT(cases("aten::convolution", layer("")), IsEmpty());
  const auto gradient = [](const char* wanted, std::vector<Index> strides = {}) {
    return std::vector<TraceArgument>{f32({2, 4, 8, 8}), f32({2, 3, 8, 8}, std::move(strides)),
                                      f32({4, 3, 3, 3}), value("[4]"),
                                      value("[1, 1]"),   value("[1, 1]"),
                                      value("[1, 1]"),   value("False"),
                                      value("[0, 0]"),   value("1"),
                                      value(wanted)};
  };
  EXPECT_THAT(texts(cases("aten::convolution_backward", gradient("[True, True, True]"))),
              ElementsAre("conv2d_data_gradient/n=2,c=3,f=4,h=8,w=8,kernel=3,pad=1",
                          "conv2d_weight_gradient/n=2,c=3,f=4,h=8,w=8,kernel=3,pad=1,bias=per_filter"));
  EXPECT_THAT(texts(cases("aten::convolution_backward", gradient("[False, True, False]"))),
              ElementsAre("conv2d_weight_gradient/n=2,c=3,f=4,h=8,w=8,kernel=3,pad=1"));
  // The bias alone is a sum over all but the channels.
  EXPECT_THAT(texts(cases("aten::convolution_backward", gradient("[True, False, True]"))),
              ElementsAre("conv2d_data_gradient/n=2,c=3,f=4,h=8,w=8,kernel=3,pad=1",
                          "elementwise_channel_bias_backward/n=2,c=4,h=8,w=8"));
  // Channels last is another layout than the contract's.
  EXPECT_THAT(cases("aten::convolution_backward", gradient("[True, True, True]", {192, 1, 24, 3})),
              IsEmpty());
  for (const std::size_t at : {0U, 2U}) {
    std::vector<TraceArgument> others = gradient("[True, True, True]");
    others[at].strides = {at == 0 ? std::vector<Index>{256, 1, 32, 4} : std::vector<Index>{27, 1, 9, 3}};
    EXPECT_THAT(cases("aten::convolution_backward", others), IsEmpty()) << at;
  }
}

TEST(OperatorCases, AreConvolutionsWithUnevenPadding) {
  EXPECT_THAT(texts(cases("aten::convolution", {f32({2, 3, 8, 9}),
                                                f32({4, 3, 1, 3}),
                                                {},
                                                value("[1, 1]"),
                                                value("[0, 1]"),
                                                value("[1, 1]"),
                                                value("False"),
                                                value("[0, 0]"),
                                                value("1")})),
              ElementsAre("conv2d/n=2,c=3,f=4,h=8,w=9,kernel=1,kernel_w=3,left=1,right=1"));
}

TEST(OperatorCases, AreNormalizationsOfRowsThatLieDense) {
  const auto forward = [](std::vector<Index> strides) {
    return texts(cases("aten::native_layer_norm", {f32({8, 64, 32}, std::move(strides)), value("[32]")}));
  };
  EXPECT_THAT(forward({2048, 32, 1}), ElementsAre("layernorm/rows=512,cols=32"));
  EXPECT_THAT(forward({2048, 1, 64}), IsEmpty());
  const auto backward = [](std::vector<Index> strides) {
    const TraceArgument x = f32({64, 32}, {32, 1});
    return texts(
        cases("aten::native_layer_norm_backward", {f32({64, 32}, std::move(strides)), x, value("[32]")}));
  };
  EXPECT_THAT(backward({32, 1}), ElementsAre("layernorm_backward/rows=64,cols=32"));
  EXPECT_THAT(backward({0, 0}), IsEmpty());
}

TEST(OperatorCases, AreNormalizationsOfChannelsWhileTraining) {
  const auto forward = [](const char* training) {
    return cases("aten::native_batch_norm", {f32({32, 8, 4, 5}, {160, 20, 5, 1}), f32({8}), f32({8}),
                                             f32({8}), f32({8}), value(training)});
  };
  EXPECT_THAT(texts(forward("True")), ElementsAre("batch_norm/n=32,c=8,h=4,w=5"));
  EXPECT_THAT(forward("False"), IsEmpty());
  const TraceArgument rows = f32({32, 8}, {8, 1}), channel = f32({8});
  EXPECT_THAT(texts(cases("aten::native_batch_norm_backward",
                          {rows, rows, channel, channel, channel, channel, channel, value("True")})),
              ElementsAre("batch_norm_backward/n=32,c=8,h=1,w=1"));
}

TEST(OperatorCases, AreSoftmaxOfTheLastExtent) {
  EXPECT_THAT(texts(cases("aten::_softmax", {f32({8, 4, 64}, {256, 64, 1}), value("-1")})),
              ElementsAre("softmax/rows=32,cols=64"));
  EXPECT_THAT(cases("aten::_softmax", {f32({8, 4, 64}, {256, 64, 1}), value("1")}), IsEmpty());
}

TEST(OperatorCases, AreALossOverTheLastExtent) {
  const TraceArgument words = f32({8, 4, 64}, {256, 64, 1}), image = f32({8, 4, 6, 6});
  EXPECT_THAT(texts(cases("aten::_log_softmax", {words, value("2"), value("False")})),
              ElementsAre("softmax_cross_entropy/rows=32,cols=64"));
  EXPECT_THAT(texts(cases("aten::_log_softmax_backward_data", {words, words, value("-1"), value("6")})),
              ElementsAre("softmax_cross_entropy/rows=32,cols=64"));
  EXPECT_THAT(cases("aten::_log_softmax", {image, value("1"), value("False")}), IsEmpty());   // of each pixel
  EXPECT_THAT(cases("aten::_log_softmax", {f32({32, 10}, {1, 32}), value("1")}), IsEmpty());  // by columns
  const TraceArgument rows = f32({32, 64}, {64, 1}), labels{.type = "long int", .extents = {{32}}};
  EXPECT_EQ(cases("aten::nll_loss_forward", {rows, labels}).at(0).operators, 4);
  EXPECT_EQ(cases("aten::nll_loss_backward", {f32({}), rows, labels}).at(0).problem, "rows=32,cols=64");
}

TEST(OperatorCases, AreLookupsAndTheirGradient) {
  const TraceArgument ids{.type = "long int", .extents = {{8, 64}}};
  EXPECT_THAT(texts(cases("aten::embedding", {f32({1000, 128}), ids, value("-1")})),
              ElementsAre("embedding/n=512,rows=1000,d=128,ids=words"));
  const auto gradient = [&](const char* padding, const char* scaled) {
    return cases("aten::embedding_dense_backward",
                 {f32({8, 64, 128}), ids, value("1000"), value(padding), value(scaled)});
  };
  EXPECT_THAT(texts(gradient("-1", "False")),
              ElementsAre("embedding_backward/n=512,rows=1000,d=128,ids=words"));
  EXPECT_THAT(gradient("0", "False"), IsEmpty());
  EXPECT_THAT(gradient("-1", "True"), IsEmpty());
}

// The arguments are those of PyTorch 2.6: x, w_ih, w_hh, two biases, h0 and c0. It calls an operator for each
// layer and direction.
TEST(OperatorCases, AreLayersOfAnLstm) {
  const TraceArgument x = f32({11, 32, 64}, {2048, 64, 1}), bias = f32({384}), state = f32({32, 96});
  const auto layer = [&](const char* name, Index gates, Index hidden) {
    return cases(name, {x, f32({gates, 64}), f32({gates, hidden}), bias, bias, state, state, value("True")});
  };
  EXPECT_THAT(texts(layer("aten::mkldnn_rnn_layer", 384, 96)),
              ElementsAre("lstm/steps=11,batch=32,inputs=64,hidden=96"));
  EXPECT_THAT(texts(layer("aten::mkldnn_rnn_layer_backward", 384, 96)),
              ElementsAre("lstm_backward/steps=11,batch=32,inputs=64,hidden=96"));
  EXPECT_THAT(layer("aten::mkldnn_rnn_layer", 288, 96), IsEmpty());  // three gates: a GRU
  EXPECT_THAT(layer("aten::mkldnn_rnn_layer", 384, 40), IsEmpty());  // a projection of h
  const TraceArgument states{.type = "TensorList", .extents = {{32, 96}, {32, 96}}};
  EXPECT_THAT(texts(cases("aten::lstm_cell", {f32({32, 64}), states, f32({384, 64}), f32({384, 96})})),
              ElementsAre("lstm/steps=1,batch=32,inputs=64,hidden=96"));
}

/// Returns the cases of an `lstm` that holds the products with all inputs and with the first state, a product
/// of a step, and the stack of all outputs.
std::vector<std::string> layers_around(const std::vector<TraceArgument>& inputs,
                                       const std::vector<TraceArgument>& state) {
  std::vector<std::string> out;
  for (const OperatorCall& one : composed({{.span = {0, 100}, .name = "aten::lstm"},
                                           {.span = {10, 20}, .name = "aten::linear", .arguments = &inputs},
                                           {.span = {20, 30}, .name = "aten::linear", .arguments = &state},
                                           {.span = {30, 40}, .name = "aten::linear", .arguments = &state},
                                           {.span = {50, 60}, .name = "aten::stack"}})) {
    out.push_back(texts(one.cases).at(0));
    EXPECT_EQ(one.span.begin, 10);
    EXPECT_EQ(one.span.end, 60);
  }
  return out;
}

TEST(OperatorCases, AreLayersOfAnLstmBySteps) {
  const std::vector<TraceArgument> inputs{f32({11, 32, 64}), f32({384, 64}), f32({384})};
  const auto state = [](Index width) {
    return std::vector<TraceArgument>{f32({32, width}), f32({384, width}), f32({384})};
  };
  EXPECT_THAT(layers_around(inputs, state(96)), ElementsAre("lstm/steps=11,batch=32,inputs=64,hidden=96"));
  EXPECT_THAT(layers_around(inputs, state(40)), IsEmpty());     // a projection of h
  EXPECT_THAT(layers_around(state(96), state(96)), IsEmpty());  // sequences that were packed
}

TEST(OperatorCases, AreDropoutsThatDrop) {
  const auto forward = [](const char* p, const char* training) {
    return texts(cases("aten::dropout", {f32({8, 16}), value(p), value(training)}));
  };
  EXPECT_THAT(forward("0.1", "True"), ElementsAre("dropout/n=128,p=10"));
  EXPECT_THAT(forward("0.999", "True"), ElementsAre("dropout/n=128,p=99"));
  EXPECT_THAT(forward("0.1", "False"), IsEmpty());
  EXPECT_THAT(forward("0.", "True"), IsEmpty());
  EXPECT_THAT(forward("1.", "True"), IsEmpty());
  // The third argument is 1 / (1 - p).
  EXPECT_THAT(texts(cases("aten::native_dropout_backward", {f32({8, 16}), f32({8, 16}), value("4.")})),
              ElementsAre("dropout/n=128,p=75"));
}

/// The case of a step of an optimizer by such calls; "" for none.
using NamedArguments = std::pair<const char*, std::vector<TraceArgument>>;
std::string step_of(const char* name, const std::vector<NamedArguments>& written) {
  std::vector<OperatorCall> calls{{.span = {0, 1000}, .name = name, .is_note = true}};
  for (const auto& [operation, arguments] : written) {
    const double begin = 10 * static_cast<double>(calls.size());
    calls.push_back({.span = {begin, begin + 10}, .name = operation, .arguments = &arguments});
  }
  const std::vector<OperatorCall> found = composed(calls);
  return found.empty() || !found[0].is_case() ? "" : texts(found[0].cases).at(0);
}

constexpr const char* sgd_step = "Optimizer.step#SGD.step";

/// The operators that PyTorch 2.6 calls for two tensors, one after the other.
std::vector<NamedArguments> sgd_steps(const char* gradient, const char* nesterov = nullptr,
                                      const char* type = "float") {
  std::vector<NamedArguments> out;
  for (TraceArgument tensor : {f32({10, 20}), f32({10})}) {
    tensor.type = type;
    const auto sum = [&](const char* times) {
      return std::vector<TraceArgument>{tensor, tensor, value(times)};
    };
    out.emplace_back("aten::add", sum("0.0001"));  // weight decay
    out.emplace_back("aten::mul_", std::vector<TraceArgument>{tensor, value("")});
    out.emplace_back("aten::add_", sum(gradient));
    if (nesterov != nullptr) out.emplace_back("aten::add", sum(nesterov));
    out.emplace_back("aten::add_", sum("-0.02"));
  }
  return out;
}

TEST(OperatorCases, AreStepsOfSgdWithMomentum) {
  EXPECT_EQ(step_of(sgd_step, sgd_steps("1")), "sgd/n=210");
  EXPECT_EQ(step_of(sgd_step, sgd_steps("1", "0.9")), "sgd_nesterov/n=210");
  EXPECT_EQ(step_of(sgd_step, sgd_steps("0.9")), "");  // dampened
  EXPECT_EQ(step_of(sgd_step, sgd_steps("1", nullptr, "double")), "");
  EXPECT_EQ(step_of("Optimizer.step#Adagrad.step", sgd_steps("1")), "");
  std::vector<NamedArguments> clipped = sgd_steps("1");
  clipped.insert(clipped.begin(), NamedArguments{"aten::mul_", {f32({10, 20}), value("")}});
  EXPECT_EQ(step_of(sgd_step, clipped), "sgd/n=210");
  // Without momentum, and in the first step with it.
  EXPECT_EQ(step_of(sgd_step, {{"aten::add_", {f32({10}), f32({10}), value("-0.02")}}}), "");
}

TEST(OperatorCases, AreStepsOfSgdByListsAndFused) {
  const TraceArgument list{.type = "TensorList", .extents = {{10, 20}, {10}}}, no_list{.type = "TensorList"};
  const auto sum = [&](const char* name, const char* times) {
    return NamedArguments{name, {list, list, value(times)}};
  };
  const NamedArguments product{"aten::_foreach_mul_", {list, value("0.9")}};
  EXPECT_EQ(
      step_of(sgd_step, {product, sum("aten::_foreach_add_", "1"), sum("aten::_foreach_add_", "-0.02")}),
      "sgd/n=210");
  EXPECT_EQ(step_of(sgd_step, {sum("aten::_foreach_add", "0.0001"), product, sum("aten::_foreach_add_", "1"),
                               sum("aten::_foreach_add_", "0.9"), sum("aten::_foreach_add_", "-0.02")}),
            "sgd_nesterov/n=210");
  const auto fused = [&](const TraceArgument& buffers, const char* dampening, const char* nesterov) {
    return step_of(sgd_step, {{"aten::_fused_sgd_",
                               {list, list, buffers, value("0.0001"), value("0.9"), value("0.02"),
                                value(dampening), value(nesterov), value("False"), value("False")}}});
  };
  EXPECT_EQ(fused(list, "0.", "False"), "sgd/n=210");
  EXPECT_EQ(fused(list, "0.", "True"), "sgd_nesterov/n=210");
  EXPECT_EQ(fused(list, "0.1", "False"), "");
  EXPECT_EQ(fused(no_list, "0.", "False"), "");  // no momentum
}

TEST(OperatorCases, AreStepsOfAdamAloneAmongItsKin) {
  const TraceArgument tensor = f32({10, 20});
  const std::vector<NamedArguments> calls{{"aten::addcdiv_", {tensor, tensor, tensor}}};
  EXPECT_EQ(step_of("Optimizer.step#Adam.step", calls),
            "adamw_multi_tensor/tensors=1,n=200,sizes=equal,t=1000");
  EXPECT_EQ(step_of("Optimizer.step#NAdam.step", calls), "");
}

TEST(OperatorCases, AreNoStepsOfAdamWithAmsgrad) {
  const TraceArgument tensor = f32({10, 20}), list{.type = "TensorList", .extents = {{10, 20}, {10}}};
  EXPECT_EQ(step_of("Optimizer.step#Adam.step",
                    {{"aten::maximum", {tensor, tensor}}, {"aten::addcdiv_", {tensor, tensor, tensor}}}),
            "");
  const auto fused = [&](const char* amsgrad) {
    std::vector<TraceArgument> all(12, value(""));
    all[0] = list;
    all[11] = value(amsgrad);
    return step_of("Optimizer.step#AdamW.step", {{"aten::_fused_adamw_", all}});
  };
  EXPECT_EQ(fused("False"), "adamw_multi_tensor/tensors=2,n=105,sizes=equal,t=1000");
  EXPECT_EQ(fused("True"), "");
}

// The arguments are those of PyTorch 2.6: q, k, v, dropout_p, is_causal, attn_mask, scale.
TEST(OperatorCases, AreFusedAttentionWithoutDropoutOrAMaskOfItsOwn) {
  const auto forward = [](const char* dropout, const char* causal, const TraceArgument& mask) {
    const TraceArgument q = f32({2, 4, 64, 32});
    return cases("aten::_scaled_dot_product_flash_attention_for_cpu",
                 {q, q, q, value(dropout), value(causal), mask, value("")});
  };
  EXPECT_THAT(texts(forward("0.", "False", {})), ElementsAre("attention/heads=8,tokens=64,d=32,mask=none"));
  EXPECT_THAT(texts(forward("0.", "True", {})), ElementsAre("attention/heads=8,tokens=64,d=32,mask=causal"));
  const auto why_not = [&](const char* dropout, const TraceArgument& mask) {
    const std::vector<OperatorCase> none = forward(dropout, "False", mask);
    EXPECT_THAT(texts(none), ElementsAre("/"));
    return none.at(0).note;
  };
  EXPECT_THAT(why_not("0.1", {}), HasSubstr("no dropout"));
  EXPECT_THAT(why_not("0.", f32({2, 1, 64, 64}, {4096, 4096, 64, 1})), HasSubstr("no mask but a causal one"));
}

TEST(OperatorCases, AreNoneForExtentsThatNoMemoryHolds) {
  const Index many = Index{1} << 40;
  EXPECT_THAT(cases("aten::mm", {f32({many, many}), f32({many, many})}), IsEmpty());
  EXPECT_THAT(cases("aten::relu", {f32({-1, 8})}), IsEmpty());
}

TEST(OperatorCases, TakeTransposesFromStrides) {
  EXPECT_THAT(texts(cases("aten::mm", {f32({8, 16}, {1, 8}), f32({16, 4}, {4, 1})})),
              ElementsAre("gemm/m=8,n=4,k=16,trans=tn"));
  EXPECT_THAT(texts(cases("aten::bmm", {f32({5, 8, 16}, {200, 20, 1}), f32({5, 16, 4}, {64, 1, 16})})),
              ElementsAre("batched_gemm/batch=5,m=8,n=4,k=16,trans=nt"));
  EXPECT_THAT(texts(cases("aten::mv", {f32({8, 16}, {1, 8}), f32({16}, {1})})),
              ElementsAre("gemv/m=16,n=8,trans=t"));
  // One row, or one column, is dense either way.
  EXPECT_THAT(texts(cases("aten::mm", {f32({1, 16}, {1, 1}), f32({16, 1}, {1, 16})})),
              ElementsAre("gemm/m=1,n=1,k=16,trans=nn"));
}

TEST(OperatorCases, AreNoProductsOfMatricesWithGapsOrRepeats) {
  const TraceArgument right = f32({32, 16}, {16, 1});
  for (const std::vector<Index>& strides : {std::vector<Index>{64, 2}, {0, 0}, {0, 1}, {1, 0}, {16, 1}}) {
    const std::vector<OperatorCase> none = cases("aten::mm", {f32({64, 32}, strides), right});
    EXPECT_THAT(texts(none), ElementsAre("/"));
    EXPECT_THAT(none.at(0).note, HasSubstr("no contract has that"));
  }
  EXPECT_THAT(texts(cases("aten::bmm", {f32({8, 64, 32}, {0, 32, 1}), f32({8, 32, 16}, {512, 16, 1})})),
              ElementsAre("/"));
  EXPECT_THAT(texts(cases("aten::mv", {f32({64, 32}, {64, 2}), f32({32}, {1})})), ElementsAre("/"));
}

TEST(OperatorCases, AreNoneWhereTheContractHasNoSuchInput) {
  TraceArgument doubles = f32({8, 8});
  doubles.type = "double";
  EXPECT_THAT(cases("aten::mm", {doubles, doubles}), IsEmpty());
  EXPECT_THAT(cases("aten::mul", {f32({8, 8}), f32({8})}), IsEmpty());              // broadcast
  EXPECT_THAT(cases("aten::relu", {f32({8, 8}, {1, 8})}), IsEmpty());               // by columns
  EXPECT_THAT(cases("aten::add", {f32({8}), f32({8}), value("0.5")}), IsEmpty());   // scaled
  EXPECT_THAT(cases("aten::sum", {f32({8, 4}, {4, 1}), value("[1]")}), IsEmpty());  // over columns
  EXPECT_THAT(texts(cases("aten::sum", {f32({8, 4}, {4, 1}), value("[0]")})),
              ElementsAre("elementwise_channel_bias_backward/n=8,c=4,h=1,w=1"));
  EXPECT_THAT(texts(cases("aten::gelu", {f32({8, 4}), value("tanh")})),
              ElementsAre("elementwise_gelu_tanh/n=32"));
}

}  // namespace
}  // namespace assay
