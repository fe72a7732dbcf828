// An ELF file of x86-64 as plain values: sections, symbols and relocations of an object or a program; and a
// linked program: its functions, and the meaning of an address in terms that survive another link.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
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

struct LinkedFunction {
  std::string_view name;  // as mangled
  std::string_view file;  // of a local function, without folders: the symbol table says no more; else empty
  std::uint64_t address = 0;
  std::string_view bytes;
  // The number of the compiled file in the program, which tells files of one name apart. A global function
  // has the number of its neighbours where both are of one file; 0 where it is not known.
  std::size_t unit = 0;
};

// A variable or a table that has a name. ProgramImage knows functions so, too.
struct LinkedObject {
  std::uint64_t address = 0, size = 0;
  std::string_view name;
  std::string_view file;  // of a local object; else empty
  bool writable = false;
};

class ProgramImage {
 public:
  explicit ProgramImage(ElfFile elf);

  // Returns one function per address; none for a stripped program.
  const std::vector<LinkedFunction>& functions() const { return functions_; }

  // In place of a size: up to the zero byte, or eight bytes where the zero byte comes first.
  static constexpr std::size_t text = 0;

  // The function or object and the distance from its start, the import that a jump table leads to, or else
  // the first `size` bytes of the constant. Empty where nothing is known to stand.
  std::string meaning(std::uint64_t address, std::size_t size) const;

  // The text that stands there; empty where none does.
  std::string_view text_at(std::uint64_t address) const;

  // Returns the addresses in the program that the loader writes to `address`, or to the object around it.
  std::vector<std::uint64_t> pointers_at(std::uint64_t address) const;

  // The object around the address; none for functions and nameless constants.
  std::optional<LinkedObject> object_at(std::uint64_t address) const;
  // Its bytes, with what it points to in place of addresses; its size where the file holds no bytes.
  std::string content_of(const LinkedObject& object) const;

  // The function around the address; null pointer where there is none.
  const LinkedFunction* function_at(std::uint64_t address) const;

  // Offsets in `function` that a table of jumps at `address` leads to, as compilers write them for a switch:
  // distances of four bytes from the table. Empty where none stands there.
  std::vector<std::uint64_t> jump_table(std::uint64_t address, const LinkedFunction& function) const;

  // Whether a nameless constant or an address from the loader stands there. Equal bytes of code in two
  // programs may refer to different ones.
  bool is_nameless(std::uint64_t address) const;

 private:
  void place_between_neighbours();
  const ElfSection* section_at(std::uint64_t address) const;
  const LinkedObject* named_at(std::uint64_t address) const;
  std::string import_behind(const ElfSection& section, std::uint64_t address) const;

  ElfFile elf_;
  std::vector<LinkedFunction> functions_;
  std::vector<LinkedObject> named_;                   // functions, too, by address
  std::map<std::uint64_t, std::string_view> labels_;  // names without a size, such as __dso_handle
  std::map<std::uint64_t, std::string> by_loader_;    // the loader's value for an address
  std::map<std::uint64_t, std::uint64_t> pointers_;   // the same, where it is in the program
};

}  // namespace assay
