#include "core/files/scratch.hpp"

#include "assay/error.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

namespace assay {
namespace {

/// The variables that temp_directory_path() asks, in its order.
std::string what_names_it() {
  for (const char* name : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"}) {
    if (const char* value = std::getenv(name)) return std::string(name) + "=" + value;
  }
  return "/tmp";
}

std::filesystem::path folder_for_temporary_files() {
  std::error_code failure;
  std::filesystem::path out = std::filesystem::temp_directory_path(failure);
  if (!failure) return out;
  throw Error(what_names_it(), "is no folder for temporary files: " + failure.message(),
              "set TMPDIR to a folder that can be written");
}

}  // namespace

ScratchFolder::ScratchFolder() {
  std::string name = (folder_for_temporary_files() / "assay-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    throw Error(name, std::strerror(errno), "set TMPDIR to a folder that can be written");
  }
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace assay
