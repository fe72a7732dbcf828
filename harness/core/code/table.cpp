#include "core/code/table.hpp"

#include "assay/files.hpp"
#include "assay/random.hpp"
#include "core/code/calls.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace assay {
namespace {

constexpr std::string_view archive_magic = "!<arch>\n";

/// The header of a member: its name in 16 bytes, date, owner, mode, its size in 10 digits from byte 48, and
/// "`\n".
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

}  // namespace

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
    unknown = outcome.unreadable.empty() ? why_unknown(outcome.file) : outcome.unreadable;
    if (!unknown.empty()) {
      unknown = fmt::format("{} {}", path.string(), unknown);
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
