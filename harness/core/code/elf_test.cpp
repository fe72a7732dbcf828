#include "core/code/elf.hpp"

#include "core/code/compiled_test.hpp"

#include <elf.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>

namespace assay {
namespace {

class Elf : public ::testing::Test {
 protected:
  std::filesystem::path object() const {
    folder_.write("a.cpp", "extern float scale; float twice(float x) { return x * scale; }\n");
    return folder_.compile("a.o", "-c a.cpp");
  }
  std::vector<char> content() const { return content(object()); }
  static std::vector<char> content(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  /// With a table of pointers in .data.rel.ro and a call through .plt.
  std::vector<char> library() const {
    folder_.write("b.cpp",
                  "int x, y; extern int* const table[2]; int* const table[2] = {&x, &y};\n"
                  "extern \"C\" int puts(const char*); int say() { return puts(\"a\") + 1; }\n");
    return content(folder_.compile("b.so", "-shared b.cpp"));
  }
  template <class T>
  static void put(std::vector<char>& bytes, std::size_t at, const T& value) {
    ASSERT_LE(at + sizeof value, bytes.size());
    std::memcpy(bytes.data() + at, &value, sizeof value);
  }
  static std::size_t header_of(const std::vector<char>& bytes, std::size_t section) {
    Elf64_Ehdr head;
    std::memcpy(&head, bytes.data(), sizeof head);
    return head.e_shoff + section * sizeof(Elf64_Shdr);
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

// 65,279 sections that are each the whole file as a table of symbols would take hours.
TEST_F(Elf, WithTablesThatOverlapIsUnreadable) {
  std::vector<char> bytes = content();
  const ElfFile before = parse_elf(bytes).file;
  for (std::size_t i = 1; i < before.sections.size(); ++i) {
    put(bytes, header_of(bytes, i) + offsetof(Elf64_Shdr, sh_type), Elf64_Word{SHT_RELA});
    put(bytes, header_of(bytes, i) + offsetof(Elf64_Shdr, sh_offset), Elf64_Off{0});
    put(bytes, header_of(bytes, i) + offsetof(Elf64_Shdr, sh_size), Elf64_Xword{bytes.size()});
  }
  EXPECT_EQ(parse_elf(bytes).unreadable, "has tables that overlap");
}

TEST_F(Elf, HasNoContentBeyondTheEndOfItsSection) {
  std::vector<char> bytes = library();
  const ElfFile before = parse_elf(bytes).file;
  const auto table = std::ranges::find(before.symbols, "table", &ElfSymbol::name);
  const auto symbols = std::ranges::find(before.sections, Elf64_Word{SHT_SYMTAB}, &ElfSection::type);
  ASSERT_TRUE(table != before.symbols.end() && symbols != before.sections.end());
  const auto begin = static_cast<std::size_t>(symbols->bytes.data() - before.content.data());
  const auto place = static_cast<std::size_t>(table - before.symbols.begin());
  put(bytes, begin + place * sizeof(Elf64_Sym) + offsetof(Elf64_Sym, st_size), Elf64_Xword{1} << 20);
  const ProgramImage image(parse_elf(bytes).file);
  const auto object = image.object_at(table->value);
  ASSERT_TRUE(object && object->size == 1 << 20);
  EXPECT_THAT(image.content_of(*object), ::testing::EndsWith("\n0: x\n8: y")) << "and none of .got";
}

TEST_F(Elf, OfImportsWithoutBytesHasNoMeaning) {
  std::vector<char> bytes = library();
  const ElfFile before = parse_elf(bytes).file;
  const auto imports = std::ranges::find(before.sections, ".plt", &ElfSection::name);
  ASSERT_NE(imports, before.sections.end());
  const auto place = static_cast<std::size_t>(imports - before.sections.begin());
  put(bytes, header_of(bytes, place) + offsetof(Elf64_Shdr, sh_type), Elf64_Word{SHT_NOBITS});
  put(bytes, header_of(bytes, place) + offsetof(Elf64_Shdr, sh_flags), Elf64_Xword{SHF_ALLOC | SHF_WRITE});
  EXPECT_EQ(ProgramImage(parse_elf(bytes).file).meaning(imports->address + 16, 8), "");
}

}  // namespace
}  // namespace assay
