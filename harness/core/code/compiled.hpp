/// Small programs for tests of machine code, compiled in a folder of their own by the compiler of this build.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace assay::testing {

class CompiledFolder {
 public:
  CompiledFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "assay-code-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder at " + name);
    path_ = name;
  }
  ~CompiledFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  CompiledFolder(const CompiledFolder&) = delete;
  CompiledFolder& operator=(const CompiledFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }

  /// Runs the compiler as measured code is compiled, with `arguments` besides, and returns `output`.
  std::filesystem::path compile(const std::string& output, const std::string& arguments) const {
    const std::filesystem::path file = path_ / output;
    std::filesystem::create_directories(file.parent_path());
    const std::string line =
        "cd '" + path_.string() +
        "' && '" ASSAY_COMPILER
        "' -std=c++20 -O2 -fPIC -ffunction-sections -fdata-sections -ffile-prefix-map='" +
        path_.string() + "/'= " + arguments + " -o '" + file.string() + "'";
    if (std::system(line.c_str()) != 0) throw std::runtime_error("does not compile: " + line);
    return file;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace assay::testing
