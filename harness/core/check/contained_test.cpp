// Plants kernels that do not come back, and demands that each costs its own checks only.
#include "core/check/contained.hpp"

#include "assay/check.hpp"
#include "assay/error.hpp"
#include "assay/files.hpp"
#include "core/check/doubling_test.hpp"
#include "core/files/child_process.hpp"
#include "core/files/this_program.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <thread>

namespace assay {
namespace {

using ::testing::AllOf;
using testing::doubled;
using testing::Doubling;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;
using Kernel = void (*)(const Doubling::Problem&, const Doubling::Input&, Doubling::Output&);

constexpr Containment contained{.own_process = true, .time_limit = 0.3};

/// The failure of a planted kernel, beside a right one that must be checked on everything.
Failure failure_of(Kernel kernel, bool right_at_first = false) {
  Registry registry = testing::doubling_registry();
  registry.add<Doubling>({.name = "planted", .run = kernel});
  registry.add<Doubling>({.name = "right", .run = doubled});
  std::map<std::string, int> agree;
  std::optional<Failure> out;
  for (const CornerCheck& check :
       check_corners(registry, "^doubling/(planted|right|naive)$", 1, 42, {}, Kin::sound, contained)) {
    if (check.agreement.agrees) ++agree[check.variant];
    if (!check.agreement.failure) continue;
    EXPECT_EQ(check.variant, "planted");
    EXPECT_FALSE(out.has_value()) << "it is checked no further";
    EXPECT_FALSE(check.agreement.agrees);
    EXPECT_EQ(check.agreement.detail, check.agreement.failure->reason);
    out = check.agreement.failure;
  }
  EXPECT_GT(agree["right"], 1);
  EXPECT_EQ(agree["right"], agree["naive"]);
  EXPECT_EQ(agree["planted"] > 0, right_at_first);
  return out.value_or(Failure{});
}

TEST(Contained, NamesTheSignalThatEndedAKernel) {
  const Failure found = failure_of([](const auto&, const auto&, auto&) { std::raise(SIGSEGV); });
  EXPECT_EQ(found.kind, Failure::Kind::crashed);
  EXPECT_EQ(found.reason, "was ended by signal 11 (Segmentation fault)");
}

TEST(Contained, HasALimitForTheHarnessBetweenTwoKernels) {
  const SharedRecord record;
  StepWatch watch(*record);
  watch.follow(getpid());
  const auto passes = [&watch](double between) {
    volatile double sum = 0;
    for (int i = 0; i < 1'000'000; ++i) sum = sum + i;
    return !watch.is_overdue(between);
  };
  EXPECT_TRUE(passes(0)) << "it counts from now on";
  EXPECT_FALSE(passes(0));
  EXPECT_TRUE(passes(StepWatch::most_between));
}

TEST(Contained, SaysThatAKernelExited) {
  EXPECT_EQ(failure_of([](const auto&, const auto&, auto&) { _exit(0); }).reason, "called exit(0)");
  EXPECT_EQ(failure_of([](const auto&, const auto&, auto&) { _exit(4); }).reason, "called exit(4)");
}

TEST(Contained, SaysWhatAKernelThrew) {
  EXPECT_EQ(failure_of([](const auto&, const auto&, auto&) { throw std::out_of_range("tile 7"); }).reason,
            "threw std::out_of_range: tile 7");
  EXPECT_EQ(failure_of([](const auto&, const auto&, auto&) { throw 1; }).reason, "threw int");
}

TEST(Contained, EndsAKernelThatTouchesWhatLiesPastABuffer) {
  const auto reads = [](const Doubling::Problem& p, const Doubling::Input& in, Doubling::Output& out) {
    doubled(p, in, out);
    const float* volatile past = in.x.data() + in.x.size() + 1;
    static_cast<void>(*const_cast<const volatile float*>(past));
  };
  EXPECT_THAT(failure_of(reads, /*right_at_first=*/true).reason, HasSubstr("signal 11"));
}

TEST(Contained, EndsAKernelThatHangs) {
  const Failure found = failure_of([](const auto&, const auto&, auto&) {
    for (;;) ::pause();
  });
  EXPECT_EQ(found.kind, Failure::Kind::timed_out);
  EXPECT_THAT(found.reason, StartsWith("did not end within 0.3 s, of which it had a processor for "));
}

TEST(Contained, FindsWhatItFindsInTheProcessOfItsCaller) {
  const Registry registry = testing::doubling_registry();
  const auto here = check_corners(registry, "doubling", 1, 42, {});
  const auto there = check_corners(registry, "doubling", 1, 42, {}, Kin::sound, {.own_process = true});
  ASSERT_EQ(here.size(), there.size());
  for (std::size_t i = 0; i < here.size(); ++i) {
    EXPECT_EQ(here[i].variant, there[i].variant);
    EXPECT_EQ(here[i].agreement.compared, there[i].agreement.compared);
    EXPECT_EQ(here[i].agreement.worst_error, there[i].agreement.worst_error);
    EXPECT_EQ(here[i].agreement.detail, there[i].agreement.detail);
  }
}

/// Steps that do `work` outside of any kernel.
void do_outside(const std::function<void()>& work) {
  do_steps({.count = 1,
            .work =
                [&](std::size_t, const StepReporter&) {
                  work();
                  return std::string();
                },
            .take = [](std::size_t, const std::string&) {},
            .fail = [](const FailedStep& step) { ADD_FAILURE() << "step " << step.step << " is blamed"; }},
           {.own_process = true}, {});
}

TEST(Contained, BlamesNoKernelForWhatHappensOutside) {
  EXPECT_THAT([] { do_outside([] { _exit(3); }); },
              ThrowsMessage<std::runtime_error>(HasSubstr("ended with exit code 3 outside of any kernel")));
  EXPECT_THAT([] { do_outside([] { throw std::logic_error("mine"); }); },
              ThrowsMessage<std::runtime_error>(HasSubstr("mine")));
  EXPECT_THAT([] { do_outside([] { throw Error("file", "is gone", "make it"); }); },
              ThrowsMessage<Error>(StartsWith("file: is gone\n  make it")));
}

TEST(Contained, LeavesKernelsNothingThatTellsWhoStartedThem) {
  for (const char* of_some : {padding_variable, "ASSAY_PLUGINS", "OPENBLAS_THREAD_TIMEOUT"})
    setenv(of_some, "told", 1);
  setenv(side_variable, "@g", 1);
  setenv("MINE", "a=b", 1);
  std::string found;
  do_steps({.count = 1,
            .work =
                [&](std::size_t step, const StepReporter& reporter) {
                  std::string out;
                  reporter.call(step, 10, [&] {
                    for (char** one = environ; *one != nullptr; ++one) out += std::string(*one) + '\n';
                    out += read_file("/proc/self/environ") + read_file("/proc/self/cmdline");
                  });
                  return out;
                },
            .take = [&](std::size_t, const std::string& bytes) { found = bytes; },
            .fail = [](const FailedStep& step) { ADD_FAILURE() << step.failure.reason; }},
           {.own_process = true}, {});
  for (const char* of_some :
       {padding_variable, side_variable, "ASSAY_PLUGINS", "OPENBLAS_THREAD_TIMEOUT", "MINE"})
    unsetenv(of_some);
  EXPECT_THAT(found, HasSubstr("ASSAY_SIDE=@g\n")) << "functions of an embedding are told apart by it";
  EXPECT_THAT(found,
              AllOf(HasSubstr("MINE=a=b\n"), HasSubstr("OPENBLAS_THREAD_TIMEOUT=17"), Not(HasSubstr("told")),
                    Not(HasSubstr(padding_variable)), HasSubstr(std::string("assay\0launch", 12))));
}

TEST(SharedRecord, IsOfNoOtherChild) {
  const SharedRecord record;
  const Command finds{.words = {"sh", "-c", fmt::format("test -e /proc/self/fd/{}", record.descriptor())},
                      .folder = {}};
  EXPECT_FALSE(wait_for_children({start_child(finds)}).passed());
  EXPECT_TRUE(wait_for_children({start_child(finds, {.record = record.descriptor()})}).passed());
}

TEST(Contained, TellsOfAProcessThatEndedOnceAndBlamesNobody) {
  const SharedRecord flag;
  std::string said;
  std::vector<std::size_t> done;
  do_steps(
      {.count = 4,
       .work =
           [&](std::size_t step, const StepReporter& reporter) {
             reporter.call(step, 10, [&] {
               if (step == 2 && (*flag).limit.exchange(1) == 0) std::raise(SIGSEGV);
             });
             return std::string("found");
           },
       .take = [&](std::size_t step, const std::string&) { done.push_back(step); },
       .fail = [](const FailedStep& step) { ADD_FAILURE() << "step " << step.step << " is blamed"; },
       .kernel = [](std::size_t step) { return std::to_string(step); },
       .remark = [&](std::size_t step, const std::string& words) { said += std::to_string(step) + words; }},
      {.own_process = true}, {});
  EXPECT_THAT(said, StartsWith("2it was ended by signal 11 (Segmentation fault); alone it came back"));
  for (const std::size_t step : {0U, 1U, 2U, 3U}) EXPECT_THAT(done, ::testing::Contains(step));
}

TEST(Contained, GoesOnAfterAStepThatFailsWithWhatWasKnown) {
  std::string found;
  std::vector<std::size_t> failed;
  do_steps({.count = 5,
            .work =
                [&](std::size_t step, const StepReporter& reporter) {
                  reporter.call(step, 10, [&] {
                    if (step == 1 || step == 3) std::abort();
                  });
                  return found + std::to_string(step);
                },
            .take = [&](std::size_t, const std::string& bytes) { found = bytes; },
            .fail = [&](const FailedStep& step) { failed.push_back(step.step); }},
           {.own_process = true}, {});
  EXPECT_EQ(found, "024");
  EXPECT_EQ(failed, (std::vector<std::size_t>{1, 3}));
}

/// The steps that are blamed, where `work` is the kernel of the second of four.
std::vector<std::size_t> blamed(const std::function<void()>& work, const std::function<void()>& after) {
  std::string found;
  std::vector<std::size_t> failed;
  do_steps({.count = 4,
            .work =
                [&](std::size_t step, const StepReporter& reporter) {
                  reporter.call(step, 10, [&] {
                    if (step == 1) work();
                    if (step > 1) std::this_thread::sleep_for(std::chrono::milliseconds(60));
                  });
                  if (step == 1) after();
                  return std::to_string(step);
                },
            .take = [&](std::size_t, const std::string& bytes) { found += bytes; },
            .fail = [&](const FailedStep& step) { failed.push_back(step.step); }},
           {.own_process = true}, {});
  for (const char step : {'0', '2', '3'}) EXPECT_THAT(found, HasSubstr(std::string(1, step)));
  return failed;
}

TEST(Contained, BlamesWhoLeftACrashBehind) {
  const auto later = [] {
    std::thread([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      std::abort();
    }).detach();
  };
  EXPECT_THAT(blamed(later, [] {}), ::testing::ElementsAre(1));
}

/// The steps against which something stands in the end, where step 1 of four leaves something behind.
std::string accused_in_the_end(const std::function<std::string(std::size_t step, bool others)>& finds) {
  bool left = false;  // in each process its own
  std::string found(4, '-');
  do_steps({.count = 4,
            .work =
                [&](std::size_t step, const StepReporter& reporter) {
                  std::string out;
                  reporter.call(step, 10, [&] { out = finds(step, left); });
                  left = left || step == 1;
                  return out;
                },
            .take = [&](std::size_t step, const std::string& bytes) { found[step] = bytes[0]; },
            .fail = [](const FailedStep& step) { ADD_FAILURE() << "step " << step.step << " is blamed"; },
            .accuses = [](std::size_t, const std::string& bytes) { return bytes == "x"; }},
           {.own_process = true}, {});
  return found;
}

TEST(Contained, HoldsAgainstNobodyWhatTheyDoNotDoAlone) {
  EXPECT_EQ(accused_in_the_end([](std::size_t, bool left) { return left ? "x" : "o"; }), "oooo")
      << "2 and 3 in the process of 1 alone";
  EXPECT_EQ(accused_in_the_end([](std::size_t step, bool) { return step == 2 ? "x" : "o"; }), "ooxo");
  EXPECT_EQ(accused_in_the_end([](std::size_t step, bool) { return step == 0 ? "x" : "o"; }), "xooo");
}

TEST(Contained, BlamesWhoseProcessEndsWithoutItsAnswers) {
  EXPECT_THAT(blamed([] {}, [] { _exit(0); }), ::testing::ElementsAre(1));
  EXPECT_THAT(blamed([] {}, [] { std::abort(); }), ::testing::ElementsAre(1));
}

TEST(Contained, GivesAKernelTwentyTimesTheTimeOfNaive) {
  const Cost small{.flops = 1000};
  EXPECT_EQ(step_limit(0, 0.001, small), 10);
  EXPECT_EQ(step_limit(0, 3.0, small), 60);
  EXPECT_EQ(step_limit(0.5, 3.0, small), 0.5);
  EXPECT_EQ(step_limit(0, std::nullopt, small), 60);
  EXPECT_GT(step_limit(0, std::nullopt, {.flops = 1e11}), 1000);
}

}  // namespace
}  // namespace assay
