#include "core/code/table.hpp"

#include "assay/code_table.hpp"
#include "core/code/calls.hpp"
#include "core/code/compiled_test.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

TEST(CodeTableText, NamesSourcesAsTheProjectDoes) {
  EXPECT_EQ(source_of("/b/kernels/CMakeFiles/assay_kernels_archive.dir/./gemm/packed.cpp.o", "/b"),
            "kernels/gemm/packed.cpp");
  EXPECT_EQ(source_of("/b/CMakeFiles/mine.dir/my_gemm.cpp.o", "/b"), "my_gemm.cpp");
}

TEST(CodeTableText, HoldsCodeAndCallsOfEachFile) {
  const std::string text = table_text({{"kernels/gemm/packed.cpp", "0123456789abcdef", {}},
                                       {"kernels/gemm/simd.cpp", "", {{"tbb", {"tbb::f", "tbb::g"}}}}});
  EXPECT_THAT(text, ::testing::HasSubstr("{R\"(kernels/gemm/packed.cpp)\", \"0123456789abcdef\", R\"()\"},"));
  EXPECT_THAT(text,
              ::testing::HasSubstr("{R\"(kernels/gemm/simd.cpp)\", \"\", R\"(tbb tbb::f\ntbb tbb::g\n)\"},"));
}

TEST(CodeTableText, SaysWhichFileCannotBeRead) {
  const testing::CompiledFolder folder;
  const auto object = folder.write("kernels/CMakeFiles/k.dir/text.cpp.o", "no object");
  std::string unknown;
  EXPECT_EQ(table_of({object}, folder.path(), unknown), table_text({}));
  EXPECT_THAT(unknown, ::testing::HasSubstr("text.cpp.o is no ELF file"));
  table_of({folder.path() / "missing.o"}, folder.path(), unknown);
  EXPECT_THAT(unknown, ::testing::HasSubstr("missing.o cannot be opened"));
}

constexpr CodeRow rows[] = {{"kernels/gemm/packed.cpp", "0123456789abcdef", "tbb tbb::f\n"},
                            {"kernels/gemm/small.cpp", "0123456789abcdef"}};
const CodeTable table{rows};

TEST(CodeTable, KnowsTheLinkedRowsAndNoOthers) {
  EXPECT_EQ(CodeTable::code_of("kernels/gemm/packed.cpp"), "0123456789abcdef");
  EXPECT_EQ(CodeTable::code_of("kernels/gemm/simd.cpp"), "");
  const auto calls = CodeTable::calls_of("kernels/gemm/packed.cpp");
  ASSERT_TRUE(calls.has_value());
  EXPECT_EQ(lines_of(*calls), "tbb tbb::f\n");
  EXPECT_FALSE(CodeTable::calls_of("kernels/gemm/small.cpp").has_value());
  EXPECT_FALSE(CodeTable::calls_of("kernels/gemm/simd.cpp").has_value());
}

}  // namespace
}  // namespace assay
