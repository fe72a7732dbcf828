/// How revisions of a repository are built, and what their programs are; and how a CMake build folder was
/// configured, with the settings that decide its machine code.
#pragma once

#include "assay/hooks.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Entries of the text of a CMakeCache.txt by name.
std::map<std::string, std::string> cache_entries(std::string_view text);

/// Returns the entries of a build folder; empty when it is none.
std::map<std::string, std::string> cache_entries_of(const std::filesystem::path& build);

/// "GNU 12.2.0", in the words of build_info(), of a configured build folder; empty when it does not say.
std::string compiler_of(const std::filesystem::path& build);

/// Returns the build folder in which a program lies, at whatever depth; empty when it lies in none.
std::filesystem::path build_folder_of(const std::filesystem::path& program);

/// The same of the running program.
std::filesystem::path own_build_folder();

/// The settings to configure a build like another one.
struct BuildSettings {
  std::vector<std::string> arguments;              ///< for cmake, beside the preset
  std::map<std::string, std::string> definitions;  ///< of its cache, the build type included
  std::string compiler;                            ///< "GNU 12.2.0"; empty where any will do
  std::string identity;                            ///< a text that differs when the machine code may
};

/// Returns the settings of a build folder: compiler, generator, build type, flags and options. Without one
/// (empty) they are the compiler and flags of the environment, which for `kernels` has to be that of the
/// running program. The versions of the compiler and of the libraries whose code is compiled in are part of
/// the identity.
BuildSettings settings_of(const std::filesystem::path& build, bool kernels);

/// Names the definitions of `settings` that a build does not have as they are, such as "CMAKE_BUILD_TYPE is
/// Debug in the head and Release in the base".
std::vector<std::string> differences(const BuildSettings& settings, const std::filesystem::path& build);

/// A program that a CMake project builds.
struct ProgramTarget {
  std::string name, program;  ///< the program from the build folder
  bool benchmark = false;     ///< it links Google Benchmark
};

/// Configures a project in a scratch folder, with further arguments for cmake, and returns the programs that
/// it builds. Throws Error with the last lines of what cmake said when it fails, and Stopped.
std::vector<ProgramTarget> programs_in(const std::filesystem::path& source,
                                       const std::vector<std::string>& configure, const Hooks& hooks);

class Fields;

/// How the sides of a gate are measured.
struct ProgramUse {
  enum class Kind { kernels, google_benchmark, command };
  Kind kind = Kind::kernels;
  std::string filter;                   ///< of what other programs report, where -k is not given
  std::vector<std::string> counters{};  ///< of benchmarks, as `hits=higher`, that are judged
  std::string match;                    ///< the number that a command prints; empty: the time that it takes
  bool rate = false;                    ///< more of that number is better
  bool processor = false;               ///< processor time instead of wall time

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

}  // namespace assay
