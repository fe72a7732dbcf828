#include "measure/scratch.hpp"

#include "assay/error.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

namespace assay {

ScratchFolder::ScratchFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "assay-XXXXXX").string();
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
