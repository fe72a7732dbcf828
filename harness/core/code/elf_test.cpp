#include "core/code/elf.hpp"

#include "core/code/compiled_test.hpp"

#include <elf.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

namespace assay {
namespace {

class Elf : public ::testing::Test {
 protected:
  std::filesystem::path object() const {
    folder_.write("a.cpp", "extern float scale; float twice(float x) { return x * scale; }\n");
    return folder_.compile("a.o", "-c a.cpp");
  }
  std::vector<char> content() const {
    std::ifstream stream(object(), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  testing::CompiledFolder folder_;
};

TEST_F(Elf, GivesSectionsSymbolsAndRelocations) {
  const ElfOutcome outcome = read_elf(object());
  ASSERT_EQ(outcome.unreadable, "");
  const auto& [all, sections, symbols, dynamic_symbols, dynamic_relocations] = outcome.file;
  const auto twice = std::ranges::find(symbols, "_Z5twicef", &ElfSymbol::name);
  ASSERT_NE(twice, symbols.end());
  const ElfSection& text = sections.at(twice->section);
  EXPECT_EQ(text.name, ".text._Z5twicef");
  EXPECT_EQ(text.bytes.size(), twice->size);
  ASSERT_EQ(text.relocations.size(), 1U);
  EXPECT_EQ(symbols.at(text.relocations[0].symbol).name, "scale");
  EXPECT_TRUE(dynamic_symbols.empty() && dynamic_relocations.empty());
}

TEST_F(Elf, CutShortAnywhereIsUnreadableAndNoFault) {
  const std::vector<char> whole = content();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto end = whole.begin() + static_cast<std::ptrdiff_t>(size);
    EXPECT_NE(parse_elf({whole.begin(), end}).unreadable, "") << size;
  }
}

TEST_F(Elf, SpoiledAnywhereInItsTablesIsNoFault) {
  const std::vector<char> whole = content();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::vector<char> spoiled = whole;
    spoiled[at] = static_cast<char>(0xff);
    static_cast<void>(parse_elf(std::move(spoiled)));  // the sanitizers watch
  }
}

TEST_F(Elf, OfAnotherProcessorSaysSo) {
  std::vector<char> other = content();
  other[offsetof(Elf64_Ehdr, e_machine)] = static_cast<char>(EM_AARCH64);
  EXPECT_EQ(parse_elf(std::move(other)).unreadable, "is not for x86-64");
}

}  // namespace
}  // namespace assay
