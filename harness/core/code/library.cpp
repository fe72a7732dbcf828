#include "core/code/library.hpp"

#include "assay/files.hpp"
#include "assay/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>

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

std::size_t decimal(std::string_view text) {
  std::size_t out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

/// Names of all members, as GNU ar writes them: `name/`, or `/12` for the one that stands there in `//`.
std::vector<std::string> members_of(std::string_view archive) {
  std::vector<std::string> out;
  std::string_view long_names;
  for (std::size_t at = archive_magic.size(); at + member_header <= archive.size();) {
    const std::string_view name = header_field(archive, at, 16);
    const std::size_t size = decimal(header_field(archive, at + 48, 10));
    at += member_header;
    if (name == "//") {
      long_names = archive.substr(at, size);
    } else if (name.size() > 1 && name[0] == '/' && name[1] >= '0' && name[1] <= '9') {
      const std::string_view rest = long_names.substr(std::min(decimal(name.substr(1)), long_names.size()));
      out.emplace_back(rest.substr(0, rest.find('/')));
    } else if (name != "/" && name != "/SYM64/") {
      out.emplace_back(name.substr(0, name.find('/')));
    }
    at += size + size % 2;
  }
  return out;
}

}  // namespace

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
