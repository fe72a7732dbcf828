#include "core/code/elf.hpp"

#include <fmt/format.h>

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
    if (!std::string_view(file_.content.data(), file_.content.size()).starts_with(ELFMAG))
      throw Unreadable{"is no ELF file"};
    header_ = at<Elf64_Ehdr>(0);
    if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB ||
        header_.e_machine != EM_X86_64)
      throw Unreadable{"is not for x86-64"};
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

  void read_section_headers() {
    if (header_.e_shnum == 0 || header_.e_shstrndx == SHN_XINDEX) {
      throw Unreadable{"has no sections, or more than 65,279"};
    }
    for (std::uint64_t i = 0; i < header_.e_shnum; ++i) {
      headers_.push_back(at<Elf64_Shdr>(header_.e_shoff + i * sizeof(Elf64_Shdr)));
    }
    std::uint64_t in_tables = 0;
    for (const Elf64_Shdr& h : headers_) {
      // Tables that overlap could make a small file stand for any number of symbols.
      if (h.sh_type == SHT_SYMTAB || h.sh_type == SHT_DYNSYM || h.sh_type == SHT_RELA)
        in_tables += range(h.sh_offset, h.sh_size).size();
      if (in_tables > file_.content.size()) throw Unreadable{"has tables that overlap"};
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

ProgramImage::ProgramImage(ElfFile elf) : elf_(std::move(elf)) {
  std::string_view file;
  std::size_t unit = 0;
  for (const ElfSymbol& symbol : elf_.symbols) {
    if (symbol.type == STT_FILE) {
      file = symbol.name;
      ++unit;
    }
    const bool placed = symbol.section != SHN_UNDEF && symbol.section < elf_.sections.size();
    if (!placed || (symbol.type != STT_FUNC && symbol.type != STT_OBJECT && symbol.type != STT_NOTYPE))
      continue;
    if (symbol.size == 0) {
      const auto [known, is_new] = labels_.try_emplace(symbol.value, symbol.name);
      if (!is_new) known->second = std::min(known->second, symbol.name);
      continue;
    }
    if (symbol.type == STT_NOTYPE) continue;
    named_.push_back({symbol.value, symbol.size, symbol.name, symbol.binding == STB_LOCAL ? file : ""});
    const ElfSection& section = elf_.sections[symbol.section];
    const std::uint64_t offset = symbol.value - section.address;
    if (symbol.type != STT_FUNC || offset > section.bytes.size()) continue;
    functions_.push_back({symbol.name, named_.back().file, symbol.value,
                          section.bytes.substr(offset, symbol.size), symbol.binding == STB_LOCAL ? unit : 0});
  }
  // Keeps the first of several names of one address, so that both programs choose the same.
  const auto keep_first = [](auto& all) {
    std::ranges::sort(all, {}, [](const auto& one) { return std::pair(one.address, one.name); });
    const auto same = [](const auto& a, const auto& b) { return a.address == b.address; };
    all.erase(std::unique(all.begin(), all.end(), same), all.end());
  };
  keep_first(functions_);
  keep_first(named_);

  place_between_neighbours();
  for (const ElfRelocation& relocation : elf_.dynamic_relocations) {
    if (relocation.symbol != 0) {
      const ElfSymbol& symbol = elf_.dynamic_symbols[relocation.symbol];
      by_loader_[relocation.at] = symbol.name;
      if (symbol.section != SHN_UNDEF) {
        pointers_[relocation.at] = symbol.value + static_cast<std::uint64_t>(relocation.addend);
      }
      continue;
    }
    pointers_[relocation.at] = static_cast<std::uint64_t>(relocation.addend);
    if (const LinkedObject* named = named_at(static_cast<std::uint64_t>(relocation.addend))) {
      by_loader_[relocation.at] = named->name;
    }
  }
}

/// The linker puts the functions of a file side by side.
void ProgramImage::place_between_neighbours() {
  std::vector<std::size_t> after(functions_.size());  // the unit of the next local function
  for (std::size_t i = functions_.size(), unit = 0; i-- > 0;) {
    if (functions_[i].unit != 0) unit = functions_[i].unit;
    after[i] = unit;
  }
  std::size_t before = 0;
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    if (functions_[i].file.empty()) {
      functions_[i].unit = before == after[i] ? before : 0;
    } else {
      before = functions_[i].unit;
    }
  }
}

const ElfSection* ProgramImage::section_at(std::uint64_t address) const {
  const auto found = std::ranges::find_if(elf_.sections, [&](const ElfSection& section) {
    return (section.flags & SHF_ALLOC) != 0 && (section.flags & SHF_TLS) == 0 && address >= section.address &&
           address - section.address < section.size;
  });
  return found == elf_.sections.end() ? nullptr : &*found;
}

const LinkedObject* ProgramImage::named_at(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(named_, address, {}, &LinkedObject::address);
  if (after == named_.begin()) return nullptr;
  const LinkedObject& before = *std::prev(after);
  return address - before.address < before.size ? &before : nullptr;
}

/// An entry of the procedure linkage table: `jmp *distance(%rip)`, ff 25, through an address of the loader.
std::string ProgramImage::import_behind(const ElfSection& section, std::uint64_t address) const {
  const std::uint64_t offset = address - section.address;
  const std::string_view entry = section.bytes.substr(offset, 16);
  const std::size_t jump = entry.find("\xff\x25");
  if (jump == std::string_view::npos || jump + 6 > entry.size()) return "";
  std::int32_t distance = 0;
  std::memcpy(&distance, entry.data() + jump + 2, sizeof(distance));
  const std::uint64_t slot = address + jump + 6 + static_cast<std::uint64_t>(std::int64_t{distance});
  const auto found = by_loader_.find(slot);
  return found == by_loader_.end() ? "" : "import " + found->second;
}

std::string ProgramImage::meaning(std::uint64_t address, std::size_t size) const {
  if (const auto found = by_loader_.find(address); found != by_loader_.end()) return "to " + found->second;
  if (const LinkedObject* named = named_at(address)) {
    return fmt::format("{}:{}+{}", named->file, named->name, address - named->address);
  }
  if (const auto label = labels_.find(address); label != labels_.end()) return std::string(label->second);
  const ElfSection* section = section_at(address);
  if (section == nullptr || (section->bytes.empty() && (section->flags & SHF_WRITE) == 0)) return "";
  if (section->name.starts_with(".plt") && !section->bytes.empty()) return import_behind(*section, address);
  if ((section->flags & SHF_WRITE) != 0) {
    const LinkedObject* ends_here = named_at(address - 1);
    return ends_here == nullptr ? "" : fmt::format("end of {}:{}", ends_here->file, ends_here->name);
  }
  if ((section->flags & SHF_EXECINSTR) != 0) return "";
  const std::string_view rest = section->bytes.substr(address - section->address);
  const std::size_t end = size == text ? rest.find('\0') : size;
  return fmt::format("= {}", rest.substr(0, end > 0 ? end : 8));
}

std::string_view ProgramImage::text_at(std::uint64_t address) const {
  const ElfSection* section = section_at(address);
  if (section == nullptr || section->bytes.empty()) return {};
  const std::string_view rest = section->bytes.substr(address - section->address);
  return rest.substr(0, rest.find('\0'));
}

std::vector<std::uint64_t> ProgramImage::pointers_at(std::uint64_t address) const {
  std::uint64_t end = address + 1;
  if (const LinkedObject* named = named_at(address)) {
    address = named->address;
    end = address + named->size;
  }
  std::vector<std::uint64_t> out;
  for (auto at = pointers_.lower_bound(address); at != pointers_.end() && at->first < end; ++at) {
    out.push_back(at->second);
  }
  return out;
}

std::optional<LinkedObject> ProgramImage::object_at(std::uint64_t address) const {
  const LinkedObject* named = function_at(address) == nullptr ? named_at(address) : nullptr;
  const ElfSection* section = named == nullptr ? nullptr : section_at(named->address);
  if (section == nullptr) return std::nullopt;
  LinkedObject out = *named;
  out.writable = (section->flags & SHF_WRITE) != 0 && !section->name.starts_with(".data.rel.ro");
  return out;
}

std::string ProgramImage::content_of(const LinkedObject& object) const {
  const ElfSection* section = section_at(object.address);
  if (section->bytes.empty()) return fmt::format("{} bytes", object.size);
  std::string out(section->bytes.substr(object.address - section->address, object.size));
  const std::uint64_t end = object.address + out.size();  // no symbol is trusted to end within its section
  std::map<std::uint64_t, std::string> leads_to;
  for (auto at = pointers_.lower_bound(object.address); at != pointers_.end() && at->first < end; ++at)
    leads_to[at->first] = meaning(at->second, text);
  for (auto at = by_loader_.lower_bound(object.address); at != by_loader_.end() && at->first < end; ++at)
    leads_to[at->first] = at->second;
  for (const auto& [at, where] : leads_to) {
    std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(at - object.address),
                std::min<std::uint64_t>(8, end - at), '\0');
    out += fmt::format("\n{}: {}", at - object.address, where);
  }
  return out;
}

const LinkedFunction* ProgramImage::function_at(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(functions_, address, {}, &LinkedFunction::address);
  if (after == functions_.begin()) return nullptr;
  const LinkedFunction& before = *std::prev(after);
  return address - before.address < before.bytes.size() ? &before : nullptr;
}

std::vector<std::uint64_t> ProgramImage::jump_table(std::uint64_t address,
                                                    const LinkedFunction& function) const {
  std::vector<std::uint64_t> out;
  const ElfSection* section = section_at(address);
  if (section == nullptr || address % 4 != 0) return out;
  for (std::uint64_t at = address - section->address; at + 4 <= section->bytes.size(); at += 4) {
    std::int32_t distance = 0;
    std::memcpy(&distance, section->bytes.data() + at, sizeof(distance));
    const std::uint64_t to = address + static_cast<std::uint64_t>(std::int64_t{distance});
    if (to - function.address >= function.bytes.size()) break;
    out.push_back(to - function.address);
  }
  return out;
}

bool ProgramImage::is_nameless(std::uint64_t address) const {
  if (by_loader_.contains(address)) return true;
  const ElfSection* section = section_at(address);
  return section != nullptr && !section->bytes.empty() &&
         (section->flags & (SHF_WRITE | SHF_EXECINSTR)) == 0 && named_at(address) == nullptr;
}

}  // namespace assay
