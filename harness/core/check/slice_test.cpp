// The judge of timed slices finds cheats, and leaves honest kernels alone. Each cheat is a variant of
// `doubling`.
#include "core/check/slice.hpp"

#include "core/check/doubling_test.hpp"
#include "core/machine/clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <execinfo.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <utility>

#ifdef __x86_64__
#include <immintrin.h>
#endif

// A namespace of its own: builds join test files, and these names are short.
namespace assay::slice_test {
namespace {

using assay::testing::Doubling;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Input = Doubling::Input;
using Output = Doubling::Output;
using Kernel = Variant<Doubling>::Kernel;

constexpr const char* problem = "rows=8,columns=16";

/// The audit of slices of this variant beside naive, on one input, until a fault or `most` slices.
Audit audit_of(Kernel kernel, Index calls = 20, int most = 400) {
  Registry registry = testing::doubling_registry();
  registry.add<Doubling>(
      {.name = "cheat", .prepare = [&](const auto&, const Input&, const Context&) { return kernel; }});
  const auto workload = registry.at("doubling").open(problem, {.fill = Fill::uniform});
  const auto timed = workload->timed(1, {}), naive = workload->timed(0, {});
  const Surroundings before = Surroundings::now();
  AuditedSlices slices(*timed, 1, before), innocent(*naive, 1, before);
  for (int i = 0; i < most && slices.audit().fault.empty(); ++i) {
    slices.take(calls, true);
    innocent.take(calls, true);
  }
  EXPECT_THAT(innocent.audit().fault, IsEmpty());
  EXPECT_GT(innocent.audit().judged, 0);
  return slices.audit();
}

void doubled(const Input& in, Output& out) { testing::doubled({}, in, out); }

void pin_to_one_processor() {
  cpu_set_t one{};
  CPU_SET(static_cast<unsigned>(sched_getcpu()), &one);
  sched_setaffinity(0, sizeof one, &one);
}

bool has_one_processor() {
  cpu_set_t all{};
  return sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) < 2;
}

/// Seconds that a kernel with a clock of its own counts for a call on these inputs.
using OwnSeconds = std::function<double(std::span<const Tensor>)>;

class DoubledElsewhere final : public detail::ReadyKernel {
 public:
  DoubledElsewhere(const detail::ErasedContract& contract, void* input, OwnSeconds seconds)
      : contract_(contract), input_(input), seconds_(std::move(seconds)) {}
  void repeat(void* output, Index calls) override {
    const std::vector<Tensor> tensors = detail::tensors(contract_, input_, output);
    const auto* x = static_cast<const float*>(tensors.front().data);
    auto* y = static_cast<float*>(tensors.back().data);
    for (Index call = 0; call < calls; ++call) {
      for (Index i = 0; i < tensors.back().size; ++i) y[i] = 2 * x[i];
      sum_ += seconds_(tensors);
    }
  }
  std::optional<double> own_seconds() override { return std::exchange(sum_, 0); }

 private:
  const detail::ErasedContract& contract_;
  void* input_;
  OwnSeconds seconds_;
  double sum_ = 0;
};

class Elsewhere final : public detail::ErasedVariant {
 public:
  explicit Elsewhere(OwnSeconds seconds)
      : ErasedVariant({.name = "elsewhere"}, false, true), seconds_(std::move(seconds)) {
    info.site = Site::elsewhere_by_own_clock;
  }
  std::unique_ptr<detail::ReadyKernel> ready(const detail::ErasedContract& contract, const void*, void* input,
                                             const Context&) const override {
    return std::make_unique<DoubledElsewhere>(contract, input, seconds_);
  }
  std::optional<std::string> unfit(const detail::ErasedContract&, const void*,
                                   const Context&) const override {
    return std::nullopt;
  }

 private:
  OwnSeconds seconds_;
};

/// The audit of a kernel by its own clock, whatever else its calls take.
Audit audit_by_own_clock(const OwnSeconds& seconds) {
  Registry registry = testing::doubling_registry();
  registry.add("doubling", std::make_unique<Elsewhere>(seconds), {});
  const auto workload = registry.at("doubling").open(problem, {.fill = Fill::uniform});
  const auto timed = workload->timed(1, {});
  AuditedSlices slices(*timed, 1, Surroundings::now());
  for (int i = 0; i < 200 && slices.audit().fault.empty(); ++i) slices.take(4, true);
  return slices.audit();
}

TEST(AuditedSlices, CompareCallsByTheClockOfTheKernelWhereItHasOne) {
  const auto copies = [] {
    const double end = cpu_seconds_of_thread() + 1e-4;
    while (cpu_seconds_of_thread() < end) {
    }
  };
  EXPECT_THAT(audit_by_own_clock([&](const auto&) {
                copies();
                return 1e-5;
              }).fault,
              IsEmpty())
      << "copies that it does not count are no results that it keeps";
  EXPECT_THAT(audit_by_own_clock([last = std::vector<float>()](std::span<const Tensor> tensors) mutable {
                const auto* x = static_cast<const float*>(tensors.front().data);
                std::vector<float> now(x, x + tensors.front().size);
                Index changed = 0;
                for (std::size_t i = 0; i < now.size(); ++i) changed += last.empty() || last[i] != now[i];
                last = std::move(now);
                return changed > 4 ? 1e-2 : 1e-5;
              }).fault,
              HasSubstr("keeps results between calls"));
}

/// A kernel of another device: what a call does besides its work, what waiting for `calls` calls does, and
/// what its clock says of so many.
struct Device {
  std::function<void()> call = [] {};
  std::function<void(Index calls)> wait = [](Index) {};
  std::function<double(Index calls)> seconds{};
};

class OnDevice final : public detail::ReadyKernel {
 public:
  OnDevice(const detail::ErasedContract& contract, void* input, const Device& device)
      : contract_(contract), input_(input), device_(device) {}
  void repeat(void* output, Index calls) override {
    const std::vector<Tensor> tensors = detail::tensors(contract_, input_, output);
    const auto* x = static_cast<const float*>(tensors.front().data);
    auto* y = static_cast<float*>(tensors.back().data);
    for (Index call = 0; call < calls; ++call) {
      for (Index i = 0; i < tensors.back().size; ++i) y[i] = 2 * x[i];
      device_.call();
    }
    calls_ += calls;
    device_.wait(calls);
  }
  bool waits_for_device() const override { return true; }
  std::optional<double> own_seconds() override {
    const Index calls = std::exchange(calls_, 0);
    return device_.seconds ? std::optional(device_.seconds(calls)) : std::nullopt;
  }

 private:
  const detail::ErasedContract& contract_;
  void* input_;
  const Device& device_;
  Index calls_ = 0;
};

class DeviceVariant final : public detail::ErasedVariant {
 public:
  explicit DeviceVariant(Device device)
      : ErasedVariant({.name = "device"}, false, true), device_(std::move(device)) {
    info.site = Site::elsewhere;
  }
  std::unique_ptr<detail::ReadyKernel> ready(const detail::ErasedContract& contract, const void*, void* input,
                                             const Context&) const override {
    return std::make_unique<OnDevice>(contract, input, device_);
  }
  std::optional<std::string> unfit(const detail::ErasedContract&, const void*,
                                   const Context&) const override {
    return std::nullopt;
  }

 private:
  Device device_;
};

struct OnDeviceFound {
  std::string fault;
  AuditedSlices::Taken taken;
  std::optional<double> by_our_clock;
};
OnDeviceFound found_on(Device device) {
  Registry registry = testing::doubling_registry();
  registry.add("doubling", std::make_unique<DeviceVariant>(std::move(device)), {});
  const auto workload = registry.at("doubling").open(problem, {.fill = Fill::uniform});
  const auto timed = workload->timed(1, {});
  AuditedSlices slices(*timed, 1, Surroundings::now());
  OnDeviceFound out;
  for (int i = 0; i < 100 && slices.audit().fault.empty(); ++i) out.taken = slices.take(4, true);
  out.fault = slices.audit().fault;
  out.by_our_clock = slices.seconds_beside_own_clock();
  return out;
}

void work(double seconds) {
  const double end = cpu_seconds_of_thread() + seconds;
  while (cpu_seconds_of_thread() < end) {
  }
}
void sleep(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

TEST(Device, IsTimedByItsClockAndShowsOurs) {
  const auto found = found_on({.call = [] { work(5e-5); },  // a copy that it does not count
                               .wait = [](Index calls) { sleep(5e-4 * static_cast<double>(calls)); },
                               .seconds = [](Index calls) { return 4e-4 * static_cast<double>(calls); }});
  EXPECT_THAT(found.fault, IsEmpty());
  EXPECT_NEAR(found.taken.seconds, 4 * 4e-4, 1e-9);
  ASSERT_TRUE(found.by_our_clock.has_value());
  EXPECT_GE(*found.by_our_clock, 5e-4);
}

TEST(Device, MayHaveNoClockAndNothingLeftToWaitFor) {
  EXPECT_THAT(found_on({.call = [] { work(1e-4); }}).fault, IsEmpty());
  EXPECT_THAT(found_on({.wait = [](Index) { sleep(1e-4); }}).fault, IsEmpty()) << "a slow link";
}

TEST(Device, IsFoundWhereItWaitsWhenItIsAskedTwice) {
  const auto pending = std::make_shared<Index>(0);
  EXPECT_THAT(found_on({.wait =
                            [pending](Index calls) {
                              if (calls == 0) work(1e-3 * static_cast<double>(*pending));
                              *pending = calls;
                            }})
                  .fault,
              HasSubstr("does not wait for its work: asked to synchronize once more it took"));
}

TEST(Device, IsFoundWhereItWaitsForSeveralCallsOnly) {
  EXPECT_THAT(found_on({.wait =
                            [](Index calls) {
                              if (calls > 1) work(1e-3 * static_cast<double>(calls));
                            }})
                  .fault,
              HasSubstr("does not wait for its work: each of 8 calls in a row took"));
}

TEST(Device, IsFoundWhereItsClockCountsTheLastCallOnly) {
  EXPECT_THAT(found_on({.wait = [](Index calls) { sleep(2e-4 * static_cast<double>(calls)); },
                        .seconds = [](Index) { return 2e-4; }})
                  .fault,
              HasSubstr("its own clock says 200 µs of 8 calls in a row, and 200 µs of one"));
}

TEST(Device, IsFoundWhereItsClockLeavesOutWorkOfThisProcessor) {
  EXPECT_THAT(found_on({.call = [] { work(1e-3); },
                        .seconds = [](Index calls) { return 1e-4 * static_cast<double>(calls); }})
                  .fault,
              HasSubstr("its own clock leaves out work of this processor: it says 100 µs a call"));
}

TEST(Accelerator, IsADeviceThatNotEverybodyMayOpen) {
  constexpr unsigned nvidia = 195, direct_rendering = 226, compute = 261;
  for (const unsigned driver : {nvidia, direct_rendering, compute}) EXPECT_TRUE(may_be_accelerator(driver));
  constexpr unsigned null_and_zero = 1, terminal = 5, fuse_and_kvm = 10, pseudo_terminal = 136;
  for (const unsigned driver : {null_and_zero, terminal, fuse_and_kvm, pseudo_terminal})
    EXPECT_FALSE(may_be_accelerator(driver));
}

TEST(AuditedSlices, PassAnHonestKernel) {
  const Audit audit = audit_of(doubled);
  EXPECT_THAT(audit.fault, IsEmpty());
  EXPECT_EQ(audit.slices, 400);
  EXPECT_GT(audit.compared, 0);
}

/// Returns use(timed) of this kernel, made ready.
template <class Use>
auto of_ready(const Kernel& kernel, const Use& use) {
  Registry registry = testing::doubling_registry();
  registry.add<Doubling>(
      {.name = "watches", .prepare = [&](const auto&, const Input&, const Context&) { return kernel; }});
  const auto workload = registry.at("doubling").open(problem, {.fill = Fill::uniform});
  return use(*workload->timed(1, {}));
}

/// A contract whose elements are not valid in other places.
struct Redrawn : Doubling {
  struct Input : Doubling::Input {
    static constexpr auto parts() { return std::tuple{redrawn("x", &Input::x)}; }
  };
  static Input make_input(const Problem& p, Setting& setting) { return {Doubling::make_input(p, setting)}; }
};

/// The inputs of the calls of a slice.
std::set<std::vector<float>> inputs_by_seed(std::uint64_t seed) {
  std::set<std::vector<float>> seen;
  Registry registry;
  registry.add<Redrawn>(
      {.name = "naive", .run = [](const auto&, const auto& in, Output& out) { doubled(in, out); }});
  registry.add<Redrawn>({.name = "watches", .prepare = [&](const auto&, const auto&, const Context&) {
                           return [&](const Redrawn::Input& in, Output& out) {
                             seen.emplace(in.x.begin(), in.x.end());
                             doubled(in, out);
                           };
                         }});
  const auto workload = registry.at("doubling").open(problem, {.fill = Fill::uniform});
  const auto timed = workload->timed(1, {});
  AuditedSlices slices(*timed, 1, Surroundings::now(), AuditedSlices::Judging::few);
  slices.take(20, false, seed);
  EXPECT_GE(seen.size(), 20U);
  return seen;
}

TEST(AuditedSlices, HaveTheSameInputsWhereTheyHaveTheSameSeed) {
  const auto common_with_7 = [inputs = inputs_by_seed(7)](std::uint64_t seed) {
    return std::ranges::count_if(inputs_by_seed(seed),
                                 [&](const auto& input) { return inputs.contains(input); });
  };
  EXPECT_EQ(common_with_7(7), 20) << "all that are timed";
  EXPECT_EQ(common_with_7(8), 0);
}

TEST(AuditedSlices, FindAnAnswerThatIsKeptByAddress) {
  EXPECT_THAT(audit_of([last = static_cast<const float*>(nullptr)](const Input& in, Output& out) mutable {
                if (last != in.x.data()) doubled(in, out);
                last = in.x.data();
              }).fault,
              HasSubstr("expected"));
}

TEST(AuditedSlices, FindAnAnswerThatIsKeptByAFewElements) {
  EXPECT_THAT(audit_of([kept = std::make_shared<std::map<float, std::vector<float>>>()](const Input& in,
                                                                                        Output& out) {
                auto [found, fresh] = kept->try_emplace(in.x[0] + in.x[64]);
                if (fresh) {
                  doubled(in, out);
                  found->second.assign(out.y.begin(), out.y.end());
                } else {
                  std::ranges::copy(found->second, out.y.begin());
                }
              }).fault,
              ::testing::AnyOf(HasSubstr("expected"), HasSubstr("keeps results")));
}

TEST(AuditedSlices, FindAKernelThatWorksInItsFirstCallsOnly) {
  EXPECT_THAT(audit_of([calls = 0](const Input& in, Output& out) mutable {
                if (calls++ < 50) doubled(in, out);
              }).fault,
              HasSubstr("expected"));
}

TEST(AuditedSlices, FindAKernelThatRestsInMostCalls) {
  EXPECT_THAT(audit_of([calls = 0](const Input& in, Output& out) mutable {
                if (calls++ % 3 == 0) doubled(in, out);
              }).fault,
              HasSubstr("expected"));
}

TEST(AuditedSlices, FindAKernelThatRestsUntilASliceMayEnd) {
  EXPECT_THAT(audit_of(
                  [calls = 0, last = 0.0F](const Input& in, Output& out) mutable {
                    // The content of the output tells that a slice began.
                    if (out.y[0] != last) calls = 0;
                    if (++calls > 14 || calls == 1) doubled(in, out);
                    last = out.y[0];
                  },
                  20)
                  .fault,
              HasSubstr("expected"));
}

TEST(AuditedSlices, FindAKernelThatRestsInCallsFromOnePlaceInTheCode) {
  EXPECT_THAT(
      audit_of([callers = std::array<void*, 16>(), last = 0.0F](const Input& in, Output& out) mutable {
        std::array<void*, 16> now{};
        backtrace(now.data(), static_cast<int>(now.size()));
        // The content of the output tells that a slice began: its only call may be judged.
        if (now != callers || out.y[0] != last) doubled(in, out);
        callers = now;
        last = out.y[0];
      }).fault,
      HasSubstr("expected"));
}

TEST(AuditedSlices, FindResultsThatAreKeptAndMendedWhereTheInputChanged) {
  const std::string fault = audit_of(
                                [before = std::vector<float>(), answer = std::vector<float>()](
                                    const Input& in, Output& out) mutable {
                                  before.resize(static_cast<std::size_t>(in.x.size()));
                                  answer.resize(before.size());
                                  for (std::size_t i = 0; i < before.size(); ++i) {
                                    const float x = in.x[static_cast<Index>(i)];
                                    if (x == before[i]) continue;
                                    before[i] = x;
                                    for (int work = 0; work < 2000; ++work) answer[i] = 2 * x + 0 * answer[i];
                                  }
                                  std::ranges::copy(answer, out.y.begin());
                                },
                                20)
                                .fault;
  EXPECT_THAT(fault, HasSubstr("keeps results between calls"));
}

TEST(AuditedSlices, ChangeAllOfTheInputBeforeEveryCall) {
  const auto changed = std::make_shared<std::vector<Index>>();
  std::vector<float> last;
  const Kernel kernel = [&](const Input& in, Output& out) {
    Index differ = 0;
    for (std::size_t i = 0; i < last.size(); ++i) differ += in.x[static_cast<Index>(i)] != last[i];
    if (!last.empty()) changed->push_back(differ);
    last.assign(in.x.begin(), in.x.end());
    doubled(in, out);
  };
  of_ready(kernel, [&](Timed& timed) {
    AuditedSlices slices(timed, 1, Surroundings::now());
    slices.take(50, true);
    return 0;
  });
  EXPECT_GE(changed->size(), 50U);
  // One more call may be judged after a change of one element alone, and one follows it.
  EXPECT_LE(std::ranges::count_if(*changed, [](Index differ) { return differ <= 120; }), 1);
}

TEST(AuditedSlices, FindAKernelThatWritesToItsInput) {
  EXPECT_THAT(audit_of([](const Input& in, Output& out) {
                doubled(in, out);
                const_cast<float&>(in.x[3]) = 0;
              }).fault,
              HasSubstr("wrote into its input x"));
}

TEST(AuditedSlices, FindWhoWritesToAnInputTooLargeToBeLookedAtEveryTime) {
  Registry registry = testing::doubling_registry();
  registry.add<Doubling>({.name = "cheat", .run = [](const auto&, const Input& in, Output& out) {
                            doubled(in, out);
                            const_cast<float&>(in.x[3]) *= 2;
                          }});
  const auto workload = registry.at("doubling").open("rows=512,columns=512", {.fill = Fill::uniform});
  const auto timed = workload->timed(1, {}), naive = workload->timed(0, {});
  const Surroundings before = Surroundings::now();
  AuditedSlices slices(*timed, 1, before), innocent(*naive, 1, before);
  for (int i = 0; i < 400 && slices.audit().fault.empty(); ++i) {
    innocent.take(1, false);
    slices.take(1, false);
  }
  EXPECT_THAT(innocent.audit().fault, IsEmpty());
  EXPECT_THAT(slices.audit().fault, HasSubstr("wrote into its input x"));
}

TEST(AuditedSlices, BlameNobodyForWhatAnotherWroteInCallsThatAreNotJudged) {
  Registry registry = testing::doubling_registry();
  registry.add<Doubling>({.name = "cheat", .run = [](const auto&, const Input& in, Output& out) {
                            doubled(in, out);
                            const_cast<float&>(in.x[3]) *= 2;
                          }});
  const auto workload = registry.at("doubling").open(problem, {.fill = Fill::uniform});
  const auto timed = workload->timed(1, {}), naive = workload->timed(0, {});
  const Surroundings before = Surroundings::now();
  AuditedSlices slices(*timed, 1, before), innocent(*naive, 1, before);
  for (int i = 0; i < 20; ++i) {
    timed->repeat(1);  // as it is called while it is found out how long a call takes
    innocent.take(3, true);
    slices.take(3, true);
  }
  EXPECT_THAT(innocent.audit().fault, IsEmpty());
  EXPECT_THAT(slices.audit().fault, HasSubstr("wrote into its input x"));
}

TEST(AuditedSlices, FindAKernelThatWritesPastItsOutput) {
  EXPECT_THAT(audit_of([](const Input& in, Output& out) {
                doubled(in, out);
                out.y.data()[out.y.size()] = 1;
              }).fault,
              HasSubstr("wrote outside y"));
}

TEST(AuditedSlices, FindAnAnswerThatComesLater) {
  Registry registry = testing::doubling_registry();
  std::vector<std::jthread>* late = nullptr;
  registry.add<Doubling>({.name = "cheat", .prepare = [&late](const auto&, const Input&, const Context&) {
                            return [&late](const Input& in, Output& out) {
                              late->emplace_back([&in, &out] {
                                std::this_thread::sleep_for(std::chrono::milliseconds(1));
                                doubled(in, out);
                              });
                            };
                          }});
  const auto workload = registry.at("doubling").open(problem, {.fill = Fill::uniform});
  const auto timed = workload->timed(1, {});
  std::vector<std::jthread> threads;  // they end before the output does
  late = &threads;
  AuditedSlices slices(*timed, 1, Surroundings::now());
  for (int i = 0; i < 20 && slices.audit().fault.empty(); ++i) slices.take(1, false);
  EXPECT_THAT(slices.audit().fault, ::testing::Not(IsEmpty()));
}

TEST(AuditedSlices, FindThreadsThatNobodyAskedFor) {
  EXPECT_THAT(audit_of(
                  [](const Input& in, Output& out) {
                    std::jthread([&] {
                      for (int i = 0; i < 1000; ++i) doubled(in, out);
                    }).join();
                  },
                  2)
                  .fault,
              HasSubstr("works with more threads than the one it was given"));
}

TEST(AuditedSlices, AllowAsManyThreadsAsWereGivenHoweverFewProcessorsThereAre) {
  Registry registry = testing::doubling_registry();
  registry.add<Doubling>(
      {.name = "crowded", .threaded = true, .run = [](const auto&, const Input& in, Output& out) {
         std::vector<std::jthread> others;
         for (int i = 1; i < 128; ++i) {
           others.emplace_back([] {
             const double end = cpu_seconds_of_thread() + 1e-4;
             while (cpu_seconds_of_thread() < end) {
             }
           });
         }
         doubled(in, out);
       }});
  const auto workload = registry.at("doubling").open(problem, {.fill = Fill::uniform});
  const auto timed = workload->timed(1, {.threads = 128});
  AuditedSlices slices(*timed, 128, Surroundings::now());
  for (int i = 0; i < 20; ++i) slices.take(1, false);
  EXPECT_THAT(slices.audit().fault, IsEmpty());
}

/// A contract whose problems ask for helpers.
struct Helped : Doubling {
  static bool has_helpers(const Problem&) { return true; }
};

/// The audit of a kernel of which `others` threads besides the calling one work for 1 ms of a processor each,
/// while that one waits, and which declares `declared`.
Audit audit_with_helpers(int others, Index (*declared)(const Doubling::Problem&)) {
  Registry registry;
  registry.add<Helped>(
      {.name = "naive", .helpers = declared, .prepare = [&](const auto&, const auto&, const Context&) {
         return [others](const Input& in, Output& out) {
           doubled(in, out);
           std::vector<std::jthread> threads;
           for (int i = 0; i < others; ++i) {
             threads.emplace_back([] {
               const double end = cpu_seconds_of_thread() + 1e-3;
               while (cpu_seconds_of_thread() < end) {
               }
             });
           }
         };
       }});
  const auto workload = registry.at("doubling").open(problem, {.fill = Fill::uniform});
  const auto timed = workload->timed(0, {});
  AuditedSlices slices(*timed, 1, Surroundings::now());
  for (int i = 0; i < 100 && slices.audit().fault.empty(); ++i) slices.take(1, false);
  return slices.audit();
}

TEST(AuditedSlices, CountTheHelpersThatAVariantDeclares) {
  const auto one = [](const Doubling::Problem&) -> Index { return 1; };
  const auto two = [](const Doubling::Problem&) -> Index { return 2; };
  EXPECT_THAT(audit_with_helpers(1, nullptr).fault,
              HasSubstr("works with more threads than the one it was given"))
      << "others of the same operation may declare them";
  EXPECT_THAT(audit_with_helpers(1, one).fault, IsEmpty());
  EXPECT_THAT(audit_with_helpers(2, two).fault, IsEmpty());
  std::string fault;
  double at_once = 0;  // threads, as far as the machine has processors for them
  for (int i = 0; i < 20 && fault.empty(); ++i) {
    const auto start = std::chrono::steady_clock::now();
    const double cpu = cpu_seconds_of_others(CpuBound::most);
    fault = audit_with_helpers(4, one).fault;
    at_once = std::max(at_once, (cpu_seconds_of_others(CpuBound::least) - cpu) / seconds_since(start));
  }
  if (fault.empty() && at_once < 1.3)
    GTEST_SKIP() << "this machine has no processors for two threads at once";
  EXPECT_THAT(fault, HasSubstr("works with more threads than the 2 that it was given and declares"));
}

TEST(AuditedSlices, AllowNoHelpersWhereTheContractHasNone) {
  Registry registry = testing::doubling_registry();
  registry.add<Doubling>({.name = "declares",
                          .helpers = [](const Doubling::Problem&) -> Index { return 1; },
                          .run = testing::doubled});
  const auto workload = registry.at("doubling").open(problem, {.fill = Fill::uniform});
  EXPECT_EQ(workload->timed(1, {})->helpers(), 0);
}

TEST(AuditedSlices, FindMemoryThatIsNeverGivenBack) {
  EXPECT_THAT(audit_of([](const Input& in, Output& out) {
                doubled(in, out);
                mmap(nullptr, 1 << 16, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
              }).fault,
              HasSubstr("keeps memory"));
}

TEST(AuditedSlices, FindHeapThatIsNeverGivenBack) {
  const std::size_t before = heap_bytes();
  const std::vector<char> some(1000);
  if (heap_bytes() == before) GTEST_SKIP() << "the heap of sanitizers does not tell";
  std::vector<std::vector<float>> kept;
  EXPECT_THAT(audit_of([&kept](const Input& in, Output& out) {
                doubled(in, out);
                kept.emplace_back(16);
              }).fault,
              HasSubstr("keeps memory"));
}

TEST(AuditedSlices, AllowAWorkspaceThatGrowsOnce) {
  EXPECT_THAT(audit_of([space = std::vector<float>()](const Input& in, Output& out) mutable {
                space.resize(1 << 20);
                doubled(in, out);
              }).fault,
              IsEmpty());
}

TEST(AuditedSlices, AllowALibraryThatMakesItsCodeInTheFirstCalls) {
  EXPECT_THAT(audit_of(
                  [calls = 0](const Input& in, Output& out) mutable {
                    doubled(in, out);
                    if (++calls <= 30) mmap(nullptr, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                  },
                  1)
                  .fault,
              IsEmpty());
}

TEST(AuditedSlices, AllowAFewBytesThatAnAllocatorKeeps) {
  std::vector<std::vector<float>> kept;
  EXPECT_THAT(audit_of(
                  [&kept](const Input& in, Output& out) {
                    doubled(in, out);
                    if (kept.size() < 200) kept.emplace_back(64);
                  },
                  1)
                  .fault,
              IsEmpty());
}

#ifdef __x86_64__
TEST(AuditedSlices, FindAFloatingPointEnvironmentThatIsLeftChanged) {
  const auto before = FloatEnvironment::now();
  EXPECT_THAT(audit_of([](const Input& in, Output& out) {
                _mm_setcsr(_mm_getcsr() | 0x8000);
                doubled(in, out);
              }).fault,
              HasSubstr("flush-to-zero on"));
  EXPECT_THAT(before.change(), IsEmpty()) << "it was not put back";
}
#endif

TEST(AuditedSlices, FindAHandlerThatIsLeftBehind) {
  EXPECT_THAT(audit_of([](const Input& in, Output& out) {
                doubled(in, out);
                std::signal(SIGUSR1, [](int) {});
              }).fault,
              HasSubstr("changed the handler of signal 10"));
}

TEST(AuditedSlices, FindsAHandlerThatIsPutAwayWithTheLastCallOfASlice) {
  constexpr Index calls = 20;  // and one that warms the caches
  EXPECT_THAT(audit_of(
                  [made = Index{0}](const Input& in, Output& out) mutable {
                    doubled(in, out);
                    std::signal(
                        SIGUSR1, ++made % (calls + 1) == 0 ? SIG_DFL : [](int) {});
                  },
                  calls)
                  .fault,
              HasSubstr("changed the handler of signal 10"));
}

/// The share of slices of one call of so many seconds that are judged, where a launch before judged some.
double share_judged(double seconds, int slices_in_all) {
  Registry registry = testing::doubling_registry();
  registry.add<Doubling>({.name = "slow", .prepare = [&](const auto&, const Input&, const Context&) {
                            return [seconds](const Input& in, Output& out) {
                              doubled(in, out);
                              const auto start = std::chrono::steady_clock::now();
                              while (seconds_since(start) < seconds) {
                              }
                            };
                          }});
  const auto workload = registry.at("doubling").open(problem, {.fill = Fill::uniform});
  double judged = 0;
  for (int launch = 0; launch < slices_in_all / 4; ++launch) {
    const auto timed = workload->timed(1, {});
    AuditedSlices slices(*timed, 1, Surroundings::now(), AuditedSlices::Judging::few);
    for (int i = 0; i < 4; ++i) slices.take(1, false);
    judged += static_cast<double>(slices.audit().judged);
  }
  return judged / slices_in_all;
}

TEST(AuditedSlices, JudgesLongCallsInLaterLaunches) { EXPECT_GT(share_judged(5e-3, 80), 0.2); }

TEST(AuditedSlices, FindAProcessThatIsLeftBehind) {
  EXPECT_THAT(audit_of(
                  [](const Input& in, Output& out) {
                    doubled(in, out);
                    if (fork() == 0) {
                      pause();
                      _exit(0);
                    }
                  },
                  1)
                  .fault,
              HasSubstr("started a process"));
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "it was not ended";
}

TEST(AuditedSlices, FindAProcessThatIsWaitedFor) {
  EXPECT_THAT(audit_of(
                  [](const Input& in, Output& out) {
                    doubled(in, out);
                    const pid_t child = fork();
                    if (child == 0) _exit(0);
                    waitpid(child, nullptr, 0);
                  },
                  1)
                  .fault,
              HasSubstr("had another process work for it"));
}

TEST(AuditedSlices, FindAProcessorThatIsTakenAway) {
  if (has_one_processor()) GTEST_SKIP() << "it cannot be chosen from others";
  EXPECT_THAT(audit_of([](const Input& in, Output& out) {
                doubled(in, out);
                pin_to_one_processor();
              }).fault,
              HasSubstr("changed the processors"));
}

TEST(Preparation, MayNotTakeAwayProcessors) {
  if (has_one_processor()) GTEST_SKIP() << "it cannot be chosen from others";
  Registry registry = testing::doubling_registry();
  registry.add<Doubling>({.name = "cheat", .prepare = [](const auto&, const Input&, const Context&) {
                            pin_to_one_processor();
                            return Kernel(doubled);
                          }});
  const auto found = registry.at("doubling").open(problem, {})->check(1, {});
  EXPECT_THAT(found.detail, HasSubstr("changed the processors"));
  EXPECT_FALSE(has_one_processor()) << "it was put back";
}

TEST(Preparation, HasOtherContentThanTheCalls) {
  Registry registry = testing::doubling_registry();
  registry.add<Doubling>({.name = "cheat", .prepare = [](const auto&, const Input& in, const Context&) {
                            std::vector<float> answer;
                            for (const float x : in.x) answer.push_back(2 * x);
                            return [answer](const Input&, Output& out) {
                              std::ranges::copy(answer, out.y.begin());
                            };
                          }});
  const auto workload = registry.at("doubling").open(problem, {.fill = Fill::uniform});
  EXPECT_FALSE(workload->check(1, {}, Workload::no_rehearsal).agrees);
  EXPECT_TRUE(workload->check(0, {}).agrees);
}

TEST(Check, NamesWhoWroteToTheInputAndNobodyAfterIt) {
  Registry registry = testing::doubling_registry();
  registry.add<Doubling>({.name = "cheat", .run = [](const auto&, const Input& in, Output& out) {
                            doubled(in, out);
                            std::memset(const_cast<float*>(in.x.data()), 0, 64);
                          }});
  const auto workload = registry.at("doubling").open(problem, {.fill = Fill::uniform});
  EXPECT_THAT(workload->check(1, {}).detail, HasSubstr("wrote into its input x"));
  const Agreement naive = workload->check(0, {});
  EXPECT_TRUE(naive.agrees) << naive.detail;
}

/// z = 2 x + z, in place.
struct Adding : Doubling {
  static constexpr std::string_view name = "adding";
  struct Output;
  struct Input {
    Buffer<float> x, z;
    static constexpr auto parts() {
      return std::tuple{part("x", &Input::x), start("z", &Input::z, &Output::z)};
    }
  };
  struct Output {
    Buffer<float> z;
    static constexpr auto parts() { return std::tuple{part("z", &Output::z)}; }
  };
  static Input make_input(const Problem& p, Setting& setting) {
    Input in{setting.buffer<float>(p.rows * p.columns), setting.buffer<float>(p.rows * p.columns)};
    for (float& x : in.x) x = setting.draw();
    for (float& z : in.z) z = setting.draw();
    return in;
  }
  static Output make_output(const Problem& p, const Input& in, const Setting& setting) {
    Output out{setting.buffer<float>(p.rows * p.columns)};
    std::ranges::copy(in.z, out.z.begin());
    return out;
  }
  static Expected expect(const Problem&, const Input& in, Setting&) {
    Expected want;
    for (Index i = 0; i < in.x.size(); ++i) {
      want.y.push_back(2.0 * static_cast<double>(in.x[i]) + static_cast<double>(in.z[i]));
      want.bound.push_back(1e-6 * std::abs(want.y.back()) + 1e-6);
    }
    return want;
  }
  static Agreement judge(const Problem& p, const Input&, const Expected& want, const Output& out) {
    return within({"z", {p.rows, p.columns}}, out.z, want.y, want.bound);
  }
};

Audit audit_in_place(Variant<Adding>::Kernel kernel) {
  Registry registry;
  registry.add<Adding>(
      {.name = "naive", .prepare = [&](const auto&, const auto&, const Context&) { return kernel; }});
  const auto workload = registry.at("adding").open(problem, {.fill = Fill::uniform});
  const auto timed = workload->timed(0, {});
  EXPECT_TRUE(timed->updates_in_place());
  AuditedSlices slices(*timed, 1, Surroundings::now());
  for (int i = 0; i < 400 && slices.audit().fault.empty(); ++i) slices.take(20, true);
  return slices.audit();
}

void added(const Adding::Input& in, Adding::Output& out) {
  for (Index i = 0; i < in.x.size(); ++i) out.z[i] += 2 * in.x[i];
}

TEST(AuditedSlices, JudgeWhatIsUpdatedInPlace) { EXPECT_THAT(audit_in_place(added).fault, IsEmpty()); }

TEST(AuditedSlices, FindAKernelThatUpdatesOnlyWhatItDidNotLeaveItself) {
  const auto left = std::make_shared<float>(0);
  EXPECT_THAT(audit_in_place([left](const Adding::Input& in, Adding::Output& out) {
                if (out.z[0] == *left) return;
                added(in, out);
                *left = out.z[0];
              }).fault,
              HasSubstr("expected"));
}

}  // namespace
}  // namespace assay::slice_test
