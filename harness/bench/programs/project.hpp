/// How revisions of a repository are built, and what their programs are.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace assay {

class Fields;

/// How the sides of a gate are measured.
struct ProgramUse {
  enum class Kind { kernels, google_benchmark, command };
  Kind kind = Kind::kernels;
  std::string filter;      ///< of what other programs report, where -k is not given
  std::string match;       ///< the number that a command prints; empty: the time that it takes
  bool rate = false;       ///< more of that number is better
  bool processor = false;  ///< processor time instead of wall time

  bool is_foreign() const { return kind != Kind::kernels; }
};

/// The content of `assay.json` in the root of a repository. If the running program is a build of that
/// repository, its build folder completes it.
struct Project {
  ProgramUse use;
  std::string source = ".";            ///< folder of its CMakeLists.txt, from the root
  std::string target;                  ///< of CMake, that makes the program
  std::string program;                 ///< its file, from the build folder: a program, or a plug-in lib….so
  std::string preset;                  ///< of CMake's configuration; empty for none
  std::vector<std::string> configure;  ///< further arguments of cmake, such as -DWITH_TESTS=OFF
  std::vector<std::string> arguments;  ///< of the program, which is not assay's
  std::string suite;                   ///< from the root, where --suite is not given; empty for none
  std::filesystem::path build;         ///< where a checkout has its build folder; of no file
};

void describe(Fields& f, ProgramUse& use);
void describe(Fields& f, Project& project);

/// Whether what it builds is a plug-in, by the name of its file.
bool makes_plugin(const Project& project);

/// Throws Error naming file and key at fault, and if neither a file nor the running program names the target.
Project project_in(const std::filesystem::path& root);

/// The file alone: nothing completes it. Empty if there is none.
Project project_file_in(const std::filesystem::path& root);

/// Whether the running program was built from the repository.
bool is_built_from(const std::filesystem::path& root);

/// Whether it is assay itself, and no program of another project that is linked with it.
bool is_of_this_project();

}  // namespace assay
