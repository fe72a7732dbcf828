#include "core/code/elf.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

namespace assay {
namespace {

/// Never leaves parse_elf().
struct Unreadable {
  std::string why;
};

class Reader {
 public:
  explicit Reader(std::vector<char> content) {
    file_.content = std::move(content);
    if (!is_elf()) throw Unreadable{"is no ELF file"};
    header_ = at<Elf64_Ehdr>(0);
    require_processor();
    read_section_headers();
    for (std::size_t i = 0; i < headers_.size(); ++i) {
      if (headers_[i].sh_type == SHT_SYMTAB) file_.symbols = symbols(i);
      if (headers_[i].sh_type == SHT_DYNSYM) file_.dynamic_symbols = symbols(i);
    }
    for (std::size_t i = 0; i < headers_.size(); ++i) {
      if (headers_[i].sh_type == SHT_RELA) read_relocations(headers_[i]);
    }
  }
  ElfFile take() { return std::move(file_); }

 private:
  std::string_view range(std::uint64_t offset, std::uint64_t size) const {
    const std::uint64_t all = file_.content.size();
    if (offset > all || size > all - offset) throw Unreadable{"is cut short"};
    return {file_.content.data() + offset, size};
  }
  template <class T>
  T at(std::uint64_t offset) const {
    T value;
    std::memcpy(&value, range(offset, sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::string_view text(const Elf64_Shdr& table, std::uint64_t offset) const {
    const std::string_view all = range(table.sh_offset, table.sh_size);
    const std::size_t end = offset < all.size() ? all.find('\0', offset) : std::string_view::npos;
    if (end == std::string_view::npos) throw Unreadable{"has a name outside its table of names"};
    return all.substr(offset, end - offset);
  }
  const Elf64_Shdr& header(std::uint64_t index) const {
    if (index >= headers_.size()) throw Unreadable{"refers to a section that it does not have"};
    return headers_[index];
  }

  bool is_elf() const {
    return file_.content.size() >= SELFMAG && std::memcmp(file_.content.data(), ELFMAG, SELFMAG) == 0;
  }
  void require_processor() const {
    if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB ||
        header_.e_machine != EM_X86_64) {
      throw Unreadable{"is not for x86-64"};
    }
  }

  void read_section_headers() {
    if (header_.e_shnum == 0 || header_.e_shstrndx == SHN_XINDEX) {
      throw Unreadable{"has no sections, or more than 65,279"};
    }
    for (std::uint64_t i = 0; i < header_.e_shnum; ++i) {
      headers_.push_back(at<Elf64_Shdr>(header_.e_shoff + i * sizeof(Elf64_Shdr)));
    }
    for (const Elf64_Shdr& h : headers_) {
      const bool empty = h.sh_type == SHT_NOBITS || h.sh_type == SHT_NULL;
      file_.sections.push_back({.name = text(header(header_.e_shstrndx), h.sh_name),
                                .type = h.sh_type,
                                .flags = h.sh_flags,
                                .address = h.sh_addr,
                                .size = h.sh_size,
                                .alignment = h.sh_addralign,
                                .entry_size = h.sh_entsize,
                                .bytes = empty ? std::string_view() : range(h.sh_offset, h.sh_size),
                                .relocations = {}});
    }
  }

  std::vector<ElfSymbol> symbols(std::size_t table) const {
    const Elf64_Shdr& h = headers_[table];
    std::vector<ElfSymbol> out;
    for (std::uint64_t i = 0; i < h.sh_size / sizeof(Elf64_Sym); ++i) {
      const auto symbol = at<Elf64_Sym>(h.sh_offset + i * sizeof(Elf64_Sym));
      out.push_back({.name = text(header(h.sh_link), symbol.st_name),
                     .value = symbol.st_value,
                     .size = symbol.st_size,
                     .section = symbol.st_shndx,
                     .binding = static_cast<unsigned char>(ELF64_ST_BIND(symbol.st_info)),
                     .type = static_cast<unsigned char>(ELF64_ST_TYPE(symbol.st_info))});
      if (symbol.st_shndx < SHN_LORESERVE) static_cast<void>(header(symbol.st_shndx));
    }
    return out;
  }

  void read_relocations(const Elf64_Shdr& h) {
    const bool dynamic = h.sh_link == 0 || header(h.sh_link).sh_type == SHT_DYNSYM;
    static_cast<void>(header(h.sh_info));
    auto& out = dynamic ? file_.dynamic_relocations : file_.sections[h.sh_info].relocations;
    const std::size_t known = (dynamic ? file_.dynamic_symbols : file_.symbols).size();
    for (std::uint64_t i = 0; i < h.sh_size / sizeof(Elf64_Rela); ++i) {
      const auto r = at<Elf64_Rela>(h.sh_offset + i * sizeof(Elf64_Rela));
      const auto symbol = static_cast<std::uint32_t>(ELF64_R_SYM(r.r_info));
      if (symbol != 0 && symbol >= known) throw Unreadable{"refers to a symbol that it does not have"};
      out.push_back({r.r_offset, static_cast<std::uint32_t>(ELF64_R_TYPE(r.r_info)), symbol, r.r_addend});
    }
    std::ranges::sort(out, {}, &ElfRelocation::at);
  }

  ElfFile file_;
  Elf64_Ehdr header_;
  std::vector<Elf64_Shdr> headers_;
};

}  // namespace

ElfOutcome parse_elf(std::vector<char> content) {
  try {
    return {Reader(std::move(content)).take(), ""};
  } catch (const Unreadable& reason) {
    return {ElfFile(), reason.why};
  }
}

ElfOutcome read_elf(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::error_code failed;
  const std::uintmax_t size = std::filesystem::file_size(path, failed);
  if (!stream || failed) return {ElfFile(), "cannot be opened"};
  std::vector<char> content(size);
  if (!stream.read(content.data(), static_cast<std::streamsize>(content.size()))) {
    return {ElfFile(), "cannot be read"};
  }
  return parse_elf(std::move(content));
}

}  // namespace assay
