#include "bench/gate/gates.hpp"

#include "core/code/compiled_test.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string program(const std::string& factor) {
  return "__attribute__((noinline)) double scaled(double x) { return x * " + factor +
         "; }\n"
         "int main(int argc, char**) { return static_cast<int>(scaled(argc)); }\n";
}

/// Two trials, of which the head takes 5 % longer in the second.
TwoBuilds run_with_one_slower() {
  TwoBuilds run{.suite = "s", .budget_seconds = 1e9};
  for (const char* variant : {"same", "slower"}) {
    PairedTrial& trial = run.trials.emplace_back();
    trial.trial = {.key = std::string("gemm/") + variant + "/m=1#1", .operation = "gemm", .variant = variant};
  }
  sample_two_builds(run,
                    [](TwoBuilds& sampled, const std::vector<std::size_t>& trials, int) {
                      for (const std::size_t i : trials) {
                        sampled.trials[i].launches.push_back(
                            {.base = {1e-3}, .head = {i == 1 ? 1.05e-3 : 1e-3}, .control = {1e-3}});
                      }
                    },
                    {});
  return run;
}

TEST(Pointers, NameTheFunctionThatDiffersOfATrialThatIsSlower) {
  const testing::CompiledFolder folder;
  folder.write("a.cpp", program("2.5"));
  folder.write("b.cpp", program("2.5 + x * 3.5"));
  TwoBuilds run = run_with_one_slower();
  note_pointers(run, folder.compile("a", "a.cpp"), folder.compile("b", "b.cpp"), Registry{}, {});
  EXPECT_THAT(run.trials[0].pointers, IsEmpty());
  EXPECT_THAT(run.trials[1].pointers, Contains(HasSubstr("scaled(double): ")));
  EXPECT_EQ(run.trials[1].cause, "scaled(double)");
}

TEST(Pointers, SayWhenNoFunctionDiffersOrNoneIsKnown) {
  const testing::CompiledFolder folder;
  folder.write("a.cpp", program("2.5"));
  const auto whole = folder.compile("a", "a.cpp");
  TwoBuilds run = run_with_one_slower();
  note_pointers(run, whole, whole, Registry{}, {});
  EXPECT_THAT(run.trials[1].pointers, Contains(HasSubstr("no function differs")));
  note_pointers(run, whole, folder.compile("stripped", "-s a.cpp"), Registry{}, {});
  EXPECT_THAT(run.trials[1].pointers, Contains(HasSubstr("it was stripped")));
}

}  // namespace
}  // namespace assay
