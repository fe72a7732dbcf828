/// Small programs for tests of machine code, compiled in a folder of their own by the compiler of this build.
#pragma once

#include "assay/files.hpp"
#include "core/files/scratch.hpp"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace assay::testing {

class CompiledFolder {
 public:
  const std::filesystem::path& path() const { return folder_.path(); }

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path() / name;
    std::filesystem::create_directories(file.parent_path());
    write_file(file, text);
    return file;
  }

  /// Runs the compiler as measured code is compiled, with `arguments` besides, and returns `output`.
  std::filesystem::path compile(const std::string& output, const std::string& arguments) const {
    const std::filesystem::path file = path() / output;
    std::filesystem::create_directories(file.parent_path());
    const std::string line =
        "cd '" + path().string() +
        "' && '" ASSAY_COMPILER
        "' -std=c++20 -O2 -fPIC -ffunction-sections -fdata-sections -ffile-prefix-map='" +
        path().string() + "/'= " + arguments + " -o '" + file.string() + "'";
    if (std::system(line.c_str()) != 0) throw std::runtime_error("does not compile: " + line);
    return file;
  }

 private:
  ScratchFolder folder_;
};

}  // namespace assay::testing
