/// The files that the program reads and writes, and the JSON Schema of each.
#pragma once

#include "core/json/json.hpp"

#include <span>
#include <string>
#include <string_view>

namespace assay {

struct FileFormat {
  std::string_view name;   ///< that `assay schema` is asked for
  std::string_view about;  ///< what holds such a file
  Json (*schema)();        ///< of its fields alone
};
std::span<const FileFormat> file_formats();

/// Returns a whole schema, draft 2020-12. Throws Error with all names when there is none of this name.
Json schema_named(std::string_view name);

}  // namespace assay
