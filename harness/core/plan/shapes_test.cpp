// Cases as words, and the message that each mistake gets.

#include "core/plan/suite.hpp"

#include "assay/error.hpp"
#include "core/check/doubling_test.hpp"

#include <gmock/gmock.h>

#include <vector>

// A namespace of its own: builds join test files, and these names are short.
namespace assay::shapes_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> problems(const std::string& text) {
  static const Registry registry = testing::doubling_registry();
  std::vector<std::string> out;
  for (const Case& one : suite_of_shapes(text, registry).cases)
    out.push_back(one.operation + "/" + one.problem);
  return out;
}

std::string complaint(const std::string& text) {
  try {
    problems(text);
    return "";
  } catch (const Error& failure) {
    return failure.what();
  }
}

TEST(Shapes, AreToldFromFiles) {
  EXPECT_TRUE(names_shapes("gemm/m=1,n=2,k=3"));
  EXPECT_TRUE(names_shapes("matmul/2x3:3x4"));
  EXPECT_FALSE(names_shapes("suites/smoke.json"));
  EXPECT_FALSE(names_shapes("suites/a=b.json"));
  EXPECT_FALSE(names_shapes("gemm/packed"));
  EXPECT_FALSE(names_shapes("smoke"));
}

TEST(Shapes, NameOneCaseEach) {
  EXPECT_THAT(problems("doubling/rows=2,columns=3  doubling/columns=5,rows=4"),
              ElementsAre("doubling/rows=2,columns=3", "doubling/rows=4,columns=5"));
  EXPECT_THAT(problems("doubling/rows=2,columns=3 doubling/columns=3,rows=2"),
              ElementsAre("doubling/rows=2,columns=3"))
      << "once";
}

TEST(Shapes, SweepFields) {
  EXPECT_THAT(
      problems("doubling/rows=1,columns=4..16:x2"),
      ElementsAre("doubling/rows=1,columns=4", "doubling/rows=1,columns=8", "doubling/rows=1,columns=16"));
  EXPECT_THAT(problems("doubling/rows=1|7,columns=4..10:+5"),
              ElementsAre("doubling/rows=1,columns=4", "doubling/rows=1,columns=9",
                          "doubling/rows=7,columns=4", "doubling/rows=7,columns=9"));
}

TEST(Shapes, AreNamedAsFilesMayBe) {
  static const Registry registry = testing::doubling_registry();
  EXPECT_EQ(suite_of_shapes("doubling/rows=2,columns=1|3", registry).name, "doubling_rows=2,columns=1_3");
  const std::string many =
      "doubling/rows=1,columns=1..512:x2 doubling/rows=2,columns=1..512:x2 "
      "doubling/rows=3,columns=1..512:x2";
  const std::string name = suite_of_shapes(many, registry).name;
  EXPECT_EQ(name.size(), 80U);
  EXPECT_NE(name, suite_of_shapes(many + " doubling/rows=4,columns=1", registry).name);
}

TEST(Shapes, ComplainOfTheWordAtFault) {
  EXPECT_THAT(complaint("doubling/rows=2"), HasSubstr("'doubling/rows=2': field 'columns'"));
  EXPECT_THAT(complaint("doubling/rows"), HasSubstr("'rows' is no field with a value"));
  EXPECT_THAT(complaint("tripling/rows=2,columns=1"), HasSubstr("tripling"));
  EXPECT_THAT(complaint("doubling/rows=1..8,columns=1"), HasSubstr("has no step"));
  EXPECT_THAT(complaint("doubling/rows=1..8:*2,columns=1"), HasSubstr("'*2' is no step"));
  EXPECT_THAT(complaint("doubling/rows=8..1:x2,columns=1"), HasSubstr("goes nowhere"));
  EXPECT_THAT(complaint("doubling/rows=1..8:x1,columns=1"), HasSubstr("goes nowhere"));
  EXPECT_THAT(complaint("doubling/rows=1..two:x2,columns=1"), HasSubstr("'two' is no number"));
  EXPECT_THAT(complaint("doubling/rows=1..20000:+1,columns=1"), HasSubstr("more than 10000"));
  EXPECT_THAT(complaint("doubling/rows=1..200:+1,columns=1..200:+1"), HasSubstr("more than 10000"));
  EXPECT_THAT(complaint(" "), HasSubstr("names no case"));
}

// The sanitizers watch: sums and products of what is written here would be no numbers.
TEST(Shapes, OfHugeNumbersAreComplainedOfOrEnd) {
  EXPECT_THAT(problems("doubling/rows=1,columns=2..9:x9223372036854775807"),
              ElementsAre("doubling/rows=1,columns=2"));
  EXPECT_THAT(problems("doubling/rows=1,columns=2..9:+9223372036854775807"),
              ElementsAre("doubling/rows=1,columns=2"));
  EXPECT_THAT(complaint("conv/ic1ih1oc1kh9223372036854775807"), HasSubstr("'kh' has no extent behind it"));
  EXPECT_THAT(complaint("conv/ic1ih8oc1kh3dh9223372036854775807"), HasSubstr("'dh' has no extent"));
  EXPECT_THAT(complaint("conv/ic1ih1oc1kh2147483648dh2147483648sh2147483648oh2147483648"),
              HasSubstr("conv2d"))
      << "the registry of this test has none";
}

// All of them together would not fit into memory.
TEST(Shapes, AreCountedBeforeTheyAreMade) {
  EXPECT_THAT(complaint("doubling/rows=1..10000:+1,columns=1..10000:+1"), HasSubstr("more than 10000"));
  std::string sweeps = "doubling/columns=1,rows=1";
  for (int i = 0; i < 20'000; ++i) sweeps += "|1..9999:+1";
  EXPECT_THAT(complaint(sweeps), HasSubstr("more than 10000"));
}

TEST(Shapes, MayBeLongerThanTheNameOfAFile) {
  static const Registry registry = testing::doubling_registry();
  std::string many = "doubling/columns=1,rows=1";
  for (int i = 2; i <= 1000; ++i) many += "|" + std::to_string(i);
  EXPECT_EQ(load_suite(many, registry).cases.size(), 1000U);
}

}  // namespace
}  // namespace assay::shapes_test
