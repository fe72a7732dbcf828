#include "core/code/differing_functions.hpp"

#include "core/code/compiled.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Constants, imports, calls and local functions; `before_main` moves all that follows.
std::string program(const std::string& factor, const std::string& before_main = "",
                    const std::string& call = "sin") {
  return "extern \"C\" { double sin(double); double cos(double); double sqrt(double);\n"
         "int printf(const char*, ...); }\n" +
         before_main +
         "static float table[64];\n"
         "__attribute__((noinline)) static double scaled(double x) { return x * " +
         factor +
         " + table[3]; }\n"
         "__attribute__((noinline)) static double bent(double x) { return " +
         call +
         "(x) + scaled(x); }\n"
         "__attribute__((noinline)) void show(double x) { printf(\"%g of %s\\n\", bent(x), \"x\"); }\n"
         "int main(int argc, char**) { table[argc] = 1; show(argc); }\n";
}

constexpr const char* more_before =
    "__attribute__((noinline)) void added(float x) { printf(\"another text %g\\n\", x * 17.25f); }\n"
    "volatile float sink[100]; double other(double x) { return x / 1.0625; }\n";

class DifferingFunctions : public ::testing::Test {
 protected:
  std::filesystem::path link(const std::string& name, const std::string& text,
                             const std::string& flags = "") {
    folder_.write(name + "/packed.cpp", text);
    return folder_.compile(name + "/program", flags + " '" + name + "/packed.cpp' -lm");
  }
  static std::vector<std::string> names(const FunctionDifferences& all) {
    std::vector<std::string> out;
    for (const DifferingFunction& function : all.functions) out.push_back(function.name);
    return out;
  }
  testing::CompiledFolder folder_;
};

TEST_F(DifferingFunctions, AreNoneBetweenAProgramAndItsCopy) {
  const FunctionDifferences all = differing_functions(link("a", program("2.5")), link("b", program("2.5")));
  EXPECT_EQ(all.unknown, "");
  EXPECT_THAT(names(all), IsEmpty());
}

TEST_F(DifferingFunctions, AreOnlyTheNewOnesWhereNewOnesMoveAllOthers) {
  const auto all = differing_functions(link("a", program("2.5")), link("b", program("2.5", more_before)));
  EXPECT_THAT(names(all), ::testing::UnorderedElementsAre("added(float)", "other(double)"));
  for (const DifferingFunction& function : all.functions) {
    EXPECT_EQ(function.size_before, 0U);
    EXPECT_EQ(function.changed, function.size_after);
  }
}

TEST_F(DifferingFunctions, IncludeOneWhoseOnlyChangeIsAConstantOutsideItsInstructions) {
  const auto all = differing_functions(link("a", program("2.5")), link("b", program("3.5")));
  EXPECT_THAT(names(all), ::testing::ElementsAre("scaled(double)"));
}

TEST_F(DifferingFunctions, IncludeOneThatCallsAnotherImport) {
  const auto all =
      differing_functions(link("a", program("2.5", "", "sin")), link("b", program("2.5", "", "cos")));
  EXPECT_THAT(names(all), ::testing::Contains("bent(double)"));
  EXPECT_THAT(names(all), ::testing::Not(::testing::Contains("scaled(double)")));
}

TEST_F(DifferingFunctions, StandInTheOrderOfTheirChange) {
  const auto all = differing_functions(link("a", program("2.5")),
                                       link("b", program("3.5", "", "table[5] / sqrt(x) * sin")));
  ASSERT_EQ(all.functions.size(), 2U);
  EXPECT_EQ(all.functions[0].name, "bent(double)");
  EXPECT_GT(all.functions[0].size_after, all.functions[0].size_before);
  EXPECT_GE(all.functions[0].changed, all.functions[1].changed);
}

TEST_F(DifferingFunctions, AreThoseOfOneSourceWhenAskedFor) {
  const auto a = link("a", program("2.5")), b = link("b", program("3.5", more_before));
  EXPECT_THAT(names(differing_functions(a, b, "kernels/gemm/packed.cpp")),
              ::testing::ElementsAre("scaled(double)"));
  EXPECT_THAT(differing_functions(a, b, "kernels/gemm/simd.cpp").unknown, HasSubstr("named simd.cpp"));
}

TEST_F(DifferingFunctions, AreUnknownForAStrippedProgram) {
  const auto whole = link("a", program("2.5")), stripped = link("b", program("2.5"), "-s");
  const FunctionDifferences all = differing_functions(whole, stripped);
  EXPECT_THAT(all.functions, IsEmpty());
  EXPECT_THAT(all.unknown, HasSubstr("it was stripped"));
  EXPECT_THAT(differing_functions(whole, folder_.write("text", "no program")).unknown,
              HasSubstr("is no ELF file"));
}

}  // namespace
}  // namespace assay
