#include "core/code/identity.hpp"

#include "assay/files.hpp"
#include "assay/random.hpp"
#include "core/code/calls.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>

#include <elf.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace assay {
namespace {

// Parts of mangled names (Itanium C++ ABI, 5.1). An operation's contract stands between prefix and suffix.
constexpr std::string_view registration = "_ZN5assay8RegisterC";
constexpr std::string_view registration_of_picks = "_ZN5assay13RegisterPicksC";
constexpr std::string_view operation = "N5assay6detail14TypedOperationI", adds = "E3addERNS_8RegistryE";
constexpr std::string_view loop_prefix = "_ZN5assay6detail11TypedKernelI", loop_suffix = "E6repeatE";

/// A member of TypedOperation (`_ZN…`, const `_ZNK…`) or one of its tables (`_ZTVN…`, `_ZTIN…`).
bool is_of_operation(std::string_view name) {
  for (const std::string_view before : {"_Z", "_ZTV", "_ZTI", "_ZTS"}) {
    if (name.starts_with(before) && name.substr(before.size()).starts_with(operation)) return true;
  }
  return name.starts_with("_ZNK") && name.substr(4).starts_with(operation.substr(1));
}

struct Definition {
  std::size_t object;
  std::uint32_t symbol;
};

bool is_defined(const ElfSymbol& symbol) { return symbol.section != SHN_UNDEF; }

/// All objects, and the names that they define for each other.
class Program {
 public:
  explicit Program(const std::vector<CodeObject>& objects) {
    for (const CodeObject& object : objects) objects_.push_back(&object);
    std::ranges::sort(objects_, {}, [](const CodeObject* object) { return object->source; });
    for (std::size_t o = 0; o < objects_.size(); ++o) {
      const auto& symbols = objects_[o]->elf.symbols;
      for (std::uint32_t s = 0; s < symbols.size(); ++s) {
        // A caller of the C library has no part in what a file puts in its place.
        if (symbols[s].binding != STB_LOCAL && is_defined(symbols[s]) && !is_of_c_library(symbols[s].name))
          note({o, s});
      }
    }
  }
  std::size_t size() const { return objects_.size(); }
  const CodeObject& object(std::size_t at) const { return *objects_[at]; }
  const ElfSymbol& symbol(Definition where) const {
    return objects_[where.object]->elf.symbols[where.symbol];
  }
  std::optional<Definition> definition(std::string_view name) const {
    const auto found = definitions_.find(name);
    return found == definitions_.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<Definition> definition_beginning(std::string_view prefix) const {
    const auto found = definitions_.lower_bound(prefix);
    return found == definitions_.end() || !found->first.starts_with(prefix) ? std::nullopt
                                                                            : std::optional(found->second);
  }

 private:
  /// The first of several weak definitions, unless one is not weak.
  void note(Definition here) {
    const auto [known, is_new] = definitions_.try_emplace(symbol(here).name, here);
    const bool stronger = symbol(known->second).binding != STB_GLOBAL && symbol(here).binding == STB_GLOBAL;
    if (!is_new && stronger) known->second = here;
  }

  std::vector<const CodeObject*> objects_;
  std::map<std::string_view, Definition> definitions_;
};

enum class Border { before_operations, none };

/// Visits sections in the order in which relocations lead to them, each once. The hash names a section by its
/// number in this order, so that names and places of local sections do not count.
class Walk {
 public:
  Walk(const Program& program, Border border) : program_(program), border_(border) {}

  void from_initialization(std::size_t object) {
    if (!initialized_.insert(object).second) return;
    const auto& sections = program_.object(object).elf.sections;
    std::vector<std::pair<std::string_view, std::size_t>> found;
    for (std::size_t s = 0; s < sections.size(); ++s) {
      if (sections[s].type == SHT_INIT_ARRAY) found.emplace_back(sections[s].name, s);
    }
    std::ranges::sort(found);  // by priority, which stands in the name
    for (const auto& [name, s] : found) number_of({object, s});
  }
  void from_symbol(Definition where) {
    add(program_.symbol(where).value);
    number_of({where.object, program_.symbol(where).section});
  }
  /// Visits all that can be reached, and returns the hash of it.
  std::uint64_t run() {
    for (std::size_t next = 0; next < order_.size(); ++next) visit(order_[next]);
    return hash_;
  }
  /// The contracts, as mangled, that the visited code registers for.
  const std::set<std::string>& contracts() const { return contracts_; }
  /// The symbols, as mangled, that the visited code refers to and no object defines.
  const std::set<std::string>& undefined() const { return undefined_; }
  /// Whether code of this object alone was visited. Of inline functions any object's copy may be.
  bool visited(std::size_t object) const {
    return std::ranges::any_of(order_, [&](const Place& place) {
      const std::uint64_t flags = program_.object(place.object).elf.sections[place.section].flags;
      return place.object == object && (flags & SHF_EXECINSTR) != 0 && (flags & SHF_GROUP) == 0;
    });
  }

 private:
  struct Place {
    std::size_t object;
    std::size_t section;
    auto operator<=>(const Place&) const = default;
  };

  void add(std::string_view text) {
    add(text.size());
    hash_ = fnv1a(text, hash_);
  }
  void add(std::uint64_t number) {
    hash_ = fnv1a({reinterpret_cast<const char*>(&number), sizeof number}, hash_);
  }

  std::size_t number_of(Place place) {
    const auto [known, is_new] = numbers_.try_emplace(place, order_.size());
    if (is_new) {
      order_.push_back(place);
      // Writable sections hold values of static initialization; tables of addresses only the loader writes.
      const ElfSection& section = program_.object(place.object).elf.sections[place.section];
      if ((section.flags & SHF_WRITE) != 0 && !section.name.starts_with(".data.rel.ro")) {
        from_initialization(place.object);
      }
    }
    return known->second;
  }

  void visit(Place place) {
    const ElfSection& section = program_.object(place.object).elf.sections[place.section];
    add(section.type);
    add(section.flags & ~std::uint64_t{SHF_GROUP});
    add(section.alignment);
    add(section.size);
    std::string bytes(section.bytes);
    std::vector<ElfRelocation> relocations = section.relocations;
    leave_out_locations(place.object, relocations, bytes);
    add(bytes);
    for (const ElfRelocation& relocation : relocations) {
      add(relocation.at);
      add(relocation.type);
      add_target(place.object, relocation);
    }
  }

  /// A std::source_location holds the names of file and function, line and column. For a location in the
  /// registering file only the file counts, so that a comment above a registration changes nothing.
  void leave_out_locations(std::size_t object, std::vector<ElfRelocation>& relocations,
                           std::string& bytes) const {
    for (std::size_t r = 0; r + 1 < relocations.size(); ++r) {
      const std::uint64_t at = relocations[r].at;
      if (relocations[r].type != R_X86_64_64 || relocations[r + 1].at != at + 8 || bytes.size() < 24 ||
          at > bytes.size() - 24 ||
          std::filesystem::path(text_at(object, relocations[r])).lexically_normal() !=
              program_.object(object).source) {
        continue;
      }
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at) + 8, 16, '\0');
      relocations.erase(relocations.begin() + static_cast<std::ptrdiff_t>(r) + 1);
    }
  }

  std::string_view text_at(std::size_t object, const ElfRelocation& relocation) const {
    const ElfFile& elf = program_.object(object).elf;
    const ElfSymbol& symbol = elf.symbols[relocation.symbol];
    if (symbol.section == SHN_UNDEF || symbol.section >= elf.sections.size()) return {};
    const ElfSection& section = elf.sections[symbol.section];
    const bool strings = (section.flags & SHF_STRINGS) != 0 && section.entry_size == 1;
    return strings ? merged(section, offset_in_merged(symbol, relocation)) : std::string_view();
  }

  /// A section whose elements the linker merges holds the elements of all functions of a file. Only the
  /// content of the element referred to counts.
  static std::string_view merged(const ElfSection& section, std::uint64_t offset) {
    if (offset >= section.bytes.size()) return {};
    if ((section.flags & SHF_STRINGS) == 0) {
      const std::uint64_t size = std::max<std::uint64_t>(section.entry_size, 1);
      return section.bytes.substr(offset / size * size, size);
    }
    const std::string_view rest = section.bytes.substr(offset);
    return section.entry_size == 1 ? rest.substr(0, rest.find('\0')) : rest;
  }
  /// In a relocation against a section the addend tells the element, four less for a field relative to the
  /// next instruction. In a relocation against a symbol the symbol tells it.
  static std::uint64_t offset_in_merged(const ElfSymbol& symbol, const ElfRelocation& relocation) {
    if (symbol.type != STT_SECTION) return symbol.value;
    const bool absolute =
        relocation.type == R_X86_64_64 || relocation.type == R_X86_64_32 || relocation.type == R_X86_64_32S;
    return symbol.value + static_cast<std::uint64_t>(relocation.addend) + (absolute ? 0 : 4);
  }

  void add_target(std::size_t object, const ElfRelocation& relocation) {
    Definition target{object, relocation.symbol};
    const ElfSymbol* symbol = &program_.symbol(target);
    if (symbol->binding != STB_LOCAL) {
      if (border_ == Border::before_operations && is_of_operation(symbol->name)) {
        note_contract(symbol->name);
        return add(symbol->name);
      }
      if (!is_defined(*symbol)) {
        const auto found = program_.definition(symbol->name);
        add(static_cast<std::uint64_t>(relocation.addend));
        if (!found) {
          undefined_.emplace(symbol->name);
          return add(symbol->name);
        }
        target = *found;
        symbol = &program_.symbol(target);
      }
    }
    const ElfFile& elf = program_.object(target.object).elf;
    if (symbol->section == SHN_UNDEF || symbol->section >= elf.sections.size()) {  // none, absolute, common
      add(symbol->name);
      add(symbol->value);
      return add(symbol->size);
    }
    const ElfSection& section = elf.sections[symbol->section];
    if ((section.flags & SHF_MERGE) != 0) {
      const std::uint64_t offset = offset_in_merged(*symbol, relocation);
      if (symbol->type != STT_SECTION) add(static_cast<std::uint64_t>(relocation.addend));
      if ((section.flags & SHF_STRINGS) == 0) add(offset % std::max<std::uint64_t>(section.entry_size, 1));
      return add(merged(section, offset));
    }
    add(number_of({target.object, symbol->section}));
    add(symbol->value + static_cast<std::uint64_t>(relocation.addend));
  }

  /// Every registration calls TypedOperation<Op>::add(Registry&, …).
  void note_contract(std::string_view name) {
    const std::size_t end = name.find(adds);
    if (!name.starts_with("_ZN") || end == std::string_view::npos) return;
    const std::size_t begin = 2 + operation.size();
    contracts_.emplace(name.substr(begin, end - begin));
  }

  const Program& program_;
  Border border_;
  std::uint64_t hash_ = fnv1a("");
  std::vector<Place> order_;
  std::map<Place, std::size_t> numbers_;
  std::set<std::size_t> initialized_;
  std::set<std::string> contracts_, undefined_;
};

/// The loop that times calls of an operation's kernels; nothing where it is in none of the objects.
std::optional<std::uint64_t> loop_hash(const Program& program, const std::string& contract) {
  const auto where = program.definition_beginning(fmt::format("{}{}{}", loop_prefix, contract, loop_suffix));
  if (!where) return std::nullopt;
  Walk walk(program, Border::none);
  walk.from_symbol(*where);
  return walk.run();
}

bool has_symbol(const CodeObject& object, std::string_view prefix) {
  return std::ranges::any_of(object.elf.symbols,
                             [&](const ElfSymbol& symbol) { return symbol.name.starts_with(prefix); });
}

bool registers(const CodeObject& object) {
  return has_symbol(object, registration) || has_symbol(object, registration_of_picks);
}

/// Functions of the C library that objects replace, and the rows that have to answer for it: that of the
/// object itself, or, if it has none, those whose code it is part of. Nobody knows whose an object is that no
/// row's code reaches, and all times are subject to it: it is held against all.
class Replacements {
 public:
  explicit Replacements(const Program& program) : program_(program), names_(program.size()) {
    for (std::size_t o = 0; o < program.size(); ++o) {
      for (const std::string& name : replaced_functions(program.object(o).elf))
        names_[o].push_back(fmt::format("{} ({})", name, program.object(o).source));
    }
  }
  std::vector<std::string> held_against(std::size_t row, const Walk& walk) {
    std::vector<std::string> out;
    for (std::size_t o = 0; o < names_.size(); ++o) {
      if (names_[o].empty() || (o != row && registers(program_.object(o)))) continue;
      if (o == row || walk.visited(o) || !is_reached(o))
        out.insert(out.end(), names_[o].begin(), names_[o].end());
    }
    return out;
  }

 private:
  bool is_reached(std::size_t object) {
    const auto [known, is_new] = reached_.try_emplace(object, false);
    for (std::size_t row = 0; is_new && !known->second && row < program_.size(); ++row) {
      if (!registers(program_.object(row))) continue;
      Walk walk(program_, Border::before_operations);
      walk.from_initialization(row);
      walk.run();
      known->second = walk.visited(object);
    }
    return known->second;
  }

  const Program& program_;
  std::vector<std::vector<std::string>> names_;  ///< by object
  std::map<std::size_t, bool> reached_;
};

CodeIdentity identity(const Program& program, std::size_t object, const std::string& library,
                      Replacements& replacements) {
  Walk walk(program, Border::before_operations);
  walk.from_initialization(object);
  std::uint64_t hash = walk.run();
  CodeIdentity out{program.object(object).source, "", calls_of(walk.undefined())};
  if (std::vector<std::string> names = replacements.held_against(object, walk); !names.empty())
    out.calls.push_back({std::string(replaced_of_c_library), std::move(names)});
  for (const std::string& contract : walk.contracts()) {
    const auto loop = loop_hash(program, contract);
    if (!loop && library.empty()) return out;
    hash = fnv1a(fmt::format("{} {}", contract, loop ? fmt::format("{:016x}", *loop) : library), hash);
  }
  // Other functions that it calls may lie there, too.
  if (!library.empty() && !walk.undefined().empty()) hash = fnv1a(library, hash);
  // A variant that picks others has no contract here, and their loops.
  const bool picks = has_symbol(program.object(object), registration_of_picks);
  if (!walk.contracts().empty() || picks) out.code = fmt::format("{:016x}", hash);
  return out;
}

constexpr std::string_view archive_magic = "!<arch>\n";

/// A member's header: its name in 16 bytes, date, owner, mode, its size in 10 digits from byte 48, and "`\n".
constexpr std::size_t member_header = 60;

std::string_view header_field(std::string_view bytes, std::size_t begin, std::size_t size) {
  const std::string_view field = bytes.substr(begin, size);
  return field.substr(0, field.find_last_not_of(' ') + 1);
}

/// Names of all members, as GNU ar writes them: `name/`, or `/12` for the one that stands there in `//`.
std::vector<std::string> members_of(std::string_view archive) {
  std::vector<std::string> out;
  std::string_view long_names;
  for (std::size_t at = archive_magic.size(); at + member_header <= archive.size();) {
    const std::string_view name = header_field(archive, at, 16);
    const std::size_t size = number_from<std::size_t>(header_field(archive, at + 48, 10)).value_or(0);
    at += member_header;
    if (name == "//") {
      long_names = archive.substr(at, size);
    } else if (name.size() > 1 && name[0] == '/' && name[1] >= '0' && name[1] <= '9') {
      const std::string_view rest = long_names.substr(
          std::min(number_from<std::size_t>(name.substr(1)).value_or(0), long_names.size()));
      out.emplace_back(rest.substr(0, rest.find('/')));
    } else if (name != "/" && name != "/SYM64/") {
      out.emplace_back(name.substr(0, name.find('/')));
    }
    at += size + size % 2;
  }
  return out;
}

/// Whether it holds machine code: link-time optimization leaves none in objects.
bool is_compiled(const ElfFile& elf) {
  return std::ranges::none_of(
      elf.sections, [](const ElfSection& section) { return section.name.starts_with(".gnu.lto_"); });
}

}  // namespace

std::vector<CodeIdentity> code_identities(const std::vector<CodeObject>& objects,
                                          const std::string& library) {
  const Program program(objects);
  Replacements replacements(program);
  std::vector<CodeIdentity> out;
  for (std::size_t o = 0; o < program.size(); ++o) {
    if (registers(program.object(o))) out.push_back(identity(program, o, library, replacements));
  }
  return out;
}

std::string source_of(const std::filesystem::path& object, const std::filesystem::path& build) {
  std::filesystem::path out;
  bool target_follows = false;
  for (const std::filesystem::path& part : object.lexically_normal().lexically_relative(build)) {
    if (!target_follows && part != "CMakeFiles") out /= part;
    target_follows = part == "CMakeFiles";
  }
  return out.replace_extension().generic_string();
}

std::string table_text(const std::vector<CodeIdentity>& identities, const CodeLibrary& library) {
  std::string rows;
  for (const CodeIdentity& one : identities) {
    rows += fmt::format("    {{R\"({})\", \"{}\", R\"({})\"}},\n", one.source, one.code, lines_of(one.calls));
  }
  for (const std::string& source : library.sources) {
    rows += fmt::format("    {{R\"({})\", \"{}\"}},\n", source, library.hash);
  }
  std::string out = "#include \"assay/code_table.hpp\"\n\nnamespace {\n\n";
  if (!rows.empty()) {
    out += "constexpr assay::CodeRow rows[] = {\n" + rows + "};\nconst assay::CodeTable table{rows};\n\n";
  }
  return out + "}  // namespace\n";
}

std::string table_of(const std::vector<std::filesystem::path>& objects, const std::filesystem::path& build,
                     std::string& unknown, const std::filesystem::path& archive) {
  std::vector<CodeObject> read;
  unknown.clear();
  const CodeLibrary library = archive.empty() ? CodeLibrary{} : library_of(archive, unknown);
  if (!unknown.empty()) return table_text({});
  for (const std::filesystem::path& path : objects) {
    ElfOutcome outcome = read_elf(path);
    if (outcome.unreadable.empty() && !is_compiled(outcome.file))
      outcome.unreadable = "is to be compiled when it is linked";
    if (!outcome.unreadable.empty()) {
      unknown = fmt::format("{} {}", path.string(), outcome.unreadable);
      return table_text({});
    }
    read.push_back({source_of(path, build), std::move(outcome.file)});
  }
  return table_text(code_identities(read, library.hash), library);
}

CodeLibrary library_of(const std::filesystem::path& archive, std::string& unknown) {
  std::error_code missing;
  const std::string bytes = std::filesystem::is_regular_file(archive, missing) ? read_file(archive) : "";
  if (!bytes.starts_with(archive_magic)) {
    unknown = fmt::format("{} is no archive that can be read", archive.string());
    return {};
  }
  // "libassay_reference_archive" belongs to reference/.
  std::string folder = archive.stem().string();
  for (const std::string_view part : {"libassay_", "_archive"}) {
    if (const std::size_t at = folder.find(part); at != std::string::npos) folder.erase(at, part.size());
  }
  CodeLibrary out{.hash = fmt::format("{:016x}", fnv1a(bytes)), .sources = {}};
  for (const std::string& member : members_of(bytes)) {
    out.sources.push_back(
        fmt::format("{}/{}", folder, std::filesystem::path(member).replace_extension().string()));
  }
  return out;
}

}  // namespace assay
