#include "training/job/read_job.hpp"

#include "assay/error.hpp"
#include "training/job/scratch_file_test.hpp"
#include "training/job/trace.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

namespace assay {
namespace {

using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// An event with a duration; times in microseconds.
std::string event(const std::string& category, const std::string& name, double begin, double duration) {
  return fmt::format(R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": 1, "tid": "1", "ts": {}, "dur": {},
    "args": {{"ts": 5, "name": "not this", "deep": [{{"dur": 3}}]}}}})",
                     category, name, begin, duration);
}

std::string trace(const std::vector<std::string>& events) {
  std::string out = R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "V100", "cores": [1, 2]}],
    "traceEvents": [)";
  for (std::size_t i = 0; i < events.size(); ++i) out += (i > 0 ? ",\n" : "") + events[i];
  return out + "]}";
}

constexpr const char* fetch = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";

/// Two steps of 1,000 us from 5,000 on, 10 us apart. The first: fetch 0-300, optimizer 800-1,000 in which the
/// kernel 850-950 runs, kernels 400-600 and 500-700, a copy 650-750, an operator 350-800: so the loader takes
/// 300, the optimizer 200, kernels 300 besides, copies 50 besides, the processor 50 + 50 besides, and 50 + 10
/// until the next step are other. The second is a fetch of 200 and a kernel that began in the step before it.
std::vector<std::string> two_steps(const char* op, const char* kernel, const char* copy) {
  return {event(op, "ProfilerStep#7", 5000, 1000),
          event(op, fetch, 5000, 300),
          event(op, "Optimizer.step#SGD.step", 5800, 200),
          event(op, "aten::conv2d", 5350, 450),
          event(kernel, "gemm", 5400, 200),
          event(kernel, "gemm", 5500, 200),
          event(copy, "Memcpy HtoD", 5650, 100),
          event(kernel, "adam", 5850, 100),
          event(op, "ProfilerStep#8", 6010, 1000),
          event(op, fetch, 6010, 200),
          event(kernel, "late", 5990, 320.5)};
}

std::vector<double> microseconds(const Job& job, const std::string& phase) {
  const auto found = std::ranges::find(job.phases, phase, &StepPhase::name);
  if (found == job.phases.end()) return {};
  std::vector<double> out;
  for (const double seconds : found->seconds) out.push_back(seconds * 1e6);
  return out;
}

Job read(const std::string& text) {
  const ScratchFile file(text);
  return read_kineto(file.path());
}

/// As PyTorch has written names on Windows and of several lines, and Ascend times.
std::string as_others_write(std::string text) {
  const auto replace = [&](const std::string& part, const std::string& by) {
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + by.size()))
      text.replace(at, part.size(), by);
  };
  replace("aten::conv2d", "C:\\Users\\x64\nD:\\u");
  replace("\"ts\": 5400", "\"ts\": \"5400\"");
  replace("\"args\": {", "\"bandwidth\": -nan(ind), \"args\": {");
  return text;
}

void expect_two_steps(const Job& job) {
  const auto near = [](double value) { return DoubleNear(value, 1e-6); };
  ASSERT_EQ(job.windows.size(), 1U);
  EXPECT_EQ(job.windows[0].first_step, 7);
  EXPECT_THAT(job.windows[0].step_seconds,
              ElementsAre(DoubleNear(1010e-6, 1e-12), DoubleNear(1000e-6, 1e-12)));
  EXPECT_THAT(microseconds(job, "data loader"), ElementsAre(near(300), near(200)));
  EXPECT_THAT(microseconds(job, "optimizer"), ElementsAre(near(200), near(0)));
  EXPECT_THAT(microseconds(job, "accelerator kernels"), ElementsAre(near(310), near(100.5)));
  EXPECT_THAT(microseconds(job, "accelerator copies"), ElementsAre(near(50), near(0)));
  EXPECT_THAT(microseconds(job, "processor"), ElementsAre(near(100), near(0)));
  EXPECT_THAT(microseconds(job, "other"), ElementsAre(near(50), near(699.5)));
  EXPECT_THAT(microseconds(job, "accelerator busy"), ElementsAre(near(470), near(300.5)));
}

TEST(KinetoTrace, IsReadWithTheCategoriesOf2021) {
  expect_two_steps(read(trace(two_steps("Operator", "Kernel", "Memcpy"))));
}

TEST(KinetoTrace, IsReadWithTheCategoriesOfToday) {
  expect_two_steps(read(trace(two_steps("cpu_op", "kernel", "gpu_memcpy"))));
}

// The loader of each rank fetches for itself; without one its operators tell.
TEST(KinetoTrace, OfTwoRanksIsRefused) {
  for (const char* const what :
       {R"("user_annotation","name":"enumerate(DataLoader)#_X.__next__")", R"("cpu_op","name":"aten::mm")"}) {
    for (const std::string second : {"2", "rank1"}) {
      std::string events;
      for (const std::string& rank : {std::string("1"), second == "2" ? second : '"' + second + '"'}) {
        for (const char* const begin : {"0", "100"})
          events += fmt::format(R"({}{{"ph":"X","cat":{},"pid":{},"ts":{},"dur":20}})",
                                events.empty() ? "" : ",", what, rank, begin);
      }
      EXPECT_THAT([&] { read(R"({"traceEvents":[)" + events + "]}"); },
                  ::testing::ThrowsMessage<Error>(HasSubstr("two processes take part, 1 and " + second)));
    }
  }
}

TEST(KinetoTrace, SaysHowMuchProfilingSlowsSteps) {
  const Job plain = read(trace(two_steps("cpu_op", "kernel", "gpu_memcpy")));
  EXPECT_THAT(plain.notes, ::testing::Contains(::testing::HasSubstr("by about 1 %")));
}

TEST(KinetoTrace, IsReadPacked) {
  expect_two_steps(read(gzipped(trace(two_steps("cpu_op", "kernel", "gpu_memcpy")))));
}

TEST(KinetoTrace, IsReadWithNamesAndTimesThatAreNoJson) {
  const std::string text = trace(two_steps("cpu_op", "kernel", "gpu_memcpy"));
  expect_two_steps(read(as_others_write(text)));
  expect_two_steps(read(gzipped(as_others_write(text))));
}

TEST(KinetoTrace, IsReadAsABareListOfEvents) {
  std::string list = trace(two_steps("cpu_op", "kernel", "gpu_memcpy"));
  list = list.substr(list.find("\"traceEvents\": ") + 15);
  list.pop_back();
  expect_two_steps(read(list));
}

TEST(KinetoTrace, HasPartsThatSumToTheStep) {
  const Job job = read(trace(two_steps("cpu_op", "kernel", "gpu_memcpy")));
  for (std::size_t i = 0; i < 2; ++i) {
    double sum = 0;
    for (const StepPhase& phase : job.phases) {
      if (!phase.overlaps) sum += phase.seconds[i];
    }
    EXPECT_NEAR(sum, job.windows[0].step_seconds[i], 1e-12);
  }
}

TEST(KinetoTrace, NamesTheHardwareAndTheLoader) {
  const Job job = read(trace(two_steps("cpu_op", "kernel", "gpu_memcpy")));
  EXPECT_EQ(job.hardware, "V100");
  EXPECT_EQ(job.loader.workers, 0);
}

TEST(KinetoTrace, DoesNotGuessHowManyWorkersThereAre) {
  auto events = two_steps("cpu_op", "kernel", "gpu_memcpy");
  events.push_back(
      event("cpu_op", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 6300, 10));
  const Job job = read(trace(events));
  EXPECT_FALSE(job.loader.workers);
  EXPECT_THAT(job.notes, Contains(HasSubstr("does not say how many")));
}

TEST(KinetoTrace, CountsStepsOfTheAcceleratorsRowsOnce) {
  auto events = two_steps("cpu_op", "kernel", "gpu_memcpy");
  events.push_back(event("gpu_user_annotation", "ProfilerStep#7", 5400, 900));
  events.insert(events.begin(), event("user_annotation", "ProfilerStep#8", 6400, 900));
  const Job job = read(trace(events));
  expect_two_steps(job);
  EXPECT_THAT(job.notes, Contains(HasSubstr("2 step markers repeat others")));
}

// Fetches begin at 5,000, 6,010 and 7,000: two whole steps, the third has no end.
TEST(KinetoTrace, IsSplitAtFetchesWhereThereAreNoMarkers) {
  auto events = two_steps("cpu_op", "kernel", "gpu_memcpy");
  std::erase_if(events, [](const std::string& e) { return e.find("ProfilerStep") != std::string::npos; });
  events.push_back(event("cpu_op", fetch, 7000, 100));
  const Job job = read(trace(events));
  EXPECT_THAT(job.windows[0].step_seconds,
              ElementsAre(DoubleNear(1010e-6, 1e-12), DoubleNear(990e-6, 1e-12)));
  EXPECT_THAT(job.notes, Contains(HasSubstr("the last fetch was dropped")));
}

TEST(KinetoTrace, SaysWhatItDropped) {
  auto events = two_steps("cpu_op", "kernel", "gpu_memcpy");
  events.push_back(event("cuda_runtime", "cudaLaunchKernel", 5400, 1));
  events.push_back(event("quantum", "entangle", 5400, 1));
  events.push_back(R"({"ph": "M", "name": "process_name", "pid": 1})");
  events.push_back(R"({"ph": "s", "cat": "ac2g", "name": "arrow", "ts": 5400})");
  const Job job = read(trace(events));
  EXPECT_THAT(job.notes, Contains(HasSubstr("1 event of the unknown category quantum")));
  EXPECT_THAT(job.notes, Contains(HasSubstr("1 event of kinds that take no part")));
  EXPECT_THAT(job.notes, Contains(HasSubstr("1 event that name processes")));
  EXPECT_THAT(job.notes, Contains(HasSubstr("1 event without a duration")));
}

TEST(KinetoTrace, SaysWhereStepsAreMissing) {
  auto events = two_steps("cpu_op", "kernel", "gpu_memcpy");
  events.push_back(event("cpu_op", "ProfilerStep#12", 20000, 1000));
  const Job job = read(trace(events));
  EXPECT_NEAR(job.windows[0].step_seconds[1], 1000e-6, 1e-12) << "not until step 12";
  EXPECT_THAT(job.notes, Contains(HasSubstr("3 steps between the others have no marker")));
}

TEST(TraceEvents, ComeOneAtATimeWithoutTheirArguments) {
  const ScratchFile file(trace({event("a", "b", 1.5, 2.25), R"({"ph": "M", "args": {"name": "x"}})"}));
  std::vector<TraceEvent> seen;
  read_trace(file.path(), [&](const TraceEvent& one) { seen.push_back(one); });
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].name, "b");
  EXPECT_EQ(seen[0].begin, 1.5);
  EXPECT_EQ(seen[0].duration, 2.25);
  EXPECT_THAT(seen[1].name, IsEmpty());
  EXPECT_FALSE(seen[1].begin);
}

}  // namespace
}  // namespace assay
