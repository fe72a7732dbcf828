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

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

struct Written {
  const char* name;
  double begin, duration;  ///< microseconds
  std::string properties = R"("Input Dims": [])";
  const char* category = "cpu_op";
  int thread = 1;
  const char* process = "1";
};

TracedStep read(const std::vector<Written>& events,
                const std::function<void(const OperatorCase&)>& require = {}) {
  std::string text;
  for (const Written& one : events) {
    text += fmt::format(
        R"({}{{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
        text.empty() ? "" : ",", one.category, one.name, one.process, one.thread, one.begin, one.duration,
        one.properties);
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

/// The part of this name, or with a case of this operation.
const StepPart* find(const TracedStep& step, const std::string& name) {
  const auto found = std::ranges::find_if(step.parts, [&](const StepPart& one) {
    return one.name == name ||
           std::ranges::find(one.cases, name, &OperatorCase::operation) != one.cases.end();
  });
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
  EXPECT_EQ(gemm->text, "gemm/m=8,n=4,k=16,trans=nt");
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

/// The gradient of a convolution with this mask of outputs, which takes 100 us.
Written gradient(double begin, const char* wanted) {
  const std::string values =
      fmt::format(R"(["","","","[4]","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","1","{}"])", wanted);
  return {"aten::convolution_backward", begin, 100,
          inputs("[[2,4,8,8],[2,3,8,8],[4,3,3,3]]", "[[256,64,8,1],[192,64,8,1],[27,9,3,1]]", values)};
}

// The trace does not say how long each of its outputs takes.
TEST(TracedStep, KeepsTheCasesOfACallTogether) {
  const TracedStep step = read({{"ProfilerStep#1", 0, 1000, "", note},
                                gradient(0, "[True, True, False]"),
                                gradient(200, "[False, True, False]")});
  const StepPart* both = find(step, "conv2d_data_gradient");
  ASSERT_NE(both, nullptr);
  EXPECT_EQ(both->text,
            "conv2d_data_gradient/n=2,c=3,f=4,h=8,w=8,kernel=3,pad=1 + "
            "conv2d_weight_gradient/n=2,c=3,f=4,h=8,w=8,kernel=3,pad=1");
  EXPECT_NEAR(both->call_seconds, 100e-6, 1e-9);
  EXPECT_EQ(both->per_step, 1);
  // A suite names each case once.
  const Json suite = parse_json(suite_json(step, "mine", 100), "suite");
  ASSERT_EQ(suite["cases"].size(), 2U);
  EXPECT_EQ(suite["cases"][0]["op"].text(), "conv2d_data_gradient");
  EXPECT_EQ(suite["cases"][0]["per_step"].number(), 1);
  EXPECT_EQ(suite["cases"][1]["op"].text(), "conv2d_weight_gradient");
  EXPECT_EQ(suite["cases"][1]["per_step"].number(), 2);
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
  const auto too_wide = [](const OperatorCase& one) {
    if (one.operation == "gemm") throw Error("a call", "k is too large", "take less");
  };
  std::vector<Written> events = two_steps();
  events.push_back({"aten::sigmoid", 850, 50, inputs("[[64]]")});
  const TracedStep step = read(events, too_wide);
  EXPECT_NE(find(step, "elementwise_sigmoid"), nullptr);
  EXPECT_EQ(find(step, "gemm"), nullptr);
  ASSERT_NE(find(step, "aten::addmm"), nullptr);
  EXPECT_EQ(find(step, "aten::addmm")->share, StepShare::not_covered);
  EXPECT_THAT(step.notes, Contains(HasSubstr("aten::addmm is no case: a call: k is too large")));
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
                 {"aten::masked_fill", 100, 50, inputs("[[2,3,10,10],[10,10]]")},
                 {"aten::_softmax", 150, 50},
                 {"aten::matmul", 200, 100},
                 {"aten::bmm", 210, 80, second},
                 {"aten::mm", 400, 10, product}});
  };
  const TracedStep step = forward(values);
  const StepPart* attention = find(step, "attention");
  ASSERT_NE(attention, nullptr);
  EXPECT_EQ(attention->text, "attention/heads=6,tokens=10,d=4,mask=causal");
  EXPECT_NEAR(attention->seconds, 300e-6, 1e-9);
  EXPECT_EQ(find(step, "batched_gemm"), nullptr);
  EXPECT_THAT(step.notes, Contains(HasSubstr("a mask of tokens x tokens is taken as causal")));
  EXPECT_EQ(find(forward(scores), "attention"), nullptr);
}

/// Attention of two products, with these calls before the softmax.
TracedStep attention_with(const std::vector<Written>& calls) {
  std::vector<Written> events{{"ProfilerStep#1", 0, 1000, "", note},
                              {"aten::bmm", 0, 100, inputs("[[6,10,4],[6,4,10]]")},
                              {"aten::_softmax", 200, 50},
                              {"aten::bmm", 300, 100, inputs("[[6,10,10],[6,10,4]]")}};
  events.insert(events.end(), calls.begin(), calls.end());
  return read(events);
}

TEST(TracedStep, LeavesAttentionWithAMaskOfItsOwnByName) {
  EXPECT_EQ(find(attention_with({}), "attention")->text, "attention/heads=6,tokens=10,d=4,mask=none");
  const auto masked = [](const char* name, const char* dims) {
    return attention_with({{name, 100, 50, inputs(dims)}});
  };
  const TracedStep padding = masked("aten::masked_fill", "[[2,3,10,10],[2,1,1,10]]");
  EXPECT_EQ(find(padding, "attention"), nullptr);
  EXPECT_NE(find(padding, "batched_gemm"), nullptr);
  EXPECT_NEAR(find(padding, "attention of two products")->seconds, 200e-6, 1e-9);
  EXPECT_THAT(padding.notes,
              Contains(HasSubstr("attention of two products is no case: the contract of attention "
                                 "has no mask but a causal one")));
  EXPECT_EQ(find(masked("aten::add", "[[6,10,10],[6,10,10],[]]"), "attention"), nullptr);
  EXPECT_EQ(find(masked("aten::add_", "[[2,3,10,10],[1,3,10,10]]"), "attention"), nullptr);
  EXPECT_EQ(find(masked("aten::add_", "[[6,10,10],[10,10]]"), "attention")->text,
            "attention/heads=6,tokens=10,d=4,mask=causal");
}

TEST(TracedStep, DoesNotSwallowOtherWorkBetweenTheProductsOfAttention) {
  const TracedStep product_between = attention_with({{"aten::mm", 110, 50, product}});
  EXPECT_EQ(find(product_between, "attention"), nullptr);
  ASSERT_NE(find(product_between, "gemm"), nullptr);
  EXPECT_NEAR(find(product_between, "gemm")->seconds, 50e-6, 1e-9);
  const TracedStep other = attention_with({{"aten::silu", 110, 50}});
  EXPECT_EQ(find(other, "attention"), nullptr);
  EXPECT_NEAR(find(other, "aten::silu")->seconds, 50e-6, 1e-9);
  EXPECT_NE(find(attention_with({{"aten::div", 110, 50}, {"aten::to", 120, 10}}), "attention"), nullptr);
}

TEST(TracedStep, TakesDropoutWithoutDrawingItsMask) {
  const std::string numbers = inputs("[[8,16],[],[]]", "[]", R"(["","0.1","True"])"),
                    two = inputs("[[8,16],[8,16]]");
  const TracedStep step = read({{"ProfilerStep#1", 0, 1000, "", note},
                                {"aten::dropout", 0, 100, numbers},
                                {"aten::empty_like", 5, 5},
                                {"aten::bernoulli_", 10, 60, inputs("[[8,16]]")},
                                {"aten::random_", 20, 30},
                                {"aten::div_", 75, 10, two},
                                {"aten::mul", 85, 14, two}});
  const StepPart *dropout = find(step, "dropout"), *mask = find(step, "aten::bernoulli_");
  ASSERT_NE(dropout, nullptr);
  EXPECT_EQ(dropout->text, "dropout/n=128,p=10");
  EXPECT_EQ(dropout->per_step, 1);
  EXPECT_NEAR(dropout->seconds, 40e-6, 1e-9);
  EXPECT_NEAR(dropout->call_seconds, 40e-6, 1e-9);
  ASSERT_NE(mask, nullptr);
  EXPECT_EQ(mask->share, StepShare::not_covered);
  EXPECT_NEAR(mask->seconds, 60e-6, 1e-9);
  EXPECT_EQ(find(step, "elementwise_multiply"), nullptr);
}

// The contract of attention has no dropout: the parts are cases of their own.
TEST(TracedStep, FindsNoAttentionAroundADropout) {
  const TracedStep step =
      read({{"ProfilerStep#1", 0, 1000, "", note},
            {"aten::bmm", 0, 100, inputs("[[6,10,4],[6,4,10]]")},
            {"aten::_softmax", 100, 50},
            {"aten::dropout", 150, 100, inputs("[[6,10,10]]", "[]", R"(["","0.1","True"])")},
            {"aten::bernoulli_", 160, 50},
            {"aten::bmm", 300, 100, inputs("[[6,10,10],[6,10,4]]")}});
  EXPECT_EQ(find(step, "attention"), nullptr);
  EXPECT_NE(find(step, "batched_gemm"), nullptr);
  EXPECT_NE(find(step, "dropout"), nullptr);
}

// The operators of PyTorch without oneDNN, two layers of which the second takes the outputs of the first.
TEST(TracedStep, FindsLayersOfAComposedLstm) {
  std::vector<Written> events{{"ProfilerStep#1", 0, 1000, "", note}, {"aten::lstm", 0, 500}};
  for (const double at : {0.0, 200.0}) {
    const std::string x = at == 0 ? "[[3,8,10],[24,10],[24]]" : "[[3,8,6],[24,6],[24]]";
    events.insert(events.end(), {{"aten::linear", at + 10, 30, inputs(x)},
                                 {"aten::addmm", at + 12, 25, inputs("[[24],[24,10],[10,24]]")}});
    for (const double step : {50.0, 90.0, 130.0}) {
      events.insert(events.end(), {{"aten::linear", at + step, 20, inputs("[[8,6],[24,6],[24]]")},
                                   {"aten::addmm", at + step + 2, 15, inputs("[[24],[8,6],[6,24]]")},
                                   {"aten::mul", at + step + 25, 5, inputs("[[8,6],[8,6]]")}});
    }
    events.push_back({"aten::stack", at + 170, 10});
  }
  events.push_back({"aten::stack", 480, 10});
  const TracedStep step = read(events);
  for (const char* problem : {"steps=3,batch=8,inputs=10,hidden=6", "steps=3,batch=8,inputs=6,hidden=6"}) {
    const auto layer = std::ranges::find(step.parts, std::string("lstm/") + problem, &StepPart::text);
    ASSERT_NE(layer, step.parts.end()) << problem;
    EXPECT_EQ(layer->per_step, 1);
    EXPECT_NEAR(layer->seconds, 170e-6, 1e-9);
  }
  EXPECT_EQ(find(step, "gemm"), nullptr);
  EXPECT_EQ(find(step, "elementwise_multiply"), nullptr);
  const auto rest = std::ranges::find(step.parts, StepShare::not_covered, &StepPart::share);
  ASSERT_NE(rest, step.parts.end());
  EXPECT_EQ(rest->name, "aten::lstm");
  EXPECT_NEAR(rest->seconds, 160e-6, 1e-9);
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
  EXPECT_EQ(adam->text, "adamw_multi_tensor/tensors=3,n=200,sizes=equal,t=1000");
  EXPECT_NEAR(adam->seconds, 500e-6, 1e-9);

  events.resize(3);
  events.push_back({"aten::_fused_adamw_", 10, 50,
                    R"("Input type": ["TensorList"], "Input Dims": [[[1000,32],[10],[10]]])"});
  const TracedStep fused = read(events);
  adam = find(fused, "adamw_multi_tensor");
  ASSERT_NE(adam, nullptr);
  EXPECT_THAT(adam->text, HasSubstr("tensors=3,"));
  EXPECT_THAT(adam->text, HasSubstr("sizes=network"));
}

// PyTorch takes lists apart on a processor: each tensor is updated within them.
TEST(TracedStep, CountsTensorsOfAListOnce) {
  const std::string list = R"("Input type": ["TensorList"], "Input Dims": [[[10,20],[10,20]]])",
                    tensor = inputs("[[10,20]]");
  const TracedStep step = read({{"ProfilerStep#1", 0, 1000, "", note},
                                {"Optimizer.step#AdamW.step", 0, 500, "", note},
                                {"aten::_foreach_addcdiv_", 100, 200, list},
                                {"aten::addcdiv_", 110, 50, tensor},
                                {"aten::addcdiv_", 170, 50, tensor}});
  const StepPart* adam = find(step, "adamw_multi_tensor");
  ASSERT_NE(adam, nullptr);
  EXPECT_EQ(adam->text, "adamw_multi_tensor/tensors=2,n=200,sizes=equal,t=1000");
  EXPECT_NEAR(adam->seconds, 500e-6, 1e-9);
}

TEST(TracedStep, SaysThatSizesOfTensorsAreAveraged) {
  const auto stepped = [](const char* dims) {
    return read({{"ProfilerStep#1", 0, 1000, "", note},
                 {"Optimizer.step#AdamW.step", 0, 500, "", note},
                 {"aten::_fused_adamw_", 10, 50,
                  fmt::format(R"("Input type": ["TensorList"], "Input Dims": [{}])", dims)}});
  };
  EXPECT_THAT(
      stepped("[[64,32],[64],[512],[128,128]]").notes,
      Contains(HasSubstr("Optimizer.step#AdamW.step: its tensors of 64 to 16384 parameters are taken as ")));
  EXPECT_THAT(stepped("[[64],[64]]").notes, Not(Contains(HasSubstr("parameters"))));
}

// Closures hold the forward pass and the backward pass, as those of Lightning do.
TEST(TracedStep, TakesAStepWithoutItsClosure) {
  const TracedStep step = read({{"ProfilerStep#1", 0, 1000, "", note},
                                {"Optimizer.step#AdamW.step", 0, 900, "", note},
                                {"aten::add_", 10, 20, inputs("[[10],[10],[]]")},
                                {"aten::linear", 100, 200},
                                {"aten::addmm", 110, 180, inputs("[[4],[8,16],[16,4]]")},
                                {"MmBackward0", 400, 200, "", "cpu_op", 2},
                                {"aten::mm", 410, 190, product, "cpu_op", 2},
                                {"aten::mul_", 700, 20, inputs("[[10],[]]")},
                                {"aten::addcdiv_", 750, 20, inputs("[[10],[10],[10]]")}});
  ASSERT_NE(find(step, "adamw_multi_tensor"), nullptr);
  EXPECT_NEAR(find(step, "adamw_multi_tensor")->seconds, 200e-6, 1e-9);
  ASSERT_NE(find(step, "aten::addmm"), nullptr);
  EXPECT_NEAR(find(step, "aten::addmm")->seconds, 180e-6, 1e-9);
  ASSERT_NE(find(step, "aten::mm"), nullptr) << "the first thread waits for it";
  EXPECT_NEAR(find(step, "aten::mm")->seconds, 190e-6, 1e-9);
}

TEST(TracedStep, DoesNotCoverASoftmaxWithoutItsLoss) {
  const TracedStep step = read({{"ProfilerStep#1", 0, 1000, "", note},
                                {"aten::mm", 0, 10, product},
                                {"aten::_log_softmax", 20, 10, inputs("[[32,10]]")}});
  EXPECT_EQ(find(step, "softmax_cross_entropy"), nullptr);
  ASSERT_NE(find(step, "aten::_log_softmax"), nullptr);
  EXPECT_EQ(find(step, "aten::_log_softmax")->share, StepShare::not_covered);
  EXPECT_THAT(step.notes, Contains(HasSubstr("aten::_log_softmax is no case: rows=32,cols=10")));
}

TEST(TracedStep, DoesNotCoverALossWhoseCallIsElsewhere) {
  const TracedStep step = read({{"ProfilerStep#1", 0, 1000, "", note},
                                {"aten::mm", 0, 10, product},
                                {"aten::nll_loss_forward", 20, 10, inputs("[[32,10],[32]]")}});
  EXPECT_EQ(find(step, "softmax_cross_entropy"), nullptr);
  EXPECT_THAT(step.notes, Contains(HasSubstr("aten::nll_loss_forward is no case: rows=32,cols=10")));
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
  expect_refusal({step, {"aten::mm", 0, 10, product}, {"gemm", 0, 10, "", "Kernel"}}, "accelerator",
                 "on the processor");
  expect_refusal({{"ProfilerStep#1", 0, 1000, "", note},
                  {"ProfilerStep#2", 500, 1000, "", note},
                  {"aten::mm", 0, 10, product}},
                 "ProfilerStep#2 begins before ProfilerStep#1 ends", "export one of each");
  expect_refusal({step, {"record", 0, 10, "", note}}, "no operators", "record_shapes=True");
}

// Without a loader, with the same numbers of steps, in one lane, and by names.
TEST(TracedStep, OfTwoRanksIsRefused) {
  for (const char* second : {"2", R"("rank1")"}) {
    Written step{"ProfilerStep#1", 0, 1000, "", note}, call{"aten::mm", 0, 10, product};
    std::vector<Written> events{step, call};
    step.begin = call.begin = 300;
    step.process = call.process = second;
    events.insert(events.end(), {step, call});
    expect_refusal(
        events,
        second[0] == '2' ? "two processes take part, 1 and 2" : "two processes take part, 1 and rank1",
        "one file per rank");
  }
}

// Rows of an accelerator repeat annotations under another number.
TEST(TracedStep, ReadsAnnotationsOfOtherProcesses) {
  std::vector<Written> events = two_steps();
  events.push_back({"ProfilerStep#3", 300, 900, "", note, 7, "0"});
  const TracedStep step = read(events);
  EXPECT_NEAR(find(step, "gemm")->seconds, 310e-6, 1e-9);
  EXPECT_THAT(step.notes, Contains(HasSubstr("1 step markers repeat others")));
}

TEST(TracedStep, SaysWhatItDropped) {
  std::vector<Written> events = two_steps();
  events.push_back({"aten::mm", 20, -5, product});
  events.push_back({"train.py(10): f", 20, 5, "", "python_function"});
  events.push_back({"ProfilerStep#9", 9000, 1000, "", note});
  const TracedStep step = read(events);
  EXPECT_THAT(step.notes,
              Contains(HasSubstr("dropped 1 event without a time, or with a duration that is negative")));
  EXPECT_THAT(step.notes, Contains(HasSubstr("dropped 1 event of other kinds than operators")));
  EXPECT_THAT(step.notes, Contains(HasSubstr("4 steps between the others have no marker")));
}

TEST(TracedStep, SaysThatTransposesAreNotKnown) {
  const Written step{"ProfilerStep#1", 0, 1000, "", note};
  EXPECT_THAT(read({step, {"aten::mm", 0, 10, inputs("[[8,16],[16,4]]")}}).notes,
              Contains(HasSubstr("transposes are not known, and taken as none")));
  EXPECT_THAT(read({step, {"aten::mm", 0, 10, product}}).notes, Not(Contains(HasSubstr("transposes"))));
}

// Each part is measured by itself: two markers of 1,000 us, 3,000 us apart, with a product in each and one
// between them.
TEST(TracedStep, TellsPythonFromWhatIsOutsideOfMarkers) {
  const TracedStep step = read({{"ProfilerStep#1", 0, 1000, "", note},
                                {"aten::mm", 100, 200, product},
                                {"aten::mm", 2000, 400, product},
                                {"ProfilerStep#2", 4000, 1000, "", note},
                                {"aten::mm", 4100, 200, product}});
  EXPECT_NEAR(step.seconds, 2500e-6, 1e-9);
  EXPECT_NEAR(step.seconds_of(StepShare::covered), 400e-6, 1e-9);
  EXPECT_NEAR(step.seconds_of(StepShare::python), 800e-6, 1e-9);
  EXPECT_NEAR(step.seconds_of(StepShare::rest), 1300e-6, 1e-9);
}

// What one step begins may end in the next one, and after the last it is in none.
TEST(TracedStep, DividesCallsThatOutlastTheirStep) {
  const TracedStep step = read({{"ProfilerStep#1", 0, 1000, "", note},
                                {"aten::mm", 800, 400, product},
                                {"ProfilerStep#2", 1000, 1000, "", note},
                                {"aten::mm", 1900, 400, product}});
  EXPECT_NEAR(find(step, "gemm")->seconds, 250e-6, 1e-9);
  EXPECT_NEAR(step.seconds_of(StepShare::python), 750e-6, 1e-9);
}

TEST(TracedStep, IsRefusedWhereItsPartsDoNotSumToIt) {
  const Written step{"ProfilerStep#1", 0, 1000, "", note};
  expect_refusal({step, {"aten::mm", 0, 200, product}, {"aten::mm", 100, 300, product}},
                 "the parts of a step take 800 µs, and the step 1.00 ms", "operators of one thread overlap");
}

// PyTorch once rounded times to microseconds: calls then begin before others end, and outlast their callers.
TEST(TracedStep, IsReadWithRoundedTimes) {
  const TracedStep step =
      read({{"ProfilerStep#1", 0, 1000, "", note},
            {"aten::linear", 0, 201},
            {"aten::addmm", 100, 102, inputs("[[4],[8,16],[16,4]]", "[[1],[16,1],[1,16]]")},
            {"aten::mm", 200, 400, product},
            {"aten::relu", 599, 101, inputs("[[8,4]]", "[[4,1]]")}});
  EXPECT_NEAR(find(step, "aten::linear")->seconds, 100e-6, 1e-9);
  EXPECT_NEAR(find(step, "gemm")->seconds, 500e-6, 1e-9);
  EXPECT_NEAR(find(step, "elementwise_relu")->seconds, 100e-6, 1e-9);
  EXPECT_NEAR(step.seconds_of(StepShare::python), 300e-6, 1e-9);
}

// Profilers of 2021 call everything an operator.
TEST(TracedStep, IsReadWithTheCategoriesOf2021) {
  std::vector<Written> events = two_steps();
  for (Written& one : events) one.category = "Operator";
  const TracedStep old = read(events);
  EXPECT_NEAR(old.seconds_of(StepShare::loading), 200e-6, 1e-9);
  EXPECT_NEAR(find(old, "Optimizer.step#SGD.step")->seconds, 80e-6, 1e-9);
}

}  // namespace
}  // namespace assay
