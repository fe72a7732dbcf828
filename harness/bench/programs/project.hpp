/// How revisions of a repository are built.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace assay {

class Fields;

/// The content of `assay.json` in the root of a repository. If the running program is a build of that
/// repository, its build folder completes it.
struct Project {
  std::string source = ".";            ///< folder of its CMakeLists.txt, from the root
  std::string target;                  ///< of CMake, that makes the program
  std::string program;                 ///< its file, from the build folder: a program, or a plug-in lib….so
  std::string preset;                  ///< of CMake's configuration; empty for none
  std::vector<std::string> configure;  ///< further arguments of cmake, such as -DWITH_TESTS=OFF
  std::string suite;                   ///< from the root, where --suite is not given; empty for none
  std::filesystem::path build;         ///< where a checkout has its build folder; of no file
};

void describe(Fields& f, Project& project);

/// Whether what it builds is a plug-in, by the name of its file.
bool makes_plugin(const Project& project);

/// Throws Error naming file and key at fault, and if neither a file nor the running program names the target.
Project project_in(const std::filesystem::path& root);

/// The suite that assay.json names, as a path from the current folder; empty if there is no such file or it
/// names none.
std::filesystem::path suite_of_project(const std::filesystem::path& root);

/// Whether the running program was built from the repository.
bool is_built_from(const std::filesystem::path& root);

/// Whether it is assay itself, and no program of another project that is linked with it.
bool is_of_this_project();

}  // namespace assay
