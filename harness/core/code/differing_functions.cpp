#include "core/code/differing_functions.hpp"

#include "core/code/calls.hpp"
#include "core/code/elf.hpp"
#include "core/files/descriptor.hpp"

#include <fmt/format.h>

#include <elf.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>
#include <utility>

namespace assay {
namespace {

/// The bytes that follow an opcode.
struct Layout {
  bool known = true;
  bool has_modrm = false;
  std::size_t immediate = 0;        // bytes
  std::size_t branch_distance = 0;  // bytes
};

constexpr Layout unknown{.known = false};

Layout modrm_and(std::size_t immediate) { return {.has_modrm = true, .immediate = immediate}; }

/// Opcodes of one byte, sixteen a row. `-` none, `.` nothing follows, `M` ModRM, `N` ModRM and a byte, `F`
/// ModRM and an immediate of the operand's size, at most four bytes, `f` that immediate alone, `b` a byte,
/// `w` two, `e` three, `a` an address of eight, `v` an immediate that may have eight, `j` and `J` a branch by
/// one or four bytes, `t` and `T` as `N` and `F` where ModRM says test.
constexpr std::string_view first_map =
    "MMMMbf--MMMMbf--MMMMbf--MMMMbf--MMMMbf--MMMMbf--MMMMbf--MMMMbf--"
    "................................--.M....fFbN....jjjjjjjjjjjjjjjj"
    "NF-NMMMMMMMMMMMM..........-.....aaaa....bf......bbbbbbbbvvvvvvvv"
    "NNw...NFe.w..b-.MMMM---.MMMMMMMMjjjjbbbbJJ-j..........tT......MM";
/// Opcodes of two bytes, 0F xx. `n` as `N`, also of VEX and EVEX, where all but vzeroupper have ModRM alone.
constexpr std::string_view second_map =
    "MMMM-.....-.MMM-MMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMM........MMMMMMMM"
    "MMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMnnnnMMM.MMMMMMMM"
    "JJJJJJJJJJJJJJJJMMMMMMMMMMMMMMMM...MNMMM...MNMMMMMMMMMMMMMNMMMMM"
    "MMnMnnnM........MMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMM";

Layout layout_of(char letter, std::size_t full, bool wide, unsigned reg) {
  switch (letter) {
    case '.': return {};
    case 'M': return modrm_and(0);
    case 'n':
    case 'N': return modrm_and(1);
    case 'F': return modrm_and(full);
    case 'f': return {.immediate = full};
    case 'b': return {.immediate = 1};
    case 'w': return {.immediate = 2};
    case 'e': return {.immediate = 3};
    case 'a': return {.immediate = 8};
    case 'v': return {.immediate = wide ? 8 : full};
    case 'j': return {.branch_distance = 1};
    case 'J': return {.branch_distance = 4};
    case 't': return modrm_and(reg < 2 ? 1 : 0);
    case 'T': return modrm_and(reg < 2 ? full : 0);
    default: return unknown;
  }
}

class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : bytes_(bytes) {}

  Instruction decode() {
    const Layout layout = opcode();
    if (!layout.known) return {};
    if (layout.has_modrm) operands();
    if (layout.branch_distance > 0) {
      out_.distance = at_;
      out_.distance_size = layout.branch_distance;
      out_.branches = true;
    }
    at_ += layout.immediate + layout.branch_distance;
    if (at_ > bytes_.size()) return {};
    out_.length = at_;
    return out_;
  }

 private:
  /// Zero beyond the end: the length then tells that it was beyond.
  unsigned byte(std::size_t at) const {
    return at < bytes_.size() ? static_cast<unsigned char>(bytes_[at]) : 0;
  }
  unsigned next() { return byte(at_++); }

  static bool is_prefix(unsigned value) {
    return value == 0x66 || value == 0x67 || value == 0xf0 || value == 0xf2 || value == 0xf3 ||
           value == 0x2e || value == 0x36 || value == 0x3e || value == 0x26 || value == 0x64 || value == 0x65;
  }

  /// Returns the layout for an opcode of the map that VEX or EVEX names.
  static Layout vector(unsigned map, unsigned op) {
    switch (map) {
      case 1: return op == 0x77 ? Layout{} : modrm_and(second_map[op] == 'n' ? 1 : 0);
      case 2:
      case 5:
      case 6: return modrm_and(0);
      case 3: return modrm_and(1);
      default: return unknown;
    }
  }

  Layout opcode() {
    bool half = false, wide = false;
    while (at_ < bytes_.size() && is_prefix(byte(at_))) half |= next() == 0x66;
    if (byte(at_) >= 0x40 && byte(at_) <= 0x4f) wide = (next() & 8U) != 0;
    const unsigned op = next();
    if (op == 0xc5) {
      ++at_;
      return vector(1, next());
    }
    if (op == 0xc4 || op == 0x62) {
      const bool evex = op == 0x62;
      const unsigned map = byte(at_) & (evex ? 7U : 0x1fU);
      at_ += evex ? 3 : 2;
      return vector(map, next());
    }
    if (op != 0x0f) return layout_of(first_map[op], half && !wide ? 2 : 4, wide, byte(at_) >> 3U & 7U);
    const unsigned second = next();
    if (second == 0x38) return ++at_, modrm_and(0);
    if (second == 0x3a) return ++at_, modrm_and(1);
    return layout_of(second_map[second], 4, false, 0);
  }

  void operands() {
    const unsigned modrm = next(), mod = modrm >> 6U, rm = modrm & 7U;
    if (mod == 3) return;
    const bool has_sib = rm == 4;
    const unsigned base = has_sib ? next() & 7U : rm;
    if (mod == 0 && rm == 5) {  // relative to the next instruction
      out_.distance = at_;
      out_.distance_size = 4;
    }
    at_ += mod == 1 ? 1 : mod == 2 || base == 5 ? 4 : 0;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  Instruction out_;
};

/// The address that the distance of an instruction of a function leads to.
std::uint64_t target(const LinkedFunction& function, std::size_t at, const Instruction& instruction) {
  std::int32_t distance = 0;
  std::memcpy(&distance, function.bytes.data() + at + instruction.distance, sizeof(distance));
  return function.address + at + instruction.length + static_cast<std::uint64_t>(std::int64_t{distance});
}

/// Addresses that the code of a function refers to.
std::vector<std::uint64_t> references(const LinkedFunction& function) {
  std::vector<std::uint64_t> out;
  for (std::size_t at = 0; at < function.bytes.size();) {
    const Instruction one = decoded(function.bytes.substr(at));
    if (one.length == 0) break;
    if (one.distance_size == sizeof(std::int32_t)) out.push_back(target(function, at, one));
    at += one.length;
  }
  return out;
}

using Registrations = std::map<std::string, std::vector<const LinkedFunction*>, std::less<>>;

/// Functions that register variants, by source: code of theirs, or a table that it refers to, holds the name.
Registrations registrations(const ProgramImage& image, const std::vector<std::string>& sources) {
  Registrations out;
  for (const std::string& source : sources) out[source];
  const auto note = [&](std::uint64_t address, const LinkedFunction& function) {
    const std::string_view text = image.text_at(address);
    auto found = out.find(text);
    if (found == out.end() && text.find("./") != std::string_view::npos && text.size() < 4096) {
      found = out.find(std::filesystem::path(text).lexically_normal().string());
    }
    if (found == out.end() || (!found->second.empty() && found->second.back() == &function)) return;
    found->second.push_back(&function);
  };
  for (const LinkedFunction& function : image.functions()) {
    if (function.file.empty()) continue;
    for (const std::uint64_t address : references(function)) {
      note(address, function);
      for (const std::uint64_t there : image.pointers_at(address)) note(there, function);
    }
  }
  return out;
}

/// Functions at which the harness begins. Their callees are not part of a variant.
bool is_border(std::string_view name) {
  return name.starts_with("_ZN5assay8Regist") || name.find("14TypedOperation") != std::string_view::npos;
}

/// All functions that can be reached from these, themselves included. `refer(function)` has the addresses
/// that one refers to, and `also(address)` further functions that an address outside of functions leads to.
template <class IsBorder, class Refer, class Also>
std::set<const LinkedFunction*> reached(const ProgramImage& image, std::vector<const LinkedFunction*> next,
                                        const IsBorder& is_border, const Refer& refer, const Also& also) {
  std::set<const LinkedFunction*> out(next.begin(), next.end());
  std::set<std::uint64_t> seen;
  while (!next.empty()) {
    std::vector<std::uint64_t> addresses = refer(*next.back());
    next.pop_back();
    while (!addresses.empty()) {
      const std::uint64_t address = addresses.back();
      addresses.pop_back();
      if (!seen.insert(address).second) continue;
      const LinkedFunction* function = image.function_at(address);
      if (function == nullptr) {
        std::ranges::copy(image.pointers_at(address), std::back_inserter(addresses));
        for (const LinkedFunction* one : also(address)) {
          if (out.insert(one).second) next.push_back(one);
        }
      } else if (!is_border(function->name) && out.insert(function).second) {
        next.push_back(function);
      }
    }
  }
  return out;
}

/// Compares a function of both programs.
class Comparison {
 public:
  /// `whole`: all bytes of a constant are compared that an instruction may read, and else eight at most,
  /// since beyond a short one stands another.
  Comparison(const ProgramImage& before, const LinkedFunction& a, const ProgramImage& after,
             const LinkedFunction& b, bool whole = false)
      : before_(before), after_(after), a_(a), b_(b), whole_(whole) {}

  /// Compares instruction by instruction. A distance that leads to the same place is no change.
  std::uint64_t changed_bytes() const {
    const std::size_t size = a_.bytes.size();
    if (size != b_.bytes.size()) return std::max(size, b_.bytes.size()) - std::min(size, b_.bytes.size());
    std::uint64_t changed = 0;
    for (std::size_t at = 0; at < size;) {
      const Instruction a = decoded(a_.bytes.substr(at)), b = decoded(b_.bytes.substr(at));
      const bool alike = a.length > 0 && a.length == b.length && a.distance == b.distance &&
                         a.distance_size == b.distance_size;
      // Once instructions differ in length or are unknown, the rest is compared byte by byte.
      if (!alike) return changed + differing(at, size);
      if (a.distance_size == sizeof(std::int32_t)) {
        const std::size_t from = at + a.distance, to = from + a.distance_size;
        changed += differing(at, from) + differing(to, at + a.length);
        if (!leads_to_the_same(at, a)) changed += std::max<std::uint64_t>(1, differing(from, to));
      } else {
        changed += differing(at, at + a.length);
      }
      at += a.length;
    }
    return changed;
  }

 private:
  std::uint64_t differing(std::size_t from, std::size_t to) const {
    std::uint64_t out = 0;
    for (std::size_t i = from; i < to; ++i) out += a_.bytes[i] != b_.bytes[i] ? 1U : 0U;
    return out;
  }

  bool leads_to_the_same(std::size_t at, const Instruction& instruction) const {
    const std::uint64_t from = target(a_, at, instruction), to = target(b_, at, instruction);
    const std::uint64_t in_a = from - a_.address, in_b = to - b_.address;
    if (in_a < a_.bytes.size() || in_b < b_.bytes.size()) return in_a == in_b;
    const std::size_t size = constant_size(at, instruction);
    if (size == ProgramImage::text && before_.is_nameless(from) && after_.is_nameless(to)) {
      const std::vector<std::uint64_t> jumps = before_.jump_table(from, a_);
      if (!jumps.empty()) return starts_alike(jumps, after_.jump_table(to, b_));
    }
    const std::string was = before_.meaning(from, size), is = after_.meaning(to, size);
    if (!was.empty()) return was == is || without_clone(was) == without_clone(is);
    return from - a_.address == to - b_.address && is.empty();
  }

  /// Another table may follow directly, so only the common beginning is compared.
  static bool starts_alike(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
    const std::size_t common = std::min(a.size(), b.size());
    return common > 0 && std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(common), b.begin());
  }

  /// Clones that compilers make of one function are numbered through a file: `f.constprop.1`.
  static std::string without_clone(const std::string& meaning) {
    static const std::regex number(R"(([a-z])\.[0-9]+)");
    return std::regex_replace(meaning, number, "$1");
  }

  /// Returns how many bytes the instruction reads: a text where LEA (8D) takes the address; four for a scalar
  /// float (prefix F3, in VEX pp = 2) and for a float that is broadcast (VBROADCASTSS and VPBROADCASTD, 18
  /// and 58; in other instructions a bit of EVEX says so, and another bit that it has eight bytes); eight
  /// for a scalar double (F2, pp = 3); else eight, or as many as a vector may have.
  std::size_t constant_size(std::size_t start, const Instruction& instruction) const {
    const std::size_t at = start + instruction.distance;
    const auto byte = [&](std::size_t back) {
      return at >= start + back ? static_cast<unsigned char>(a_.bytes[at - back]) : 0U;
    };
    if (instruction.branches) return 8;
    if (byte(2) == 0x8d) return ProgramImage::text;
    const bool vex = byte(4) == 0xc5 || byte(5) == 0xc4, evex = byte(6) == 0x62;
    const bool scalar =
        ((byte(4) == 0xf3 || byte(5) == 0xf3) && byte(3) == 0x0f) || (vex && (byte(3) & 3U) == 2);
    const bool spread = ((byte(2) == 0x18 || byte(2) == 0x58) && (vex || evex)) ||
                        (evex && (byte(3) & 0x10U) != 0 && (byte(4) & 0x80U) == 0);
    if (scalar || spread) return 4;
    const bool of_eight =
        ((byte(4) == 0xf2 || byte(5) == 0xf2) && byte(3) == 0x0f) || (vex && (byte(3) & 3U) == 3);
    const bool vector = vex || evex || byte(3) == 0x0f || byte(4) == 0x0f, wide = vex && (byte(3) & 4U) != 0;
    return !whole_ || !vector || of_eight ? 8 : evex ? 64 : wide ? 32 : 16;
  }

  const ProgramImage& before_;
  const ProgramImage& after_;
  const LinkedFunction& a_;
  const LinkedFunction& b_;
  bool whole_;
};

/// Functions of one name: several when files share their names, as kernels' do.
struct Namesakes {
  std::vector<const LinkedFunction*> before, after;
};

/// Pairs equal functions first, then the rest in the order of their addresses.
void compare(const ProgramImage& before, const ProgramImage& after, Namesakes& all,
             const std::map<const LinkedFunction*, std::string>& sources,
             std::vector<DifferingFunction>& out) {
  const auto changed = [&](const LinkedFunction* a, const LinkedFunction* b) {
    return Comparison(before, *a, after, *b).changed_bytes();
  };
  std::erase_if(all.before, [&](const LinkedFunction* a) {
    const auto same = std::ranges::find_if(all.after, [&](const LinkedFunction* b) {
      return a->bytes.size() == b->bytes.size() && changed(a, b) == 0;
    });
    if (same == all.after.end()) return false;
    all.after.erase(same);
    return true;
  });
  for (std::size_t i = 0; i < std::max(all.before.size(), all.after.size()); ++i) {
    const LinkedFunction* a = i < all.before.size() ? all.before[i] : nullptr;
    const LinkedFunction* b = i < all.after.size() ? all.after[i] : nullptr;
    out.push_back({.name = demangled(a != nullptr ? a->name : b->name),
                   .source = sources.at(b != nullptr ? b : a),
                   .size_before = a != nullptr ? a->bytes.size() : 0,
                   .size_after = b != nullptr ? b->bytes.size() : 0});
    out.back().changed =
        a != nullptr && b != nullptr ? changed(a, b) : out.back().size_before + out.back().size_after;
  }
}

/// Whether all that decides what a program does lies where code refers to it.
bool is_whole(const ElfFile& elf) {
  return std::ranges::none_of(elf.sections, [](const ElfSection& section) {
    bool elsewhere = (section.flags & SHF_TLS) != 0;
    for (std::size_t at = 0; section.type == SHT_DYNAMIC && at + sizeof(Elf64_Dyn) <= section.bytes.size();
         at += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry;
      std::memcpy(&entry, section.bytes.data() + at, sizeof entry);
      elsewhere |= entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH;
    }
    return elsewhere;
  });
}

/// `bench` of `void (anonymous namespace)::bench<int>(benchmark::State&)`, with the arguments of the
/// template; empty where the parameters are others.
std::string unqualified(std::string name, std::string_view parameter) {
  const std::string end = fmt::format("({})", parameter);
  if (!name.ends_with(end)) return "";
  name.resize(name.size() - end.size());
  const std::string_view before_arguments = std::string_view(name).substr(0, name.find('<'));
  const std::size_t colons = before_arguments.rfind("::"), space = before_arguments.rfind(' ');
  return name.substr(colons != std::string::npos ? colons + 2 : space != std::string::npos ? space + 1 : 0);
}

/// One of two programs, with the ways through it.
class Ways {
 public:
  Ways(const ProgramImage& image, std::string_view border) : image_(image), border_(border) {
    for (const LinkedFunction& function : image.functions()) {
      for (const std::uint64_t address : references_[&function] = references(function)) {
        const auto object = image.object_at(address);
        if (object && object->writable) users_[object->address].push_back(&function);
      }
      if (function.name == "main") main_ = &function;
    }
  }
  bool is_border(std::string_view name) const {
    return name.starts_with("_ZN" + border_) || name.starts_with("_ZNK" + border_);
  }
  const LinkedFunction* main() const { return main_; }

  struct Reach {
    std::set<const LinkedFunction*> functions;
    std::map<std::pair<std::string_view, std::string_view>, std::string_view> objects;  // contents
  };
  Reach from(const LinkedFunction* start) {
    Reach out;
    const auto note = [&](std::uint64_t address) -> std::vector<const LinkedFunction*> {
      const auto object = image_.object_at(address);
      if (!object) return {};
      std::string& content = contents_[object->address];
      if (content.empty()) content = image_.content_of(*object);
      out.objects[{object->file, object->name}] = content;
      return users_[object->address];
    };
    out.functions = reached(
        image_, {start, main_}, [&](std::string_view name) { return is_border(name); },
        [&](const LinkedFunction& function) { return references_.at(&function); }, note);
    return out;
  }

 private:
  const ProgramImage& image_;
  std::string border_;                                                 // as mangled
  std::map<std::uint64_t, std::vector<const LinkedFunction*>> users_;  // of variables
  std::map<const LinkedFunction*, std::vector<std::uint64_t>> references_;
  std::map<std::uint64_t, std::string> contents_;  // of objects, by address
  const LinkedFunction* main_ = nullptr;
};

/// A part of memory that may be executed.
struct CodeInMemory {
  std::uint64_t begin = 0, end = 0, offset = 0;  ///< the latter in its file
  std::string file;
  bool has_own_pages = false;  ///< pages that were written to
};

constexpr std::string_view of_system = "[vdso]";

std::vector<CodeInMemory> code_of(std::istream& maps) {
  std::vector<CodeInMemory> out;
  bool wanted = false;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string first, rights;
    words >> first;
    if (first.ends_with(':')) {  // about the part above
      std::uint64_t kibibytes = 0;
      if (wanted && first == "Anonymous:" && words >> kibibytes) out.back().has_own_pages = kibibytes > 0;
      continue;
    }
    CodeInMemory next;
    std::string offset, device, node;
    words >> rights >> offset >> device >> node >> std::ws;
    std::getline(words, next.file);
    wanted = rights.size() > 2 && rights[2] == 'x';
    if (!wanted) continue;
    next.begin = std::strtoull(first.c_str(), nullptr, 16);
    next.end = std::strtoull(first.c_str() + std::min(first.size(), first.find('-') + 1), nullptr, 16);
    next.offset = std::strtoull(offset.c_str(), nullptr, 16);
    out.push_back(std::move(next));
  }
  return out;
}

std::string bytes_at(const std::string& file, std::uint64_t offset, std::uint64_t size) {
  const Descriptor opened(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  std::string out(size, '\0');
  std::size_t got = 0;
  for (ssize_t count = 1; got < size && count > 0;
       got += static_cast<std::size_t>(std::max<ssize_t>(count, 0)))
    count = pread(opened.value(), out.data() + got, size - got, static_cast<off_t>(offset + got));
  out.resize(got);
  return out;
}

/// Whether there is more than breakpoints: the instruction int3 of one byte, which the system puts there for
/// those who trace calls.
bool differs(const std::string& memory, const std::string& file) {
  constexpr char breakpoint = '\xcc';
  const auto [now, before] =
      std::ranges::mismatch(memory, file, [](char a, char b) { return a == b || a == breakpoint; });
  return now != memory.end() && before != file.end();
}

bool is_of_assay(const std::string& file, const std::string& program) {
  constexpr std::array<std::string_view, 5> libraries{"libassay", "libc.so", "libm.so", "libstdc++.so",
                                                      "ld-linux"};
  const std::string name = std::filesystem::path(file).filename().string();
  return file == program ||
         std::ranges::any_of(libraries, [&](std::string_view start) { return name.starts_with(start); });
}

}  // namespace

Instruction decoded(std::string_view bytes) { return Decoder(bytes).decode(); }

FunctionDifferences differing_functions(const std::filesystem::path& before,
                                        const std::filesystem::path& after, const std::string& source,
                                        std::vector<std::string> sources) {
  std::vector<ProgramImage> images;
  for (const std::filesystem::path& path : {before, after}) {
    ElfOutcome outcome = read_elf(path);
    if (!outcome.unreadable.empty()) return {{}, fmt::format("{} {}", path.string(), outcome.unreadable)};
    images.emplace_back(std::move(outcome.file));
    if (images.back().functions().empty()) {
      return {{}, path.string() + " names no functions: it was stripped"};
    }
  }
  if (!source.empty()) sources.push_back(source);
  std::map<std::pair<std::string_view, std::string_view>, Namesakes> names;
  std::map<const LinkedFunction*, std::string> sources_of;
  FunctionDifferences out;
  const std::string file = std::filesystem::path(source).filename().string();
  for (std::size_t i = 0; i < 2; ++i) {
    const Registrations registering = registrations(images[i], sources);
    std::map<std::size_t, std::string> units;
    for (const auto& [of, functions] : registering) {
      for (const LinkedFunction* function : functions) units[function->unit] = of;
    }
    const auto own = registering.find(source);
    const bool by_reach = own != registering.end() && !own->second.empty();
    out.reached |= by_reach;
    const auto no_more = [](std::uint64_t) { return std::vector<const LinkedFunction*>(); };
    const auto within = by_reach ? reached(images[i], own->second, is_border, references, no_more)
                                 : std::set<const LinkedFunction*>();
    for (const LinkedFunction& function : images[i].functions()) {
      if (by_reach ? !within.contains(&function) : !file.empty() && function.file != file) continue;
      Namesakes& all = names[{function.file, function.name}];
      (i == 0 ? all.before : all.after).push_back(&function);
      const auto unit = units.find(function.unit);
      sources_of[&function] =
          function.unit != 0 && unit != units.end() ? unit->second : std::string(function.file);
    }
  }
  if (names.empty()) return {{}, "neither program has local functions of a file named " + file};

  for (auto& [name, all] : names) compare(images[0], images[1], all, sources_of, out.functions);
  std::ranges::stable_sort(out.functions, std::ranges::greater(), &DifferingFunction::changed);
  return out;
}

std::set<std::string> unchanged_functions(const std::filesystem::path& before,
                                          const std::filesystem::path& after, std::string_view parameter,
                                          std::string_view border) {
  std::vector<ProgramImage> images;
  for (const std::filesystem::path& path : {before, after}) {
    ElfOutcome outcome = read_elf(path);
    if (!outcome.unreadable.empty() || !is_whole(outcome.file)) return {};
    images.emplace_back(std::move(outcome.file));
  }
  const std::string mangled = fmt::format("{}{}", border.size(), border);
  Ways ways_before(images[0], mangled), ways_after(images[1], mangled);
  if (ways_before.main() == nullptr || ways_after.main() == nullptr) return {};

  std::map<std::pair<std::string_view, std::string_view>, Namesakes> names;
  for (const LinkedFunction& one : images[0].functions()) names[{one.file, one.name}].before.push_back(&one);
  for (const LinkedFunction& one : images[1].functions()) names[{one.file, one.name}].after.push_back(&one);
  std::set<const LinkedFunction*> equal;
  std::map<std::string, std::vector<const Namesakes*>> candidates;
  for (const auto& [name, all] : names) {
    const bool one_each = all.before.size() == 1 && all.after.size() == 1;
    if (one_each && all.before[0]->bytes.size() == all.after[0]->bytes.size() &&
        Comparison(images[0], *all.before[0], images[1], *all.after[0], true).changed_bytes() == 0) {
      equal.insert({all.before[0], all.after[0]});
    } else if (ways_before.is_border(name.second)) {
      return {};
    }
    if (const std::string found = unqualified(demangled(name.second), parameter);
        !found.empty() && !ways_before.is_border(name.second))
      candidates[found].push_back(one_each ? &all : nullptr);
  }
  const auto is_equal = [&](const LinkedFunction* one) { return equal.contains(one); };
  std::set<std::string> out;
  for (const auto& [name, all] : candidates) {
    if (all.size() != 1 || all[0] == nullptr) continue;
    const Ways::Reach was = ways_before.from(all[0]->before[0]), is = ways_after.from(all[0]->after[0]);
    if (std::ranges::all_of(was.functions, is_equal) && std::ranges::all_of(is.functions, is_equal) &&
        was.objects == is.objects)
      out.insert(name);
  }
  return out;
}

std::string changed_code(pid_t process) {
  const std::string folder = fmt::format("/proc/{}/", process);
  std::ifstream maps(folder + "smaps");
  if (!maps) {
    const bool may_be_looked_at = prctl(PR_GET_DUMPABLE) == 1 && std::ifstream("/proc/self/smaps").good();
    return may_be_looked_at && std::filesystem::exists(folder) ? "memory that it hides from its parent" : "";
  }
  std::error_code failed;
  const std::string program = std::filesystem::read_symlink(folder + "exe", failed).string();
  for (const CodeInMemory& one : code_of(maps)) {
    const std::uint64_t size = one.end - one.begin;
    if (one.file == of_system) {
      if (getauxval(AT_SYSINFO_EHDR) == 0) continue;  // an emulator's, which shows none to its programs
      const std::string here(reinterpret_cast<const char*>(getauxval(AT_SYSINFO_EHDR)), size);
      if (differs(bytes_at(folder + "mem", one.begin, size), here)) return "the clock of the system";
      continue;
    }
    if (!one.has_own_pages || !is_of_assay(one.file, program)) continue;
    const std::string& file = one.file == program ? folder + "exe" : one.file;
    if (differs(bytes_at(folder + "mem", one.begin, size), bytes_at(file, one.offset, size)))
      return std::filesystem::path(one.file).filename().string();
  }
  return "";
}

}  // namespace assay
