#include "training/job/traced_step.hpp"

#include "assay/error.hpp"
#include "core/json/json.hpp"
#include "training/job/scratch_file_test.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Written {
  const char* name;
  double begin, duration;  ///< microseconds
  std::string properties = R"("Input Dims": [])";
  const char* category = "cpu_op";
  int thread = 1;
};

TracedStep read(const std::vector<Written>& events,
                const std::function<void(const StepPart&)>& require = {}) {
  std::string text;
  for (const Written& one : events) {
    text += fmt::format(
        R"({}{{"ph":"X","cat":"{}","name":"{}","pid":1,"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
        text.empty() ? "" : ",", one.category, one.name, one.thread, one.begin, one.duration, one.properties);
  }
  const ScratchFile file("{\"traceEvents\": [" + text + "]}");
  return read_traced_step(file.path(), require);
}

std::string inputs(const std::string& dims, const std::string& strides = "[]",
                   const std::string& values = "[]") {
  const auto count = std::count(dims.begin(), dims.end(), '[');
  std::string types;
  for (std::ptrdiff_t i = 0; i < count; ++i) types += (i > 0 ? R"(,"float")" : R"("float")");
  return fmt::format(R"("Concrete Inputs": {}, "Input type": [{}], "Input Strides": {}, "Input Dims": {})",
                     values, types, strides, dims);
}

constexpr const char* note = "user_annotation";
const std::string product = inputs("[[8,16],[16,4]]", "[[16,1],[1,16]]");

const StepPart* find(const TracedStep& step, const std::string& name) {
  const auto found = std::ranges::find_if(
      step.parts, [&](const StepPart& one) { return one.operation == name || one.name == name; });
  return found == step.parts.end() ? nullptr : &*found;
}

/// Two steps of 1,000 us and 10 us until the next: loading 200, a linear layer of 300 with a product of 250,
/// batch normalization of 100 with a copy in it, a node of the engine of 120 with a product of 100 of its own
/// on another thread, 50 of which the first thread works too, and an optimizer of 80.
std::vector<Written> two_steps() {
  std::vector<Written> out;
  for (const double at : {0.0, 1010.0}) {
    out.insert(out.end(),
               {{at == 0 ? "ProfilerStep#3" : "ProfilerStep#4", at, 1000, "", note},
                {"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at, 200, "", note},
                {"aten::randint", at + 10, 20},
                {"aten::linear", at + 200, 300},
                {"aten::t", at + 210, 10},
                {"aten::addmm", at + 240, 250, inputs("[[4],[8,16],[16,4]]", "[[1],[16,1],[1,16]]")},
                {"aten::batch_norm", at + 500, 100},
                {"aten::copy_", at + 510, 50},
                {"autograd::engine::evaluate_function: MmBackward0", at + 550, 120, "", "cpu_op", 2},
                {"MmBackward0", at + 555, 110, "", "cpu_op", 2},
                {"aten::mm", at + 560, 100, product, "cpu_op", 2},
                {"Optimizer.step#SGD.step", at + 700, 80, "", note},
                {"aten::add_", at + 710, 20}});
  }
  return out;
}

TEST(TracedStep, IsDividedAmongItsParts) {
  const TracedStep step = read(two_steps());
  EXPECT_EQ(step.steps, 2);
  EXPECT_NEAR(step.seconds, 1005e-6, 1e-9);
  double sum = 0;
  for (const StepPart& part : step.parts) sum += part.seconds;
  EXPECT_NEAR(sum, step.seconds, 1e-9);
  // Both products are one case: 250, and 70 of the 100 that the first thread leaves to the second.
  const StepPart* gemm = find(step, "gemm");
  ASSERT_NE(gemm, nullptr);
  EXPECT_EQ(gemm->problem, "m=8,n=4,k=16,trans=nt");
  EXPECT_EQ(gemm->per_step, 2);
  EXPECT_NEAR(gemm->seconds, 310e-6, 1e-9);
  EXPECT_NEAR(gemm->call_seconds, 175e-6, 1e-9);
  EXPECT_NEAR(find(step, "aten::linear")->seconds, 50e-6, 1e-9);
  EXPECT_NEAR(find(step, "aten::batch_norm")->seconds, 100e-6, 1e-9);
  EXPECT_EQ(find(step, "aten::copy_"), nullptr);
  EXPECT_NEAR(step.seconds_of(StepShare::loading), 200e-6, 1e-9);
  EXPECT_NEAR(step.seconds_of(StepShare::autograd), 10e-6, 1e-9);
  EXPECT_NEAR(find(step, "Optimizer.step#SGD.step")->seconds, 80e-6, 1e-9);
}

TEST(TracedStep, BecomesASuiteOfItsCases) {
  const Json suite = parse_json(suite_json(read(two_steps()), "mine", 100), "suite");
  EXPECT_EQ(suite["name"].text(), "mine");
  EXPECT_EQ(suite["steps_per_epoch"].number(), 100);
  ASSERT_EQ(suite["cases"].size(), 1U);
  EXPECT_EQ(suite["cases"][0]["op"].text(), "gemm");
  EXPECT_EQ(suite["cases"][0]["k"].number(), 16);
  EXPECT_EQ(suite["cases"][0]["trans"].text(), "nt");
  EXPECT_EQ(suite["cases"][0]["per_step"].number(), 2);
}

TEST(TracedStep, PlansItsMemoryBesideItsCases) {
  EXPECT_FALSE(read(two_steps()).has_memory);
  const TracedStep step = read(two_steps());
  const Json suite = parse_json(suite_json(step, "mine", 100, "mine.requests.csv"), "suite");
  ASSERT_EQ(suite["cases"].size(), 2U);
  EXPECT_EQ(suite["cases"][1]["op"].text(), "memory_pool_plan");
  EXPECT_EQ(suite["cases"][1]["trace"].text(), "mine.requests.csv");
}

TEST(TracedStep, DoesNotCoverWhatAContractRefuses) {
  const auto too_wide = [](const StepPart& part) {
    if (part.operation == "gemm") throw Error("a call", "k is too large", "take less");
  };
  std::vector<Written> events = two_steps();
  events.push_back({"aten::sigmoid", 850, 50, inputs("[[64]]")});
  const TracedStep step = read(events, too_wide);
  EXPECT_NE(find(step, "elementwise_sigmoid"), nullptr);
  EXPECT_EQ(find(step, "gemm"), nullptr);
  ASSERT_NE(find(step, "aten::addmm"), nullptr);
  EXPECT_EQ(find(step, "aten::addmm")->share, StepShare::not_covered);
  EXPECT_THAT(step.notes, ElementsAre(HasSubstr("aten::addmm is no case: a call: k is too large")));
  double sum = 0;
  for (const StepPart& part : step.parts) sum += part.seconds;
  EXPECT_NEAR(sum, step.seconds, 1e-9);
  EXPECT_THROW(read(two_steps(), too_wide), Error) << "no case is left";
}

TEST(TracedStep, FindsAttentionOfTwoProducts) {
  const std::string scores = inputs("[[6,10,4],[6,4,10]]"), values = inputs("[[6,10,10],[6,10,4]]");
  const auto forward = [&](const std::string& second) {
    return read({{"ProfilerStep#1", 0, 1000, "", note},
                 {"aten::matmul", 0, 100},
                 {"aten::bmm", 10, 80, scores},
                 {"aten::masked_fill", 100, 50},
                 {"aten::_softmax", 150, 50},
                 {"aten::matmul", 200, 100},
                 {"aten::bmm", 210, 80, second},
                 {"aten::mm", 400, 10, product}});
  };
  const TracedStep step = forward(values);
  const StepPart* attention = find(step, "attention");
  ASSERT_NE(attention, nullptr);
  EXPECT_EQ(attention->problem, "heads=6,tokens=10,d=4,mask=causal");
  EXPECT_NEAR(attention->seconds, 300e-6, 1e-9);
  EXPECT_EQ(find(step, "batched_gemm"), nullptr);
  EXPECT_EQ(find(forward(scores), "attention"), nullptr);
}

TEST(TracedStep, TakesAdamByTheSizesOfItsTensors) {
  std::vector<Written> events{{"ProfilerStep#1", 0, 1000, "", note},
                              {"Optimizer.step#AdamW.step", 0, 500, "", note},
                              {"aten::mm", 600, 10, product}};
  for (int i = 0; i < 3; ++i)
    events.push_back({"aten::addcdiv_", 10.0 * i, 5, inputs("[[10,20],[10,20],[10,20]]")});
  const StepPart* adam = nullptr;
  const TracedStep loop = read(events);
  adam = find(loop, "adamw_multi_tensor");
  ASSERT_NE(adam, nullptr);
  EXPECT_EQ(adam->problem, "tensors=3,n=200,sizes=equal,t=1000");
  EXPECT_NEAR(adam->seconds, 500e-6, 1e-9);

  events.resize(3);
  events.push_back({"aten::_fused_adamw_", 10, 50,
                    R"("Input type": ["TensorList"], "Input Dims": [[[1000,32],[10],[10]]])"});
  const TracedStep fused = read(events);
  adam = find(fused, "adamw_multi_tensor");
  ASSERT_NE(adam, nullptr);
  EXPECT_THAT(adam->problem, HasSubstr("tensors=3,"));
  EXPECT_THAT(adam->problem, HasSubstr("sizes=network"));
}

TEST(TracedStep, CountsALossAndItsGradientOnce) {
  const TracedStep step = read({{"ProfilerStep#1", 0, 1000, "", note},
                                {"aten::_log_softmax", 0, 10, inputs("[[32,10]]")},
                                {"aten::nll_loss_forward", 20, 10, inputs("[[32,10],[32]]")},
                                {"aten::nll_loss_backward", 40, 10, inputs("[[],[32,10],[32]]")},
                                {"aten::_log_softmax_backward_data", 60, 10, inputs("[[32,10],[32,10]]")}});
  const StepPart* loss = find(step, "softmax_cross_entropy");
  ASSERT_NE(loss, nullptr);
  EXPECT_EQ(loss->per_step, 1);
  EXPECT_NEAR(loss->call_seconds, 40e-6, 1e-9);
}

void expect_refusal(const std::vector<Written>& events, const char* what, const char* remedy) {
  try {
    read(events);
    ADD_FAILURE() << "was read";
  } catch (const Error& failure) {
    EXPECT_THAT(failure.what(), HasSubstr(what));
    EXPECT_THAT(failure.what(), HasSubstr(remedy));
  }
}

TEST(TracedStep, IsRefusedWithTheWayOut) {
  const Written step{"ProfilerStep#1", 0, 1000, "", note};
  expect_refusal({step, {"aten::mm", 0, 10, R"("External id": 3)"}}, "without shapes", "record_shapes=True");
  expect_refusal({step}, "no operators", "record_shapes=True");
  expect_refusal({{"aten::mm", 0, 10, product}}, "no step", "profiler.step()");
  expect_refusal({step, {"aten::batch_norm", 0, 10}}, "no operator that is a case", "assay list");
  expect_refusal({step, {"aten::mm", 0, 10, product}, {"gemm", 0, 10, "", "kernel"}}, "accelerator",
                 "on the processor");
  expect_refusal({{"ProfilerStep#1", 0, 1000, "", note},
                  {"ProfilerStep#2", 500, 1000, "", note},
                  {"aten::mm", 0, 10, product}},
                 "ProfilerStep#2 begins before ProfilerStep#1 ends", "export one of each");
}

// Profilers of 2021 call everything an operator.
TEST(TracedStep, IsReadWithTheCategoriesOf2021) {
  std::vector<Written> events = two_steps();
  for (Written& one : events) one.category = "Operator";
  const TracedStep old = read(events);
  EXPECT_NEAR(old.seconds_of(StepShare::loading), 200e-6, 1e-9);
  EXPECT_NEAR(find(old, "Optimizer.step#SGD.step")->seconds, 80e-6, 1e-9);
}

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
  const auto layer = [](const char* groups) {
    return std::vector<TraceArgument>{f32({2, 3, 8, 9}), f32({4, 3, 3, 3}), {},
                                      value("[2, 2]"),   value("[1, 1]"),   value("[1, 1]"),
                                      value("False"),    value("[0, 0]"),   value(groups)};
  };
  EXPECT_THAT(texts(cases("aten::convolution", layer("1"))),
              ElementsAre("conv2d/n=2,c=3,f=4,h=8,w=9,kernel=3,stride=2,pad=1"));
  EXPECT_THAT(cases("aten::convolution", layer("3")), IsEmpty());
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
  // Channels last is another layout than the contract's.
  EXPECT_THAT(cases("aten::convolution_backward", gradient("[True, True, True]", {192, 1, 24, 3})),
              IsEmpty());
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
