// An ELF file of x86-64 as plain values: sections, symbols and relocations of an object or a program.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct ElfRelocation {
  std::uint64_t at = 0;
  std::uint32_t type = 0;
  std::uint32_t symbol = 0;
  std::int64_t addend = 0;
};

struct ElfSection {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t alignment = 0;
  std::uint64_t entry_size = 0;
  std::string_view bytes;  // empty where the file holds none, as of .bss
  std::vector<ElfRelocation> relocations;
};

struct ElfSymbol {
  std::string_view name;
  std::uint64_t value = 0;
  std::uint64_t size = 0;
  std::uint32_t section = 0;  // an index, or one of the special numbers of <elf.h>
  unsigned char binding = 0;
  unsigned char type = 0;
};

// The views point into `content`. Relocations are listed with the section that they change, by offset; those
// that the loader applies to a program are apart, by address, and refer to `dynamic_symbols`.
struct ElfFile {
  std::vector<char> content;
  std::vector<ElfSection> sections;
  std::vector<ElfSymbol> symbols;  // of .symtab
  std::vector<ElfSymbol> dynamic_symbols;
  std::vector<ElfRelocation> dynamic_relocations;

  ElfFile() = default;
  ElfFile(ElfFile&&) = default;
  ElfFile& operator=(ElfFile&&) = default;
};

// Either a file or the reason why there is none, in words that follow its name.
struct ElfOutcome {
  ElfFile file;
  std::string unreadable;
};

ElfOutcome parse_elf(std::vector<char> content);
ElfOutcome read_elf(const std::filesystem::path& path);

}  // namespace assay
