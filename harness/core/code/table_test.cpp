#include "core/code/table.hpp"

#include "assay/code_table.hpp"
#include "core/code/compiled.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

TEST(CodeTableText, NamesSourcesAsTheProjectDoes) {
  EXPECT_EQ(source_of("/b/kernels/CMakeFiles/assay_kernels_archive.dir/./gemm/packed.cpp.o", "/b"),
            "kernels/gemm/packed.cpp");
  EXPECT_EQ(source_of("/b/CMakeFiles/mine.dir/my_gemm.cpp.o", "/b"), "my_gemm.cpp");
}

TEST(CodeTableText, LeavesOutWhatIsUnknown) {
  const std::string text =
      table_text({{"kernels/gemm/packed.cpp", "0123456789abcdef"}, {"kernels/gemm/simd.cpp", ""}});
  EXPECT_THAT(text, ::testing::HasSubstr("{R\"(kernels/gemm/packed.cpp)\", \"0123456789abcdef\"},"));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("simd")));
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

constexpr CodeRow rows[] = {{"kernels/gemm/packed.cpp", "0123456789abcdef"}};
const CodeTable table{rows};

TEST(CodeTable, KnowsTheLinkedRowsAndNoOthers) {
  EXPECT_EQ(CodeTable::code_of("kernels/gemm/packed.cpp"), "0123456789abcdef");
  EXPECT_EQ(CodeTable::code_of("kernels/gemm/simd.cpp"), "");
}

}  // namespace
}  // namespace assay
