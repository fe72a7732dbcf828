/// Reads from a CMake build folder how it was configured, and the settings that decide its machine code.
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

}  // namespace assay
