#include "bench/gate/gates.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

// As perf 6.1 prints it.
constexpr const char* report = R"(
    61.20%  [.] assay::gemm::N_AVX2::multiply(assay::gemm::Part const&)
    20.05%  [.] __memmove_avx_unaligned_erms                                  -      -
     4.10%  [k] clear_page_rep
     0.50%  [.] main

)";

TEST(HotSymbols, AreReadWithTheirSharesAndWithoutThoseOfTheKernel) {
  const std::vector<HotSymbol> symbols = hot_symbols_from(report);
  ASSERT_EQ(symbols.size(), 3U);
  EXPECT_EQ(symbols[0].name, "assay::gemm::N_AVX2::multiply(assay::gemm::Part const&)");
  EXPECT_DOUBLE_EQ(symbols[0].share, 0.612);
  EXPECT_EQ(symbols[1].name, "__memmove_avx_unaligned_erms");
  EXPECT_DOUBLE_EQ(symbols[2].share, 0.005);
}

TEST(HotSymbols, AreNoneOfATextThatIsNoReport) {
  EXPECT_TRUE(hot_symbols_from("").empty());
  EXPECT_TRUE(hot_symbols_from("Error: 12x% [.] name\nno % [.] name\n  % [.] name\n").empty());
}

TEST(HotSymbols, AreUnknownOfAProgramThatCannotRun) {
  EXPECT_FALSE(hot_symbols("/nowhere/assay", {.key = "gemm/naive/m=1#1"}, 1, {}));
}

}  // namespace
}  // namespace assay
