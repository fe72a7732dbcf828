#include "core/code/c_library.hpp"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <functional>
#include <set>
#include <span>
#include <string_view>

namespace assay {
namespace {

/// As files of the C library and of the run-time library of C++ begin.
constexpr std::array<std::string_view, 6> c_libraries{"libc.so",  "libm.so",  "libpthread.so",
                                                      "libdl.so", "librt.so", "ld-linux"};
constexpr std::string_view cpp_library = "libstdc++.so";

/// As the manual of the GNU C library lists them ("Replacing malloc"), with those that are no longer there.
constexpr std::array<std::string_view, 12> allocator{
    "aligned_alloc", "calloc",  "cfree",          "free",     "malloc",  "malloc_usable_size",
    "mallinfo",      "mallopt", "posix_memalign", "memalign", "pvalloc", "realloc"};

using Names = std::set<std::string, std::less<>>;

bool is_operator_of_memory(std::string_view name) {
  constexpr std::array<std::string_view, 4> of_memory{"_Znw", "_Zna", "_Zdl", "_Zda"};
  return std::ranges::any_of(of_memory, [&](std::string_view start) { return name.starts_with(start); });
}

bool is_function(const ElfSymbol& symbol) {
  return symbol.section != SHN_UNDEF && (symbol.type == STT_FUNC || symbol.type == STT_GNU_IFUNC);
}

/// Notes functions that a library defines for those who are linked now. Only strong ones of C++: weak ones
/// are templates and inline functions, which every file may have.
void note_functions(const std::filesystem::path& library, bool strong_alone, Names& out) {
  const ElfOutcome outcome = read_elf(library);
  if (!outcome.unreadable.empty()) return;
  std::string_view versions;
  for (const ElfSection& section : outcome.file.sections) {
    if (section.type == SHT_GNU_versym) versions = section.bytes;
  }
  const auto& symbols = outcome.file.dynamic_symbols;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    if (!is_function(symbols[i]) || (strong_alone && symbols[i].binding != STB_GLOBAL)) continue;
    constexpr std::uint16_t of_old_programs = 0x8000;
    std::uint16_t version = 0;
    if ((i + 1) * sizeof version <= versions.size())
      std::memcpy(&version, versions.data() + i * sizeof version, sizeof version);
    if ((version & of_old_programs) == 0) out.emplace(symbols[i].name);
  }
}

int note_library(dl_phdr_info* library, std::size_t, void* data) {
  const std::filesystem::path path(library->dlpi_name);
  const std::string name = path.filename().string();
  const bool is_of_cpp = name.starts_with(cpp_library);
  if (is_of_cpp ||
      std::ranges::any_of(c_libraries, [&](std::string_view start) { return name.starts_with(start); }))
    note_functions(path, is_of_cpp, *static_cast<Names*>(data));
  return 0;
}

const Names& functions_of_libraries() {
  static const Names out = [] {
    Names found;
    dl_iterate_phdr(note_library, &found);
    std::erase_if(found, is_operator_of_memory);
    return found;
  }();
  return out;
}

}  // namespace

bool is_of_c_library(std::string_view name) { return functions_of_libraries().contains(name); }

std::vector<std::string> replaced_functions(const ElfFile& file) {
  const bool is_shared = !file.dynamic_symbols.empty();
  std::set<std::string> out;
  for (const ElfSymbol& symbol : is_shared ? file.dynamic_symbols : file.symbols) {
    if (symbol.binding == STB_LOCAL || symbol.section == SHN_UNDEF) continue;
    // Whatever an assembler calls it: code lies in sections that may be executed.
    const bool is_code = symbol.section >= file.sections.size()
                             ? symbol.section == SHN_ABS
                             : (file.sections[symbol.section].flags & SHF_EXECINSTR) != 0;
    const std::string name(symbol.name);
    if (!is_code || !is_of_c_library(name)) continue;
    if (is_shared && std::ranges::find(allocator, name) != allocator.end()) continue;
    out.insert(name);
  }
  return {out.begin(), out.end()};
}

}  // namespace assay
