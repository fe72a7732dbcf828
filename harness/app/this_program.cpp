#include "app/this_program.hpp"

#include "assay/error.hpp"

namespace assay {

std::filesystem::path this_program() {
  const auto file = std::filesystem::read_symlink("/proc/self/exe");
  if (!std::filesystem::exists(file)) {
    throw Error(file.string(), "is gone: it was rebuilt or removed while it ran", "start it again");
  }
  return file;
}

}  // namespace assay
