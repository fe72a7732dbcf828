/// The files that the program reads and writes, and the JSON Schema of each.
#pragma once

#include "core/json/json.hpp"

#include <span>
#include <string_view>

namespace assay {

struct FileFormat {
  std::string_view name;   ///< that `assay schema` is asked for
  std::string_view about;  ///< what holds such a file
  Json (*schema)();        ///< of its fields alone
};
std::span<const FileFormat> file_formats();

/// Schemas of the JSON that single verbs print; each is defined beside its verb.
Json list_schema();
Json check_schema();
Json known_bad_schema();
Json known_cheats_schema();

/// Returns a whole schema, draft 2020-12. Throws Error with all names when there is none of this name.
Json schema_named(std::string_view name);

}  // namespace assay
