#include "core/code/table.hpp"

#include "core/code/calls.hpp"

#include <fmt/format.h>

#include <utility>

namespace assay {

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

}  // namespace assay
